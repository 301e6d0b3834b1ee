"""The acceptance plan's data: tests with their commands, the sheets of settings, what is written down of versions.

`evidence/acceptance.yaml` holds them, and its head explains each key. What a test has to show is worked out by
`fabricreport.sections.diligence.plan`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Literal

from pydantic import Field

from fabricreport.books.fields import CLOSED
from fabricreport.books.reader import shipped

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
