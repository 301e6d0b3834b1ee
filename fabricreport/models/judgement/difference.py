"""The difference between two options on shared draws, why it is what it is, and what would turn it.

D = cost of A - cost of B, draw by draw: inputs that both share cancel, so D is far less uncertain than either
total. Negative means A is cheaper.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from fabricreport.errors import InputError, Problem
from fabricreport.models.money.cashflow import array

Array = NDArray[np.float64]
Evaluate = Callable[[Mapping[str, Array]], Array]
"""D for given inputs: arrays of one length in, D of that length out."""


@dataclass(frozen=True)
class Difference:
    """D = A - B by draw, with its parts by cause (same draws; they sum to D)."""

    draws: Array
    parts: Mapping[str, Array]

    @property
    def mean(self) -> Array:
        """Mean of D."""
        return array(np.mean(self.draws))

    @property
    def percentiles(self) -> tuple[Array, Array, Array]:
        """P5, P50 and P95 of D."""
        p5, p50, p95 = np.percentile(self.draws, [5, 50, 95])
        return p5, p50, p95

    @property
    def probability_a_cheaper(self) -> Array:
        """Share of draws in which A costs less; a tie counts half."""
        return array(np.mean(np.where(self.draws < 0, 1.0, np.where(self.draws == 0, 0.5, 0.0))))

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
    parts = {
        name: np.broadcast_to(array(costs_a.get(name, 0.0)), draws)
        - np.broadcast_to(array(costs_b.get(name, 0.0)), draws)
        for name in names
    }
    total: Array = np.broadcast_to(array(0.0), draws)
    for part in parts.values():
        total = total + part
    return Difference(total, parts)


@dataclass(frozen=True)
class RelativeDifference:
    """The same gap on both bases, so that a discount is never read as a premium."""

    b_less_than_a: Array
    a_more_than_b: Array


def relative_difference(a: Any, b: Any) -> RelativeDifference:
    """How much less B is as a share of A, and how much more A is as a share of B."""
    a, b = array(a), array(b)
    return RelativeDifference((a - b) / a, (a - b) / b)


@dataclass(frozen=True)
class Swing:
    """One bar of a tornado: the input's P5 and P95, and D there with every other input at its median."""

    name: str
    input_low: Array
    input_high: Array
    at_low: Array
    at_high: Array
    at_medians: Array

    @property
    def width(self) -> Array:
        """How far the input moves D."""
        return np.abs(self.at_high - self.at_low)

    @property
    def flips(self) -> bool:
        """Whether D changes sign between the two ends."""
        return bool(np.sign(self.at_low) * np.sign(self.at_high) < 0)


def tornado(evaluate: Evaluate, inputs: Mapping[str, Array]) -> tuple[Swing, ...]:
    """Swings of D as each input goes from its P5 to its P95 alone, widest first.

    `evaluate` is called once, with one row for the medians and two for each input.
    """
    rows = 2 * len(inputs) + 1
    ends = {name: np.percentile(values, [5, 50, 95]) for name, values in inputs.items()}
    case = np.arange(rows)
    cases = {}
    for i, (name, (low, median, high)) in enumerate(ends.items()):
        at_end = np.where(case == 2 * i + 2, high, median)
        cases[name] = np.where(case == 2 * i + 1, low, at_end)
    out = np.broadcast_to(evaluate(cases), (rows,))
    swings = [
        Swing(name, low, high, out[2 * i + 1], out[2 * i + 2], out[0])
        for i, (name, (low, _, high)) in enumerate(ends.items())
    ]
    return tuple(sorted(swings, key=lambda s: -float(s.width)))


def rank_contributions(inputs: Mapping[str, Array], draws: Array) -> dict[str, float]:
    """Spearman rank correlation of each input with D, largest first by size; inputs that do not vary are left out.

    A screening aid from the sample already drawn: no further evaluation is needed.
    """
    ranks = stats.rankdata(np.asarray(draws, dtype=float))
    if np.ptp(ranks) == 0:
        return {}
    out = {}
    for name, values in inputs.items():
        own = stats.rankdata(np.asarray(values, dtype=float))
        if np.ptp(own) > 0:
            out[name] = float(np.corrcoef(own, ranks)[0, 1])
    return dict(sorted(out.items(), key=lambda item: -abs(item[1])))


@dataclass(frozen=True)
class BreakEven:
    """Where the mean (or median) of D crosses zero as one input goes from `low` to `high`.

    `value` is the only crossing, or the one nearest to `start` when there are several (`crossings` has all), or
    None when the choice stays the same over the whole range; `at_low` and `at_high` are the statistic there.
    """

    value: float | None
    crossings: tuple[float, ...]
    low: float
    high: float
    at_low: float
    at_high: float


def break_even(
    evaluate: Callable[[Array], Array],
    low: float,
    high: float,
    *,
    statistic: str = "mean",
    start: float | None = None,
    points: int = 65,
) -> BreakEven:
    """Find the input values at which the statistic of D is zero.

    `evaluate` takes a column of input values (points, 1) and returns D (points, draws): one call for a grid,
    then bisection of every crossing at once, also vectorised. `statistic` is "mean" or "median". A tangent
    root between two grid points is not seen. Raises `InputError` for an empty range or unknown statistic.
    """
    if statistic not in ("mean", "median") or not low < high or points < 2:
        raise InputError(
            Problem(
                "needs low < high, and the statistic mean or median",
                key="break_even",
                value=f"{low} to {high}, {statistic}",
            )
        )
    centre = np.mean if statistic == "mean" else np.median

    def at(values: NDArray[np.float64]) -> NDArray[np.float64]:
        result = np.asarray(evaluate(values[:, None]), dtype=float)
        return np.asarray(centre(np.broadcast_to(result, (len(values), result.shape[-1])), axis=-1))

    grid = np.linspace(low, high, points)
    level = at(grid)
    exact = [float(x) for x in grid[level == 0]]
    crosses = np.flatnonzero(level[:-1] * level[1:] < 0)
    a, b, sign = grid[crosses], grid[crosses + 1], np.sign(level[crosses])
    for _ in range(50 if len(crosses) else 0):
        middle = (a + b) / 2
        same = np.sign(at(middle)) == sign
        a, b = np.where(same, middle, a), np.where(same, b, middle)
    crossings = tuple(sorted([*exact, *(float(x) for x in (a + b) / 2)]))
    origin = (low + high) / 2 if start is None else start
    value = min(crossings, key=lambda x: abs(x - origin)) if crossings else None
    return BreakEven(value, crossings, low, high, float(level[0]), float(level[-1]))
