"""Value of information over any number of courses, from draws of their costs; lower cost is better.

Costs must be means given the epistemic inputs: nobody can buy knowledge of run luck. All values are in the unit of the
costs, and none is clipped at zero or at the value of perfect information: what lies within its noise says so.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fabricreport.models.information.regression import foreseen
from fabricreport.provenance import plain

FOLDS = 5
NOISE = 2.0
"""Standard errors under which a value is not told from nothing."""

UNSEEN = 2.0
"""Draws in which a choice may turn without being met in the sample, in the standard error."""

Draws = NDArray[np.float64]


@dataclass(frozen=True)
class Estimate:
    """A value of information and its standard error, in the unit of the costs."""

    value: float
    standard_error: float

    @property
    def below_noise(self) -> bool:
        """Whether the value is not told from nothing."""
        return self.value <= NOISE * self.standard_error


def evpi(costs: Any) -> float:
    """Expected value of perfect information of costs (draws, courses): what the best course costs on average less what the
    best course of each draw does.

    Oracle: two courses whose difference is normal(mu, s) give s * phi(u) - |mu| * Phi(-u) with u = |mu| / s.
    """
    c = _matrix(costs)
    return min((float(loss.mean()) for loss in (c - c.min(axis=1)[:, None]).T), default=0.0)


def evppi(costs: Any, inputs: Any, *, seed: int, folds: int = FOLDS) -> Estimate:
    """Expected value of knowing the inputs (draws,) or (draws, k) and nothing else, of costs (draws, courses).

    The mean of each course given the inputs is learnt by regression on the draws (Strong, Oakley and Brennan 2014), on
    all folds but one; on that one, the course it then chooses is held against the course that is best on average. So no
    draw is both learnt from and judged by: noise is not rewarded, and a course chosen by a poor regression is charged
    what it costs. What is estimated is the worth of the best choice that the regression finds, at most the full value.

    The standard error is that of the paired difference, with the resolution of the sample beside it: a choice that
    turns in a draw or two may not be met at all.
    """
    c = _matrix(costs)
    kept = _undominated(c)
    draws = len(c)
    if len(kept) < 2 or draws < 2 * folds:
        return Estimate(0.0, 0.0)
    taken, expected = _foreseen_best(c[:, kept], _columns(inputs), seed=seed, folds=folds)
    best = c[:, kept[int(np.argmin(c[:, kept].mean(axis=0)))]]
    saved = best - c[np.arange(draws), np.asarray(kept)[taken]]
    paired = float(saved.std(ddof=1)) / draws**0.5
    resolution = UNSEEN * float(expected.std(axis=0).max()) / draws
    return Estimate(float(saved.mean()), float(np.hypot(paired, resolution)))


def taken(costs: Any, signals: Any, *, seed: int, folds: int = FOLDS) -> NDArray[np.intp]:
    """The course (draws,) that is chosen in each draw by what the signals (draws,) or (draws, m) show there, as `evsi` has
    it: the one that is best on average unless another is expected to cost less."""
    c = _matrix(costs)
    kept = np.asarray(_undominated(c))
    if len(kept) < 2 or len(c) < 2 * folds:
        return np.full(len(c), int(np.argmin(c.mean(axis=0))), dtype=np.intp)
    found, _ = _foreseen_best(c[:, kept], _columns(signals), seed=seed, folds=folds)
    return np.asarray(kept[found], dtype=np.intp)


def _foreseen_best(c: Draws, x: Draws, *, seed: int, folds: int) -> tuple[NDArray[np.intp], Draws]:
    """The course taken in each draw, and what each other is expected to cost against the one that is best on average."""
    best = int(np.argmin(c.mean(axis=0)))
    others = np.delete(np.arange(c.shape[1]), best)
    expected = foreseen(x, c[:, others] - c[:, [best]], seed=seed, folds=folds)
    first = expected.argmin(axis=1)
    return np.where(expected[np.arange(len(c)), first] < 0, others[first], best), expected


def evsi(costs: Any, signals: Any, *, seed: int, folds: int = FOLDS) -> Estimate:
    """Expected value of a test whose signals (draws,) or (draws, m) show in each draw what it would show there.

    The same regression as `evppi`, on the signals (Strong, Oakley, Brennan and Breeze 2015).
    """
    return evppi(costs, signals, seed=seed, folds=folds)


def _matrix(costs: Any) -> Draws:
    c = plain(costs)
    if c.ndim != 2:
        raise ValueError(f"costs must be (draws, courses), not {c.shape}")
    return c


def _columns(inputs: Any) -> Draws:
    x = plain(inputs)
    return x[:, None] if x.ndim == 1 else x


def _undominated(costs: Draws) -> list[int]:
    """Columns of the courses that cost less than each other one in some draw; of equal ones the first. The others are never chosen."""
    kept = list(range(costs.shape[1]))
    for i in range(costs.shape[1]):
        rivals = [j for j in kept if j != i]
        if any(np.all(costs[:, j] <= costs[:, i]) and (j < i or np.any(costs[:, j] < costs[:, i])) for j in rivals):
            kept.remove(i)
    return kept
