"""Options and courses on shared draws: differences and swings, which is best how often, which course the printed rule advises, and how sure that is.

D = cost of A - cost of B, draw by draw: inputs that both share cancel, so D is far less uncertain than either
total. Negative means A is cheaper.

Costs are (draws, options), lower is better.

Money is the spine here too. A course that takes more doing than the plain one has to earn it.

Costs are (draws,), lower is better. What an act leads to is in its cost: of one that finds out first, what is chosen then.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fabricreport.base.errors import InputError, Problem
from fabricreport.base.provenance import plain
from fabricreport.models.judgement.comparison import Course
from fabricreport.models.money.cashflow import array

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Difference:
    """D = A - B by draw, with its parts by cause (same draws; they sum to D)."""

    draws: Array
    parts: Mapping[str, Array]

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


@dataclass(frozen=True)
class Swing:
    """How one input moves the mean difference: its mean over the lowest and the highest tenth of the input's draws."""

    input_id: str
    at_low: float
    at_high: float
    share_of_variance: float

    @property
    def width(self) -> float:
        """The size of the swing, in the unit of the difference."""
        return abs(self.at_high - self.at_low)


def swings(difference: Any, inputs: Mapping[str, Any], *, tail: float = 0.1) -> tuple[Swing, ...]:
    """One-at-a-time sensitivity of the mean difference, read off the existing sample; widest swing first.

    difference: (draws,); inputs: id -> (draws,). Shares of variance are squared rank correlations,
    normalised to sum to at most one.
    """
    d = plain(difference)
    edge = max(1, int(d.size * tail))
    ranks_d = _ranks(d)
    raw = []
    for input_id, values in inputs.items():
        x = plain(values)
        if x.min() == x.max():
            continue
        order = np.argsort(x, kind="stable")
        low, high = float(d[order[:edge]].mean()), float(d[order[-edge:]].mean())
        raw.append((input_id, low, high, float(np.corrcoef(_ranks(x), ranks_d)[0, 1]) ** 2))
    scale = max(1.0, sum(r2 for *_, r2 in raw))
    found = [Swing(i, low, high, r2 / scale) for i, low, high, r2 in raw]
    return tuple(sorted(found, key=lambda s: -s.width))


def _ranks(x: NDArray[np.float64]) -> NDArray[np.float64]:
    ranks = np.empty(x.size)
    ranks[np.argsort(x, kind="stable")] = np.arange(x.size)
    return ranks


HELD = 0.95
"""Share of fresh samples that lie within two errors of a printed share."""


def cheapest(costs: Array) -> Array:
    """Share of draws in which each option is the cheapest (options,); ties are split evenly.

    An option that is never the cheapest takes nothing of any other's share.
    """
    lowest = costs == costs.min(axis=1, keepdims=True)
    return np.asarray((lowest / lowest.sum(axis=1, keepdims=True)).mean(axis=0))


def by_hypercube(costs: Array, count: int, statistic: Callable[[Array], Array]) -> Array:
    """A statistic of each of `count` hypercubes that follow one another in the draws (count, …)."""
    return np.stack([statistic(part) for part in np.split(costs, count)])


def sampling_error(replicates: Array, size: int, printed_size: int) -> Array:
    """The error of a share read off one hypercube of `printed_size` draws, from those of others of `size` draws.

    A fresh hypercube of `printed_size` draws lies within two errors of the printed share in `HELD` of cases: both it and
    the printed one are off, so their difference has twice the variance of either, and the spread is known only from
    `replicates` (count, …), hence Student's t. The variance of a stratified share falls with its size.
    """
    from scipy import special  # slow to import, and only a study needs it

    count = replicates.shape[0]
    spread = replicates.std(axis=0, ddof=1) * np.sqrt(size / printed_size)
    return np.asarray(spread * np.sqrt(2.0) * float(special.stdtrit(count - 1, (1 + HELD) / 2)) / 2)


@dataclass(frozen=True)
class Offered:
    """A course: its mean cost `against` an order at once of the option that the courses are held against, whether it can be `carried_out` at a cost that is known,
    and its chance of being ready by the client's date. `late`: what the weeks beyond that date cost on average, as far as
    `against` has it not."""

    course: Course
    against: float
    ready: float
    carried_out: bool = True
    late: float = 0.0


@dataclass(frozen=True)
class Advised:
    """The course that is advised, and whether it is so for the client's date rather than its cost.

    `in_time`: the cheapest course that is likely to meet a date which the plain one is not likely to meet, advised or not.
    """

    course: Course
    by_date: bool = False
    in_time: Course | None = None


def advised(
    plain: Offered,
    others: Sequence[Offered],
    *,
    materiality: float,
    ready_probability: float,
    date_stated: bool,
) -> Advised:
    """The plain course, unless another one of those that can be carried out costs less by at least the materiality, and less
    than an order at once: where the plain one is to ask first, a costly wait makes no other way to wait worth its cost.

    Where the client stated a date, a course that is not likely to meet it never takes the place of one that is; and where
    the plain one is not likely to, the cheapest of those that are is advised, unless it costs more beside the plain one
    than the lateness that it saves. Then, and where none is likely to, the date is what has to move, and money alone advises.
    """
    able = [o for o in others if o.carried_out]
    ready = [o for o in able if not date_stated or o.ready >= ready_probability]
    in_time: Course | None = None
    if date_stated and plain.ready < ready_probability:
        if ready:
            best = _cheapest(ready)
            if best.against - plain.against <= plain.late - best.late:
                return Advised(best.course, by_date=True, in_time=best.course)
            in_time = best.course
        ready = able
    most = min(plain.against, 0.0)
    cheaper = [o for o in ready if o.against < most and plain.against - o.against >= materiality]
    return Advised(_cheapest(cheaper).course if cheaper else plain.course, in_time=in_time)


def _cheapest(courses: Sequence[Offered]) -> Offered:
    return min(courses, key=lambda o: o.against + o.late)


@dataclass(frozen=True)
class Sure:
    """The `share` of draws in which an act costs at most the `margin` more than the best `other` one, '' where there is none."""

    share: float
    other: str
    margin: float


def best_other(act: Array, others: Mapping[str, Array]) -> str:
    """The other act with the lowest mean cost, fixed before any draw is seen; '' where there is none.

    One that costs more than the act in some draws, and less in none, is the act made dearer: it is no other to hold it against.
    """
    real = {key: cost for key, cost in others.items() if np.any(cost < act) or np.array_equal(cost, act)}
    return min(real, key=lambda key: float(real[key].mean()), default="")


def sure(act: Array, others: Mapping[str, Array], margin_of: Callable[[str], float]) -> Sure:
    """How sure the act is; `margin_of`: what it may cost more than another act, by that act's key, and still stand."""
    other = best_other(act, others)
    margin = margin_of(other)
    return Sure(float(np.mean(act - others[other] <= margin)) if other else 1.0, other, margin)


def following(chosen: NDArray[np.intp], costs: Array) -> Array:
    """Cost by draw of taking in each draw the column of the costs (draws, options) that was chosen there."""
    return np.asarray(np.take_along_axis(costs, chosen[:, None], axis=1)[:, 0])
