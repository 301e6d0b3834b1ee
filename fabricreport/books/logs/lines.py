"""What all log readers share: the shape of a finding and of a row, lines freed from what was pasted around them, and the rules of doubt."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from fabricreport.base.bounds import bound_of
from fabricreport.base.errors import InputError, Problem
from fabricreport.base.locations import read_bytes_strict, shown_path
from fabricreport.books.fields import CLOSED
from fabricreport.books.prices.rules import Slip, clean_text
from fabricreport.books.reader import shipped


@dataclass(frozen=True)
class TwoNodes:
    """What one set of hosts reached on two nodes and on four, and on two as a ring."""

    __pydantic_config__ = CLOSED
    two_node_gbytes_per_s: float
    four_node_gbytes_per_s: float


@dataclass(frozen=True)
class Shortfall:
    """What a bandwidth below this share of the NICs' looks like, and what to do."""

    __pydantic_config__ = CLOSED
    below: float
    looks_like: str
    remedy: str


@dataclass(frozen=True)
class Device:
    """What a GPU whose name contains this word is taken to be connected by; None where nothing is taken."""

    __pydantic_config__ = CLOSED
    contains: str
    nic_gbytes_per_s: float | None = None
    nvlink_gpus: int | None = None
    one_node_gbytes_per_s: float | None = None


@dataclass(frozen=True)
class LogRules:
    """The thresholds."""

    __pydantic_config__ = CLOSED
    largest_log_bytes: int
    longest_line_characters: int
    most_lines: int
    identity_tolerance: float
    printed_half_step_gbytes_per_s: float
    unit_slips: tuple[Slip, ...]
    slip_tolerance: float
    rank_check_algbw_gbytes_per_s: float
    cap_tolerance: float
    warm_up_ratio: float
    warm_up_largest_bytes: int
    spike_ratio: float
    dip_share: float
    dip_smallest_bytes: int
    bimodal_gap_share: float
    bimodal_side_share: float
    bimodal_smallest_count: int
    coarse_algbw_gbytes_per_s: float
    placement_ratio: float
    placement_smallest_count: int
    large_bytes: int
    average_tolerance: float
    largest_node_gpus: int
    two_nodes: TwoNodes
    shortfall: tuple[Shortfall, ...]
    perftest_share: float
    tail_ratio: float
    unsteady_share: float
    devices: tuple[Device, ...]


ERROR, WARNING, INFO = "error", "warning", "info"
IMPOSSIBLE = "impossible"
"""Kind of the findings for which a log is refused."""

# No expression here may take longer than in proportion to the line: what repeats is possessive or of bounded length.
_ESCAPES = re.compile(r"(?:\x1b|\^\[)(?:\[[0-9;?]*+[ -/]*+[@-~]|\][^\x07\x1b]{0,512}+(?:\x07|\x1b\\)|[()][A-Z0-9])")
_BARE_COLOUR = re.compile(r"\[\d{1,3}(?:;\d{1,3})*m")
_PREFIXES = re.compile(
    r"(?:\s*+(?:"
    r"\[[^\],\s]*+(?<=\d),\d++\]<std\w++>:\s?"  # mpirun --tag-output
    r"|\[[A-Za-z][\w.-]*+(?::\d++)?\]:\s?"  # torchrun --tee
    r"|\[?\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}:\d{2}(?:[.,]\d++)?(?:Z|[+-]\d{2}:?\d{2})?\]?:?\s++"  # date and time
    r"|\[?\d{2}:\d{2}:\d{2}(?:[.,]\d++)?\]?:?\s++"  # time of day
    r"|[A-Z][a-z]{2}\s++\d{1,2}\s\d{2}:\d{2}:\d{2}\s\S++\s\S+\[\d++\]:\s"  # journal
    r"|\d++:\s"  # srun --label
    r"|[A-Za-z][\w.-]*+:\s++(?=[#|]|\d++\s++\d)"  # pdsh, kubectl: host in front of a table line
    r"|>\s?"  # a quoted mail or issue
    r"))*"
)


@dataclass(frozen=True)
class Finding:
    """Something worth saying about a log: what, how bad, at which line, and which setting or action helps."""

    kind: str
    severity: str
    line: int | None
    message: str
    remedy: str = ""
    numbers: Mapping[str, float] = field(default_factory=dict)

    def as_dict(self) -> dict[str, Any]:
        """Plain values for `--json`."""
        return {
            "kind": self.kind, "severity": self.severity, "line": self.line, "message": self.message,
            "remedy": self.remedy, "numbers": dict(self.numbers),
        }  # fmt: skip

    def __str__(self) -> str:
        where = f"line {self.line}: " if self.line else ""
        return f"{self.severity}: {where}{self.message}." + (f" {self.remedy}" if self.remedy else "")


@dataclass(frozen=True)
class LogRow:
    """One measured size. Times in microseconds, bandwidths in GB/s (decimal); None where the log prints none."""

    line: int
    size_bytes: int
    time_us: float
    algbw_gbytes_per_s: float
    busbw_gbytes_per_s: float
    wrong: float | None = None
    in_place: bool = False
    in_place_time_us: float | None = None
    in_place_algbw_gbytes_per_s: float | None = None
    in_place_busbw_gbytes_per_s: float | None = None
    extra: Mapping[str, float] = field(default_factory=dict)


class ImpossibleFigure(ValueError):
    """A figure that no run of a benchmark can have; the text says which and why."""


_ROW_UNITS = {
    "size_bytes": "bytes",
    "time_us": "us",
    "algbw_gbytes_per_s": "printed-gbytes/s",
    "busbw_gbytes_per_s": "printed-gbytes/s",
    "wrong": "printed-wrong",
    "in_place_time_us": "us",
    "in_place_algbw_gbytes_per_s": "printed-gbytes/s",
    "in_place_busbw_gbytes_per_s": "printed-gbytes/s",
    "peak_gbytes_per_s": "printed-gbytes/s",
    "min_us": "us",
    "max_us": "us",
    "p99_us": "us",
    "p999_us": "us",
    "stdev_us": "us",
}
"""Unit of every figure of a row, its extra ones included."""
_PLAIN = re.compile(r"[+-]?(?:\d++(?:\.\d*+)?|\.\d++)(?:[eE][+-]?\d++)?", re.ASCII)
_MOST_DIGITS = 18


def possible(row: LogRow) -> LogRow:
    """The row, if each of its figures lies within the bounds of its unit; else `ImpossibleFigure`."""
    for name, value in (vars(row) | dict(row.extra)).items():
        if name in _ROW_UNITS and value is not None and (fault := bound_of(_ROW_UNITS[name]).fault(value)):
            raise ImpossibleFigure(f"{name} of {value:g} {fault}")
    return row


def decimal(word: str) -> float:
    """A decimal number; `ValueError` for anything else, nan and inf included, `ImpossibleFigure` if it overflows."""
    if not _PLAIN.fullmatch(word):
        raise ValueError(f"{word[:20]} is not a number")
    value = float(word)
    if not math.isfinite(value):
        raise ImpossibleFigure(f"{word[:20]} is larger than any number")
    return value


def counted(digits: str, unit: str) -> int:
    """A count of a header or command line within the bounds of its unit; else `ImpossibleFigure`."""
    fault = "has too many digits" if len(digits) > _MOST_DIGITS else bound_of(unit).fault(int(digits))
    if fault:
        raise ImpossibleFigure(f"a count of {digits[:24]} {fault}")
    return int(digits)


def impossible(line: int, error: ImpossibleFigure) -> Finding:
    """The finding for which a log is refused."""
    return Finding(IMPOSSIBLE, ERROR, line, f"an impossible figure: {error}", "Ask for the log as the tool wrote it.")


@dataclass(frozen=True)
class LogSection:
    """One run of one benchmark: its rows and what its header and footer claim (None where they do not)."""

    collective: str
    rows: tuple[LogRow, ...]
    line: int
    ranks: int | None = None
    hosts: int | None = None
    device: str = ""
    largest_bytes: int | None = None
    printed_average: float | None = None
    facts: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class ParsedLog:
    """A log as read: `kind` is nccl-tests, perftest or all_reduce_bench; findings are about lines, not yet figures."""

    kind: str
    sections: tuple[LogSection, ...]
    findings: tuple[Finding, ...] = ()


def log_rules() -> LogRules:
    """The thresholds of `data/measurement_rules.yaml`."""
    return shipped("measurement_rules", LogRules)


def read_log_lines(path_or_text: str | Path) -> tuple[list[tuple[int, str]], str]:
    """The cleaned lines of a log and a name for it; a log too large or too long to be one is refused unread.

    A `Path`, or a one-line string, is an ordinary file; anything with a line break is the log itself.
    """
    if isinstance(path_or_text, str) and ("\n" in path_or_text or "\r" in path_or_text):
        text, shown = path_or_text, "text"
    else:
        path = Path(path_or_text)
        data, shown = read_bytes_strict(path, max_bytes=log_rules().largest_log_bytes), shown_path(path)
        wide = data[:2] in (b"\xff\xfe", b"\xfe\xff")
        text = data.decode("utf-16" if wide else "utf-8-sig", errors="replace")
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    _refuse_what_is_no_log(lines, shown)
    return list(_clean_lines(lines)), shown


def _refuse_what_is_no_log(lines: Sequence[str], shown: str) -> None:
    """Before any expression is tried on a line: bound how many there are, and how long each is."""
    most, longest = log_rules().most_lines, log_rules().longest_line_characters
    remedy = "Keep the lines of the benchmark."
    if len(lines) > most + 1:  # what follows the last line break is no line
        raise InputError(Problem(f"has more than {most:,} lines", shown, most + 1, remedy=remedy))
    number = next((n for n, line in enumerate(lines, start=1) if len(line) > longest), None)
    if number:
        length = len(lines[number - 1])
        raise InputError(
            Problem(f"a line of {length:,} characters: no log has more than {longest:,}", shown, number, remedy=remedy)
        )


def _clean_lines(lines: Iterable[str]) -> Iterator[tuple[int, str]]:
    """Numbered lines without colour codes, launcher prefixes, timestamps and Markdown fences; empty ones left out."""
    for number, line in enumerate(lines, start=1):
        cleaned = strip_line(line)
        if cleaned.strip() and not cleaned.strip().startswith(("```", "~~~")):
            yield number, cleaned


def strip_line(line: str) -> str:
    """One line freed from everything a launcher, a terminal or a chat put around it."""
    line = _BARE_COLOUR.sub("", _ESCAPES.sub("", line)).replace("\xa0", " ").replace("\t", " ")
    if not line.isprintable():
        line = clean_text(line)
    prefixes = _PREFIXES.match(line)
    return line[prefixes.end() if prefixes else 0 :].rstrip()
