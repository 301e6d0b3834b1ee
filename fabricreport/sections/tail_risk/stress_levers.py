"""What one event of each kind would cost, and what each lever would save."""

from __future__ import annotations

from typing import Any

import numpy as np

from fabricreport.durations import DAYS_PER_MONTH, DAYS_PER_YEAR
from fabricreport.inputs import Inputs
from fabricreport.models.risk.levers import LeverValue, levers, standard_levers
from fabricreport.models.risk.stress import Exposure, StressCase, stress_table
from fabricreport.sections.client import side_by_side
from fabricreport.sections.tail_risk.inputs import Subject, reader

_AT_THE_OPTIMUM = "frequent-checkpoints"
_TENANTS = ("faster-detection", _AT_THE_OPTIMUM, "asynchronous-checkpoints")
_PER_GPU = ("faster-detection", "managed-tuning", "spares-on-site", "burn-in")
_NEEDS_TIERS = {"efficiency-loss": 0, "stall": 0, "ecmp-collisions": 2, "noisy-neighbour": 2}
_ONCE_PER_CLIENT = (_AT_THE_OPTIMUM, "asynchronous-checkpoints")


def stress_of(given: Inputs, at: Subject, step_s: Any) -> tuple[StressCase, ...]:
    """The stress table on the client's cluster with the option that it is worked out for, dearest first; `step_s`: seconds a step takes.

    Without a fabric, or with a single switch, the cases that need more of it are left out.
    """
    exposure = Exposure(
        gpus=at.run.cluster.gpus,
        run_days=float(at.run.ideal_days),
        gpu_hour_usd=at.run.gpu_hour_usd,
        communication_share=at.exposed,
        step_s=step_s,
        link_gbits_per_s=float(given.params.cluster.link_gbits_per_s),
        restart_h=at.run.restart_h,
        interval_s=at.run.checkpoint_interval_s,
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
    """The mitigations of the first year, or of the horizon where that is shorter, best saving per dollar first.

    Checkpoints are as far apart as in the bill; a client that states no interval is taken to keep the optimum, where there
    is nothing left to gain. hidden: the fabric is rented, so only what a tenant can do himself is on the menu.
    """
    menu = [i for i in (*_PER_GPU, *_ONCE_PER_CLIENT) if not hidden or i in _TENANTS]
    if given.params.workload.checkpoint_minutes is None:
        menu.remove(_AT_THE_OPTIMUM)
    costs = {i: _cost(given, i, at.run.cluster.gpus) for i in menu}
    days = min(DAYS_PER_YEAR, DAYS_PER_MONTH * given.params.money.horizon_months)
    return levers(at.run, at.risk, at.slow, standard_levers(reader(given), costs), days=days, exposed=at.exposed)


def _cost(given: Inputs, lever: str, gpus: int) -> Any:
    cost = given.money(f"evidence:lever-cost-{lever}")
    return cost * gpus if lever in _PER_GPU else cost
