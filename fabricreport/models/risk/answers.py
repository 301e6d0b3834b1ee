"""What a reader asks of the runs: how late, how likely and how dear. All from one sample."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from fabricreport.errors import OutOfRange, Problem

WORST = 0.05  # share of the draws in the expected shortfall at 95 %


@dataclass(frozen=True)
class Spread:
    """Mean, quantiles and expected shortfall at 95 % (mean of the worst 5 % of draws) of one sample, in its unit."""

    mean: Any
    p5: Any
    p50: Any
    p90: Any
    p95: Any
    expected_shortfall_95: Any


def spread(sample: Any) -> Spread:
    """Summary of a sample over draws; a scalar is a sample of one."""
    x = np.atleast_1d(np.asanyarray(sample))
    _not_empty(x)
    ordered = np.sort(x)
    worst = max(1, round(WORST * x.shape[0]))
    p5, p50, p90, p95 = (np.quantile(x, q) for q in (0.05, 0.5, 0.9, 0.95))
    return Spread(np.mean(x), p5, p50, p90, p95, np.mean(ordered[-worst:]))


def p_late(finish_days: Any, deadline_days: ArrayLike) -> Any:
    """Share of draws that end after each deadline, both in days from delivery; non-increasing in the deadline."""
    x = np.atleast_1d(np.asanyarray(finish_days))
    _not_empty(x)
    deadlines = np.asanyarray(deadline_days, dtype=float)
    return np.mean(x > deadlines[..., None], axis=-1)


def _not_empty(x: Any) -> None:
    if x.shape[0] == 0 or not np.all(np.isfinite(np.asarray(x))):
        raise OutOfRange(
            Problem("a sample must have at least one draw, all finite", key="sample", remedy="Check the inputs' draws.")
        )
