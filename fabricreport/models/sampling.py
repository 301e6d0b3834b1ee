"""One seeded sample of every uncertain input, shared by all options and sections.

Each input owns a stream that depends only on the seed and its own id (a Latin hypercube in one dimension), so
adding or overriding one input never moves another's draws: an edition's change is the input's, not the sampler's.
A joint low-discrepancy sequence would not have that property. Correlation groups use a one-factor Gaussian copula.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray
from scipy import special

from fabricreport.uncertain import Uncertain

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

    def draws(self, figure: Uncertain, stream: str, group: str = "") -> Draws:
        """Draws of a figure from the stream of that name; a multiple follows the draws of what it is a multiple of.

        They are remembered, for most of a what-if's inputs are drawn as before: read-only, shape (size,).
        """
        return _drawn(self, figure, stream, group)

    def _stream(self, key: str) -> Draws:
        digest = hashlib.sha256(f"{self.seed}:{key}".encode()).digest()
        rng = np.random.Generator(np.random.PCG64(int.from_bytes(digest[:16], "big")))
        return np.asarray((rng.permutation(self.size) + rng.random(self.size)) / self.size)


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


@lru_cache(maxsize=512)
def _drawn(sampler: Sampler, figure: Uncertain, stream: str, group: str) -> Draws:
    if figure.scaled is None:
        drawn = figure.quantile(sampler.uniforms(stream, group))
    else:
        base = figure.scaled.base.quantile(sampler.uniforms(figure.scaled.stream, group))
        drawn = base * figure.scaled.ratio.quantile(sampler.uniforms(stream))
    drawn.flags.writeable = False
    return drawn


@lru_cache(maxsize=32)
def _shared(seed: int, size: int, group: str) -> Draws:
    """The normal factor that the inputs of a group share; read-only, for it is remembered."""
    shared = np.asarray(special.ndtri(Sampler(seed, size)._stream(f"group:{group}")))
    shared.flags.writeable = False
    return shared
