"""The words of the memo’s language: terms that it explains, words that it does not use, and words of direction.

Every key of `data/glossary.yaml` is explained there.
"""

from __future__ import annotations

from collections.abc import Container, Iterable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Annotated, Self

from pydantic import Field, model_validator

from fabricreport.base.locations import KeyPath
from fabricreport.base.yaml_files import ROOT
from fabricreport.books.fields import CLOSED, Fault, refusal, text
from fabricreport.books.reader import read_book

SHIPPED_FILE = ROOT / "glossary.yaml"
EXPECTED = "expected"
STATISTICS = ("mean", "p50", EXPECTED)
"""The statistics that a figure's `central` may be, and what stands for the mean where money is told of."""

_Word = Annotated[str, text(200)]
_Words = Annotated[tuple[_Word, ...], Field(min_length=1)]


@dataclass(frozen=True)
class Term:
    """A term of the trade, what it means, and what else the text calls it."""

    __pydantic_config__ = CLOSED
    term: _Word
    means: _Word
    also: tuple[_Word, ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        """Every name that the text may use."""
        return (self.term, *self.also)


@dataclass(frozen=True)
class Instead:
    """Words not to use and what to write; `unless` they stand in one of these phrases; whether a client copy stops."""

    __pydantic_config__ = CLOSED
    words: _Words
    write: _Word
    unless: tuple[_Word, ...] = ()
    stops: bool = False


@dataclass(frozen=True)
class Directions:
    """Words that say that an option has `less` or `more`, those of them that are `nouns`, what stands before the option
    that another is held `against`, what leaves a sentence `open` beside them, and `conditions` that do so anywhere."""

    __pydantic_config__ = CLOSED
    less: _Words
    more: _Words
    nouns: _Words
    against: _Words
    open: _Words
    conditions: _Words


@dataclass(frozen=True)
class Statistics:
    """The words that name each of `STATISTICS`."""

    __pydantic_config__ = CLOSED
    mean: _Words
    p50: _Words
    expected: _Words

    def words(self, statistic: str) -> tuple[str, ...]:
        """Those of one statistic."""
        found: tuple[str, ...] = getattr(self, statistic)
        return found


@dataclass(frozen=True)
class Glossary:
    """The language of the memo; `advice` and `orders` are what stands before an advised option, the latter at the beginning
    of a sentence."""

    __pydantic_config__ = CLOSED
    terms: tuple[Term, ...]
    instead_of: tuple[Instead, ...]
    leads: _Words
    verbs: _Words
    directions: Directions
    sets_apart: _Words
    statistics: Statistics
    advice: _Words
    orders: _Words

    @model_validator(mode="after")
    def told_once(self) -> Self:
        """No term, no word to leave out and no direction is said twice."""
        terms = [(("terms", i), name) for i, term in enumerate(self.terms) for name in dict.fromkeys(term.names)]
        banned = [(("instead_of", i), word) for i, one in enumerate(self.instead_of) for word in one.words]
        ways = [(("directions", key), w) for key in ("less", "more") for w in getattr(self.directions, key)]
        faults = [fault for named in (terms, banned, ways) for fault in _repeated(named)]
        if faults:
            raise refusal(*faults)
        return self

    def abbreviations(self, words: Container[str]) -> tuple[Term, ...]:
        """The terms of which some name in capitals is among these words, in the order of the alphabet."""
        return tuple(t for t in self.terms if any(n in words for n in t.names if sum(map(str.isupper, n)) > 1))


def _repeated(named: Iterable[tuple[KeyPath, str]]) -> Iterable[Fault]:
    seen: dict[str, KeyPath] = {}
    for at, name in named:
        if seen.setdefault(name.casefold(), at) != at:
            yield Fault("this word is said already", at, "Leave it to one of the two.", shown=name)


@cache
def glossary_book() -> Glossary:
    """The shipped glossary."""
    return read_glossary(SHIPPED_FILE)


def read_glossary(path: Path) -> Glossary:
    """A glossary; `InputError` with every fault found, each with file, line and key."""
    return read_book(path, Glossary).value
