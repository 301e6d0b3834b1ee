"""What moves the risk: maturity, size, checkpoint interval, correlation; the stress table; the levers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from fabricreport.durations import DAYS_PER_YEAR
from fabricreport.errors import OutOfRange
from fabricreport.inputs import Inputs
from fabricreport.models.risk.answers import SweepPoint, p_late, sweep_interval
from fabricreport.models.risk.goodput import simulate
from fabricreport.models.risk.incidents import Luck
from fabricreport.models.risk.levers import LeverValue, levers, standard_levers
from fabricreport.models.risk.steps import step_inflation
from fabricreport.models.risk.stress import Exposure, StressCase, stress_table
from fabricreport.models.risk.tail import expected_max
from fabricreport.sections.client import LEVELS, largest_job, side_by_side, stages_of
from fabricreport.sections.tail_risk.inputs import Subject, reader, subject

CORRELATIONS = (0.0, 0.3, 0.6, 0.9)
WORKERS = tuple(2 * 4**k for k in range(1, 9))
_SIZES = (128, 1_024, 8_192)
_INTERVAL_FACTORS = tuple(float(f) for f in np.geomspace(1 / 8, 8, 9))
_TENANTS = ("faster-detection", "frequent-checkpoints", "asynchronous-checkpoints")
_PER_GPU = ("faster-detection", "managed-tuning", "spares-on-site", "burn-in")
_NEEDS_TIERS = {"efficiency-loss": 0, "stall": 0, "ecmp-collisions": 2, "noisy-neighbour": 2}
_ONCE_PER_CLIENT = ("frequent-checkpoints", "asynchronous-checkpoints")


@dataclass(frozen=True)
class Setting:
    """One setting of a sensitivity: P(late), P(not stable in time), mean share of the run lost to the fabric's faults."""

    label: str
    value: float
    p_late: Any
    p_not_ready: Any
    fabric_share: Any
    run_p90_days: Any


@dataclass(frozen=True)
class Sensitivity:
    """How the risk moves.

    maturity: level by option. sizes: the option `worked` at each size. intervals: its run at fixed checkpoint intervals,
    run luck averaged out, and `best_interval_s`, Daly's. tail_at: mean added step share by correlation of the jitter,
    slow servers apart. maxima: mean of the slowest of the client's GPUs in standard deviations, by correlation.
    """

    maturity: Mapping[str, Mapping[str, Setting]]
    sizes: tuple[Setting, ...]
    intervals: tuple[SweepPoint, ...]
    best_interval_s: Any
    tail_at: Mapping[float, Any]
    maxima: Mapping[float, Any]


def sensitivity_of(
    given: Inputs, subjects: Mapping[str, Subject], worked: str, deadline_days: float, luck: Luck
) -> Sensitivity:
    """Everything that moves the risk, on the same draws and the same luck."""
    at = subjects[worked]
    days = float(at.run.ideal_days)
    gpus = at.run.cluster.gpus

    def setting(label: str, value: float, one: Subject) -> Setting:
        return _setting(given, label, value, one, deadline_days, luck)

    maturity = {
        o: {
            level: setting(
                level,
                float(i),
                subject(given, s.option, gpus, days, s.exposed, gpu_hour=s.run.gpu_hour_usd, maturity=level),
            )
            for i, level in enumerate(LEVELS)
        }
        for o, s in subjects.items()
    }
    cluster = given.params.cluster
    near = [n for n in _SIZES if cluster.sites == 1 or n <= cluster.site_gpus]
    sizes = sorted({gpus, *(largest_job(given, g) for _, g in stages_of(given)), *near})
    by_size = tuple(setting(str(n), float(n), _at_size(given, at, n, days)) for n in sizes)
    mean = simulate(at.run, at.risk)
    best = np.mean(np.asanyarray(mean.interval_s))
    grid = [float(np.asarray(best)) * f for f in _INTERVAL_FACTORS]
    return Sensitivity(
        maturity,
        by_size,
        sweep_interval(at.run, at.risk, grid, deadline_days),
        mean.interval_s,
        {rho: _jitter_share(at, rho) for rho in CORRELATIONS},
        maxima_of((gpus,)),
    )


def maxima_of(workers: tuple[int, ...] = WORKERS) -> dict[float, Any]:
    """Mean of the slowest of each number of workers, in standard deviations above the mean worker, by correlation."""
    from scipy import stats  # slow to import

    return {rho: expected_max(stats.norm(), np.array(workers), correlation=rho) for rho in CORRELATIONS}


def _at_size(given: Inputs, at: Subject, gpus: int, days: float) -> Subject:
    """The option at another size: the client's own plan where it is one, else switches and links in proportion."""
    try:
        return subject(given, at.option, gpus, days, at.exposed, gpu_hour=at.run.gpu_hour_usd)
    except OutOfRange:
        scaled = replace(at.run, cluster=at.run.cluster.scaled(gpus))
        return replace(at, run=scaled)


def _setting(given: Inputs, label: str, value: float, at: Subject, deadline_days: float, luck: Luck) -> Setting:
    risk = simulate(at.run, at.risk, luck)
    run_days = np.broadcast_to(np.asanyarray(risk.finish_days - risk.bring_up_days), (luck.size,))
    weeks = np.asanyarray(at.risk.bring_up.weeks)
    fabric = np.mean(np.asanyarray(risk.fabric_days) / run_days)
    late = p_late(run_days, deadline_days)
    ready = np.mean(np.atleast_1d(weeks) > float(given.params.organisation.time_to_production_weeks))
    return Setting(label, value, late, ready, fabric, np.quantile(run_days, 0.9))


def _jitter_share(at: Subject, correlation: float) -> Any:
    """Mean share of the step that fresh noise adds at the client's size, with this much of it shared by all."""
    law = replace(at.risk.tail, correlation=correlation)
    cluster = at.run.cluster
    return step_inflation(law, cluster.gpus, workers_per_node=min(cluster.gpus, cluster.gpus_per_node)).noise


def stress_of(given: Inputs, at: Subject, step_s: Any) -> tuple[StressCase, ...]:
    """The stress table on the client's cluster with the option that it is worked out for, dearest first; `step_s`: seconds a step takes.

    Without a fabric, or with a single switch, the cases that need more of it are left out.
    """
    mean = simulate(at.run, at.risk)
    exposure = Exposure(
        gpus=at.run.cluster.gpus,
        run_days=float(at.run.ideal_days),
        gpu_hour_usd=at.run.gpu_hour_usd,
        communication_share=at.exposed,
        step_s=step_s,
        link_gbits_per_s=float(given.params.cluster.link_gbits_per_s),
        restart_h=at.run.restart_h,
        interval_s=mean.interval_s,
    )
    found = stress_table(
        exposure,
        reader(given),
        dragonfly=given.params.cluster.topology == "dragonfly",
        neighbours=at.option.behaviour.neighbours if side_by_side(given) else "",
    )
    table = [s for s in found if at.tiers >= _NEEDS_TIERS.get(s.id, 1)]
    return tuple(sorted(table, key=lambda s: -float(np.median(np.asarray(s.cost_usd)))))


def levers_of(given: Inputs, at: Subject, *, hidden: bool) -> tuple[LeverValue, ...]:
    """The mitigations of the first year (bring-up and a year of running), best saving per dollar first.

    Checkpoints are taken at the interval operators report, since a client who follows Daly already has nothing left to
    gain there. hidden: the fabric is rented, so only what a tenant can do himself is on the menu.
    """
    habit_s = 3600.0 * given.value("evidence:hpn-checkpoint-interval")
    year = replace(at.run, ideal_days=DAYS_PER_YEAR, checkpoint_interval_s=habit_s)
    menu = [i for i in (*_PER_GPU, *_ONCE_PER_CLIENT) if not hidden or i in _TENANTS]
    costs = {i: _cost(given, i, at.run.cluster.gpus) for i in menu}
    return levers(year, at.risk, standard_levers(reader(given), costs))


def _cost(given: Inputs, lever: str, gpus: int) -> Any:
    cost = given.money(f"evidence:lever-cost-{lever}")
    return cost * gpus if lever in _PER_GPU else cost
