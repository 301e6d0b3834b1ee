"""What could go wrong: the tail, incidents, the weeks until the fabric is stable, and the date the run ends.

Two kinds of uncertainty are kept apart. `*_share` and `bring_up_weeks` are draws of what nobody knows (the epistemic
inputs) with the luck of the run averaged out: that is what money and the value of information need. Dates, P(late) and
P90 are draws of a run, with its luck, on the same uniforms for every option.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from fabricreport.books.options import Option
from fabricreport.figures import DeclaredFigures
from fabricreport.inputs import Inputs
from fabricreport.models.risk.incidents import Luck
from fabricreport.models.risk.spares import Standby
from fabricreport.provenance import Traced
from fabricreport.sections.client import largest_job, planned_days
from fabricreport.sections.tail_risk.figures import FIGURES, RiskFigures
from fabricreport.sections.tail_risk.horizon import Losses
from fabricreport.sections.tail_risk.inputs import subject
from fabricreport.sections.tail_risk.outcomes import outcome_of
from fabricreport.sections.tail_risk.result import TailResult
from fabricreport.sections.tail_risk.stress_levers import levers_of, stress_of
from fabricreport.vocabulary import Side


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
