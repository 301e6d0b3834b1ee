"""Reading perftest (`ib_write_bw`, `ib_write_lat`, `ib_send_lat` and kin) and `all_reduce_bench` output.

perftest's MB/sec are MiB per second, its Gb/sec decimal gigabits. A bandwidth test prints no time, so `time_us` is the
size over the average bandwidth: the spacing of messages, not their latency. A latency test's `time_us` is the typical
(median) one-way time, its bandwidth the size over that time.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from fabricreport.books.logs.lines import (
    WARNING,
    Finding,
    ImpossibleFigure,
    LogRow,
    LogSection,
    ParsedLog,
    counted,
    decimal,
    impossible,
    possible,
)
from fabricreport.bounds import bound_of

_TITLE = re.compile(
    r"\b(RDMA_Write|RDMA_Read|Send|Atomic\w*|Write|Read)\s+(Bidirectional\s+)?(BW|Latency)\s+(?:\w++\s++){0,8}?Test"
)
_COMMAND = re.compile(r"\b(ib_(?:write|read|send|atomic)_(?:bw|lat))\b")
_COLUMN = re.compile(
    r"#bytes|#iterations|(?<![A-Za-z0-9_.%])[A-Za-z0-9_.%]++(?: (?:peak|average|percentile))?\s?\[[^\[\]]++\]|tps average"
)
_FACT = re.compile(r"^\s*(Link type|Mtu|Device|Number of qps|Connection type|CQ Moderation)\s*:\s*(\S+)")
_BANDWIDTH_UNITS = {"gb/sec": 1 / 8, "mb/sec": 2**20 / 1e9, "gib/sec": 2**30 / 1e9, "gb/s": 1 / 8}
_PAYLOAD = re.compile(
    r"\|?\s*(\d+(?:\.\d+)?)\s*([KMGT]?i?B)\s*\|\s*(\d+(?:\.\d+)?)\s*GBps\s*\|\s*(\d+(?:\.\d+)?)\s*GBps\s*+\|?\s*+$"
)
_POWERS = {"": 0, "K": 1, "M": 2, "G": 3, "T": 4}
_REMEDY = "Paste the log again from a file instead of a screen."


def parse_perftest(lines: Sequence[tuple[int, str]]) -> ParsedLog:
    """All tables of a perftest log, one section for each header line."""
    sections: list[LogSection] = []
    findings: list[Finding] = []
    name, facts, columns, rows, start = "", {}, [], [], 1  # type: str, dict[str, str], list[str], list[LogRow], int

    def close() -> None:
        if rows:
            sections.append(LogSection(name or _name_by_columns(columns), tuple(rows), start, 2, 2, facts=dict(facts)))

    for number, line in lines:
        title, command = _TITLE.search(line), _COMMAND.search(line)
        if title or command:
            if rows:
                close()
                rows, columns = [], []
            found = _name(title) if title else str(command and command.group(1))
            if found != name:
                facts = {}
            name = found
            if title and title.group(2):
                facts["direction"] = "both"
        elif fact := _FACT.search(line):
            facts[fact.group(1)] = fact.group(2)
        elif "#bytes" in line:
            close()
            rows, columns, start = [], [c.strip() for c in _COLUMN.findall(line)], number
        elif columns and re.match(r"\s*\d", line):
            try:
                rows.append(_row(number, line.split(), columns))
            except ImpossibleFigure as error:
                findings.append(impossible(number, error))
            except ValueError as error:
                findings.append(Finding("malformed", WARNING, number, f"a line that is no row: {error}", _REMEDY))
    close()
    return ParsedLog("perftest", tuple(sections), tuple(findings))


def parse_all_reduce_bench(lines: Sequence[tuple[int, str]]) -> ParsedLog:
    """All tables of `all_reduce_bench`; it prints payload, busbw and algbw, so the time is derived from algbw."""
    sections: list[LogSection] = []
    findings: list[Finding] = []
    ranks: int | None = None
    device, start, rows = "", 1, []  # type: str, int, list[LogRow]

    def close() -> None:
        if rows:
            sections.append(LogSection("allreduce", tuple(rows), start, ranks, None, device))

    for number, line in lines:
        if match := re.search(r"bandwidth of all_reduce over (\d+) ranks", line):
            close()
            rows, ranks, start = [], None, number
            try:
                ranks = counted(match.group(1), "gpus")
            except ImpossibleFigure as error:
                findings.append(impossible(number, error))
        elif match := re.search(r"name='([^']+)'", line):
            device = match.group(1)
        elif match := _PAYLOAD.match(line):
            try:
                rows.append(_payload_row(number, match))
            except ImpossibleFigure as error:
                findings.append(impossible(number, error))
            except ValueError as error:
                findings.append(Finding("malformed", WARNING, number, str(error)))
        elif re.match(r"\s*+\|?\s*+\d++(\.\d++)?\s*+[KMGT]?i?B\b", line):
            message = "a line that is no row: payload, busbw and algbw in GBps are needed"
            findings.append(Finding("malformed", WARNING, number, message, _REMEDY))
    close()
    return ParsedLog("all_reduce_bench", tuple(sections), tuple(findings))


def _payload_row(line: int, match: re.Match[str]) -> LogRow:
    """One row of `all_reduce_bench`; its time is derived."""
    payload, busbw, algbw = (decimal(match.group(n)) for n in (1, 3, 4))
    if algbw <= 0:
        raise ValueError("an algbw of 0.00 says nothing of the time; the row is left out")
    size = _bytes(payload, match.group(2))
    return possible(LogRow(line, size, size / algbw / 1e3, algbw, busbw, extra={"time_derived": 1.0}))


def _row(number: int, words: list[str], columns: list[str]) -> LogRow:
    if len(words) != len(columns):
        raise ValueError(f"{len(words)} figures under {len(columns)} columns")
    try:
        cells = {c: decimal(w) for c, w in zip(columns, words, strict=True)}
    except ImpossibleFigure:
        raise
    except ValueError:
        raise ValueError("not every column is a number") from None
    size = int(cells["#bytes"])
    if size <= 0:
        raise ValueError("a size of zero")
    if average := next((c for c in columns if c.lower().replace("_", " ").startswith("bw average")), ""):
        factor = _BANDWIDTH_UNITS.get(_unit(average))
        if factor is None:
            raise ValueError(f"unknown bandwidth unit {_unit(average)}")
        bandwidth = cells[average] * factor
        if bandwidth <= 0:
            raise ValueError("an average bandwidth of zero")
        peak = next((cells[c] * factor for c in columns if c.lower().replace("_", " ").startswith("bw peak")), 0.0)
        extra = {"peak_gbytes_per_s": peak}
        return possible(LogRow(number, size, size / bandwidth / 1e3, bandwidth, bandwidth, extra=extra))
    typical = next(
        (c for c in columns if c.startswith("t_typical")), next((c for c in columns if c.startswith("t_avg")), "")
    )
    if not typical or cells[typical] <= 0:
        raise ValueError("neither a bandwidth nor a typical time")
    time_us = cells[typical]
    names = {"t_min": "min_us", "t_max": "max_us", "99%": "p99_us", "99.9%": "p999_us", "t_stdev": "stdev_us"}
    extra = {names[k]: v for c, v in cells.items() for k in [re.split(r"[ \[]", c)[0]] if k in names}
    bandwidth = size / time_us / 1e3
    return possible(LogRow(number, size, time_us, bandwidth, bandwidth, extra=extra))


def _unit(column: str) -> str:
    return column[column.index("[") + 1 : -1].strip().lower()


def _name(title: re.Match[str]) -> str:
    verb = title.group(1).removeprefix("RDMA_").lower()
    return f"ib_{verb}_{'bw' if title.group(3) == 'BW' else 'lat'}"


def _name_by_columns(columns: list[str]) -> str:
    return "ib_write_lat" if any(c.startswith("t_") for c in columns) else "ib_write_bw"


def _bytes(number: float, unit: str) -> int:
    size = number * 1024.0 ** _POWERS[unit.removesuffix("B").removesuffix("i")]
    if fault := bound_of("bytes").fault(size):
        raise ImpossibleFigure(f"a payload of {size:g} bytes {fault}")
    return round(size)
