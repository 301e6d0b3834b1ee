"""The acceptance plan's data: tests with their commands, the sheets of settings, what is written down of versions.

`evidence/acceptance.yaml` holds them, and its head explains each key. What a test has to show is worked out by
`fabricreport.sections.diligence.plan`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from fabricreport.evidence import read_yaml

_FIELD = re.compile(r"@(\w+)@")


@dataclass(frozen=True)
class Suite:
    """The collective benchmark of a GPU maker: its name, folder of programs, library, source; `memory`: perftest's flag."""

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

    library: str
    perftest: str


@dataclass(frozen=True)
class PlanEntry:
    """One test as it stands in the file; see its head. `bar` names the rule by which its thresholds are found."""

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

    `setup`: what commands begin with at each stage; `versions`: what is written down before them.
    """

    suites: Mapping[str, Suite]
    transports: Mapping[str, Transport]
    sizes: Mapping[str, tuple[int, ...]]
    reasons: Mapping[str, str]
    tests: tuple[PlanEntry, ...]
    settings: tuple[Setting, ...]
    setup: str
    versions: str

    def sheet(self, name: str) -> tuple[Setting, ...]:
        """The rows of one sheet."""
        return tuple(row for row in self.settings if row.sheet == name)


@lru_cache(maxsize=1)
def read_acceptance() -> AcceptanceBook:
    """The shipped plan, read once."""
    data = read_yaml("acceptance")
    return AcceptanceBook(
        {vendor: Suite(**row) for vendor, row in data["suites"].items()},
        {side: Transport(**row) for side, row in data["transport"].items()},
        {name: tuple(sizes) for name, sizes in data["sizes"].items()},
        dict(data["reasons"]),
        tuple(PlanEntry(**row) for row in data["tests"]),
        tuple(_setting(row) for row in data["settings"]),
        data["setup"],
        data["versions"],
    )


def _setting(row: Mapping[str, Any]) -> Setting:
    return Setting(**{**row, "evidence": tuple(row["evidence"])})


def filled(template: str, words: Mapping[str, str]) -> str:
    """A command with each `@word@` filled in, no spaces left at the ends of its lines; `KeyError` for a word unknown."""
    text = _FIELD.sub(lambda field: words[field[1]], template)
    return "\n".join(line.rstrip() for line in text.rstrip("\n").split("\n"))
