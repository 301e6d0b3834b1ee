"""Logs and records as runs: one value of one test on so many GPUs at one size, and whether its settings let it count for a pass.

A setting that only says what the library does anyway may be left out of a command line. What finds the network (adapters,
address index, traffic class) belongs to the site and is no setting of the order.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fabricreport.base.errors import InputError, Problem
from fabricreport.base.locations import decode_strict, read_bytes_strict, shown_path
from fabricreport.books.acceptance import Seen, read_acceptance
from fabricreport.books.logs.lines import ERROR, Finding

if TYPE_CHECKING:
    import pandas as pd


FILE = "settings"
"""What the name of the file begins with, up to the first dot, in which the order's settings are handed over."""
_SETTING = re.compile(r"(?:NCCL|RCCL)_[A-Z0-9_]{1,64}+=\S{1,128}+")
_NAME = re.compile(r"\b(?:NCCL|RCCL)_[A-Z0-9_]+")
_LARGEST_BYTES = 10_000


@dataclass(frozen=True)
class Order:
    """The settings named, each `NAME=VALUE`; the library's defaults for all others."""

    settings: tuple[str, ...]

    def holds(self, told: Iterable[str]) -> bool:
        """Whether a command line with these settings is one of the order."""
        return _moved(told) == _moved(self.settings)


@cache
def _site() -> frozenset[str]:
    """Names of what the plan's own commands set to find the network, and to say which version ran."""
    book = read_acceptance()
    return frozenset(n for t in book.transports.values() for n in _NAME.findall(t.library)) | {"NCCL_DEBUG"}


def _moved(settings: Iterable[str]) -> frozenset[str]:
    """Those that make the library do other than by itself."""
    default = read_acceptance().reduction["off"]
    return frozenset(s for s in settings if s != default and s.partition("=")[0] not in _site())


def read_order(path: Path) -> Order:
    """The settings of a file, one or more a line, with or without `-x`; `InputError` for a word that is none."""
    words = decode_strict(read_bytes_strict(path, max_bytes=_LARGEST_BYTES), shown_path(path)).split()
    settings = [word for word in words if word != "-x"]
    wrong = next((word for word in settings if not _SETTING.fullmatch(word)), None)
    if wrong is not None:
        remedy = "Write each as NAME=VALUE, such as NCCL_IB_QPS_PER_CONNECTION=2."
        raise InputError(
            Problem("is no setting of the collective library", shown_path(path), value=wrong[:80], remedy=remedy)
        )
    return Order(tuple(dict.fromkeys(settings)))


ALLREDUCE = "allreduce"
"""The collective whose two bandwidths give back the number of ranks most sharply."""

_ALIKE = frozenset({"allgather", "alltoall"})
"""Collectives whose tables differ in nothing: no operation, and busbw of (n − 1) ÷ n algbw."""


class Flaw(StrEnum):
    """Why a run cannot count for a pass. The first five say that it measured something else, or nothing."""

    OTHER_RANKS = "the ratio of its bandwidths is that of another number of GPUs"
    OTHER_SETTINGS = "its command line sets what the order does not name"
    CONTRADICTS = "its own columns contradict each other, or what the links carry"
    BOTH_WAYS = "it counts both directions together"
    WARM_UP = "the row is a warm-up"
    WRONG_RESULTS = "the library found wrong results"
    REPEAT = "the row stands out from its neighbours"
    INCOMPLETE = "rows of the log are missing"


VOID = frozenset({Flaw.OTHER_RANKS, Flaw.OTHER_SETTINGS, Flaw.CONTRADICTS, Flaw.BOTH_WAYS, Flaw.WARM_UP})
"""Flaws of a run that proves nothing, in neither direction."""
_OF_ROW = {"spike": Flaw.REPEAT, "bimodal": Flaw.REPEAT, "warm-up": Flaw.WARM_UP}
_OF_TABLE = {
    "rank-count": Flaw.OTHER_RANKS,
    "both-directions": Flaw.BOTH_WAYS,
    "wrong-results": Flaw.WRONG_RESULTS,
    "average": Flaw.INCOMPLETE,
    "cut-off": Flaw.INCOMPLETE,
    "elided": Flaw.INCOMPLETE,
}
_WORST_FIRST = tuple(Flaw)


@dataclass(frozen=True)
class Run:
    """One run as logged. `gpus`: as the log claims, None where it names none; `size_bytes`: 0 of a record. `test`: the one
    that the log's name says it is of, '' where it says none; a record is of the test that it measures.

    Times in microseconds, bandwidths in GB/s (decimal), None where the tool prints none; `p99_us`: of a latency test.
    `value`: of a record, in its own unit. `table`: the sizes in bytes of all rows of its log's table.
    """

    measures: str
    gpus: int | None
    size_bytes: int
    log: str
    line: int
    time_us: float | None = None
    busbw_gbytes_per_s: float | None = None
    algbw_gbytes_per_s: float | None = None
    p99_us: float | None = None
    value: float | None = None
    flaw: Flaw | None = None
    test: str = ""
    table: frozenset[int] = frozenset()

    @property
    def void(self) -> bool:
        """Whether it proves nothing."""
        return self.flaw in VOID


@dataclass(frozen=True)
class Logs:
    """Everything that was handed over: its runs, and the names of its files in their order; `beside`: those not judged;
    `settings`: of the library, that the order names.
    """

    runs: tuple[Run, ...]
    names: tuple[str, ...]
    beside: tuple[str, ...] = ()
    settings: tuple[str, ...] = ()


def runs_of(
    frame: pd.DataFrame, log: str, test: str = "", measures: str = "", order: Order | None = None
) -> tuple[Run, ...]:
    """The rows of a log as runs; `frame` as the readers of logs give it, `log` its name for people, `test` the one it is of.

    `measures`: what that test measures. Releases of the benchmark that do not print their program's name give AllGather and
    AlltoAll the same table: there the log's name decides. `order`: by which a table's settings are judged, where it tells them.
    """
    flaws, unnamed = _flaws(frame, order), frame.attrs.get("unnamed", frozenset())
    rows = frame.to_dict("records")
    tables: dict[int, set[int]] = {}
    for row in rows:
        tables.setdefault(int(row["section"]), set()).add(int(row["size_bytes"]))
    return tuple(
        Run(
            _collective(str(row["collective"]), measures, named=int(row["section"]) not in unnamed),
            None if _missing(row["ranks"]) else int(row["ranks"]),
            int(row["size_bytes"]),
            log,
            int(row["line"]),
            time_us=_number(row.get("time_us")),
            busbw_gbytes_per_s=_number(row.get("busbw_gbytes_per_s")),
            algbw_gbytes_per_s=_number(row.get("algbw_gbytes_per_s")),
            p99_us=_number(row.get("p99_us")),
            flaw=_worst([*flaws.of_table.get(int(row["section"]), ()), *flaws.of_row.get(int(row["line"]), ())]),
            test=test,
            table=frozenset(tables[int(row["section"])]),
        )
        for row in rows
        if int(row["size_bytes"]) > 0
    )


def _collective(read: str, measures: str, *, named: bool) -> str:
    return measures if not named and {read, measures} == _ALIKE else read


def runs_of_records(seen: Iterable[Seen], log: str) -> tuple[Run, ...]:
    """Records as runs of the tests that they name."""
    return tuple(Run(s.test, s.gpus, 0, log, s.line, value=s.value, test=s.test) for s in seen)


@dataclass(frozen=True)
class _Flaws:
    """Flaws by the number of a log's table, and by the line of a row."""

    of_table: Mapping[int, Sequence[Flaw]]
    of_row: Mapping[int, Sequence[Flaw]]


def _flaws(frame: pd.DataFrame, order: Order | None) -> _Flaws:
    ends = frame.groupby("section")["line"].max().sort_index()
    of_table: dict[int, list[Flaw]] = {}
    of_row: dict[int, list[Flaw]] = {}
    for finding in frame.attrs["findings"]:
        if finding.kind in _OF_ROW and finding.line is not None:
            of_row.setdefault(finding.line, []).append(_OF_ROW[finding.kind])
        elif (flaw := _of_table(finding)) is not None:
            for section in _sections(finding.line, ends):
                of_table.setdefault(section, []).append(flaw)
    for section, told in frame.attrs.get("settings", {}).items():
        if order is not None and not order.holds(told.split()):
            of_table.setdefault(section, []).append(Flaw.OTHER_SETTINGS)
    return _Flaws(of_table, of_row)


def _of_table(finding: Finding) -> Flaw | None:
    if finding.kind in _OF_TABLE:
        return _OF_TABLE[finding.kind]
    return Flaw.CONTRADICTS if finding.severity == ERROR else None


def _sections(line: int | None, ends: pd.Series[int]) -> Iterator[int]:
    """The table that a line belongs to: the first that ends at it or after, else the last; every one without a line."""
    if line is None:
        yield from (int(section) for section in ends.index)
        return
    after = ends[ends >= line]
    yield int(after.index[0] if len(after) else ends.index[-1])


def _worst(flaws: Sequence[Flaw]) -> Flaw | None:
    return min(flaws, key=_WORST_FIRST.index, default=None)


def _missing(value: Any) -> bool:
    import pandas as pd

    return bool(pd.isna(value))


def _number(value: Any) -> float | None:
    return None if value is None or _missing(value) else float(value)
