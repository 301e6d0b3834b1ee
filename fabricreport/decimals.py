"""What a number that somebody wrote may mean: "3,00" is 3.00, "3,000" is 3000 or 3.000, and we ask.

Half of the world parts thousands by the mark that the other half puts before decimals. A text is read by both habits, and
by those that part thousands with a space or an apostrophe; what is left is one meaning, two, or none. Nothing here accepts
a number: readers take what is plain, and ask this module for the remedy of what is not.
"""

from __future__ import annotations

import re

LONGEST = 40
"""Characters of a number that somebody wrote; what is longer is none."""
_SPACES = re.compile(r"[\s_'’]")
_NUMBER = re.compile(
    r"(?P<sign>[+-]?)(?P<whole>\d{1,3}(?:(?P<part>[ ,.])\d{3})(?:(?P=part)\d{3})*|\d*)(?:(?P<mark>[,.])(?P<rest>\d+))?",
    re.ASCII,
)


def meanings(text: str) -> tuple[str, ...]:
    """The plain numerals (digits, a decimal point) that a written number may stand for: one, two, or none at all.

    Two, the larger first, where its only mark is a comma or a point with three digits behind it, and one to three before
    it that do not begin with 0. Several marks of a kind part thousands, and of two kinds the last is the decimal one. None
    for what is no number, or is parted as nobody does (`1,2,3`).
    """
    found = _NUMBER.fullmatch(_SPACES.sub(" ", text.strip())) if len(text) <= LONGEST else None
    if found is None or not (found["whole"] or found["rest"]):
        return ()
    sign, whole, part, mark, rest = (found[name] or "" for name in ("sign", "whole", "part", "mark", "rest"))
    if part and part == mark:  # a mark that parts thousands stands before no decimals
        return ()
    digits = re.sub("[ ,.]", "", whole)
    plain = sign + digits + (f".{rest}" if rest else "")
    if part in (",", ".") and len(digits) <= 6 and not mark:
        split = f"{sign}{digits[:-3]}.{digits[-3:]}"
        return (split,) if digits.startswith("0") else (plain, split)
    return (f"{sign}{digits or 0}.{rest}" if rest else plain,)


def number_remedy(value: object, alone: str = "no separators", *, whole: bool = False) -> str:
    """What to write in the place of a text that a reader did not take for a number; '' where it means none.

    `alone` ends the remedy of one that only has to lose what stands around its digits; `whole`: a count is wanted.
    """
    found = meanings(value) if isinstance(value, str) else ()
    counts = tuple(meant for meant in found if "." not in meant)
    if whole and found:
        return f"Write {counts[0]} alone: {alone}." if counts else "Write it without a fraction."
    if len(found) > 1:
        return f"Is it {' or '.join(found)}? Write the one that is meant."
    if not found:
        return ""
    if "," in str(value) and str(value).strip().endswith(f",{found[0].partition('.')[2]}"):
        return f"Write {found[0]} (a point, not a comma)."
    return f"Write {found[0]} alone: {alone}."
