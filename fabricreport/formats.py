"""How a value with a unit is written: rounded to what is known, with the unit beside it or in the table's head.

Rounding is to significant digits (three for an estimate unless its owner says otherwise); a minus is the true
minus sign; thousands are grouped; a unit is joined to its number by a no-break space.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass

MINUS = "\N{MINUS SIGN}"
NBSP = "\N{NO-BREAK SPACE}"
SYMBOLS = {"USD": "$", "EUR": "€", "GBP": "£"}
MAGNITUDES = ((1e9, "bn"), (1e6, "M"), (1e3, "k"))
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
    """Compact money: $5.35M, $110k, $2.95, −$14.2k; with more than three digits asked for, no magnitude letter under a million, and $1.095."""
    rounded = significant(value, digits)
    magnitude = abs(rounded)
    if 0 < magnitude < CENT:  # a price of every hour: what is small here is not nothing
        return _signed(f"{symbol}{plain_number(magnitude, 2) if magnitude >= CENT**2 else 0}", rounded)
    for size, letter in MAGNITUDES:
        if magnitude >= size and (digits <= 3 or size >= 1e6):
            return _signed(f"{symbol}{plain_number(magnitude / size, digits)}{letter}", rounded)
    if magnitude < 10 and magnitude != int(magnitude):
        tenth_of_a_cent = digits > 3 and f"{magnitude:.3f}"[-1] != "0"  # a figure that is quoted, as its source has it
        return _signed(f"{symbol}{magnitude:.{3 if tenth_of_a_cent else 2}f}", rounded)
    return _signed(f"{symbol}{plain_number(magnitude, digits)}", rounded)


def percent(value: float, digits: int = 2) -> str:
    """A share as a percentage; near the ends it says "under" or "over" rather than claim certainty."""
    if 0 < value < 0.001 and digits <= 2:
        return f"under 0.1{NBSP}%"
    text = plain_number(value * 100, digits)
    if text == "100" and value < 1:
        return f"over 99{NBSP}%"
    return f"{text}{NBSP}%"


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
    "w": _suffix("W"),
    "kw": _suffix("kW"),
    "mw": _suffix("MW"),
    "kwh": _suffix("kWh"),
    "gbytes/s": _suffix("GB/s"),
    "gbits/s": _suffix("Gb/s"),
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
    """The value with its unit, as prose prints it. Money units are `usd` or `usd/<per>`, in the memo's currency."""
    symbol = SYMBOLS.get(currency, currency + NBSP)
    if unit == "usd":
        return money(value, digits, symbol)
    if unit.startswith("usd/"):
        return f"{money(value, digits, symbol)} per {unit[4:].replace('gpu', 'GPU')}"
    writer = _WRITERS.get(unit)
    return writer(value, digits) if writer else f"{plain_number(value, digits)}{NBSP}{unit}"


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
    symbol = SYMBOLS.get(currency, currency)
    if unit.startswith("usd"):
        joint = "" if currency in SYMBOLS else NBSP
        per = f" per {unit[4:].replace('gpu', 'GPU')}" if unit.startswith("usd/") else ""
        for size, letter in ((2e6, "M"), (1e4, "k")):
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
