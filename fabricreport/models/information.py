"""What knowledge is worth before a choice is made: all of it, some of it, or a sample of some of it, learnt from draws.

Costs must be means given the epistemic inputs: nobody can buy knowledge of run luck. All values are in the unit of the
costs, and none is clipped at zero or at the value of perfect information: what lies within its noise says so.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import combinations, permutations
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from fabricreport.base.provenance import plain

Draws = NDArray[np.float64]

LARGEST = 90
"""Most terms of a regression."""
DRAWS_PER_TERM = 12
"""Fewest draws learnt from for each term of the regression."""
CAUTION = 1.4
"""What each degree of freedom counts for in cross-validation, so that noise is followed less (Kim and Gu 2004)."""
PENALTIES = 10.0 ** np.arange(-6.0, 4.5, 0.5)
"""Shares of the draws that the penalty of the ridge may be; one is chosen for each fit by generalised cross-validation."""


def foreseen(inputs: Draws, amounts: Draws, *, seed: int, folds: int) -> Draws:
    """Means of the amounts (draws, m) given the inputs (draws, k), each draw foreseen from the folds it is not in."""
    draws = len(inputs)
    fold = np.random.default_rng([seed, draws, folds]).permutation(draws) % folds
    terms = basis(inputs, largest=min(LARGEST, draws * (folds - 1) // folds // DRAWS_PER_TERM))
    x = np.hstack([np.ones((draws, 1)), terms])
    found = np.empty_like(amounts)
    # Sums over a fold are taken once; those over all other folds are what is left of the whole.
    members = [np.flatnonzero(fold == f) for f in range(folds)]
    pieces = [(x[m].T @ x[m], x[m].T @ amounts[m], (amounts[m] ** 2).sum(axis=0), len(m)) for m in members]
    for f, own in enumerate(members):
        rest = [piece for i, piece in enumerate(pieces) if i != f]
        gram, cross, squares, count = (sum(part[1:], start=part[0]) for part in zip(*rest, strict=True))
        found[own] = x[own] @ ridge(gram, cross, squares, count)
    return found


def ridge(gram: Draws, cross: Draws, squares: Draws, count: int) -> Draws:
    """Coefficients (terms, m) from the sums of squares and products over `count` draws; the first term, a constant, is not
    penalised. The penalty of each column has the least error by generalised cross-validation (Golub, Heath and Wahba
    1979)."""
    mean_x, mean_y = gram[0] / count, cross[0] / count
    centred = (gram - count * np.outer(mean_x, mean_x))[1:, 1:]
    products = (cross - count * np.outer(mean_x, mean_y))[1:]
    left = np.maximum(squares - count * mean_y**2, 0.0)
    values, vectors = np.linalg.eigh(centred)
    values = np.maximum(values, 0.0)
    turned = vectors.T @ products
    penalties = count * PENALTIES
    kept = 1.0 / (values[:, None] + penalties)  # (terms, penalties)
    freedom = 1.0 + (values[:, None] * kept).sum(axis=0)
    slopes = np.empty((len(gram), cross.shape[1]))
    for column in range(cross.shape[1]):
        part = turned[:, [column]] * kept
        error = left[column] - 2 * (turned[:, [column]] * part).sum(axis=0) + (values[:, None] * part**2).sum(axis=0)
        best = int(np.argmin(np.maximum(error, 0.0) / (1.0 - CAUTION * np.minimum(freedom / count, 0.7)) ** 2))
        slopes[1:, column] = vectors @ part[:, best]
    slopes[0] = mean_y - mean_x[1:] @ slopes[1:]
    return slopes


def basis(inputs: Draws, *, largest: int) -> Draws:
    """Terms (draws, terms) of the inputs' normal scores: Hermite polynomials of each, products of two and of three.

    Scores and not values, so one input's tail does not rule the fit. Lower orders come first, each order is half as large as
    the one before and so dearer to the ridge, and no more than `largest` terms are made. An input that does not vary makes none.
    """
    varying = [x for x in inputs.T if x.min() < x.max()]
    if not varying:
        return np.empty((len(inputs), 0))
    z = np.array([scores(x) for x in varying])
    square, k = z * z, len(z)
    orders: tuple[tuple[int, int, Callable[[], Draws]], ...] = (
        (1, k, lambda: z),
        (2, k, lambda: (square - 1) / 2**0.5),
        (2, k * (k - 1) // 2, lambda: np.array([z[i] * z[j] for i, j in combinations(range(k), 2)])),
        (3, k, lambda: z * (square - 3) / 6**0.5),
        (3, k * (k - 1), lambda: np.array([(square[i] - 1) * z[j] / 2**0.5 for i, j in permutations(range(k), 2)])),
        (4, k, lambda: (square * (square - 6) + 3) / 24**0.5),
    )
    made: list[Draws] = []
    for order, count, terms in orders:
        if made and sum(map(len, made)) + count > largest:
            break
        if count:
            made.append(terms() / 2.0 ** (order - 1))
    return np.vstack(made)[: max(largest, 1)].T


def scores(values: Draws) -> Draws:
    """Standard normal scores of the ranks; equal values share one."""
    _, place, alike = np.unique(values, return_inverse=True, return_counts=True)
    ranks = np.cumsum(alike) - (alike - 1) / 2
    return np.asarray(ndtri((ranks[place] - 0.5) / len(values)))


def observed(values: Any, noise: float, *, seed: int) -> Draws:
    """The values (draws,) read with normal noise of this standard deviation, in the unit of the values."""
    v = plain(values)
    return v + noise * np.random.default_rng(seed).standard_normal(v.shape)


FOLDS = 5
NOISE = 2.0
"""Standard errors under which a value is not told from nothing."""

UNSEEN = 2.0
"""Draws in which a choice may turn without being met in the sample, in the standard error."""


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
    c = _undominated(_matrix(costs))
    x = _columns(inputs)
    draws, courses = c.shape
    if courses < 2 or draws < 2 * folds:
        return Estimate(0.0, 0.0)
    best = int(np.argmin(c.mean(axis=0)))
    against = np.delete(c, best, axis=1) - c[:, [best]]
    expected = foreseen(x, against, seed=seed, folds=folds)
    taken = expected.argmin(axis=1)
    switched = expected[np.arange(draws), taken] < 0
    saved = np.where(switched, -against[np.arange(draws), taken], 0.0)
    paired = float(saved.std(ddof=1)) / draws**0.5
    resolution = UNSEEN * float(expected.std(axis=0).max()) / draws
    return Estimate(float(saved.mean()), float(np.hypot(paired, resolution)))


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


def _undominated(costs: Draws) -> Draws:
    """The courses that cost less than each other one in some draw; of equal ones the first. The others are never chosen."""
    kept = list(range(costs.shape[1]))
    for i in range(costs.shape[1]):
        rivals = [j for j in kept if j != i]
        if any(np.all(costs[:, j] <= costs[:, i]) and (j < i or np.any(costs[:, j] < costs[:, i])) for j in rivals):
            kept.remove(i)
    return costs[:, kept]
