"""The same inputs on draws of their own: how far a figure hangs on which draws were made."""

from __future__ import annotations

from fabricreport.inputs import Inputs
from fabricreport.models.sampling import Hypercubes, Sampler


class Resampled(Inputs):
    """Inputs drawn anew: `count` independently scrambled hypercubes one after the other, none of them the case's own."""

    _hypercubes: int

    @classmethod
    def of(cls, given: Inputs, count: int, size: int) -> Resampled:
        """These inputs on `count` hypercubes of `size` draws each."""
        other = object.__new__(cls)
        other.__dict__.update(given._copy().__dict__)
        other._samples, other._values = {}, {}
        other.draws, other._hypercubes = count * size, count
        return other

    @property
    def sampler(self) -> Sampler:
        """The seeded streams of all inputs."""
        own = super().sampler
        return Hypercubes(own.seed, own.size, own.correlation, self._hypercubes)
