"""How a value with a unit is written, rounded to what is known; and what a number that somebody wrote may mean.

Rounding is to significant digits (three for an estimate unless its owner says otherwise); a minus is the true
minus sign; thousands are grouped; a unit is joined to its number by a no-break space.

Half of the world parts thousands by the mark that the other half puts before decimals. A text is read by both habits, and
by those that part thousands with a space or an apostrophe; what is left is one meaning, two, or none. Nothing here accepts
a number: readers take what is plain, and ask this module for the remedy of what is not.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass

MINUS = "\N{MINUS SIGN}"
NBSP = "\N{NO-BREAK SPACE}"
SYMBOLS = {"USD": "$", "EUR": "€", "GBP": "£"}
MAGNITUDES = ((1e9, "bn"), (1e6, "M"), (1e3, "k"))
OF = 100
"""Out of how many a share is told in words: 73 of 100."""
NOISE = 0.01
"""The part of a range that has both signs below which a figure within it is written as nothing."""
RANGE = f"90{NBSP}% range"
"""What a spread is called, from P5 to P95."""
_EXACT = 4
"""Significant digits from which on an amount under a million is spelt out."""
_LETTERED = 1e4
"""An amount below it is spelt out, so that it stands beside one of hundreds in the same form."""
CENT = 0.01
"""An amount below it is written by its digits, and below a hundredth of it as nothing."""


def significant(value: float, digits: int) -> float:
    """`value` rounded to `digits` significant digits; zero and non-finite values come back unchanged."""
    if value == 0 or not math.isfinite(value):
        return value
    return round(value, digits - 1 - math.floor(math.log10(abs(value))))


def plain_number(value: float, digits: int = 3) -> str:
    """Grouped digits without a unit: 1,024; 0.37; −12.5."""
    if not math.isfinite(value):
        return "n/a"
    rounded = significant(value, digits)
    magnitude = abs(rounded)
    decimals = 0
    if magnitude and magnitude < 10 ** (digits - 1):
        decimals = max(0, digits - 1 - math.floor(math.log10(magnitude)))
        decimals = min(decimals, len(f"{magnitude:.10f}".rstrip("0").partition(".")[2]))
    return _signed(f"{magnitude:,.{decimals}f}", rounded)


def fixed(value: float, decimals: int) -> str:
    """A fixed number of decimals, for a table's column."""
    if not math.isfinite(value):
        return "n/a"
    text = f"{abs(value):,.{decimals}f}"
    return _signed(text, value)


def fixed_share(value: float, scale: Scale) -> str:
    """A share in a table's column: no certainty is printed where there is none."""
    text = fixed(value / scale.by, scale.decimals)
    if value < 1 and text == fixed(1 / scale.by, scale.decimals):
        return f"over {fixed(1 / scale.by - 10**-scale.decimals, scale.decimals)}"
    return text


def money(value: float, digits: int = 3, symbol: str = "$") -> str:
    """Compact money: $5.35M, $110k, $1,250, $2.95, −$14.2k; with more than three digits asked for, no magnitude letter under a
    million, and $1.095."""
    rounded = significant(value, digits)
    magnitude = abs(rounded)
    if 0 < magnitude < CENT:  # a price of every hour: what is small here is not nothing
        return _signed(f"{symbol}{plain_number(abs(value), 2) if magnitude >= CENT**2 else 0}", rounded)
    for size, letter in MAGNITUDES:
        if magnitude >= size and (size >= 1e6 or (digits < _EXACT and magnitude >= _LETTERED)):
            return _signed(f"{symbol}{plain_number(magnitude / size, digits)}{letter}", rounded)
    if magnitude < 10 and magnitude != int(magnitude):
        tenth_of_a_cent = (
            digits >= _EXACT and f"{magnitude:.3f}"[-1] != "0"
        )  # a figure that is quoted, as its source has it
        places = 3 if tenth_of_a_cent else 2
        # Rounded once: 0.9046 is 0.90, though to three digits it is 0.905.
        magnitude = abs(significant(value, min(digits, places + 1 + math.floor(math.log10(abs(value))))))
        return _signed(f"{symbol}{magnitude:.{places}f}", rounded)
    return _signed(f"{symbol}{plain_number(magnitude, digits)}", rounded)


def percent(value: float, digits: int = 2) -> str:
    """A share as a percentage; near the ends it says "under" or "over" rather than claim certainty."""
    if 0 < value < 0.001 and digits <= 2:
        return f"under 0.1{NBSP}%"
    text = plain_number(value * 100, digits)
    if text == "100" and value < 1:
        return f"over 99{NBSP}%"
    return f"{text}{NBSP}%"


def of_hundred(share: float) -> str:
    """A share as so many of 100: neither none nor all of them unless it is exactly so."""
    if not 0 <= share <= 1:
        raise ValueError(f"a share to be told of {OF} lies between 0 and 1, not at {share:g}")
    told = math.floor(share * OF + 0.5)
    if told == 0 and share > 0:
        return f"fewer than 1 of {OF}"
    if told == OF and share < 1:
        return f"over {OF - 1} of {OF}"
    return f"{told} of {OF}"


@dataclass(frozen=True)
class Ends:
    """The ends of a range in their unit, how precisely each is told, and what is written as nothing between them."""

    low: float
    high: float
    unit: str
    digits: int = 3
    currency: str = "USD"

    @property
    def written(self) -> tuple[str, str]:
        """Both ends with their unit, on one scale: 0.67M and 1.55M, never 0.6712M."""
        return self._end(self.kept(self.low)), self._end(self.kept(self.high))

    @property
    def span(self) -> str:
        """The range as prose tells it."""
        return between(*self.written)

    @property
    def sides(self) -> str:
        """A range of what is saved, seen from what costs less where it is positive: from $670k more to $1.55M less."""
        return self._sides("more", "less")

    @property
    def turned(self) -> str:
        """The same, seen from the other: from $670k less to $1.55M more."""
        return self._sides("less", "more")

    def _sides(self, below: str, above: str) -> str:
        low, high = self.kept(self.low), self.kept(self.high)
        told = [self._end(abs(low)), self._end(abs(high))]
        if low < 0 < high:
            return f"from {told[0]} {below} to {told[1]} {above}"
        word = below if low < 0 else above
        span = between(*(reversed(told) if low < 0 else told))
        return f"{'from ' if ' to ' in span else ''}{span} {word}"

    def kept(self, value: float) -> float:
        """The value, or 0 where it is below the noise of a range that has both signs."""
        return 0.0 if self.low < 0 < self.high and abs(value) < NOISE * (self.high - self.low) else value

    def _end(self, value: float) -> str:
        return write(value, self.unit, self._precision(value), self.currency)

    def _precision(self, value: float) -> int:
        """The significant digits of an end on the scale of the larger one, and never so few that it says nothing."""
        larger, digits = max(abs(self.low), abs(self.high)), self.digits
        if not value or not larger or not math.isfinite(larger + value):
            return digits
        below = math.floor(math.log10(larger)) - math.floor(math.log10(abs(value)))
        least = min(digits, _EXACT if digits >= _EXACT else 2)  # an amount that is spelt out beside no letter
        return max(least, digits - below)


def between(low: str, high: str) -> str:
    """A range whose ends are written already: the unit once, and one figure where both ends are the same."""
    figure = _FIGURE.match(low)
    return high if low == high else f"{figure[0] if figure else low} to {high}"


def _signed(text: str, value: float) -> str:
    """The text with its sign; what prints as nothing has none."""
    return MINUS + text if value < 0 and any(c in "123456789" for c in text) else text


def _suffix(unit: str) -> Callable[[float, int], str]:
    return lambda value, digits: f"{plain_number(value, digits)}{NBSP}{unit}"


def _whole(value: float, digits: int) -> str:
    """A count is exact: it is never rounded to significant digits."""
    return plain_number(value, 15 if value == int(value) else digits)


def _noun(one: str, many: str, *, exact: bool = False) -> Callable[[float, int], str]:
    def write(value: float, digits: int) -> str:
        text = _whole(value, digits) if exact else plain_number(value, digits)
        return f"{text}{NBSP}{one if text == '1' else many}"

    return write


_FIGURE = re.compile(rf"\D*\d[\d.,]*(?:{'|'.join(letter for _, letter in MAGNITUDES)})?")
"""A written value up to its unit: its sign, its currency, its digits, and the letter that is part of an amount."""

_WRITERS: dict[str, Callable[[float, int], str]] = {
    "share": percent,
    "count": _whole,
    "year-ad": lambda value, digits: f"{value:.0f}",
    "index": plain_number,
    "weight": plain_number,
    "x": lambda value, digits: f"{plain_number(value, digits)}×",
    "ratio": plain_number,
    "ns": _suffix("ns"),
    "us": _suffix("µs"),
    "ms": _suffix("ms"),
    "s": _suffix("s"),
    "min": _noun("minute", "minutes"),
    "h": _noun("hour", "hours"),
    "day": _noun("day", "days"),
    "week": _noun("week", "weeks"),
    "month": _noun("month", "months", exact=True),
    "year": _noun("year", "years"),
    "gpus": _noun("GPU", "GPUs", exact=True),
    "gpu-hour": _noun("GPU-hour", "GPU-hours"),
    "node": _noun("node", "nodes", exact=True),
    "switch": _noun("switch", "switches", exact=True),
    "repeat": _noun("repeat", "repeats", exact=True),
    "w": _suffix("W"),
    "kw": _suffix("kW"),
    "mw": _suffix("MW"),
    "kwh": _suffix("kWh"),
    "gbytes/s": _suffix("GB/s"),
    "gbits/s": _suffix("Gb/s"),
    "tbits/s": _suffix("Tb/s"),
    "byte": _noun("byte", "bytes"),
    "kib": _suffix("KiB"),
    "mib": _suffix("MiB"),
    "gib": _suffix("GiB"),
    "tflops": _suffix("TFLOP/s"),
    "fte": _suffix("FTE"),
    "person-hour": _noun("person-hour", "person-hours"),
    "relative": percent,
    "percentage-point": _noun("percentage point", "percentage points"),
    "seed": lambda value, digits: f"{value:.0f}",
    "billion": _suffix("billion"),
    "port-number": lambda value, digits: f"{value:.0f}",
    "kbytes": _suffix("kB"),
    "gbytes": _suffix("GB"),
    "tbytes": _suffix("TB"),
    "1/transceiver-year": _suffix("per transceiver-year"),
    "1/gpu-year": _suffix("per GPU-year"),
    "1/node-day": _suffix("per node-day"),
    "1/link-year": _suffix("per link-year"),
    "1/year": _suffix("per year"),
    "1/month": _suffix("per month"),
    "1/cluster-year": _suffix("per cluster-year"),
    "1/subnet-year": _suffix("per subnet-year"),
    "1/switch-year": _suffix("per switch-year"),
}


def write(value: float, unit: str, digits: int = 3, currency: str = "USD") -> str:
    """The value with its unit, as prose prints it. Money units are `usd` or `usd/<per>`, in the memo's currency.

    An amount that its source states in another currency (`eur`) is written in that one.
    """
    paid_in = currency_of(unit, currency)
    if paid_in:
        per = _told(unit.partition("/")[2])
        amount = money(value, digits, SYMBOLS.get(paid_in, paid_in + NBSP))
        return f"{amount} per {per}" if per else amount
    writer = _WRITERS.get(unit)
    return writer(value, digits) if writer else f"{plain_number(value, digits)}{NBSP}{unit}"


def _told(per: str) -> str:
    """What an amount is paid for, with the field's capitals."""
    return per.replace("gpu", "GPU").replace("kwh", "kWh").replace("kw-", "kW-")


def currency_of(unit: str, currency: str) -> str:
    """The currency of an amount: the memo's for `usd`, else the one that the unit names; none where it is no amount."""
    named = unit.partition("/")[0].upper()
    return currency if named == "USD" else named if named in SYMBOLS else ""


def unit_in(unit: str, currency: str) -> str:
    """The unit as a file names it, its money in the currency it is in: `eur/gpu-hour` for `usd/gpu-hour` in EUR."""
    per = unit.removeprefix("usd")
    return currency.lower() + per if unit.startswith("usd") and per[:1] in ("", "/") else unit


@dataclass(frozen=True)
class Scale:
    """How a table's column shows a value: divided by `by`, with `decimals`, under the head `head`."""

    head: str
    by: float
    decimals: int


def column_scale(unit: str, largest: float, currency: str = "USD") -> Scale:
    """A scale for a column whose largest absolute value is `largest`, so that all cells share unit and decimals."""
    paid_in = currency_of(unit, currency)
    symbol = SYMBOLS.get(paid_in, paid_in)
    if paid_in:
        joint = "" if paid_in in SYMBOLS else NBSP
        per = f" per {_told(unit[4:])}" if "/" in unit else ""
        for size, letter in ((2e6, "M"), (_LETTERED, "k")):
            if largest >= size:
                decimals = (2 if largest < 1e8 else 1) if letter == "M" else (0 if largest >= 1e5 else 1)
                return Scale(f"{symbol}{joint}{letter}{per}", 1e6 if letter == "M" else 1e3, decimals)
        return Scale(f"{symbol}{per}", 1.0, 2 if largest < 1000 else 0)
    if unit == "share":
        return Scale("%", 0.01, 1 if largest < 0.2 else 0)
    head = {
        "us": "µs",
        "x": "×",
        "count": "",
        "gpu-hour": "",
        "gpus": "GPUs",
        "gbytes/s": "GB/s",
        "gbits/s": "Gb/s",
        "day": "days",
        "week": "weeks",
        "h": "hours",
    }
    decimals = 0 if largest >= 100 or unit in ("count", "gpus") else (1 if largest >= 10 else 2)
    return Scale(head.get(unit, unit), 1.0, decimals)


def inside(label: str) -> str:
    """A label as it stands within a sentence: small first letter, unless it begins with an abbreviation."""
    return label if label[1:2].isupper() else label[:1].lower() + label[1:]


def listed(names: Iterable[str]) -> str:
    """Names within a sentence: A, B and C; '' where there are none."""
    *most, last = list(names) or [""]
    return f"{', '.join(most)} and {last}" if most else last


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
