"""Quadrature rules for the largest of N exchangeable workers: shared by the order statistics in `tail`.

A rule is a set of levels of one worker's distribution (as lower and upper tail probabilities) with weights, so that
the mean of the maximum is the weighted sum of that worker's quantiles at those levels. It depends on N and on the
latent correlation only, never on the distribution, and has the same length whatever N is.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import special

Array = NDArray[np.float64]

_LOWEST, _HIGHEST = -6.5, 4.6  # ends of the rule: exp(-671) and 99 on the scale of -log of the maximum's cdf
_ANGLES = 33  # table of correlations used when an array holds more distinct ones than that
_HALF = 0.5
_CONVERGED = 1e-8  # a step of Newton this small leaves an error of its square: nothing that a float shows


@lru_cache(maxsize=64)
def nodes(spacing: float) -> tuple[Array, Array]:
    """Nodes w and weights for the integral of f(w) exp(-w) over w > 0, w being -log of the maximum's cdf.

    Source: Takahasi and Mori 1974, double-exponential formula for a half-infinite range with exp(-w).
    """
    s = np.linspace(_LOWEST, _HIGHEST, round((_HIGHEST - _LOWEST) / spacing) + 1)
    w = np.exp(s - np.exp(-s))
    return w, (s[1] - s[0]) * w * (1.0 + np.exp(-s)) * np.exp(-w)


def worker_levels(w: Array, n: float, rho: float) -> tuple[Array, Array]:
    """Lower and upper tail probability of one worker at which -log(cdf of the maximum of n) equals `w`.

    rho: latent Gaussian pairwise correlation in [0, 1]. Both tails are returned because each is exact only
    where it is small. Shapes follow `w`.
    """
    if rho == 0.0 or n == 1:
        return np.exp(-w / n), -np.expm1(-w / n)
    if rho == 1.0:
        return np.exp(-w), -np.expm1(-w)
    y = _latent_level(w, n, rho)
    return special.ndtr(y), special.ndtr(-y)


def latent_levels_at(w: Array, n: float, rhos: Array) -> tuple[Array, Array]:
    """As `worker_levels` for many correlations, shape (len(rhos), len(w)): interpolated in the angle arcsin sqrt(rho)."""
    from scipy import interpolate  # slow to import, and only correlated workers need it

    table = 0.25 * np.pi * (1.0 - np.cos(np.linspace(0.0, np.pi, _ANGLES)))
    levels = np.stack([_normal(*worker_levels(w, n, float(np.sin(t) ** 2))) for t in table])
    y = np.asarray(interpolate.CubicSpline(table, levels)(np.arcsin(np.sqrt(rhos))))
    return np.asarray(special.ndtr(y)), np.asarray(special.ndtr(-y))


def many(rhos: Array) -> bool:
    """True when so many correlations are asked for that the table is cheaper than one rule each."""
    return rhos.size > _ANGLES


def _normal(lower: Array, upper: Array) -> Array:
    high, low = special.ndtri(np.minimum(upper, _HALF)), special.ndtri(np.minimum(lower, _HALF))
    return np.asarray(np.where(upper < _HALF, -high, low))


def _latent_level(w: Array, n: float, rho: float) -> Array:
    """Solve -log G(y) = w for the latent maximum y = sqrt(rho) Z + sqrt(1 - rho) max E_i, by Newton from a table."""
    level, slope = _latent_table(n, rho)
    target = np.log(w)
    y = level(-target)
    for _ in range(5):
        step = (_log_minus_log_cdf(y, n, rho) - target) / slope(y)
        y = y - step
        if np.max(np.abs(step)) < _CONVERGED:
            break
    return np.asarray(y)


@lru_cache(maxsize=256)
def _latent_table(n: float, rho: float) -> tuple[Any, Any]:
    """Of the maximum: its level by -log(-log G), and the slope of log(-log G) by level."""
    from scipy import interpolate

    grid = np.linspace(-16.0, 37.5, 268)
    values = _log_minus_log_cdf(grid, n, rho)
    kept = np.isfinite(values)
    grid, values = grid[kept], values[kept]
    return interpolate.CubicSpline(-values, grid), interpolate.CubicSpline(grid, values).derivative()


def _log_minus_log_cdf(y: Array, n: float, rho: float) -> Array:
    """log(-log G(y)), G the cdf of the latent maximum, precise in both tails.

    Integrated over the shared factor when that varies least (rho < 1/2), else over the maximum of the residuals:
    either way the integrand is smooth at the nodes' spacing.
    """
    a, b = np.sqrt(rho), np.sqrt(1.0 - rho)
    if rho < _HALF:
        z = np.linspace(-39.0, 39.0, 781)
        weights = (z[1] - z[0]) * np.exp(-0.5 * z * z) / np.sqrt(2.0 * np.pi)
        log_cdf = n * special.log_ndtr((y[..., None] - a * z) / b)
        cdf, survival = np.exp(log_cdf) @ weights, -np.expm1(log_cdf) @ weights
    else:
        w, weights = nodes(0.03125)
        m = _normal(np.exp(-w / n), -np.expm1(-w / n))
        x = (y[..., None] - b * m) / a
        cdf, survival = special.ndtr(x) @ weights, special.ndtr(-x) @ weights
    with np.errstate(divide="ignore"):
        right = np.log(-np.log1p(-np.minimum(survival, _HALF)))
        left = np.log(-np.log(np.minimum(cdf, 0.6)))
    return np.asarray(np.where(survival < _HALF, right, left))
