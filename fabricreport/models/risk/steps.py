"""What jitter, slow nodes and shared stalls add to the mean training step of a job that waits for its slowest worker.

A worker's step time over its mean is 1 + shared + node + residual (a one-factor model):

- *shared* noise moves all workers alike; over a run it averages to nothing and does not grow with N;
- *residual* noise is fresh every step; over a run the expectation of its maximum is paid, again and again. Step times
  that were measured hold it already, at the size of the run that was timed: only what more workers add is charged;
- *node* effects persist: the same slow node is the slowest at every step until somebody swaps it, so they do not
  average out and the luck of the run (how many slow nodes it got) matters;
- *shared stalls* stop everybody and are a separate additive shock, because a Gaussian copula has no tail dependence.

Residuals follow a Gumbel law. Measured task maxima look like extreme-value laws (arXiv 1611.04167), its upper tail is
exponential and so heavier than a normal one, and its maximum over unequal workers is closed: with scale b and offsets
p_i it is b log(sum_i exp(p_i / b)) above one worker's mean, which costs the same at 128 and 131,072 workers.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from fabricreport.errors import OutOfRange, Problem
from fabricreport.models.domain import between, not_negative
from fabricreport.models.risk.counts import poisson_quantile

_GUMBEL_SCALE = np.sqrt(6.0) / np.pi  # scale of a Gumbel law with standard deviation 1


@dataclass(frozen=True)
class TailLaw:
    """Inputs of the one-factor model; each a scalar or an array over draws (may be traced).

    jitter_share: standard deviation of one worker's step time over its mean. correlation: share of that variance
    all workers share, in [0, 1]. slow_node_share: probability that a node is persistently slow. slow_node_penalty:
    how much slower, as a share of the step. slow_node_presence: share of the run a slow node stays in the job.
    shared_stall_share: time lost to stalls of everybody, as a share of the step. timed_workers: workers of the run whose
    step times the mean step was set from, the noise of which is in it; 1 where it is one worker's own.
    """

    jitter_share: Any
    correlation: Any = 0.0
    slow_node_share: Any = 0.0
    slow_node_penalty: Any = 0.0
    slow_node_presence: Any = 1.0
    shared_stall_share: Any = 0.0
    timed_workers: Any = 1.0


@dataclass(frozen=True)
class StepInflation:
    """Additions to the mean step as shares of it: `multiplier` = 1 + noise + slow_nodes + stalls."""

    multiplier: Any
    noise: Any
    slow_nodes: Any
    stalls: Any


def step_inflation(
    law: TailLaw, workers: ArrayLike, *, workers_per_node: ArrayLike = 1, luck: ArrayLike | None = None
) -> StepInflation:
    """Mean step-time multiplier of a run on `workers` workers.

    luck: uniforms in (0, 1) of the draws, which decide how many slow nodes the run gets; None averages over that
    number (none with probability (1 - q)**nodes, else its mean given at least one). Everything broadcasts.
    Raises OutOfRange for fewer than one worker, a share outside [0, 1] or a negative jitter or penalty.
    """
    _check(law, workers, workers_per_node)
    n = np.asanyarray(workers, dtype=float)
    nodes = np.ceil(n / np.asanyarray(workers_per_node, dtype=float))
    per_node = n / nodes
    scale = _GUMBEL_SCALE * np.asanyarray(law.jitter_share) * np.sqrt(1.0 - np.asanyarray(law.correlation))
    scale = np.maximum(scale, 1e-12)  # no jitter at all: the slowest node alone decides
    noise = scale * np.maximum(np.log(n) - np.log(np.asanyarray(law.timed_workers)), 0.0)
    slow, chance = _slow_nodes(np.asanyarray(law.slow_node_share), nodes, luck)
    # log-sum-exp over the two classes of workers, written from the larger term so that nothing overflows
    gap = np.asanyarray(law.slow_node_penalty) / scale
    slow_workers = slow * per_node
    with np.errstate(divide="ignore"):
        extra = scale * (np.logaddexp(np.log(n - slow_workers), np.log(slow_workers) + gap) - np.log(n))
    persistent = np.asanyarray(law.slow_node_presence) * chance * np.maximum(extra, 0.0)
    stalls = np.asanyarray(law.shared_stall_share, dtype=float)
    return StepInflation(1.0 + noise + persistent + stalls, noise, persistent, stalls)


def _slow_nodes(share: Any, nodes: Any, luck: ArrayLike | None) -> tuple[Any, Any]:
    """Number of slow nodes, and the probability with which it applies (1 for a drawn number)."""
    if luck is not None:
        return slow_node_count(luck, nodes, share), 1.0
    some = -np.expm1(nodes * np.log1p(-np.minimum(share, 1.0 - 1e-12)))
    mean_if_some = np.where(some > 0, nodes * share / np.where(some > 0, some, 1.0), 1.0)
    return np.minimum(np.maximum(mean_if_some, 1.0), nodes), some


def slow_node_count(u: ArrayLike, trials: Any, share: Any) -> Any:
    """Number of slow nodes at probability `u`: Poisson with the binomial's mean, at most `trials`.

    The share of slow nodes is a few per cent at most, where Poisson and binomial agree; both rise with `trials`.
    """
    return np.minimum(poisson_quantile(u, trials * share), trials)


def _check(law: TailLaw, workers: ArrayLike, workers_per_node: ArrayLike) -> None:
    def refuse(key: str, value: Any, rule: str) -> None:
        raise OutOfRange(Problem(f"must {rule}", key=key, value=str(np.asarray(value))[:60], remedy="Check its unit."))

    for key in ("correlation", "slow_node_share", "slow_node_presence", "shared_stall_share"):
        if not between(getattr(law, key), 0, 1):
            refuse(key, getattr(law, key), "be a share between 0 and 1")
    for key in ("jitter_share", "slow_node_penalty"):
        if not not_negative(getattr(law, key)):
            refuse(key, getattr(law, key), "be at least 0 and finite")
    counts = (("workers", workers), ("workers_per_node", workers_per_node), ("timed_workers", law.timed_workers))
    for key, number in counts:
        if not between(number, 1, sys.float_info.max):
            refuse(key, number, "be at least 1")
