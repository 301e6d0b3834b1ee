"""Inverse distribution functions of event counts, vectorised: the same uniforms give coupled counts across options.

numpy's generators draw counts by rejection, so two options with slightly different rates would use unrelated random
numbers. Inverting the distribution at shared uniforms keeps them coupled: a higher rate never gives fewer events.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special

from fabricreport.errors import OutOfRange, Problem
from fabricreport.provenance import Traced, inputs_of, plain

_SWITCH = 16.0  # above this mean a Cornish-Fisher quantile is within one count of the exact one


def poisson_quantile(u: ArrayLike, mean: ArrayLike) -> Any:
    """Smallest k with P(Poisson(mean) <= k) >= u; `u` in (0, 1) and `mean` >= 0 broadcast.

    Exact below a mean of 16, where probabilities are summed; above it the Cornish-Fisher expansion to the second
    order (Fisher and Cornish 1960), whose cost does not grow with the mean. Non-decreasing in `mean` for each u.
    """
    m, p = np.broadcast_arrays(plain(mean), plain(u))
    if not np.all((m >= 0) & np.isfinite(m)) or not np.all((p > 0) & (p < 1)):
        raise OutOfRange(
            Problem(
                "means must be finite and at least 0, uniforms strictly between 0 and 1",
                key="mean",
                value=str(np.ravel(m)[:3]),
                remedy="Check the rate and the length of the run.",
            )
        )
    shape, m, p = m.shape, m.ravel(), p.ravel()
    large = _cornish_fisher(p, np.maximum(m, _SWITCH))
    small = m < _SWITCH
    counts = large
    counts[small] = np.minimum(_summed(p[small], m[small]), large[small])
    tags = inputs_of(mean, u)
    result = counts.reshape(shape)
    return Traced(result, tags) if tags else result


def clustered_mean(u: ArrayLike, mean: Any, size: Any) -> Any:
    """`mean` times a gamma frailty with mean 1 and variance 1/size at probability `u`; `size` broadcasts with `u`.

    A Poisson count with this mean is negative binomial with variance mean + mean**2 / size. An infinite size is
    the Poisson itself.
    """
    size = np.asanyarray(size, dtype=float)
    if not np.all(size > 0):
        raise OutOfRange(
            Problem("must be positive", key="clustering size", value=str(size), remedy="Use inf for Poisson.")
        )
    poisson = np.isinf(size)
    gamma = np.where(poisson, 1.0, size)
    return np.asanyarray(mean) * np.where(poisson, 1.0 + 0.0 * plain(u), special.gammaincinv(gamma, plain(u)) / gamma)


def _cornish_fisher(p: NDArray[np.float64], mean: NDArray[np.float64]) -> NDArray[np.float64]:
    z, root = special.ndtri(p), np.sqrt(mean)
    x = mean + root * z + (z * z - 1.0) / 6.0 + (z - z**3) / (72.0 * root)
    return np.asarray(np.maximum(np.ceil(x - 0.5), 0.0))


def _summed(p: NDArray[np.float64], mean: NDArray[np.float64]) -> NDArray[np.float64]:
    """Sum probabilities upwards until `p` is covered; only the draws not yet covered stay in the loop."""
    counts = np.zeros(p.size)
    rows = np.arange(p.size)
    term = np.exp(-mean)
    covered = term.copy()
    k = 0
    while rows.size:
        left = (p[rows] > covered) & ((term > 0) | (k <= mean[rows]))
        counts[rows[~left]] = k
        rows, term, covered = rows[left], term[left], covered[left]
        k += 1
        term = term * mean[rows] / k
        covered = covered + term
    return counts
