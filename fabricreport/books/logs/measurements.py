"""The client's own measurements: logs of nccl-tests, perftest and all_reduce_bench as data frames with findings.

Every reader returns one row for each measured size with the columns of `COLUMNS`; rows keep the log's order.
The out-of-place figures are the row's own; the in-place ones of the same line stand beside them (`in_place_*`).
`in_place` is True only where a line has nothing but in-place figures. `df.attrs["findings"]` is a tuple of `Finding`;
`df.attrs["kind"]` and `df.attrs["source"]` say what was read, `df.attrs["settings"]` what a table's command line sets of the
library, by the number of its section, where it stands in the log. A reader raises `InputError` if no row
parses, and for a figure that no run can have.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fabricreport.books.logs.findings import check_collective, check_perftest, setting_of
from fabricreport.books.logs.lines import ERROR, IMPOSSIBLE, Finding, LogSection, ParsedLog, read_log_lines
from fabricreport.books.logs.nccl_log import parse_nccl_tests
from fabricreport.books.logs.perftest_log import parse_all_reduce_bench, parse_perftest
from fabricreport.errors import InputError, Problem

if TYPE_CHECKING:  # heavy, and only a client with logs needs it
    import pandas as pd

__all__ = [
    "COLUMNS", "Finding", "MeasureReport", "measure_report", "read_all_reduce_bench", "read_log", "read_nccl_tests",
    "read_perftest",
]  # fmt: skip

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
