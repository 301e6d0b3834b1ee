"""The difference between two options on shared draws, and why it is what it is.

D = cost of A - cost of B, draw by draw: inputs that both share cancel, so D is far less uncertain than either
total. Negative means A is cheaper.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fabricreport.errors import InputError, Problem
from fabricreport.models.money.cashflow import array

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Difference:
    """D = A - B by draw, with its parts by cause (same draws; they sum to D)."""

    draws: Array
    parts: Mapping[str, Array]

    @property
    def mean(self) -> Array:
        """Mean of D."""
        return array(np.mean(self.draws))

    def waterfall(self) -> dict[str, Array]:
        """Mean of each part, largest first by size. Means add up to the mean of D; medians would not."""
        means = {cause: array(np.mean(part)) for cause, part in self.parts.items()}
        return dict(sorted(means.items(), key=lambda item: -abs(float(item[1]))))


def difference(costs_a: Mapping[str, Array], costs_b: Mapping[str, Array]) -> Difference:
    """Difference of two bills (component name to present value) cause by cause; a cause one bill lacks is zero there.

    Both must come from the same draws. Raises `InputError` when their draws differ in number.
    """
    names = [*costs_a, *(name for name in costs_b if name not in costs_a)]
    shapes = {np.shape(v) for v in (*costs_a.values(), *costs_b.values()) if np.ndim(v)}
    if len(shapes) > 1:
        raise InputError(Problem("the two options have different draws", value=str(sorted(shapes))))
    draws = next(iter(shapes), ())
    gaps = {name: array(costs_a.get(name, 0.0)) - array(costs_b.get(name, 0.0)) for name in names}
    parts = {name: gap if np.shape(gap) == draws else np.broadcast_to(gap, draws) for name, gap in gaps.items()}
    total: Array = np.broadcast_to(array(0.0), draws)
    for part in parts.values():
        total = total + part
    return Difference(total, parts)


@dataclass(frozen=True)
class RelativeDifference:
    """The same gap by draw as a share of either mean, so that a discount is never read as a premium."""

    b_less_than_a: Array
    a_more_than_b: Array


def relative_difference(a: Any, b: Any) -> RelativeDifference:
    """How much less B is as a share of A's mean, and how much more A is as a share of B's.

    The mean of either is the ratio of the means, so its sign is that of the mean gap; a mean of ratios may differ.
    """
    a, b = array(a), array(b)
    return RelativeDifference((a - b) / np.mean(a), (a - b) / np.mean(b))
