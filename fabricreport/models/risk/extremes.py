"""Tails from data: a lognormal through two quantiles, and a generalised Pareto over a threshold.

The Pareto fit is maximum likelihood with profile-likelihood intervals (Coles 2001, chapter 4). It refuses fewer
than 30 exceedances: below that the interval of the shape covers everything from a bounded to an infinite-variance
tail, and the fit would only lend false precision.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import optimize, special, stats

from fabricreport.errors import OutOfRange, Problem
from fabricreport.provenance import plain

Array = NDArray[np.float64]

FEWEST_EXCEEDANCES = 30
_FLAT = 1e-9  # shapes this near zero are the exponential law
_SHAPES = (-0.5, 3.0)  # maximum likelihood is not regular below -0.5; above 1 the mean is infinite


def lognormal_from_quantiles(low: tuple[float, ArrayLike], high: tuple[float, ArrayLike]) -> Any:
    """Frozen lognormal through two quantiles, each (probability, value): e.g. (0.5, p50) and (0.99, p99).

    Values may be arrays (draws first) and must be positive and increasing. Raises OutOfRange otherwise. The law is
    exact at the two points and an extrapolation everywhere else: keep the source's scope beside it.
    """
    (p_low, x_low), (p_high, x_high) = low, high
    x_low, x_high = np.asanyarray(x_low, dtype=float), np.asanyarray(x_high, dtype=float)
    if not (0 < p_low < p_high < 1 and np.all(x_low > 0) and np.all(x_high > x_low)):
        raise OutOfRange(
            Problem(
                "two quantiles must have increasing probabilities in (0, 1) and increasing positive values",
                key="quantiles",
                value=f"{p_low}: {x_low}, {p_high}: {x_high}",
                remedy="Check which is p50 and which is p99, and that both have the same unit.",
            )
        )
    z_low, z_high = special.ndtri(p_low), special.ndtri(p_high)
    sigma = (np.log(x_high) - np.log(x_low)) / (z_high - z_low)
    return stats.lognorm(s=sigma, scale=np.exp(np.log(x_low) - sigma * z_low))


@dataclass(frozen=True)
class GpdTail:
    """A generalised Pareto tail over `threshold`, in the samples' unit.

    `shape_interval` is the profile-likelihood interval at `confidence`; `exceedances` of `samples` points lie
    above the threshold and `excesses` are they, sorted. A shape of 1 or more has no finite mean.
    """

    threshold: float
    shape: float
    scale: float
    exceedances: int
    samples: int
    shape_interval: tuple[float, float]
    confidence: float
    excesses: tuple[float, ...]

    @property
    def share_above(self) -> float:
        """Share of the samples above the threshold."""
        return self.exceedances / self.samples


def fit_gpd(samples: ArrayLike, threshold_quantile: float = 0.95, *, confidence: float = 0.95) -> GpdTail:
    """Fit the tail above a quantile of the samples (any unit, any shape; flattened).

    Raises OutOfRange for fewer than 30 exceedances (with the number found and what would suffice), for samples
    that are not finite, or for a threshold quantile outside (0, 1).
    """
    x = np.sort(plain(samples).ravel())
    if not 0 < threshold_quantile < 1 or not np.all(np.isfinite(x)) or not 0 < confidence < 1:
        raise OutOfRange(
            Problem(
                "samples must be finite, the threshold quantile and the confidence between 0 and 1",
                key="threshold_quantile",
                value=str(threshold_quantile),
                remedy="Remove missing values; 0.95 is a usual threshold.",
            )
        )
    threshold = float(np.quantile(x, threshold_quantile)) if x.size else float("nan")
    excess = x[x > threshold] - threshold
    if excess.size < FEWEST_EXCEEDANCES:
        needed = int(np.ceil(FEWEST_EXCEEDANCES / (1 - threshold_quantile)))
        raise OutOfRange(
            Problem(
                f"only {excess.size} samples exceed the threshold; a tail fitted to fewer than "
                f"{FEWEST_EXCEEDANCES} says nothing about the tail",
                key="samples",
                value=str(x.size),
                remedy=f"Collect about {needed} samples, or lower threshold_quantile.",
            )
        )
    found = _maximise(lambda shape: _best_scale(excess, shape)[1], *_SHAPES)
    shape = float(found[0])
    interval = _interval(lambda s: _best_scale(excess, s)[1], found, _SHAPES, confidence)
    return GpdTail(
        threshold,
        shape,
        _best_scale(excess, shape)[0],
        excess.size,
        x.size,
        interval,
        confidence,
        tuple(map(float, excess)),
    )


def return_level(tail: GpdTail, probability: float) -> tuple[float, float, float]:
    """Value exceeded with `probability` per sample, with its profile-likelihood interval: (value, low, high).

    probability must lie below the share of samples above the threshold; the unit is that of the samples.
    """
    if not 0 < probability < tail.share_above:
        raise OutOfRange(
            Problem(
                "the probability must lie inside the tail",
                key="probability",
                value=str(probability),
                remedy=f"Use a value below {tail.share_above:.4g}, the share of samples above the threshold.",
            )
        )
    ratio = probability / tail.share_above
    excess = np.array(tail.excesses)

    def profile(log_level: float) -> float:
        level = float(np.exp(log_level))
        return _maximise(lambda shape: _log_likelihood(excess, shape, level / _unit_level(shape, ratio)), *_SHAPES)[1]

    value = float(np.log(tail.scale * _unit_level(tail.shape, ratio)))
    top = _log_likelihood(excess, tail.shape, tail.scale)
    low, high = _interval(profile, (value, top), (value - 5.0, value + 12.0), tail.confidence)
    return tuple(tail.threshold + float(np.exp(v)) for v in (value, low, high))  # type: ignore[return-value]


def _unit_level(shape: float, ratio: float) -> float:
    """Excess of unit scale that is exceeded with probability `ratio` given an exceedance."""
    log_ratio = float(np.log(ratio))
    return -log_ratio if abs(shape) < _FLAT else float(np.expm1(-shape * log_ratio)) / shape


def _log_likelihood(excess: Array, shape: float, scale: float) -> float:
    """GPD log-likelihood; very low, and falling outwards, where the largest excess lies outside the support."""
    if abs(shape) < _FLAT:
        return float(-excess.size * np.log(scale) - excess.sum() / scale)
    inside = 1.0 + shape * excess / scale
    if inside[-1] <= 0:
        return -1e12 * (1.0 - float(inside[-1]))
    return float(-excess.size * np.log(scale) - (1.0 + 1.0 / shape) * np.log(inside).sum())


def _best_scale(excess: Array, shape: float) -> tuple[float, float]:
    """The scale that fits best given the shape, and its log-likelihood (one point of the shape's profile)."""
    middle = float(np.log(excess.mean()))
    log_scale, value = _maximise(lambda s: _log_likelihood(excess, shape, float(np.exp(s))), middle - 6.0, middle + 6.0)
    return float(np.exp(log_scale)), value


def _maximise(function: Callable[[float], float], low: float, high: float) -> tuple[float, float]:
    found = optimize.minimize_scalar(lambda x: -function(x), bounds=(low, high), method="bounded")
    return float(found.x), float(-found.fun)


def _interval(
    profile: Callable[[float], float], best: tuple[float, float], ends: tuple[float, float], confidence: float
) -> tuple[float, float]:
    """Where the profile falls half a chi-squared quantile below its top; an end of the range if it never does."""
    centre, top = best
    cut = top - 0.5 * float(special.chdtri(1, 1 - confidence))

    def side(end: float) -> float:
        if profile(end) >= cut:
            return end
        return float(optimize.brentq(lambda x: profile(x) - cut, centre, end, xtol=1e-4))

    return side(ends[0]), side(ends[1])
