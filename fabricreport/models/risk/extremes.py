"""Tails from published quantiles: a lognormal through two of them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from fabricreport.errors import OutOfRange, Problem


def lognormal_from_quantiles(low: tuple[float, ArrayLike], high: tuple[float, ArrayLike]) -> Any:
    """Frozen lognormal through two quantiles, each (probability, value): e.g. (0.5, p50) and (0.99, p99).

    Values may be arrays (draws first) and must be positive and increasing. Raises OutOfRange otherwise. The law is
    exact at the two points and an extrapolation everywhere else: keep the source's scope beside it.
    """
    from scipy import stats  # slow to import

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
