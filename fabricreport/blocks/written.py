"""A written figure read back: its amounts and how finely each is told, and whether some add up as they stand."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal

from fabricreport.formats import MAGNITUDES, MINUS

_LETTERS = "|".join(letter for _, letter in MAGNITUDES)
_BY_LETTER = {letter: Decimal(int(size)) for size, letter in MAGNITUDES}
_AMOUNT = re.compile(rf"([-{MINUS}]?)([$€£]|[A-Z]{{3}}\s)?(\d[\d,]*(?:\.\d+)?)({_LETTERS})?(?:\s?(%)| of (\d+))?")
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
        scale = _BY_LETTER.get(letter, Decimal(1)) if letter else _scale(head)
        scale = _PERCENT if percent or all_percent else scale / Decimal(whole) if whole and int(whole) else scale
        told = Decimal(plain) * scale
        found.append(Written(-told if sign else told, _step(plain, cents=bool(currency) and not letter) * scale))
    return found


def _scale(head: str) -> Decimal:
    if "%" in head:
        return _PERCENT
    letter = _HEAD.match(head)
    return _BY_LETTER[letter[1]] if letter and letter[1] else Decimal(1)


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
