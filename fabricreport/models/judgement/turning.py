"""Where a decision turns as one input moves alone: the model is asked again, never read off a regression.

Two points are told apart. The money is *level* where the mean difference of costs is zero; the *advice changes* where
another course of action is advised, which may come before or after.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray
from scipy import optimize

from fabricreport.provenance import plain

TOLERANCE = 1e-3
"""Points are found to this share of the range searched; where the money is level, ten times finer."""


@dataclass(frozen=True)
class Seen:
    """What the model says with the input at one value: the mean lead of the choice, what it is held against, and the id
    of the course advised."""

    lead: float
    material: float
    course: str


@dataclass(frozen=True)
class Turning:
    """Where the lead is used up (`level`) and where the course changes (`edge`, to `course`); None if nowhere in range."""

    level: float | None
    edge: float | None
    course: str = ""


@dataclass
class _Asked:
    """The model asked at values of one input, each once."""

    model: Callable[[float], Seen]
    seen: dict[float, Seen] = field(default_factory=dict)

    def __call__(self, value: float) -> Seen:
        if value not in self.seen:
            self.seen[value] = self.model(value)
        return self.seen[value]


def turning(model: Callable[[float], Seen], start: float, low: float, high: float) -> Turning:
    """Search from `start` (the value in use) to both ends of the range; of two points of a kind the nearer one counts.

    A pair of crossings that lie between two values asked is not seen.
    """
    asked = _Asked(model)
    base = asked(start)
    levels = [x for end in (low, high) if (x := _level(asked, start, end)) is not None]
    edges = [x for end in (low, high) if (x := _edge(asked, base.course, start, end)) is not None]
    width = max(high - low, 1e-300)
    level = min(levels, key=lambda x: abs(x - start), default=None)
    edge = min(edges, key=lambda x: abs(x - start), default=None)
    if edge is None:
        return Turning(level, None)
    beyond = edge + np.sign(edge - start) * TOLERANCE * width if edge != start else edge
    return Turning(level, edge, asked(float(np.clip(beyond, low, high))).course)


def turning_of_whole(model: Callable[[int], Seen], start: int, values: tuple[int, ...]) -> Turning:
    """The same for an input that takes only these values (ascending): the first value at which it has turned."""
    asked = {start: model(start)}
    below = [v for v in reversed(values) if v < start]
    above = [v for v in values if v > start]
    levels, edges = [], []
    for side in (below, above):
        for value in side:
            asked[value] = model(value)
            if (asked[value].lead > 0) != (asked[start].lead > 0):
                levels.append(value)
                break
        changed = [v for v in side if v in asked and asked[v].course != asked[start].course]
        edges += changed[:1]
    edge = min(edges, key=lambda v: abs(v - start), default=None)
    level = min(levels, key=lambda v: abs(v - start), default=None)
    return Turning(level, edge, asked[edge].course if edge is not None else "")


def _level(asked: _Asked, start: float, end: float) -> float | None:
    """Where the lead crosses zero between two values."""
    if end == start or (asked(start).lead > 0) == (asked(end).lead > 0):
        return None
    a, b = sorted((start, end))
    return float(optimize.brentq(lambda x: asked(float(x)).lead, a, b, xtol=TOLERANCE / 10 * (b - a), rtol=1e-12))


def _narrow(asked: _Asked, start: float, end: float) -> None:
    """Ask close to where the lead falls to what it is held against, which is where most courses change."""
    for sign in (1.0, -1.0):

        def margin(value: float, sign: float = sign) -> float:
            seen = asked(float(value))
            return seen.lead - sign * seen.material

        if (margin(start) > 0) != (margin(end) > 0):
            a, b = sorted((start, end))
            at = float(optimize.brentq(margin, a, b, xtol=TOLERANCE / 4 * (b - a), rtol=1e-12))
            for value in (at - TOLERANCE / 2 * (b - a), at + TOLERANCE / 2 * (b - a)):
                asked(float(np.clip(value, a, b)))


def _edge(asked: _Asked, course: str, start: float, end: float) -> float | None:
    """Where the course first changes on the way from `start` to `end`, to the tolerance: the nearest value known to differ."""
    if end == start:
        return None
    asked(end)
    _narrow(asked, start, end)
    way = sorted((x for x in asked.seen if min(start, end) <= x <= max(start, end)), key=lambda x: abs(x - start))
    changed = next((n for n, x in enumerate(way) if asked.seen[x].course != course), None)
    if changed is None:
        return None
    same, other = way[changed - 1], way[changed]
    while abs(other - same) > TOLERANCE * abs(end - start):
        middle = (same + other) / 2
        same, other = (middle, other) if asked(middle).course == course else (same, middle)
    return float(other)


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
    slopes = np.linalg.lstsq(np.column_stack([z, np.ones(d.size)]), d, rcond=None)[0][:-1]
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
