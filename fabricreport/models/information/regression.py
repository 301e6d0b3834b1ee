"""Means given some inputs, learnt from draws: ridge regression on Hermite polynomials of normal scores, cross-fitted."""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations, permutations

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

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
    from scipy.stats import rankdata  # slow to import

    return np.asarray(ndtri((rankdata(values) - 0.5) / len(values)))
