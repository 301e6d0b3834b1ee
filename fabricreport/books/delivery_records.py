"""What no benchmark prints, seen at delivery: a YAML file that whoever ran the acceptance test writes, read strictly.

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

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated

from pydantic import AfterValidator, Field, ValidationInfo

from fabricreport.books.fields import CLOSED, Count, Fault, Unwritten, context, measured, refusal, text
from fabricreport.books.reader import read_book
from fabricreport.bounds import bound_of
from fabricreport.located import did_you_mean

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
