"""Two inputs moved together: the nearest pair of values at which a mean difference is used up.

Distance is in standard scores from the values in use, the two inputs' correlation counted (Hasofer & Lind 1974): the
nearest point is the likeliest joint move. It is sought along the model itself (Rackwitz & Fiessler 1978); what each
input does alone only says which pairs are worth a search.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
FARTHEST = 2.5
"""Scores from the median within which an input is moved: beyond lies less than one draw in a hundred."""
FAIR_SHARE = 0.2
"""Each input closes at least this share of the gap, or it is no joint move."""
_ROUNDS = 4
_STEP = 0.25
_CLOSE = 0.02
_TOLERANCE = 1e-3
_SINGULAR = 1e-9


@dataclass(frozen=True)
class Scores:
    """The draws of an input as standard scores: what value has which score, by rank."""

    ordered: Array
    grid: Array = field(repr=False)

    @staticmethod
    def of(draws: Array) -> Scores:
        """Scores of draws (draws,)."""
        from scipy import special  # slow to import, and only a study needs it

        return Scores(np.sort(draws), np.asarray(special.ndtri((np.arange(draws.size) + 0.5) / draws.size)))

    def value(self, score: float) -> float:
        """The value with this score; the end of the range beyond it."""
        return float(np.interp(score, self.grid, self.ordered))

    def score(self, value: float) -> float:
        """The score of a value."""
        return float(np.interp(value, self.ordered, self.grid))

    def each(self, draws: Array) -> Array:
        """The scores of the draws themselves (draws,)."""
        ranks = np.empty(draws.size, dtype=int)
        ranks[np.argsort(draws, kind="stable")] = np.arange(draws.size)
        return self.grid[ranks]


@dataclass(frozen=True)
class Pair:
    """Two inputs by name, what a score of each adds to the mean when it moves alone, and how they move together.

    `distance` is that of the nearest point where the money is level, were the mean linear in the scores."""

    names: tuple[str, str]
    slopes: Array
    correlation: Array
    distance: float


def pairs(mean: float, slopes: Mapping[str, float], inputs: Mapping[str, Array]) -> tuple[Pair, ...]:
    """Pairs of inputs that may use up a mean difference together, the nearest first.

    `slopes`: what one score of each input adds to it, by the model with that input alone moved; `inputs`: their draws
    (draws,), for how they move together. Of a pair both must do their part.
    """
    names = [i for i in slopes if np.ptp(inputs[i]) > 0]
    if len(names) < 2:
        return ()
    g_all = np.array([slopes[i] for i in names])
    inner = np.asarray(np.corrcoef([Scores.of(inputs[i]).each(inputs[i]) for i in names]))
    found = []
    for a, b in combinations(range(len(names)), 2):
        g, r = g_all[[a, b]], inner[np.ix_([a, b], [a, b])]
        move = _move(g, r, -mean) if mean else None
        if move is not None:
            found.append(Pair((names[a], names[b]), g, r, float(np.sqrt(move @ np.linalg.solve(r, move)))))
    return tuple(sorted(found, key=lambda pair: pair.distance))


def _move(slopes: Array, correlation: Array, by: float) -> Array | None:
    """The shortest move that changes a linear mean `by` so much, each input doing its share; None where one does nothing.

    Inputs that rise and fall together and would have to part are told apart by that share: the nearest point of all
    would be all but one input's own.
    """
    along = correlation @ slopes
    size = float(slopes @ along)
    if size <= _SINGULAR or np.any(slopes == 0) or np.linalg.det(correlation) <= _SINGULAR:
        return None
    shares = np.clip(slopes * along / size, FAIR_SHARE, 1 - FAIR_SHARE)
    return np.asarray(by * shares / slopes)


def nearest_level(model: Callable[[Array], float], start: Array, pair: Pair) -> Array | None:
    """The scores (2,) nearest to `start` at which the model is zero; None if there are none within reach.

    The model's own slopes lead to it, and the last step is a search on the line from `start`: what is returned is
    level by the model itself, to the tolerance.
    """
    asked: dict[tuple[float, ...], float] = {}

    def ask(z: Array) -> float:
        key = tuple(float(x) for x in z)
        if key not in asked:
            asked[key] = model(z)
        return asked[key]

    slopes, z = pair.slopes, start
    if ask(start) == 0:
        return start
    for turn in range(_ROUNDS):
        move = _move(slopes, pair.correlation, -(ask(z) + float(slopes @ (start - z))))
        if move is None:
            return None
        target = _within(start + move)
        before, step, z = z, target - z, target
        if float(np.max(np.abs(step))) < _CLOSE:
            break
        if turn == 0:  # the model's slopes where the regression leads to, and then only along each step
            slopes = np.array([(ask(z + unit) - ask(z)) / unit.sum() for unit in _inward(z)])
        else:
            slopes = slopes + (ask(z) - ask(before) - slopes @ step) * step / float(step @ step)
    return _on_the_line(ask, start, z)


def _within(z: Array) -> Array:
    return np.clip(z, -FARTHEST, FARTHEST)


def _inward(z: Array) -> Array:
    """A step of each score towards the middle, so that no value beyond the range is asked for."""
    return np.asarray(np.diag(np.where(z > 0, -_STEP, _STEP)))


def _on_the_line(ask: Callable[[Array], float], start: Array, end: Array) -> Array | None:
    """Where the model is zero on the line from `start` through `end`, a little beyond it at most."""
    from scipy import optimize  # slow to import, and only a search needs it

    positive = ask(start) > 0
    for reach in (1.0, 1.15, 1.4):
        far = start + reach * (end - start)
        if np.any(np.abs(far) > FARTHEST):
            return None
        if (ask(far) > 0) != positive:
            t = optimize.brentq(lambda t: ask(start + float(t) * (end - start)), 0.0, reach, xtol=_TOLERANCE * reach)
            return np.asarray(start + float(t) * (end - start))
    return None
