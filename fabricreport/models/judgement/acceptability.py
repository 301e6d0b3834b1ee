"""How often each option is the best as the value of one thing goes over a range, and where another becomes the likeliest.

The acceptability curve of health economics (van Hout et al. 1994; Fenwick, Claxton & Sculpher 2001): costs that are a
fixed part plus so much per unit of the value, draw by draw, so that every value is read off the same draws.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from fabricreport.models.judgement.best import cheapest

Array = NDArray[np.float64]
_HALVINGS = 24


@dataclass(frozen=True)
class Linear:
    """Costs (draws, options) that rise in proportion to a value: `fixed` + value × `per_unit`."""

    fixed: Array
    per_unit: Array

    @staticmethod
    def through(low: float, at_low: Array, high: float, at_high: Array) -> Linear:
        """The line through the costs at two values."""
        per_unit = (at_high - at_low) / (high - low)
        return Linear(at_low - low * per_unit, per_unit)

    def at(self, value: float | Array) -> Array:
        """Costs at one value, or at a value of its own for each draw (draws,)."""
        return self.fixed + np.asarray(value, dtype=float).reshape(-1, 1) * self.per_unit


@dataclass(frozen=True)
class Crossing:
    """From this value upwards another option is the likeliest to be the cheapest: `below` it one, `above` it the other."""

    value: float
    below: int
    above: int


@dataclass(frozen=True)
class Acceptability:
    """`shares` (values, options): how often each option is the cheapest at each of the `values`; crossings ascending."""

    values: Array
    shares: Array
    crossings: tuple[Crossing, ...]

    def nearest(self, value: float) -> Crossing | None:
        """The crossing nearest to a value, as a ratio."""
        return min(self.crossings, key=lambda c: abs(np.log(c.value / value)), default=None)


def acceptability(costs: Linear, values: Sequence[float]) -> Acceptability:
    """The curve over these values (ascending, positive); a pair of crossings between two of them is not seen."""
    shares = np.stack([cheapest(costs.at(v)) for v in values])
    first = [int(np.argmax(row)) for row in shares]
    found = []
    for (low, a), (high, b) in pairwise(zip(values, first, strict=True)):
        if a != b:
            found.append(_crossing(costs, float(low), a, float(high)))
    return Acceptability(np.asarray(values, dtype=float), shares, tuple(found))


def _crossing(costs: Linear, low: float, below: int, high: float) -> Crossing:
    for _ in range(_HALVINGS):
        middle = float(np.sqrt(low * high))
        low, high = (middle, high) if int(np.argmax(cheapest(costs.at(middle)))) == below else (low, middle)
    return Crossing(high, below, int(np.argmax(cheapest(costs.at(high)))))
