"""How much of one memo's body stands in another's, and how long the sentences of each are.

A memo is read as it was published: `memo.html`, and `memo.pdf` beside it for its pages. Its body is page one and the
numbered sections up to the first annex. What is measured are sentences of four words or more in paragraphs, items of
lists, captions and notes: no heading, no cell of a table, nothing inside a drawing. Two sentences are near-identical
where three words in four stand in both in the same order (difflib's ratio of their words), once numbers, the names of
options, sellers and clients, citations and cross-references are masked. Definitions of terms belong in every memo and
are left out of what is compared.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import cache
from itertools import permutations
from pathlib import Path
from typing import Any

from fabricreport.books.families import families
from fabricreport.books.glossary import glossary_book
from fabricreport.books.option_reader import read_options
from fabricreport.books.providers import read_providers
from fabricreport.memo.document.measures import LONGEST, Measures, Sentence, measured
from fabricreport.memo.read_back import REFERENCE, ReadMemo, read_memo

FEWEST_WORDS = 4
NEAR = 0.75
"""The ratio from which two sentences are near-identical: twice the words in order over the words of both."""
_NUMBER, _OPTION, _CLIENT = "0", "option", "client"
_REFERENCES = re.compile(r"\b(?:Section|Table|Figure|Annex)s?\s+(?:[A-Z]\d*|W?\d+)(?:\.\d+)*\b")
_DIGITS = re.compile(r"\S*\d\S*")
_WORD = re.compile(r"[\w’'-]*\w")
_DEFINES = r"(?:(?:an?|the)\s+)?(?:{})(?:\s+\([^)]*\))?,?\s+(?:(?:is|are)\s+(?:an?|what|how)|means?|stands?\s+for)\b"

Masked = tuple[str, ...]
"""The words of a sentence, what differs from client to client masked."""


@dataclass(frozen=True)
class Shared:
    """How many of one memo's sentences have a near-identical one in another's."""

    of: str
    within: str
    shared: int
    compared: int

    @property
    def share(self) -> float:
        """The share of them; 0 for a memo without sentences."""
        return self.shared / self.compared if self.compared else 0.0


@dataclass(frozen=True)
class Compared:
    """Several memos by name: each as read, the measures of its body, and what each shares with each other one."""

    memos: dict[str, ReadMemo]
    measures: dict[str, Measures]
    pairs: tuple[Shared, ...]

    def as_dict(self) -> dict[str, Any]:
        """Plain values for machines."""
        return {
            "memos": [self._memo(name) for name in self.memos],
            "pairs": [
                {"of": p.of, "in": p.within, "shared": p.shared, "compared": p.compared, "share": round(p.share, 4)}
                for p in self.pairs
            ],
        }

    def _memo(self, name: str) -> dict[str, Any]:
        memo, found = self.memos[name], self.measures[name]
        return {
            "name": name,
            "path": str(memo.path),
            "title": memo.title,
            "sentences": found.count,
            "mean_words": round(found.mean, 2),
            "longest": found.longest,
            f"over_{LONGEST}": found.over,
            "semicolons": found.semicolons,
            "semicolons_per_page": round(found.semicolons_per_page, 2),
            "pages": memo.body_pages,
            "annex_pages": memo.annex_pages,
        }

    def as_text(self) -> str:
        """Two tables: the measures of each memo, and what each shares with each other one."""
        rows: list[tuple[str, ...]] = [("", *self.memos)]
        kept = {
            "Sentences of the body": "sentences",
            "Words of a sentence on average": "mean_words",
            "Words of the longest": "longest",
            f"Sentences of more than {LONGEST} words": f"over_{LONGEST}",
            "Semicolons on a page": "semicolons_per_page",
            "Pages of the body": "pages",
            "Pages of the printed annex": "annex_pages",
        }
        told = {name: self._memo(name) for name in self.memos}
        for label, key in kept.items():
            rows.append((label, *(_shown(told[name][key]) for name in self.memos)))
        if not self.pairs:
            return _table(rows)
        share = {(p.of, p.within): f"{p.share:.0%} ({p.shared} of {p.compared})" for p in self.pairs}
        shares = [("Near-identical sentences of", *(f"in {name}" for name in self.memos))]
        shares += [(of, *(share.get((of, within), "") for within in self.memos)) for of in self.memos]
        return f"{_table(rows)}\n\n{_table(shares)}"


def compare(paths: Sequence[Path]) -> Compared:
    """Read the memos of several editions and compare their bodies; `InputError` names each that cannot be read."""
    memos = _named([read_memo(path) for path in paths])
    clients = [memo.client for memo in memos.values() if memo.client]
    long = {name: [s for s in memo.sentences if s.length >= FEWEST_WORDS] for name, memo in memos.items()}
    masked = {name: [masked_words(s, clients) for s in found if not is_definition(s)] for name, found in long.items()}
    return Compared(
        memos,
        {name: measured(found, memos[name].body_pages) for name, found in long.items()},
        tuple(shared(of, masked[of], within, masked[within]) for of, within in permutations(memos, 2)),
    )


def shared(of: str, mine: Sequence[Masked], within: str, theirs: Sequence[Masked]) -> Shared:
    """How many of `mine` have a near-identical sentence among `theirs`."""
    there = frozenset(theirs)
    return Shared(of, within, sum(one in there or any(near(one, other) for other in there) for one in mine), len(mine))


@cache
def near(one: Masked, other: Masked) -> bool:
    """Whether two sentences are near-identical; which of them is named first makes no difference."""
    first, second = sorted((one, other))
    if 2 * min(len(first), len(second)) < NEAR * (len(first) + len(second)):
        return False
    match = SequenceMatcher(None, first, second, autojunk=False)
    return match.quick_ratio() >= NEAR and match.ratio() >= NEAR


def masked_words(sentence: Sentence, clients: Iterable[str] = ()) -> Masked:
    """The sentence's words in small letters; a number, an option, a client and a reference are each one word."""
    text = sentence.words
    for quoted in sorted(sentence.quoted, key=lambda q: q.start, reverse=True):
        mask = REFERENCE if quoted.number.id == REFERENCE else _NUMBER
        text = f"{text[: quoted.start]}{mask}{text[quoted.end :]}"
    text = _REFERENCES.sub(REFERENCE, text)
    named = _any_of(tuple(clients))
    text = named.sub(_CLIENT, text) if named else text
    options = _any_of(_names())
    text = options.sub(_OPTION, text) if options else text
    return tuple(_WORD.findall(_DIGITS.sub(_NUMBER, text).lower()))


def is_definition(sentence: Sentence) -> bool:
    """Whether a sentence says what a term of the glossary means."""
    words = _plain(sentence.words)
    return bool(_definitions().match(words)) or any(meaning in words for meaning in _meanings())


@cache
def _definitions() -> re.Pattern[str]:
    names = {_plain(name) for term in glossary_book().terms for name in term.names}
    return re.compile(_DEFINES.format("|".join(re.escape(n) for n in sorted(names, key=len, reverse=True))))


@cache
def _meanings() -> tuple[str, ...]:
    meanings = (_plain(term.means) for term in glossary_book().terms)
    return tuple(m for m in meanings if len(m.split()) >= FEWEST_WORDS)


@cache
def _names() -> tuple[str, ...]:
    """Every name that an option or a seller may go by."""
    options = [name for o in read_options().values() for name in (o.name, *o.say)]
    sides = [name for f in families().values() for name in (f.name, f.short_name)]
    sellers = [part for s in read_providers().sellers for part in (s.name, *s.name.split("/"))]
    return tuple(dict.fromkeys([*options, *sides, *sellers]))


@cache
def _any_of(names: tuple[str, ...]) -> re.Pattern[str] | None:
    longest_first = sorted((n for n in names if n), key=len, reverse=True)
    if not longest_first:
        return None
    return re.compile(rf"(?<!\w)(?:{'|'.join(map(re.escape, longest_first))})(?!\w)", re.IGNORECASE)


def _plain(text: str) -> str:
    return " ".join(re.sub(r"[“”\"]", "", text).lower().rstrip(".").split())


def _named(memos: Sequence[ReadMemo]) -> dict[str, ReadMemo]:
    """The memos by client; by the folder where two are of one client, and by a number where even that is one."""
    clients = [memo.client or memo.path.parent.name for memo in memos]
    found: dict[str, ReadMemo] = {}
    for memo, client in zip(memos, clients, strict=True):
        name = client if clients.count(client) == 1 else f"{client}, {memo.path.resolve().parent.name}"
        number = 2
        while name in found:
            name, number = f"{name.removesuffix(f' ({number - 1})')} ({number})", number + 1
        found[name] = memo
    return found


def _shown(value: object) -> str:
    if value is None:
        return "not counted"
    return f"{value:.1f}" if isinstance(value, float) else str(value)


def _table(rows: Sequence[tuple[str, ...]]) -> str:
    """Rows under each other: the first column set left, the others right."""
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    lines = [
        "  ".join(c.ljust(w) if i == 0 else c.rjust(w) for i, (c, w) in enumerate(zip(row, widths, strict=True)))
        for row in rows
    ]
    return "\n".join(line.rstrip() for line in lines)
