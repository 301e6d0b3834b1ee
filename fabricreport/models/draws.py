"""Draws: one seeded sample of every uncertain input, counts of events by inverse distributions, and whether values lie where a model means something.

A value that is not a number lies nowhere.

Each input owns a stream that depends only on the seed and its own id (a Latin hypercube in one dimension), so
adding or overriding one input never moves another's draws: an edition's change is the input's, not the sampler's.
A joint low-discrepancy sequence would not have that property. Correlation groups use a one-factor Gaussian copula.

numpy's generators draw counts by rejection, so two options with slightly different rates would use unrelated random
numbers. Inverting the distribution at shared uniforms keeps them coupled: a higher rate never gives fewer events.
"""

from __future__ import annotations

import hashlib
import math
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special

from fabricreport.base.errors import OutOfRange, Problem
from fabricreport.base.provenance import Traced, inputs_of, plain
from fabricreport.base.uncertain import Uncertain


def positive(values: Any) -> bool:
    """Whether all are above 0 and finite."""
    low, high = _ends(values)
    return low > 0 and high < math.inf


def not_negative(values: Any) -> bool:
    """Whether all are at least 0 and finite."""
    low, high = _ends(values)
    return low >= 0 and high < math.inf


def between(values: Any, low: float, high: float) -> bool:
    """Whether all lie between the two, both of which count."""
    least, most = _ends(values)
    return least >= low and most <= high


def _ends(values: Any) -> tuple[float, float]:
    """The least and the largest value; both not a number where one of the values is none."""
    array = np.asarray(values, dtype=float)
    if array.ndim == 0:
        return (float(array),) * 2
    return float(np.minimum.reduce(array, axis=None)), float(np.maximum.reduce(array, axis=None))


Draws = NDArray[np.float64]


@dataclass(frozen=True)
class Sampler:
    """Uniform streams by input id: `size` draws, seeded; `correlation` is the latent correlation inside a group."""

    seed: int
    size: int
    correlation: float = 0.0

    def uniforms(self, input_id: str, group: str = "") -> Draws:
        """Draws of `input_id` in (0, 1), shape (size,), one in each of `size` equal slices, in random order."""
        u = self._stream(input_id)
        if not group or self.correlation == 0:
            return u
        shared = _shared(self.seed, self.size, group)
        own = special.ndtri(u)
        mixed = np.sqrt(self.correlation) * shared + np.sqrt(1 - self.correlation) * own
        return np.asarray(special.ndtr(mixed))

    @lru_cache(maxsize=512)  # noqa: B019  # a sampler is three numbers: keeping it keeps nothing alive
    def draws(self, figure: Uncertain, stream: str, group: str = "") -> Draws:
        """Draws of a figure from the stream of that name; a multiple follows the draws of what it is a multiple of.

        They are remembered, for most of a what-if's inputs are drawn as before: read-only, shape (size,).
        """
        if figure.scaled is None:
            drawn = figure.quantile(self.uniforms(stream, group))
        else:
            base = figure.scaled.base.quantile(self.uniforms(figure.scaled.stream, group))
            drawn = base * figure.scaled.ratio.quantile(self.uniforms(stream))
        drawn.flags.writeable = False
        return drawn

    def _stream(self, key: str) -> Draws:
        digest = hashlib.sha256(f"{self.seed}:{key}".encode()).digest()
        rng = np.random.Generator(np.random.PCG64(int.from_bytes(digest[:16], "big")))
        return np.asarray((rng.permutation(self.size) + rng.random(self.size)) / self.size)


@dataclass(frozen=True)
class Central(Sampler):
    """The central case as a sample: every figure at the value that its source calls likeliest, else at its median."""

    def uniforms(self, input_id: str, group: str = "") -> Draws:
        """The middle."""
        return np.full(self.size, 0.5)

    def draws(self, figure: Uncertain, stream: str, group: str = "") -> Draws:  # type: ignore[override]  # not remembered
        """The central value of a figure."""
        return np.full(self.size, figure.central)


@dataclass(frozen=True)
class Hypercubes(Sampler):
    """The same streams as `count` independently scrambled hypercubes, one after the other: `size` draws in all."""

    count: int = 1

    @property
    def each(self) -> tuple[Sampler, ...]:
        """The samplers of the single hypercubes."""
        return tuple(
            Sampler(_scrambled(self.seed, n), self.size // self.count, self.correlation) for n in range(self.count)
        )

    def uniforms(self, input_id: str, group: str = "") -> Draws:
        """Draws of `input_id` in (0, 1), shape (size,): hypercube after hypercube."""
        return np.concatenate([one.uniforms(input_id, group) for one in self.each])


def _scrambled(seed: int, number: int) -> int:
    """A seed of its own for each hypercube."""
    return int.from_bytes(hashlib.sha256(f"hypercube {number} of {seed}".encode()).digest()[:8], "big")


@lru_cache(maxsize=32)
def _shared(seed: int, size: int, group: str) -> Draws:
    """The normal factor that the inputs of a group share; read-only, for it is remembered."""
    shared = np.asarray(special.ndtri(Sampler(seed, size)._stream(f"group:{group}")))
    shared.flags.writeable = False
    return shared


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


def frailty(u: ArrayLike, size: Any) -> NDArray[np.float64]:
    """A gamma frailty with mean 1 and variance 1/size at probability `u`; `size` broadcasts with `u`.

    A Poisson count whose mean is multiplied by it is negative binomial with variance mean + mean**2 / size. An infinite size is
    the Poisson itself.
    """
    size = np.asanyarray(size, dtype=float)
    if not np.all(size > 0):
        raise OutOfRange(
            Problem("must be positive", key="clustering size", value=str(size), remedy="Use inf for Poisson.")
        )
    poisson = np.isinf(size)
    gamma = np.where(poisson, 1.0, size)
    return np.where(poisson, 1.0 + 0.0 * plain(u), special.gammaincinv(gamma, plain(u)) / gamma)


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
