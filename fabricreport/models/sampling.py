"""One seeded sample of every uncertain input, shared by all options and sections.

Each input owns a stream that depends only on the seed and its own id (a Latin hypercube in one dimension), so
adding or overriding one input never moves another's draws: an edition's change is the input's, not the sampler's.
A joint low-discrepancy sequence would not have that property. Correlation groups use a one-factor Gaussian copula.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special

Draws = NDArray[np.float64]
Z95 = 1.6448536269514722  # standard normal quantile at 0.95: half the width of a 90 % interval in standard deviations


@dataclass(frozen=True)
class Distribution:
    """An input's uncertainty. `kind`: fixed, uniform, pert or interval (a 90 % interval).

    `low, high` are the ends (P5 and P95 for an interval), `mode` the most likely value (fixed and pert).
    """

    kind: str
    low: float
    mode: float
    high: float

    def quantile(self, u: ArrayLike) -> Draws:
        """The inverse distribution function at `u` in (0, 1), any shape."""
        u = np.asanyarray(u, dtype=float)
        if self.kind == "fixed" or self.low == self.high:
            return np.full(u.shape, self.mode)
        if self.kind == "uniform":
            return np.asarray(self.low + (self.high - self.low) * u)
        if self.kind == "pert":
            return self._pert(u)
        return self._interval(u)

    def _pert(self, u: Draws) -> Draws:
        """PERT: a beta distribution with mean (low + 4 mode + high) / 6."""
        width = self.high - self.low
        a = 1 + 4 * (self.mode - self.low) / width
        b = 1 + 4 * (self.high - self.mode) / width
        return np.asarray(self.low + width * special.betaincinv(a, b, u))

    def _interval(self, u: Draws) -> Draws:
        """Lognormal through P5 and P95 when both are positive, else normal through them."""
        z = special.ndtri(u)
        if self.low > 0:
            low, high = np.log(self.low), np.log(self.high)
            return np.asarray(np.exp((low + high) / 2 + (high - low) / (2 * Z95) * z))
        return np.asarray((self.low + self.high) / 2 + (self.high - self.low) / (2 * Z95) * z)

    @property
    def fixed(self) -> bool:
        """True when every draw is the same."""
        return self.kind == "fixed" or self.low == self.high


def fixed(value: float) -> Distribution:
    """A value known exactly, or taken as such."""
    return Distribution("fixed", value, value, value)


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
        shared = special.ndtri(self._stream(f"group:{group}"))
        own = special.ndtri(u)
        mixed = np.sqrt(self.correlation) * shared + np.sqrt(1 - self.correlation) * own
        return np.asarray(special.ndtr(mixed))

    def _stream(self, key: str) -> Draws:
        digest = hashlib.sha256(f"{self.seed}:{key}".encode()).digest()
        rng = np.random.Generator(np.random.PCG64(int.from_bytes(digest[:16], "big")))
        return np.asarray((rng.permutation(self.size) + rng.random(self.size)) / self.size)
