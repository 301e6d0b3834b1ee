"""The memo's language as data: its terms, the words it does not use, and those that tell a direction or a statistic.

Every key of `evidence/glossary.yaml` is explained there.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from fabricreport.errors import InputError, Problem
from fabricreport.evidence import ROOT
from fabricreport.located import KeyPath, Located, did_you_mean
from fabricreport.strict_yaml import load_strict

SHIPPED_FILE = ROOT / "glossary.yaml"
DIRECTIONS = ("less", "more", "nouns", "against", "open", "conditions")
EXPECTED = "expected"
STATISTICS = ("mean", "p50", EXPECTED)
"""The statistics that a figure's `central` may be, and what stands for the mean where money is told of."""
_PARTS = ("terms", "instead_of", "leads", "verbs", "directions", "statistics", "advice", "orders")

_MISSING = object()
"""Stands for a key that is left out, which is told once."""


@dataclass(frozen=True)
class Term:
    """A term of the trade, what it means, and what else the text calls it."""

    term: str
    means: str
    also: tuple[str, ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        """Every name that the text may use."""
        return (self.term, *self.also)


@dataclass(frozen=True)
class Instead:
    """Words not to use and what to write; `unless` they stand in one of these phrases; whether a client copy stops."""

    words: tuple[str, ...]
    write: str
    unless: tuple[str, ...] = ()
    stops: bool = False


@dataclass(frozen=True)
class Directions:
    """Words that say that an option has `less` or `more`, those of them that are `nouns`, what stands before the option
    that another is held `against`, what leaves a sentence `open` beside them, and `conditions` that do so anywhere."""

    less: tuple[str, ...]
    more: tuple[str, ...]
    nouns: tuple[str, ...]
    against: tuple[str, ...]
    open: tuple[str, ...]
    conditions: tuple[str, ...]


@dataclass(frozen=True)
class Glossary:
    """The language of the memo; `statistics` are the words by statistic, `advice` and `orders` what stands before an
    advised option, the latter at the beginning of a sentence."""

    terms: tuple[Term, ...]
    instead_of: tuple[Instead, ...]
    leads: tuple[str, ...]
    verbs: tuple[str, ...]
    directions: Directions
    statistics: Mapping[str, tuple[str, ...]]
    advice: tuple[str, ...]
    orders: tuple[str, ...]


@cache
def glossary_book() -> Glossary:
    """The shipped glossary."""
    return read_glossary(SHIPPED_FILE)


def read_glossary(path: Path) -> Glossary:
    """A glossary; `InputError` with every fault found, each with file, line and key."""
    reading = _Reading(load_strict(path), [])
    tree = reading.mapping((), reading.tree.data, _PARTS)
    terms = [reading.term(at, row) for at, row in reading.rows(("terms",), tree.get("terms", _MISSING))]
    banned = [reading.instead(at, row) for at, row in reading.rows(("instead_of",), tree.get("instead_of", _MISSING))]
    told = reading.mapping(("directions",), tree.get("directions", _MISSING), DIRECTIONS)
    central = reading.mapping(("statistics",), tree.get("statistics", _MISSING), STATISTICS)
    reading.told_once([(("terms", i), name) for i, term in enumerate(terms) for name in dict.fromkeys(term.names)])
    reading.told_once([(("instead_of", i), word) for i, one in enumerate(banned) for word in one.words])
    reading.told_once([(("directions", key), w) for key in ("less", "more") for w in told.get(key) or ()])
    found = Glossary(
        terms=tuple(terms),
        instead_of=tuple(banned),
        leads=reading.words(("leads",), tree.get("leads", _MISSING)),
        verbs=reading.words(("verbs",), tree.get("verbs", _MISSING)),
        directions=Directions(*(reading.words(("directions", key), told.get(key, _MISSING)) for key in DIRECTIONS)),
        statistics={key: reading.words(("statistics", key), central.get(key, _MISSING)) for key in STATISTICS},
        advice=reading.words(("advice",), tree.get("advice", _MISSING)),
        orders=reading.words(("orders",), tree.get("orders", _MISSING)),
    )
    if reading.problems:
        raise InputError(reading.problems)
    return found


@dataclass
class _Reading:
    """A file with the faults found so far: every part is read, whatever is wrong with another."""

    tree: Located
    problems: list[Problem]

    def fault(self, at: KeyPath, message: str, **said: Any) -> None:
        self.problems.append(self.tree.problem(at, message, **said))

    def mapping(self, at: KeyPath, given: Any, keys: Iterable[str], optional: Iterable[str] = ()) -> dict[str, Any]:
        if given is _MISSING:
            return {}
        if not isinstance(given, dict):
            self.fault(at, "must be a mapping of keys")
            return {}
        known = (*keys, *optional)
        for key in given:
            if key not in known:
                self.fault((*at, key), "unknown key", value=key, suggestion=did_you_mean(key, known))
        for key in keys:
            if key not in given:
                self.fault(at, f"the key '{key}' is missing")
        return given

    def rows(self, at: KeyPath, given: Any) -> list[tuple[KeyPath, Any]]:
        if given is _MISSING:
            return []
        if not isinstance(given, list) or not given:
            self.fault(at, "must be a list with at least one entry")
            return []
        return [((*at, i), row) for i, row in enumerate(given)]

    def words(self, at: KeyPath, given: Any) -> tuple[str, ...]:
        return tuple(self.text(where, word) for where, word in self.rows(at, given))

    def text(self, at: KeyPath, given: Any) -> str:
        if given is _MISSING:
            return ""
        if not isinstance(given, str) or not given.strip():
            self.fault(at, "must be words", value=given, remedy="Put it in quotes.")
            return ""
        return given

    def term(self, at: KeyPath, row: Any) -> Term:
        given = self.mapping(at, row, ("term", "means"), ("also",))
        return Term(
            self.text((*at, "term"), given.get("term", _MISSING)),
            self.text((*at, "means"), given.get("means", _MISSING)),
            self.words((*at, "also"), given["also"]) if "also" in given else (),
        )

    def instead(self, at: KeyPath, row: Any) -> Instead:
        given = self.mapping(at, row, ("words", "write"), ("unless", "stops"))
        stops = given.get("stops", False)
        if not isinstance(stops, bool):
            self.fault((*at, "stops"), "must be true or false", value=stops)
        return Instead(
            self.words((*at, "words"), given.get("words", _MISSING)),
            self.text((*at, "write"), given.get("write", _MISSING)),
            self.words((*at, "unless"), given["unless"]) if "unless" in given else (),
            stops is True,
        )

    def told_once(self, named: Iterable[tuple[KeyPath, str]]) -> None:
        seen: dict[str, KeyPath] = {}
        for at, name in named:
            first = seen.setdefault(str(name).casefold(), at)
            if first != at:
                self.fault(at, "this word is said already", value=name, remedy="Leave it to one of the two.")
