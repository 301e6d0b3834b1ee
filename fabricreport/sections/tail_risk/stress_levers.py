"""What one event of each kind would cost, and what each lever would save."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from fabricreport.durations import DAYS_PER_YEAR
from fabricreport.inputs import Inputs
from fabricreport.models.risk.goodput import simulate
from fabricreport.models.risk.levers import LeverValue, levers, standard_levers
from fabricreport.models.risk.stress import Exposure, StressCase, stress_table
from fabricreport.sections.client import side_by_side
from fabricreport.sections.tail_risk.inputs import Subject, reader

_TENANTS = ("faster-detection", "frequent-checkpoints", "asynchronous-checkpoints")
_PER_GPU = ("faster-detection", "managed-tuning", "spares-on-site", "burn-in")
_NEEDS_TIERS = {"efficiency-loss": 0, "stall": 0, "ecmp-collisions": 2, "noisy-neighbour": 2}
_ONCE_PER_CLIENT = ("frequent-checkpoints", "asynchronous-checkpoints")


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
