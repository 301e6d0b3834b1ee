"""What a reader asks of the runs: how late, how likely, how dear, why, and what moves it. All from one sample."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from fabricreport.errors import OutOfRange, Problem
from fabricreport.models.risk.goodput import FabricRisk, Run, RunRisk, simulate
from fabricreport.models.risk.incidents import Luck

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


@dataclass(frozen=True)
class Exceedance:
    """Values in ascending order and the share of draws above each; never rising, by construction."""

    values: Any
    probability: Any


@dataclass(frozen=True)
class RunDifference:
    """Option `a` minus option `b`, draw by draw on common random numbers."""

    a: str
    b: str
    finish_days: Any
    lost_gpu_hours: Any
    overrun_usd: Any
    probability_a_later: Any


@dataclass(frozen=True)
class SweepPoint:
    """One setting of a sweep and what it does to the run."""

    label: str
    value: float
    finish_days: Spread
    overrun_usd: Spread
    p_late: Any
    effective_share: Any
    interval_s: Any
    risk: RunRisk


def spread(sample: Any) -> Spread:
    """Summary of a sample over draws; a scalar is a sample of one."""
    x = np.atleast_1d(np.asanyarray(sample))
    _not_empty(x)
    ordered = np.sort(x)
    worst = max(1, round(WORST * x.shape[0]))
    p5, p50, p90, p95 = (np.quantile(x, q) for q in (0.05, 0.5, 0.9, 0.95))
    return Spread(np.mean(x), p5, p50, p90, p95, np.mean(ordered[-worst:]))


def exceedance(sample: Any) -> Exceedance:
    """Exceedance curve of a sample: at each sorted value, the share of draws strictly above it."""
    x = np.sort(np.atleast_1d(np.asanyarray(sample)))
    _not_empty(x)
    above = 1.0 - np.searchsorted(np.asarray(x), np.asarray(x), side="right") / x.shape[0]
    return Exceedance(x, above)


def p_late(finish_days: Any, deadline_days: ArrayLike) -> Any:
    """Share of draws that end after each deadline, both in days from delivery; non-increasing in the deadline."""
    x = np.atleast_1d(np.asanyarray(finish_days))
    _not_empty(x)
    deadlines = np.asanyarray(deadline_days, dtype=float)
    return np.mean(x > deadlines[..., None], axis=-1)


def loss_shares(risk: RunRisk) -> dict[str, Any]:
    """Share of the mean loss by cause: tail, topology, checkpoints, fabric incidents, common incidents, bring-up.

    Shares add up to 1; all are 0 when nothing is lost.
    """
    parts = {
        "tail": risk.tail_days,
        "topology": risk.topology_days,
        "checkpoints": risk.checkpoint_days,
        "fabric incidents": risk.fabric_days,
        "common incidents": risk.common_days,
        "bring-up": risk.bring_up_days,
    }
    means = {name: np.mean(np.asanyarray(days)) for name, days in parts.items()}
    total: Any = 0.0
    for value in means.values():
        total = total + value
    return {name: np.where(total > 0, value / np.where(total > 0, total, 1.0), 0.0) for name, value in means.items()}


def compare(a: RunRisk, b: RunRisk) -> RunDifference:
    """Difference of two options simulated with the same luck and the same epistemic draws."""
    days = a.finish_days - b.finish_days
    return RunDifference(
        a.option,
        b.option,
        days,
        a.lost_gpu_hours - b.lost_gpu_hours,
        a.overrun_usd - b.overrun_usd,
        np.mean(np.atleast_1d(days) > 0),
    )


def sweep_gpus(
    run: Run, risk: FabricRisk, sizes: Sequence[int], deadline_days: ArrayLike, luck: Luck | None = None
) -> tuple[SweepPoint, ...]:
    """The same run at other cluster sizes (same days of work, so proportionally more of it; links in proportion)."""
    return tuple(
        _point(f"{size} GPUs", size, replace(run, cluster=run.cluster.scaled(size)), risk, deadline_days, luck)
        for size in sizes
    )


def sweep_interval(
    run: Run, risk: FabricRisk, intervals_s: Sequence[float], deadline_days: ArrayLike, luck: Luck | None = None
) -> tuple[SweepPoint, ...]:
    """The same run with fixed checkpoint intervals in seconds."""
    return tuple(
        _point(f"every {value:g} s", value, replace(run, checkpoint_interval_s=value), risk, deadline_days, luck)
        for value in intervals_s
    )


def sweep_maturity(
    run: Run, levels: Mapping[str, FabricRisk], deadline_days: ArrayLike, luck: Luck | None = None
) -> tuple[SweepPoint, ...]:
    """The same run and option at each level of networking maturity (label to risk, in the order given)."""
    return tuple(
        _point(label, float(i), run, risk, deadline_days, luck) for i, (label, risk) in enumerate(levels.items())
    )


def _point(
    label: str, value: float, run: Run, risk: FabricRisk, deadline_days: ArrayLike, luck: Luck | None
) -> SweepPoint:
    result = simulate(run, risk, luck)
    return SweepPoint(
        label,
        float(value),
        spread(result.finish_days),
        spread(result.overrun_usd),
        p_late(result.finish_days, deadline_days),
        np.mean(np.asanyarray(result.effective_share)),
        np.mean(np.asanyarray(result.interval_s)),
        result,
    )


def _not_empty(x: Any) -> None:
    if x.shape[0] == 0 or not np.all(np.isfinite(np.asarray(x))):
        raise OutOfRange(
            Problem("a sample must have at least one draw, all finite", key="sample", remedy="Check the inputs' draws.")
        )
