"""A figure that is not known exactly: the one form in which params, prices, evidence and overrides state it.

3.0                               a number                           kind `number`
{low: 2.0, mode: 3.0, high: 5.0}  PERT                               kind `pert`
{p5: 2.0, p95: 5.0}               a 90 % interval                    kind `interval`
{low: 2.0, high: 5.0}             anything between, uniform          kind `range`
(nobody writes it)                what experts said, pooled          kind `pooled`
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import ArrayLike, NDArray

Kind = Literal["number", "range", "pert", "interval", "pooled"]
Steps = tuple[tuple[float, float], ...]
"""A distribution by points: probability and value, both rising, the logarithm of the value even in between."""
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
    positive (a lognormal), else the arithmetic one (a normal). What experts said has its distribution in `steps`: then
    `low`, `mode` and `high` are its P5, P50 and P95. `scaled` says of it that they judged it as a multiple of something.
    """

    kind: Kind
    low: float
    mode: float
    high: float
    steps: Steps = ()
    scaled: Scaled | None = None

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

    @staticmethod
    def pooled(steps: Steps, scaled: Scaled | None = None) -> Uncertain:
        """A figure whose distribution is given by points, from the probability 0 to 1."""
        whole = Uncertain("pooled", steps[0][1], steps[0][1], steps[-1][1], steps, scaled)
        low, middle, high = (float(v) for v in whole.quantile([0.05, 0.5, 0.95]))
        return Uncertain("pooled", low, middle, high, steps, scaled)

    def written(self) -> float | dict[str, float]:
        """The figure as it is written in a file; the inverse of `of` for every kind that is written in one."""
        if self.kind == "number":
            return self.mode
        if self.kind == "pooled":
            return {"p5": self.low, "p50": self.mode, "p95": self.high}
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
        return self.kind in ("number", "pert", "pooled")

    def times(self, factor: float) -> Uncertain:
        """The same figure in another unit."""
        ends = self.low * factor, self.mode * factor, self.high * factor
        steps = tuple((p, value * factor) for p, value in self.steps)
        scaled = self.scaled and replace(self.scaled, base=self.scaled.base.times(factor))
        return Uncertain(self.kind, *ends, steps, scaled)

    def quantile(self, u: ArrayLike) -> NDArray[np.float64]:
        """The inverse distribution function at `u` in (0, 1), any shape."""
        import numpy as np

        u = np.asanyarray(u, dtype=float)
        if self.fixed:
            return np.full(u.shape, self.mode)
        if self.kind == "range":
            return np.asarray(self.low + (self.high - self.low) * u)
        if self.kind == "pooled":
            at, values = np.array(self.steps).T
            return np.asarray(np.exp(np.interp(u, at, np.log(values))))
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
class Scaled:
    """What a figure is a multiple of: the figure `base` on the draws of `stream`, times `ratio` on draws of its own."""

    stream: str
    base: Uncertain
    ratio: Uncertain


@dataclass(frozen=True)
class Judgement:
    """What one expert states of one quantity: P5, P50 and P95, rising and above 0."""

    p5: float
    p50: float
    p95: float

    def __post_init__(self) -> None:
        if not 0 < self.p5 < self.p50 < self.p95 < math.inf:
            raise ValueError(f"P5, P50 and P95 must rise and be above 0: {self.p5}, {self.p50}, {self.p95}")

    @property
    def quantiles(self) -> tuple[float, float, float]:
        """P5, P50, P95."""
        return (self.p5, self.p50, self.p95)

    def bin_of(self, truth: float) -> int:
        """0 below P5, 1 up to the median, 2 up to P95, 3 above; a truth on a quantile counts as below it."""
        return bisect_left(self.quantiles, truth)

    def surprised_by(self, truth: float) -> bool:
        """Whether the truth lies outside P5 to P95."""
        return self.bin_of(truth) in (0, 3)


@dataclass(frozen=True)
class Replaced:
    """Who replaced a figure of a book, why and until when ('': no day); `old` is what stood there (None where nothing could).

    `follows` is the id of the entry whose draws the figure takes, where it was not replaced by a figure but by a
    reference. `restates` says that the figure is the book's own: then nothing but the record changes. `grade` is how firm
    the new figure is ('': the client's word), `date` of which day it is ('': of the day of the old one).
    """

    who: str
    why: str
    until: str
    old: Uncertain | None
    follows: str = ""
    restates: bool = False
    grade: str = ""
    date: str = ""


def exactly(value: float) -> Uncertain:
    """A value known exactly, or taken as such."""
    return Uncertain("number", value, value, value)


def _shaped(kind: Kind, numbers: list[float]) -> Uncertain:
    low, high = numbers[0], numbers[-1]
    if kind == "pert":
        return Uncertain(kind, low, numbers[1], high)
    logarithmic = kind == "interval" and low > 0
    return Uncertain(kind, low, math.sqrt(low * high) if logarithmic else (low + high) / 2, high)
