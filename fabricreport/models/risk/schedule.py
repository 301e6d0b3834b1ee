"""When to write checkpoints, and how often large jobs fail.

Daly 2006: "A higher order estimate of the optimum checkpoint interval for restart dumps" (interval and the full
expectation of the wall time). Kokolis et al. 2025 (arXiv 2410.21680): mean time to failure of large jobs.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from fabricreport.durations import HOURS_PER_DAY
from fabricreport.errors import OutOfRange, Problem
from fabricreport.models.domain import positive

_LARGEST_EXPONENT = 60.0  # beyond e^60 attempts a job does not finish: keep the number finite and absurd


def daly_interval(checkpoint_s: ArrayLike, mtbf_s: ArrayLike) -> Any:
    """Optimal compute time between checkpoints in seconds (Daly 2006, higher order).

    checkpoint_s: time d to write one checkpoint. mtbf_s: mean time M between interruptions, of every cause.
    sqrt(2dM) [1 + sqrt(d/2M)/3 + (d/2M)/9] - d for d < 2M, else M. Broadcasts; a float for scalars. Raises
    OutOfRange unless both are positive and finite.
    """
    d, m = _positive(checkpoint_s=checkpoint_s, mtbf_s=mtbf_s)
    ratio = np.minimum(d / (2.0 * m), 1.0)
    higher = np.sqrt(2.0 * d * m) * (1.0 + np.sqrt(ratio) / 3.0 + ratio / 9.0) - d
    return _scalar(np.where(d < 2.0 * m, higher, m))


def wall_time_factor(interval_s: ArrayLike, checkpoint_s: ArrayLike, restart_s: ArrayLike, mtbf_s: ArrayLike) -> Any:
    """Expected wall time over compute time with failures at random, also during recovery (Daly 2006).

    (M / tau) exp(R / M) (exp((tau + d) / M) - 1), all in seconds, broadcast; at least 1 + d / tau. restart_s is
    everything between a failure and the first new step except the work lost. Finite even where no attempt is
    likely to last an interval, and then very large.
    """
    tau, d, m = _positive(interval_s=interval_s, checkpoint_s=checkpoint_s, mtbf_s=mtbf_s)
    restart = np.asanyarray(restart_s, dtype=float)
    recover = np.exp(np.minimum(restart / m, _LARGEST_EXPONENT))
    return _scalar(m / tau * recover * np.expm1(np.minimum((tau + d) / m, _LARGEST_EXPONENT)))


def kokolis_mttf_h(gpus: ArrayLike, failures_per_1000_node_days: ArrayLike, gpus_per_node: int = 8) -> Any:
    """Mean time to failure in hours: 1 / (nodes x node failure rate) (Kokolis et al. 2025).

    Fit for very large jobs only: at 1,024 GPUs its authors measured a time 3.7 times shorter.
    """
    n, rate = _positive(gpus=gpus, failures_per_1000_node_days=failures_per_1000_node_days)
    return _scalar(HOURS_PER_DAY * 1000.0 / (n / gpus_per_node * rate))


def _positive(**values: ArrayLike) -> tuple[Any, ...]:
    arrays = []
    for key, value in values.items():
        array = np.asanyarray(value, dtype=float)
        if not positive(array):
            raise OutOfRange(
                Problem("must be positive and finite", key=key, value=str(value)[:60], remedy="Check its unit.")
            )
        arrays.append(array)
    return tuple(arrays)


def _scalar(result: Any) -> Any:
    """A plain float for scalar, untagged results."""
    return (
        float(result) if isinstance(result, np.generic) or (type(result) is np.ndarray and result.ndim == 0) else result
    )
