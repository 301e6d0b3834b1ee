"""The client's own measurements: logs of nccl-tests, perftest and all_reduce_bench as data frames with findings.

perftest's MB/sec are MiB per second, its Gb/sec decimal gigabits. A bandwidth test prints no time, so `time_us` is the
size over the average bandwidth: the spacing of messages, not their latency. A latency test's `time_us` is the typical
(median) one-way time, its bandwidth the size over that time.

Every reader returns one row for each measured size with the columns of `COLUMNS`; rows keep the log's order.
The out-of-place figures are the row's own; the in-place ones of the same line stand beside them (`in_place_*`).
`in_place` is True only where a line has nothing but in-place figures. `df.attrs["findings"]` is a tuple of `Finding`;
`df.attrs["kind"]` and `df.attrs["source"]` say what was read, `df.attrs["settings"]` what a table's command line sets of the
library, by the number of its section, where it stands in the log. A reader raises `InputError` if no row
parses, and for a figure that no run can have.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fabricreport.base.bounds import bound_of
from fabricreport.base.errors import InputError, Problem
from fabricreport.books.logs.findings import check_collective, check_perftest, setting_of
from fabricreport.books.logs.lines import (
    ERROR,
    IMPOSSIBLE,
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
    read_log_lines,
)
from fabricreport.books.logs.nccl_log import parse_nccl_tests

if TYPE_CHECKING:
    import pandas as pd

__all__ = [
    "COLUMNS",
    "Finding",
    "MeasureReport",
    "measure_report",
    "read_all_reduce_bench",
    "read_log",
    "read_nccl_tests",
    "read_perftest",
]


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


COLUMNS = (
    "size_bytes", "time_us", "algbw_gbytes_per_s", "busbw_gbytes_per_s", "ranks", "hosts", "collective", "in_place",
    "in_place_time_us", "in_place_algbw_gbytes_per_s", "in_place_busbw_gbytes_per_s", "wrong", "section", "line",
)  # fmt: skip
_WHOLE = ("size_bytes", "ranks", "hosts", "section", "line")
_BLOCKS = " ▏▎▍▌▋▊▉█"
_PARSERS = {
    "nccl-tests": parse_nccl_tests,
    "perftest": parse_perftest,
    "all_reduce_bench": parse_all_reduce_bench,
}


def read_nccl_tests(
    path_or_text: str | Path,
    *,
    ranks: int | None = None,
    nic_gbytes_per_s: float | None = None,
    gpus_per_node: int | None = None,
) -> pd.DataFrame:
    """An nccl-tests or rccl-tests log. `ranks` is the claimed number where the log does not say it; the NIC rate of one
    GPU (GB/s) and the GPUs that share NVLink let more be checked.
    """
    return _read(path_or_text, "nccl-tests", ranks, nic_gbytes_per_s, gpus_per_node)


def read_perftest(path_or_text: str | Path, *, nic_gbytes_per_s: float | None = None) -> pd.DataFrame:
    """A perftest log (`ib_write_bw`, `ib_write_lat`, `ib_send_lat` ...), with `peak_gbytes_per_s`, `p99_us` and the like
    as further columns; `time_us` of a bandwidth test is size over average bandwidth.
    """
    return _read(path_or_text, "perftest", None, nic_gbytes_per_s, None)


def read_all_reduce_bench(
    path_or_text: str | Path,
    *,
    ranks: int | None = None,
    nic_gbytes_per_s: float | None = None,
    gpus_per_node: int | None = None,
) -> pd.DataFrame:
    """An `all_reduce_bench` table; it prints no times, so `time_us` is derived from algbw."""
    return _read(path_or_text, "all_reduce_bench", ranks, nic_gbytes_per_s, gpus_per_node)


def read_log(
    path_or_text: str | Path,
    *,
    ranks: int | None = None,
    nic_gbytes_per_s: float | None = None,
    gpus_per_node: int | None = None,
) -> pd.DataFrame:
    """A log of any of the three kinds, told by its content: the kind that reads most rows."""
    return _read(path_or_text, None, ranks, nic_gbytes_per_s, gpus_per_node)


@dataclass(frozen=True)
class MeasureReport:
    """Logs as read, for `fabricreport measure`."""

    logs: tuple[tuple[str, pd.DataFrame], ...]

    @property
    def findings(self) -> tuple[tuple[str, Finding], ...]:
        """Every finding with the name of its log."""
        return tuple((name, f) for name, frame in self.logs for f in frame.attrs["findings"])

    @property
    def ok(self) -> bool:
        """True if no finding is an error."""
        return not any(f.severity == ERROR for _, f in self.findings)

    def as_dict(self) -> dict[str, Any]:
        """Plain values for `--json`; a missing figure is None."""
        return {
            "ok": self.ok,
            "logs": [
                {
                    "source": name,
                    "kind": frame.attrs["kind"],
                    "rows": [{k: _plain(v) for k, v in r.items()} for r in frame.to_dict("records")],
                    "findings": [f.as_dict() for f in frame.attrs["findings"]],
                }
                for name, frame in self.logs
            ],
        }

    def text(self, width: int = 40) -> str:
        """For each log: a bar chart of bandwidth (or time) by size, then the findings."""
        blocks = []
        for name, frame in self.logs:
            blocks += [f"{name} ({frame.attrs['kind']}, {len(frame)} rows)"]
            for _, part in frame.groupby("section", sort=True):
                blocks += ["", *_chart(part, width)]
            found = [f"  {f}" for f in frame.attrs["findings"]]
            blocks += ["", *(found or ["  nothing odd found"]), ""]
        return "\n".join(blocks).rstrip()


def measure_report(
    paths: Iterable[str | Path],
    *,
    ranks: int | None = None,
    nic_gbytes_per_s: float | None = None,
    gpus_per_node: int | None = None,
) -> MeasureReport:
    """Read logs of any kind; raises one `InputError` that names every log in which no row parses."""
    logs: list[tuple[str, pd.DataFrame]] = []
    problems: list[Problem] = []
    for path in paths:
        try:
            frame = read_log(Path(path), ranks=ranks, nic_gbytes_per_s=nic_gbytes_per_s, gpus_per_node=gpus_per_node)
            logs.append((str(path), frame))
        except InputError as error:
            problems += error.problems
    if problems:
        raise InputError(problems)
    if not logs:
        raise InputError(Problem("no log given", remedy="Name one or more log files."))
    return MeasureReport(tuple(logs))


def _read(
    path_or_text: str | Path, kind: str | None, ranks: int | None, nic: float | None, gpus_per_node: int | None
) -> pd.DataFrame:
    for value, name in ((ranks, "ranks"), (nic, "nic_gbytes_per_s"), (gpus_per_node, "gpus_per_node")):
        if value is not None and not 0 < value < 1e7:
            raise InputError(Problem("must be a positive number", key=name, value=str(value)))
    lines, source = read_log_lines(path_or_text)
    parsed = [parse(lines) for k, parse in _PARSERS.items() if kind in (None, k)]
    log = max(parsed, key=lambda p: sum(len(s.rows) for s in p.sections))
    refused = [f for p in ([log] if log.sections else parsed) for f in p.findings if f.kind == IMPOSSIBLE]
    if refused:
        raise InputError(Problem(f.message, source, f.line, remedy=f.remedy) for f in refused)
    if not log.sections:
        raise InputError(_no_row(source, parsed))
    return _frame(log, source, ranks, nic, gpus_per_node)


def _no_row(source: str, parsed: Sequence[ParsedLog]) -> Problem:
    best = max(parsed, key=lambda p: len(p.findings))
    first = next((f for f in best.findings if f.line), None)
    why = f": {first.message}" if first else ""
    remedy = "Known: nccl-tests, rccl-tests, perftest and all_reduce_bench output, as the tool prints it."
    return Problem(f"no row of a measurement in this log{why}", source, first.line if first else 1, remedy=remedy)


def _frame(
    log: ParsedLog, source: str, ranks: int | None, nic: float | None, gpus_per_node: int | None
) -> pd.DataFrame:
    import pandas as pd

    findings = list(log.findings)
    records: list[dict[str, Any]] = []
    for number, section in enumerate(log.sections):
        setting = setting_of(section, ranks=ranks, nic_gbytes_per_s=nic, gpus_per_node=gpus_per_node)
        check = check_perftest if log.kind == "perftest" else check_collective
        findings += check(section, setting)
        hosts = section.hosts or (setting.domains if gpus_per_node else None)
        records += _records(section, number, setting.ranks, hosts)
    columns = list(dict.fromkeys([*COLUMNS, *(k for r in records for k in r)]))
    frame = pd.DataFrame.from_records(records, columns=columns)
    for name in columns:
        if name in _WHOLE:
            frame[name] = frame[name].astype("Int64" if name in ("ranks", "hosts") else "int64")
        elif name not in ("collective", "in_place"):
            frame[name] = frame[name].astype("float64")
    findings.sort(key=lambda f: f.line or 0)
    unnamed = frozenset(n for n, section in enumerate(log.sections) if section.facts.get("collective") == "inferred")
    told = {n: section.facts["settings"] for n, section in enumerate(log.sections) if "settings" in section.facts}
    frame.attrs = {
        "findings": tuple(findings), "kind": log.kind, "source": source, "unnamed": unnamed, "settings": told,
    }  # fmt: skip
    return frame


def _records(section: LogSection, number: int, ranks: int | None, hosts: int | None) -> list[dict[str, Any]]:
    shared = {"ranks": ranks, "hosts": hosts, "collective": section.collective, "section": number}
    own = ("extra",)
    return [{k: v for k, v in vars(r).items() if k not in own} | shared | dict(r.extra) for r in section.rows]


def _chart(part: pd.DataFrame, width: int) -> list[str]:
    latency = str(part["collective"].iloc[0]).endswith("_lat")
    column, unit = ("time_us", "us") if latency else ("busbw_gbytes_per_s", "GB/s")
    ranks, hosts = part["ranks"].iloc[0], part["hosts"].iloc[0]
    where = ", ".join(f"{v} {n}" for v, n in ((ranks, "ranks"), (hosts, "hosts")) if _plain(v) is not None)
    lines = [
        f"  {part['collective'].iloc[0]}"
        + (f", {where}" if where else "")
        + f": {'time' if latency else 'busbw'} by size"
    ]
    top = float(part[column].max())
    for size, value in zip(part["size_bytes"], part[column], strict=True):
        lines.append(
            f"  {_size(int(size)):>8}  {_bar(float(value) / top if top > 0 else 0.0, width)}  {value:,.4g} {unit}"
        )
    return lines


def _bar(share: float, width: int) -> str:
    eighths = round(share * width * 8)
    full, rest = divmod(eighths, 8)
    return ("█" * full + (_BLOCKS[rest] if rest else "")).ljust(width)


def _size(size_bytes: int) -> str:
    for power, unit in ((30, "GiB"), (20, "MiB"), (10, "KiB")):
        if size_bytes >= 2**power:
            return f"{size_bytes / 2**power:.4g} {unit}"
    return f"{size_bytes} B"


def _plain(value: Any) -> Any:
    import pandas as pd

    if pd.isna(value):
        return None
    return value.item() if hasattr(value, "item") else value
