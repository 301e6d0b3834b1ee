"""What could go wrong: the tail, incidents, weeks until the fabric is stable, the date the run ends; stress cases and levers.

Two kinds of uncertainty are kept apart. `*_share` and `bring_up_weeks` are draws of what nobody knows (the epistemic
inputs) with the luck of the run averaged out: that is what money and the value of information need. Dates, P(late) and
P90 are draws of a run, with its luck, on the same uniforms for every option.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from fabricreport.base.provenance import Traced
from fabricreport.base.units import DAYS_PER_MONTH, DAYS_PER_YEAR
from fabricreport.base.vocabulary import Side
from fabricreport.books.options import Option
from fabricreport.inputs.inputs import Inputs
from fabricreport.ledger.figures import DeclaredFigures
from fabricreport.models.risk.incidents import Luck, Standby
from fabricreport.models.risk.levers import LeverValue, levers, standard_levers
from fabricreport.models.risk.stress import Exposure, StressCase, stress_table
from fabricreport.sections.client import largest_job, planned_days, side_by_side
from fabricreport.sections.tail_risk.figures import FIGURES, RiskFigures
from fabricreport.sections.tail_risk.inputs import Losses, Subject, reader, subject
from fabricreport.sections.tail_risk.result import TailResult, outcome_of

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


def run(
    given: Inputs,
    exposed: Mapping[str, Mapping[int, Traced]],
    standby: Mapping[int, Standby],
    step_time_s: Mapping[str, Traced],
    losses: Losses,
    gpu_hour: Any,
    compared: tuple[str, ...] = (),
) -> TailResult:
    """The risk of every option, from its exposed communication (share of GPU time, by GPUs of the job) and step time (s), by option id.

    standby: what stands by of a job, by its GPUs.

    gpu_hour: what a lost GPU-hour is worth, in the memo's currency: one value for all options and all sections.
    compared: ids of the advised option, which stress cases and levers are worked out for, and of its rival: they stand for their families
    where two are set side by side.
    """
    days = planned_days(given)
    deadline = days * (1.0 + given.central("evidence:run-deadline-slack-share"))
    luck = Luck(int(given.params.seed), given.sampler.size)
    size = int(given.params.cluster.gpus)
    gpus = largest_job(given, size)
    subjects = {
        o.id: subject(
            given, o, gpus, days, exposed[o.id][gpus], gpu_hour=gpu_hour, within=size, spares=standby[gpus].nodes
        )
        for o in given.options
    }
    outcomes = {o: outcome_of(given, s, luck) for o, s in subjects.items()}
    ranked = sorted(given.options, key=lambda o: o.id not in compared)
    pair = _pair(ranked)
    worked = next((o for o in compared if o in subjects), ranked[0].id)
    result = TailResult(
        tail_share=losses.tail,
        incident_share=losses.incidents,
        bring_up_share=losses.bring_up,
        bring_up_weeks=losses.weeks,
        lost=losses.lost,
        subjects=subjects,
        outcomes=outcomes,
        planned_days=days,
        deadline_days=deadline,
        pair=pair,
        focus=pair[1] if pair else ranked[0].id,
        worked=worked,
        stress=stress_of(given, subjects[worked], step_time_s[worked]),
        levers=levers_of(given, subjects[worked], hidden=given.team.rented),
        numbers={},
    )
    return replace(result, numbers=DeclaredFigures(FIGURES, RiskFigures(given, result), given))


def _pair(options: Sequence[Option]) -> tuple[str, str] | None:
    """The first InfiniBand and the first RoCEv2 option, if both are there."""
    first = [next((o.id for o in options if o.side == side), "") for side in (Side.INFINIBAND, Side.ROCEV2)]
    return (first[0], first[1]) if all(first) else None
