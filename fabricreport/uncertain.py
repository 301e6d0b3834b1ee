"""A figure that is not known exactly: the one form in which params, prices, evidence and overrides state it.

3.0                               a number                           kind `number`
{low: 2.0, mode: 3.0, high: 5.0}  PERT                               kind `pert`
{p5: 2.0, p95: 5.0}               a 90 % interval                    kind `interval`
{low: 2.0, high: 5.0}             anything between, uniform          kind `range`
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import ArrayLike, NDArray

Kind = Literal["number", "range", "pert", "interval"]
SHAPES: Mapping[Kind, tuple[str, ...]] = {
    "pert": ("low", "mode", "high"),
    "interval": ("p5", "p95"),
    "range": ("low", "high"),
}
"""The keys that each kind is written with; a number is written alone."""

Z95 = 1.6448536269514722
"""Standard normal quantile at 0.95: half the width of a 90 % interval in standard deviations."""


@dataclass(frozen=True)
class Uncertain:
    """`low` and `high` are the ends (the 5 % and 95 % quantiles of an interval), `mode` the likeliest value.

    The mode of a range is its middle; that of an interval its median: the geometric middle where both ends are
    positive (a lognormal), else the arithmetic one (a normal).
    """

    kind: Kind
    low: float
    mode: float
    high: float

    @staticmethod
    def of(written: float | Mapping[str, Any] | Uncertain) -> Uncertain:
        """The frozen form of a written figure; `ValueError` for keys that describe none."""
        if isinstance(written, Uncertain):
            return written
        if not isinstance(written, Mapping):
            return exactly(float(written))
        for kind, names in SHAPES.items():
            if set(written) == set(names):
                numbers = [float(written[name]) for name in names]
                return _shaped(kind, numbers)
        raise ValueError(f"these keys describe no figure: {', '.join(map(str, written))}")

    def written(self) -> float | dict[str, float]:
        """The figure as it is written in a file; the inverse of `of`."""
        if self.kind == "number":
            return self.mode
        if self.kind == "pert":
            return {"low": self.low, "mode": self.mode, "high": self.high}
        ends = ("p5", "p95") if self.kind == "interval" else ("low", "high")
        return {ends[0]: self.low, ends[1]: self.high}

    @property
    def fixed(self) -> bool:
        """True when every draw is the same."""
        return self.kind == "number" or self.low == self.high

    @property
    def central(self) -> float:
        """The value a point estimate uses: the mode if it has one, else the median."""
        return self.mode

    @property
    def states_central(self) -> bool:
        """Whether the central value is stated by the source rather than the middle of what it states."""
        return self.kind in ("number", "pert")

    def times(self, factor: float) -> Uncertain:
        """The same figure in another unit."""
        return Uncertain(self.kind, self.low * factor, self.mode * factor, self.high * factor)

    def quantile(self, u: ArrayLike) -> NDArray[np.float64]:
        """The inverse distribution function at `u` in (0, 1), any shape."""
        import numpy as np

        u = np.asanyarray(u, dtype=float)
        if self.fixed:
            return np.full(u.shape, self.mode)
        if self.kind == "range":
            return np.asarray(self.low + (self.high - self.low) * u)
        return self._pert(u) if self.kind == "pert" else self._interval(u)

    def _pert(self, u: NDArray[np.float64]) -> NDArray[np.float64]:
        """PERT: a beta distribution with mean (low + 4 mode + high) / 6."""
        import numpy as np
        from scipy import special

        width = self.high - self.low
        a = 1 + 4 * (self.mode - self.low) / width
        b = 1 + 4 * (self.high - self.mode) / width
        return np.asarray(self.low + width * special.betaincinv(a, b, u))

    def _interval(self, u: NDArray[np.float64]) -> NDArray[np.float64]:
        """Lognormal through P5 and P95 when both are positive, else normal through them."""
        import numpy as np
        from scipy import special

        z = special.ndtri(u)
        if self.low > 0:
            low, high = np.log(self.low), np.log(self.high)
            return np.asarray(np.exp((low + high) / 2 + (high - low) / (2 * Z95) * z))
        return np.asarray((self.low + self.high) / 2 + (self.high - self.low) / (2 * Z95) * z)


@dataclass(frozen=True)
class Replaced:
    """Who replaced a figure of a book, why and until when; `old` is what stood there (None where nothing could).

    `follows` is the id of the entry whose draws the figure takes, where it was not replaced by a figure but by a
    reference. `restates` says that the figure is the book's own: then nothing but the record changes.
    """

    who: str
    why: str
    until: str
    old: Uncertain | None
    follows: str = ""
    restates: bool = False


def exactly(value: float) -> Uncertain:
    """A value known exactly, or taken as such."""
    return Uncertain("number", value, value, value)


def _shaped(kind: Kind, numbers: list[float]) -> Uncertain:
    low, high = numbers[0], numbers[-1]
    if kind == "pert":
        return Uncertain(kind, low, numbers[1], high)
    logarithmic = kind == "interval" and low > 0
    return Uncertain(kind, low, math.sqrt(low * high) if logarithmic else (low + high) / 2, high)
