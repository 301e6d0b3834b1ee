"""The acceptance plan's data: tests with their commands and sheets, runs that count as healthy, and what is seen at delivery.

`data/acceptance.yaml` holds them, and its head explains each key. What a test has to show is worked out by
`fabricreport.sections.diligence.plan`.

    tests:
      - test: T-WEEKS                       # id of a test of the plan
        gpus: 1024                          # GPUs it was run on
        value: 7                            # what was seen, a number
        unit: week                          # the plan's own unit
        evidence: Ticket 4711, closed ...   # what it was seen by

A test may stand in it several times: each entry is one run. Every fault of a file is reported at once, with file, line,
key and remedy.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Literal

from pydantic import AfterValidator, Field, ValidationInfo

from fabricreport.base.bounds import bound_of
from fabricreport.base.locations import did_you_mean
from fabricreport.books.fields import CLOSED, Count, Fault, Unwritten, context, measured, refusal, text
from fabricreport.books.reader import read_book, shipped

_FIELD = re.compile(r"@(\w+)@")


@dataclass(frozen=True)
class Suite:
    """The collective benchmark of a GPU maker: its name, folder of programs, library, source; `memory`: perftest's flag."""

    __pydantic_config__ = CLOSED
    name: str
    folder: str
    library: str
    source: str
    memory: str
    driver: str
    build: str


@dataclass(frozen=True)
class Transport:
    """What the collective library, and perftest, have to be told of a side's fabric."""

    __pydantic_config__ = CLOSED
    library: str
    perftest: str


@dataclass(frozen=True)
class PlanEntry:
    """One test as it stands in the file; see its head. `bar` names the rule by which its thresholds are found."""

    __pydantic_config__ = CLOSED
    id: str
    title: str
    tool: str
    program: str
    measures: str
    sizes: str
    nodes: str
    bar: str
    noise: str
    collective: str
    when: str
    pays: str
    why: str
    command: str


@dataclass(frozen=True)
class Setting:
    """A row of a sheet that the seller fills in: `stated` is what a source says, '' where none does; `of`: which fabrics."""

    __pydantic_config__ = CLOSED
    sheet: str
    what: str
    stated: str
    evidence: tuple[str, ...]
    verify: str
    asks: str
    formula: str = ""
    of: str = ""


@dataclass(frozen=True)
class AcceptanceBook:
    """All of it: suites by GPU maker, transports by side, sizes in bytes and reasons by name, tests in their order.

    `reduction`: the library's setting for reduction in the switches, `on` and `off`.

    `setup`: what commands begin with at each stage; `versions`: what is written down before them.
    """

    __pydantic_config__ = CLOSED
    suites: Mapping[str, Suite]
    transports: Annotated[Mapping[str, Transport], Field(alias="transport")]
    reduction: Mapping[Literal["on", "off"], str]
    sizes: Mapping[str, tuple[int, ...]]
    reasons: Mapping[str, str]
    tests: tuple[PlanEntry, ...]
    settings: tuple[Setting, ...]
    setup: str
    versions: str

    def sheet(self, name: str) -> tuple[Setting, ...]:
        """The rows of one sheet."""
        return tuple(row for row in self.settings if row.sheet == name)


def read_acceptance() -> AcceptanceBook:
    """The shipped plan."""
    return shipped("acceptance", AcceptanceBook)


def filled(template: str, words: Mapping[str, str]) -> str:
    """A command with each `@word@` filled in, no spaces left at the ends of its lines; `KeyError` for a word unknown."""
    text = _FIELD.sub(lambda field: words[field[1]], template)
    return "\n".join(line.rstrip() for line in text.rstrip("\n").split("\n"))


@dataclass(frozen=True)
class HealthyRun:
    """A result to be reached: what was run, the entries for its busbw and its tolerance, and the settings it was run with."""

    __pydantic_config__ = CLOSED
    id: str
    gpu: str
    gpus_per_node: int
    links_per_gpu: float
    fabric: str
    collective: str
    gpus: int
    size_bytes: int
    busbw: str
    tolerance: str
    settings: tuple[str, ...]


@dataclass(frozen=True)
class SetAside:
    """A table of `nccl/` or an entry of the library that is no result to be reached, and why."""

    __pydantic_config__ = CLOSED
    what: str
    why: Literal["log", "sample", "provisional", "unnamed"]


@dataclass(frozen=True)
class HealthyRuns:
    """All of it."""

    __pydantic_config__ = CLOSED
    runs: tuple[HealthyRun, ...]
    set_aside: tuple[SetAside, ...]


def read_healthy_runs() -> HealthyRuns:
    """The shipped book."""
    return shipped("healthy_runs", HealthyRuns)


SUFFIXES = (".yaml", ".yml")
"""How the name of such a file ends; every other file is a log."""


def _test(id: str, info: ValidationInfo) -> str:
    units = context(info)["units"]
    if id not in units:
        known = ", ".join(units) or "none: the plan records nothing by hand"
        raise refusal(Fault("is no test that is recorded by hand", (), f"Known: {known}.", did_you_mean(id, units)))
    return id


def _unit_asked(info: ValidationInfo) -> str:
    """The unit of the test that is recorded; '' where its id is at fault."""
    return str(context(info)["units"].get(info.data.get("test"), ""))


def _value(value: float, info: ValidationInfo) -> float:
    unit = _unit_asked(info)
    if unit and (fault := bound_of(unit).fault(value)):
        raise refusal(Fault(fault, remedy=f"The unit is {unit}."))
    return value


def _unit(unit: str, info: ValidationInfo) -> str:
    asked = _unit_asked(info)
    if asked and unit != asked:
        raise refusal(Fault(f"{info.data['test']} is recorded in {asked}", remedy="Convert the value."))
    return unit


_WITNESS = "Say what it was seen by: a ticket, a log, a person."


@dataclass(frozen=True)
class Seen:
    """One test as somebody saw it: `value` in `unit` on `gpus` GPUs; `evidence`: what it was seen by."""

    __pydantic_config__ = CLOSED
    test: Annotated[str, AfterValidator(_test), Field(description="Write `test:` and its id.")]
    gpus: Annotated[Count, measured("gpus"), Field(description="Write `gpus:`, those that it was seen on.")]
    value: Annotated[
        float, AfterValidator(_value), Field(description="Write `value:` and a number; words belong into `evidence`.")
    ]
    unit: Annotated[str, AfterValidator(_unit), Field(description="Write `unit:`, the plan's own.")]
    evidence: Annotated[str, text(500, remedy=_WITNESS), Field(description=_WITNESS)]
    line: Unwritten[int] = 0


@dataclass(frozen=True)
class Records:
    """What was seen, run by run."""

    __pydantic_config__ = CLOSED
    tests: Annotated[tuple[Seen, ...], Field(min_length=1, description="Begin with `tests:` and a list under it.")]


def read_records(path: Path, units: Mapping[str, str]) -> tuple[Seen, ...]:
    """The records of one file. `units`: by test id, the unit of every test of the plan that is recorded by hand.

    Raises `InputError` with every fault: unknown or missing keys, a test that the plan does not record, another unit, a
    value that its unit cannot have, text that a page could show otherwise than typed.
    """
    read = read_book(path, Records, units=units)
    return tuple(replace(s, line=read.located.line_of(("tests", n))) for n, s in enumerate(read.value.tests))
