"""Digits as they are printed: the gate finds those that did not come from the ledger, and a written figure is read back.

Names that hold digits (RoCEv2, H100, 400G, IEEE 802.1Qbb), dates, and numbered references (Section 2.1) are let
through by the patterns below; everything else with a digit in it is a bare number. Any Unicode digit counts.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import lru_cache

from fabricreport.base.formats import MAGNITUDES, MINUS
from fabricreport.blocks.nodes import (
    Callout,
    Cite,
    DataTable,
    Figure,
    Formula,
    GlanceTile,
    Heading,
    Image,
    Inline,
    Node,
    Note,
    Num,
    Paragraph,
    Preformatted,
    Ref,
    Text,
    walk,
    words_of,
)

MONTHS = (
    "January|February|March|April|May|June|July|August|September|October|November|December|"
    "Jan|Feb|Mar|Apr|Jun|Jul|Aug|Sep|Oct|Nov|Dec"
)
# A year, unless the next word shows that it counts something.
_YEAR = r"(?:19[89]\d|20[0-3]\d)(?!\s*(?:%|GPU|node|link|switch|port|hour|day|week|month|dollar|token))"
_NOT_MONEY = r"(?!(?:USD|EUR|GBP|CHF|JPY|CNY|AUD|CAD)[-–\d])"

ALLOWED = tuple(
    re.compile(pattern)
    for pattern in (
        rf"\b{_YEAR}-[01]\d(?:-[0-3]\d)?\b",  # 2026-11-20
        rf"\b[0-3]?\d (?:{MONTHS}) {_YEAR}\b",  # 20 November 2026
        rf"\b(?:{MONTHS}),? {_YEAR}\b",  # November 2026
        rf"(?i:\b(?:in|since|by|until|from|during|mid|late|early)[ -]){_YEAR}\b",
        rf"\b[A-Z][A-Za-z’'.]* {_YEAR}\b",  # SIGCOMM 2016
        rf"\({_YEAR}(?:[–-]{_YEAR})?\)",  # (2024)
        r"\b(?:Section|Sections|Table|Tables|Figure|Figures|Annex|Appendix|Question|Stage|Phase|Level|Rule|Item) "
        r"[A-Z]?\.?\d+(?:\.\d+)*\b",
        r"\b(?:IEEE |RFC |ISO |EN |WCAG |PDF/UA-|UA-)\d[\d.]*[A-Za-z]*\b",  # standards
        r"\b802\.1[A-Za-z]*\b",
        r"\b\d{2,3}G(?:b/s|bE|E)?\b",  # link classes: 400G, 25GbE
        r"\b\d{1,2}(?:x|×)\d{2,3}G\b",  # 8x400G
        rf"(?<![\w.,]){_NOT_MONEY}[A-Za-z]+[-–/]?\d[\w.]*(?:[-–/][A-Za-z]*\d[\w.]*)*\b",  # H100, RoCEv2, P5–P95, QM9700
        r"\b\d+[A-Z]{1,4}\d+[A-Z\d-]*\b",  # part numbers such as 64OD
        r"\b[Cc]lass \d+\b",
        r"\b90\s%\srange\b",  # what a spread is called
    )
)


_SPELT = re.compile(
    r"\b(?:two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|fifteen|twenty|thirty|forty|fifty|sixty|ninety|hundred)"
    r"\s(?:more\s|whole\s|working\s|calendar\s)?"
    r"(?:seconds?|minutes?|hours?|days?|weeks?|months?|quarters?|years?|per\s?cent|repeats?|runs each)\b",
    re.I,
)
"""A duration, a share or a count of repeats in words, which is as much a figure as one in digits."""


def bare_numbers(text: str, names: Iterable[str] = (), *, in_words: bool = True) -> list[str]:
    """The words of `text` that hold a digit nobody vouches for, in order, then durations and the like written in words.

    `names` are the case's own names.
    """
    if not (found := _unfounded(text, in_words)):
        return found
    known = _names_pattern(frozenset(name for name in names if name and name in text))
    return _unfounded(known.sub(" ", text), in_words) if known else found


def _unfounded(text: str, in_words: bool) -> list[str]:
    return [*_words(text), *(_SPELT.findall(text) if in_words else ())]


@lru_cache(maxsize=256)
def _names_pattern(names: frozenset[str]) -> re.Pattern[str] | None:
    """One pattern for the names in a text, the longest first; None without any."""
    escaped = [re.escape(name) for name in sorted(names, key=lambda n: (-len(n), n))]
    return re.compile(rf"(?<![\w.,-])(?:{'|'.join(escaped)})(?![\w-])") if escaped else None


def _words(text: str) -> list[str]:
    for pattern in ALLOWED:
        text = pattern.sub(" ", text)
    return [word.strip("()[],;:.!?“”\"'") for word in text.split() if any(_is_digit(c) for c in word)]


def _is_digit(character: str) -> bool:
    return unicodedata.category(character) in ("Nd", "Nl", "No")


def texts(nodes: Iterable[Node]) -> Iterator[tuple[str, str]]:
    """(where, text) of every piece of prose under the nodes; adjacent pieces of one line are joined by a mark.

    Numbers of the ledger are replaced by a private-use character, so that "{x} GPUs" reads as one line.
    """
    for node in walk(nodes):
        for where, words in lines_of(node):
            yield where, line(words)


def lines_of(node: Node) -> Iterator[tuple[str, tuple[Inline, ...]]]:
    """(where, words) of each line that one node says itself, without the blocks inside it."""
    match node:
        case Heading():
            yield "heading", node.children
        case Paragraph():
            yield "prose", node.children
        case Callout():
            yield from _filled(title=node.title)
        case GlanceTile():
            yield from _filled("tile ", label=node.label, value=node.value, note=node.note)
        case Figure():
            yield from _filled(title=node.title, subtitle=node.subtitle, caption=node.caption)
            yield "alt text", node.alt_nodes or (Text(node.alt),)
        case DataTable():
            yield from _table(node)
        case Image():
            yield "alt text", node.alt_nodes or (Text(node.alt),)
        case Formula():
            yield "alt text", (Text(node.alt),)
        case Preformatted():
            yield "preformatted text", (Text(node.words),)


def _filled(prefix: str = "", **parts: tuple[Inline, ...]) -> Iterator[tuple[str, tuple[Inline, ...]]]:
    for name, nodes in parts.items():
        if nodes:
            yield f"{prefix}{name}", nodes


def _table(node: DataTable) -> Iterator[tuple[str, tuple[Inline, ...]]]:
    yield from _filled(caption=node.caption, note=node.note)
    for column in node.columns:
        yield "table head", (*column.label, Text(f" {column.unit}"))
    for row in node.rows:
        for cell in row.cells:
            yield "table cell", cell


def line(nodes: Iterable[Inline]) -> str:
    """Inline nodes as one line of text, ledger numbers masked."""
    return words_of(nodes, _masked)


def _masked(node: Num | Ref | Cite | Note) -> str:
    return line(node.children) if isinstance(node, Note) else "\ue010"


_LETTERS = "|".join(letter for _, letter in MAGNITUDES)
BY_LETTER = {"": Decimal(1)} | {letter: Decimal(int(size)) for size, letter in MAGNITUDES}
"""How much an amount in its last letter counts."""
AMOUNT = rf"(?P<currency>[$€£]|[A-Z]{{3}}\s)?(?P<digits>\d[\d,]*(?:\.\d+)?)(?P<letter>{_LETTERS})?"
"""An amount up to its unit, without its sign."""
_AMOUNT = re.compile(rf"([-{MINUS}]?){AMOUNT}(?:\s?(%)| of (\d+))?")
_PERCENTS = re.compile(r"\d to [^ ]+\s%")
"""A range in per cent, whose sign stands once."""
_HEAD = re.compile(rf"(?:[$€£]|[A-Z]{{3}}\s)?({_LETTERS})?(?![A-Za-z])")
_PERCENT = Decimal("0.01")
_AS_EXACT = 2e-8
"""By how much of its parts a whole may miss them and be their sum: a ledger keeps nine digits."""


@dataclass(frozen=True)
class Written:
    """An amount as it stands, in the unit of the ledger, and one unit of its last digit that is told."""

    value: Decimal
    step: Decimal


def written(text: str, head: str = "") -> list[Written]:
    """The amounts of a text, a range having two; `head` is the unit in the head of its column."""
    found, all_percent = [], bool(_PERCENTS.search(text))
    for sign, currency, digits, letter, percent, whole in _AMOUNT.findall(text):
        plain = digits.replace(",", "")
        scale = BY_LETTER[letter] if letter else _scale(head)
        scale = _PERCENT if percent or all_percent else scale / Decimal(whole) if whole and int(whole) else scale
        told = Decimal(plain) * scale
        found.append(Written(-told if sign else told, _step(plain, cents=bool(currency) and not letter) * scale))
    return found


def _scale(head: str) -> Decimal:
    if "%" in head:
        return _PERCENT
    letter = _HEAD.match(head)
    return BY_LETTER[letter[1] or ""] if letter else Decimal(1)


def _step(digits: str, *, cents: bool) -> Decimal:
    """One unit of the last digit; noughts at the end may stand for what was rounded away, `cents` being always written."""
    whole, _, places = digits.partition(".")
    if places:
        return Decimal(1).scaleb(-len(places.rstrip("0") if cents else places))
    return Decimal(10) ** min(len(whole) - len(whole.rstrip("0")), len(whole) - 1)


def is_sum(whole: float, parts: Sequence[float]) -> bool:
    """Whether figures of the ledger, unrounded, make up another; one part that is not nought makes none."""
    return (
        sum(1 for part in parts if part) > 1
        and bool(whole)
        and abs(sum(parts) - whole) <= _AS_EXACT * sum(map(abs, parts))
    )


def adds_up(whole: Written, parts: Sequence[Written]) -> bool:
    """Whether figures make up another as they stand, to half of the coarsest last digit among them."""
    coarsest = max(each.step for each in (whole, *parts))
    return abs(sum((each.value for each in parts), Decimal(0)) - whole.value) <= coarsest / 2
