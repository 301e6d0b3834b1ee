"""Which options a sentence names, and what it says of the two that a word of direction stands between."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache

from fabricreport.books.glossary import glossary_book
from fabricreport.memo.document.language import any_of
from fabricreport.memo.document.measures import Sentence

Called = Mapping[str, Iterable[str]]
"""The names of each option, by its id."""
_LINKED = r"(?:\s+(?:on|with|for|that|of|an|a|the|one|hour|offer|run|in|both))*\s*"
"""Small words between what holds two options apart and the name of the second: `than one on`."""
_JOINED = re.compile(r"(?:’s)?\s*(?:,|and|or|/|&)\s*(?:and\s+|or\s+)?")


_POSSESSIVE = ("’s", "'s")
_LESS = "less"
_SUBTRACTED = re.compile(r"\s+(?:(?:that|those) (?:of|on|with)\s+)?")
"""What stands between `less` and an option that is taken off another."""


@dataclass(frozen=True)
class Mention:
    """An option's name in a sentence, and whether it is the one that another is held against."""

    option: str
    start: int
    end: int
    against: bool


@dataclass(frozen=True)
class Told:
    """What a word is said of: the `subject`, where the sentence names it, and the option that it is held against.

    `subtracts`: the one less the other, which says that the first has more.
    """

    subject: str | None
    against: str | None
    subtracts: bool
    start: int
    end: int


def mentions_in(sentence: Sentence, called: Called) -> list[Mention]:
    """Every option that a sentence names, in order; names within a number of the ledger are none."""
    names = {name.casefold(): option for option, each in called.items() for name in each}
    if not names:
        return []
    return [
        Mention(names[m[0].casefold()], m.start(), m.end(), _held_against(sentence.words[: m.start()]))
        for m in _names(frozenset(names)).finditer(sentence.words)
        if not in_number(sentence, m.start())
    ]


def in_number(sentence: Sentence, place: int) -> bool:
    """Whether a place of a sentence lies within a number of the ledger."""
    return any(q.start <= place < q.end for q in sentence.quoted)


@cache
def _names(names: frozenset[str]) -> re.Pattern[str]:
    return any_of(names)


@cache
def _before() -> re.Pattern[str]:
    words = any_of(glossary_book().directions.against).pattern
    return re.compile(rf"{words}{_LINKED}$", re.I)


def _held_against(text: str) -> bool:
    return _before().search(text) is not None


def told_of(sentence: Sentence, word: re.Match[str], mentions: list[Mention]) -> Told | None:
    """The options that a word of direction is said of; None where the sentence names none, or several in one place."""
    before = [m for m in mentions if m.end <= word.start()]
    behind = [m for m in mentions if m.start >= word.end()]
    taken_off = _taken_off(sentence, word, behind)
    own, other = [m for m in before if not m.against], [m for m in behind if m.against]
    subject = own[-1] if own else None
    if _is_noun(word) and (subject is None or sentence.words[subject.end : word.start()].strip() not in _POSSESSIVE):
        subject = next((m for m in behind if not m.against), None)
    against = taken_off or (other[0] if other else next((m for m in reversed(before) if m.against), None))
    found = [m for m in (subject, against) if m]
    if not found or any(_in_a_row(sentence, m, mentions) for m in found):
        return None
    places = [word.start(), word.end(), *(m.start for m in found), *(m.end for m in found)]
    return Told(
        subject=subject.option if subject else None,
        against=against.option if against else None,
        subtracts=taken_off is not None,
        start=min(places),
        end=max(places),
    )


def _is_noun(word: re.Match[str]) -> bool:
    return word[0].casefold() in glossary_book().directions.nouns


def _taken_off(sentence: Sentence, word: re.Match[str], behind: list[Mention]) -> Mention | None:
    """The option that a `less` takes off another, as in `the cost of A less that of B`."""
    match = _SUBTRACTED.match(sentence.words, word.end()) if word[0].casefold() == _LESS else None
    return next((m for m in behind if match and m.start == match.end()), None)


def _in_a_row(sentence: Sentence, one: Mention, mentions: list[Mention]) -> bool:
    """Whether another option's name is joined to this one, so that neither is spoken of alone."""
    between = (
        sentence.words[min(one.end, m.end) : max(one.start, m.start)]
        for m in mentions
        if m is not one and m.option != one.option
    )
    return any(_JOINED.fullmatch(text) for text in between)
