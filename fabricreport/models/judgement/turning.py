"""Where a decision turns as one input moves alone: the model is asked again, never read off a regression.

Two points are told apart. The money is *level* where the mean difference of costs is zero; the *advice changes* where
another course of action is advised, which may come before or after.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from fabricreport.base.provenance import plain

TOLERANCE = 1e-3
"""Points are found to this share of the range searched; where the money is level, ten times finer."""
DEAREST = 1024.0
"""A price is searched up to so many times the one in use: beyond, it is said that none turns the money."""


_UNMOVED = 1e-9
"""A lead that changes by less than this share of itself is the same one, rounded."""


@dataclass(frozen=True)
class Seen:
    """What the model says with the input at one value: the mean lead of the choice, what it is held against, and the id
    of the course advised."""

    lead: float
    material: float
    course: str


@dataclass(frozen=True)
class Turning:
    """Where the lead is used up (`level`) and where the course changes (`edge`, to `course`); None if nowhere in range.

    `beyond` is the edge on the other side of the value in use, with its course, where there is one too.
    """

    level: float | None
    edge: float | None
    course: str = ""
    beyond: tuple[float, str] | None = None


@dataclass(frozen=True)
class PriceLevel:
    """The price at which the money is level (None: at no price), and what the choice is on either side of it.

    `choice_below`: whether the choice costs less at a price below the level; where there is none, at any price.
    """

    level: float | None
    choice_below: bool


@dataclass
class Asked:
    """The model asked at values of one input, each once; what is known already narrows every later search."""

    model: Callable[[float], Seen]
    seen: dict[float, Seen] = field(default_factory=dict)

    def __call__(self, value: float) -> Seen:
        """What the model says there."""
        if value not in self.seen:
            self.seen[value] = self.model(value)
        return self.seen[value]

    def way(self, start: float, end: float) -> list[float]:
        """Every value asked from `start` to `end`, in that order."""
        low, high = sorted((start, end))
        return sorted((x for x in self.seen if low <= x <= high), key=lambda x: abs(x - start))

    def step(self, start: float, end: float, of: Callable[[Seen], object]) -> tuple[float, float] | None:
        """The two neighbours on the way between which something first differs from what it is at the start."""
        way = self.way(start, end)
        here = of(self(start))
        return next(((a, b) for a, b in pairwise(way) if of(self.seen[b]) != here), None)


def turning(asked: Asked, start: float, low: float, high: float) -> Turning:
    """Search from `start` (the value in use) to both ends of the range; of two points of a kind the nearer one counts.

    A pair of crossings that lie between two values asked is not seen.
    """
    for value in (start, low, high):
        asked(value)
    levels = [x for end in (low, high) if (x := _level(asked, start, end)) is not None]
    edges = [x for end in (low, high) if (x := _edge(asked, start, end)) is not None]
    level = min(levels, key=lambda x: abs(x - start), default=None)
    return turning_at(start, level, [(x, asked(x).course) for x in edges])


def reached(asked: Asked, start: float, ends: Sequence[float], holds: Callable[[Seen], bool]) -> float | None:
    """The value nearest to `start` from which on something `holds`, on the way to an end at which it does; None at neither.

    A coming and going on the way is not seen.
    """
    found = []
    for end in ends:
        if holds(asked(end)) and not holds(asked(start)):
            before, after = start, end
            while abs(after - before) > TOLERANCE * abs(end - start):
                middle = (before + after) / 2
                before, after = (before, middle) if holds(asked(middle)) else (middle, after)
            found.append(after)
    return min(found, key=lambda x: abs(x - start), default=None)


def price_level(asked: Asked, in_use: float, known: float | None = None) -> PriceLevel | None:
    """Where the money is level at any positive price, searched from the one in use far beyond its range.

    Of two levels the nearer counts; `known`: one that was found already. None where the price moves no money at all.
    """
    dearest = in_use * DEAREST
    here, free, dear = (asked(price).lead for price in (in_use, 0.0, dearest))
    if max(abs(free - here), abs(dear - here)) <= _UNMOVED * abs(here):
        return None
    if here == 0:
        return PriceLevel(in_use, dear < 0)
    ahead = here > 0
    if known is not None:
        return PriceLevel(known, ahead is (known >= in_use))
    levels = []
    for end in (0.0, dearest):
        if between := asked.step(in_use, end, _sign):
            levels.append((_root(lambda x: asked(x).lead, between, TOLERANCE / 10 * in_use), end > 0))
    positive = [(level, dearer) for level, dearer in levels if level > 0]
    if not positive:
        return PriceLevel(None, ahead)
    level, dearer = min(positive, key=lambda found: abs(found[0] - in_use))
    return PriceLevel(level, ahead is dearer)


def turning_of_whole(model: Callable[[int], Seen], start: int, values: Sequence[int]) -> Turning:
    """The same for an input that takes only these values (ascending): the first value at which it has turned.

    Each side is asked at its ends and in its middle, then where it turns; a pair of crossings between is not seen.
    """
    asked = Asked(lambda value: model(int(value)))
    asked(start)
    levels, edges = [], []
    for side in ([v for v in reversed(values) if v < start], [v for v in values if v > start]):
        if side:
            asked(side[-1]), asked(side[len(side) // 2])
            levels += _first(asked, start, side, _sign)
            edges += _first(asked, start, side, _course)
    level = min(levels, key=lambda v: abs(v - start), default=None)
    return turning_at(start, level, [(x, asked(x).course) for x in edges])


def turning_at(start: float, level: float | None, edges: Sequence[tuple[float, str]]) -> Turning:
    """A turning from edges (value, course) on either side of the value in use, the nearer one first."""
    near = sorted(edges, key=lambda edge: abs(edge[0] - start))
    if not near:
        return Turning(level, None)
    return Turning(level, *near[0], beyond=near[1] if len(near) > 1 else None)


def _sign(seen: Seen) -> bool:
    return seen.lead > 0


def _course(seen: Seen) -> str:
    return seen.course


def _first(asked: Asked, start: int, side: Sequence[int], of: Callable[[Seen], object]) -> list[int]:
    """The first value on a side that has turned, in a list; an empty one if none has."""
    between = asked.step(start, side[-1], of)
    if between is None:
        return []
    order = [start, *side]
    same, other = (order.index(int(value)) for value in between)
    while other - same > 1:
        middle = (same + other) // 2
        same, other = (middle, other) if of(asked(order[middle])) == of(asked(start)) else (same, middle)
    return [order[other]]


def _level(asked: Asked, start: float, end: float) -> float | None:
    """Where the lead first crosses zero on the way from `start` to `end`."""
    if asked(start).lead == 0:
        return start
    between = asked.step(start, end, _sign)
    if between is None:
        return None
    return _root(lambda x: asked(x).lead, between, TOLERANCE / 10 * abs(end - start))


def _edge(asked: Asked, start: float, end: float) -> float | None:
    """Where the course first changes on the way from `start` to `end`, to the tolerance: the nearest value known to differ."""
    width = abs(end - start)
    for sign in (1.0, -1.0):  # most courses change where the lead falls to what it is held against: ask close to it
        _close_in(asked, asked.step(start, end, _course), sign, width)
    between = asked.step(start, end, _course)
    if between is None:
        return None
    same, other = between
    while abs(other - same) > TOLERANCE * width:
        middle = (same + other) / 2
        same, other = (middle, other) if asked(middle).course == asked(start).course else (same, middle)
    return float(other)


def _close_in(asked: Asked, between: tuple[float, float] | None, sign: float, width: float) -> None:
    def margin(value: float) -> float:
        seen = asked(value)
        return seen.lead - sign * seen.material

    if between is None or abs(between[1] - between[0]) <= TOLERANCE * width:
        return
    if (margin(between[0]) > 0) == (margin(between[1]) > 0):
        return
    at = _root(margin, between, TOLERANCE / 4 * width)
    low, high = sorted(between)
    asked(max(low, at - TOLERANCE / 2 * width))
    asked(min(high, at + TOLERANCE / 2 * width))


def _root(function: Callable[[float], float], between: tuple[float, float], tolerance: float) -> float:
    from scipy import optimize  # slow to import, and only a search needs it

    a, b = sorted(between)
    return float(optimize.brentq(lambda x: function(float(x)), a, b, xtol=max(tolerance, 1e-300), rtol=1e-12))


def reach(difference: NDArray[np.float64], inputs: Mapping[str, NDArray[np.float64]]) -> dict[str, tuple[float, float]]:
    """Mean difference to be expected with each input at its lowest and at its highest draw, all others at theirs.

    A screen on draws that exist already: the difference (draws,) is regressed on all inputs at once, so that an input
    is not hidden behind a correlated one, and what is left of each is followed along its own lowest and highest tenth.
    """
    ids = [i for i, x in inputs.items() if np.ptp(plain(x)) > 0]
    if not ids:
        return {}
    d = plain(difference)
    x = np.stack([plain(inputs[i]) for i in ids], axis=1)
    middle, spread = x.mean(axis=0), x.std(axis=0)
    z = (x - middle) / spread
    slopes = np.linalg.lstsq(z.T @ z, z.T @ d, rcond=None)[0]  # the columns are centred: no constant is needed
    rest = d - z @ slopes
    edge = max(1, d.size // 10)
    found = {}
    for n, name in enumerate(ids):
        own = rest + z[:, n] * slopes[n]
        order = np.argsort(x[:, n], kind="stable")
        ends = []
        for tenth, end in ((order[:edge], x[:, n].min()), (order[-edge:], x[:, n].max())):
            at, mean = float(z[tenth, n].mean()), float(own[tenth].mean())
            to_end = float((end - middle[n]) / spread[n])
            ends.append(float(d.mean()) + (mean - float(own.mean())) * (to_end / at if at else 1.0))
        found[name] = (ends[0], ends[1])
    return found
