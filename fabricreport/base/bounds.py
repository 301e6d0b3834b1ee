"""What a figure of each unit may be: one table, `data/bounds.yaml`, for all that people and sellers can write.

Params, price rows, evidence, overrides, options, sellers' answers and logs ask here. Outside the bounds lies what cannot
be; what is merely unlikely is not judged. A fault is a sentence to put after the key: "must be at least 0.01: ...".
"""

from __future__ import annotations

import math
import sys
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

from fabricreport.base.yaml_files import read_yaml

Figure = float | Mapping[str, float]
"""A number, or the numbers of a range by name: low, mode, high, p5, p95."""


@dataclass(frozen=True)
class Bound:
    """The least and the largest figure, both allowed; `zero` allows 0 below the least.

    `why` is said to the user of a figure that is too small, `beyond` of one that is too large.
    """

    low: float
    high: float
    why: str
    beyond: str
    zero: bool = False

    @property
    def least(self) -> float:
        """The smallest figure allowed: 0 where that is, else `low`."""
        return min(0.0, self.low) if self.zero else self.low

    def allows(self, value: float) -> bool:
        """Whether a figure may be."""
        return (self.zero and value == 0) or self.low <= value <= self.high

    def within(self, low: float | None = None, high: float | None = None, zero: bool | None = None) -> Bound:
        """Narrower bounds for one use of the unit; a limit that is not given stays."""
        return replace(
            self,
            low=self.low if low is None else max(low, self.low),
            high=self.high if high is None else min(high, self.high),
            zero=self.zero if zero is None else zero and self.zero,
        )

    def fault(self, value: Figure) -> str:
        """What is wrong with a figure, as a sentence for the user that begins with "must"; '' if nothing is."""
        if isinstance(value, Mapping):
            named = ((name, self.fault(number)) for name, number in value.items())
            return next((f"'{name}' {fault}" for name, fault in named if fault), "")
        if abs(value) > sys.float_info.max or not math.isfinite(value):  # an int may be larger than any float
            return "must be a finite number"
        if self.allows(value):
            return ""
        if value > self.high:
            return f"must be at most {_digits(self.high)}: {self.beyond}"
        least = f"0 or at least {_digits(self.low)}" if self.zero and value > 0 else f"at least {_digits(self.least)}"
        return f"must be {least}: {self.why}"


def bound_of(unit: str) -> Bound:
    """The bounds of a unit of evidence, params or answers; KeyError for a unit the table does not know."""
    known = _table("units")
    return known[unit] if unit in known else known[unit.partition("/")[0]]


def price_bound(unit: str, currency: str = "USD") -> Bound:
    """The bounds of a price per this unit; a currency of small units, such as the yen, may have more digits."""
    found = _table("prices")[unit]
    return replace(found, high=found.high * float(read_yaml("bounds")["currency_scale"].get(currency, 1)))


def whole(limit: float) -> float:
    """The limit as an integer where it is one, as schemas write it."""
    return int(limit) if float(limit).is_integer() else limit


@lru_cache(maxsize=2)
def _table(part: str) -> Mapping[str, Bound]:
    return {unit: _bound(row) for unit, row in read_yaml("bounds")[part].items()}


def _bound(row: Mapping[str, Any]) -> Bound:
    why = str(row["why"])
    beyond = why if row.get("both") else str(row.get("beyond", read_yaml("bounds")["beyond"]))
    return Bound(float(row["low"]), float(row["high"]), why, beyond, bool(row.get("zero", False)))


def _digits(value: float) -> str:
    return f"{value:,.10g}" if 1e-6 <= abs(value) < 1e15 or value == 0 else f"{value:g}"
