"""The figures of the risk: dates, shares of GPU time lost, faults, and what a run that goes wrong costs."""

from __future__ import annotations

from typing import Any

import numpy as np

from fabricreport.durations import HOURS_PER_DAY
from fabricreport.figures import Declaration, Index
from fabricreport.formats import inside
from fabricreport.models.risk.answers import p_late, spread
from fabricreport.provenance import inputs_of
from fabricreport.scenario.defaults import is_given
from fabricreport.sections.schedule.days import stable_label
from fabricreport.sections.tail_risk.figure_context import EachSpec, PairSpec, RiskFigures, Spec
from fabricreport.sections.tail_risk.inputs import PROFILE
from fabricreport.sections.tail_risk.validation_figures import VALIDATION

RUN = (*PROFILE, "param:workload.run_days", "param:workload.latency_variance_bound", "param:cluster.topology")
"""Params that a run's length and luck rest on beside what its draws name."""
DEADLINE = ("evidence:run-deadline-slack-share",)
_HORIZON = "param:money.horizon_months"
_FAULTS, _INTERRUPTIONS = "faults a year", "interruptions a year"
_P90, _WORST = "90th percentile", "mean of the worst twentieth"

_PLAN = (
    Spec(
        "tail_risk.planned",
        "day",
        label="Planned length of one run",
        rule=lambda at: (
            "tokens × parameters × 6 ÷ (GPUs × peak × kernel efficiency)"
            if at.given.params.workload.run_days is None
            else "as stated in the params"
            if is_given(at.given.params, "workload.run_days")
            else "as assumed: not stated in the params"
        ),
        value=lambda at: at.result.planned_days,
        inputs=RUN,
    ),
    Spec(
        "tail_risk.checkpoint_interval",
        "min",
        label="Work between two checkpoints of a job",
        rule=lambda at: (
            "Daly's optimum at the rate of what stops a job on any network; median over the outcomes"
            if at.given.params.workload.checkpoint_minutes is None
            else "as stated in the params"
        ),
        value=lambda at: at.result.subjects[at.result.worked].run.checkpoint_interval_s / 60.0,
        inputs=("param:cluster.gpus",),
        digits=2,
    ),
    Spec(
        "tail_risk.deadline",
        "day",
        label="Days after which a run counts as late",
        rule="planned days × (1 + slack)",
        value=lambda at: at.result.deadline_days,
        inputs=RUN + DEADLINE,
    ),
)

_DATES = (
    EachSpec(
        "tail_risk.late[option]",
        "share",
        label=lambda at, option: (
            f"Chance that a run on {at.names[option]} ends later than planned by more than the slack"
        ),
        rule="share of runs drawn that take longer than planned days × (1 + slack)",
        value=lambda at, option: p_late(at.run(option).run_days, at.result.deadline_days),
        inputs=lambda at, option: (*RUN, *DEADLINE, *inputs_of(at.run(option).run_days)),
        digits=2,
    ),
    EachSpec(
        "tail_risk.weeks[option]",
        lambda at, _: at.start_unit,
        label=lambda at, option: stable_label(at.names[option]),
        rule="median of the time to stable of the family × size factor × maturity factor",
        value=lambda at, option: at.in_start_unit(at.result.bring_up_weeks[option]),
        inputs=PROFILE,
        digits=2,
    ),
    EachSpec(
        "tail_risk.finish_p90[option]",
        "day",
        label=lambda at, option: f"Days a run on {at.names[option]} takes, P90",
        rule=_P90 + " of the days from the run's start to its end",
        value=lambda at, option: spread(at.run(option).run_days).p90,
        inputs=RUN,
    ),
    EachSpec(
        "tail_risk.delay_p90[option]",
        lambda at, _: at.run_unit,
        label=lambda at, option: f"Time a run on {at.names[option]} takes beyond its plan, P90",
        rule=_P90 + " of the run's days less the planned days",
        value=lambda at, option: at.in_run_unit(spread(at.run(option).run_days).p90 - at.result.planned_days),
        inputs=RUN,
        digits=2,
    ),
)


def _overrun(name: str, field: str, said: str, statistic: str) -> EachSpec:
    """A statistic of what one run costs beyond its plan."""
    return EachSpec(
        f"tail_risk.overrun_{name}[option]",
        "usd",
        label=lambda at, option: f"Cost of one run on {at.names[option]} beyond its plan, {said}",
        rule=statistic + " of lost GPU-hours × their value + engineers' hours + price of delay",
        value=lambda at, option: getattr(spread(at.run(option).overrun_usd), field),
        inputs=RUN,
    )


def _share(name: str, what: str, rule: str) -> EachSpec:
    """A share of GPU time lost over the horizon."""
    return EachSpec(
        f"tail_risk.{name}[option]",
        "share",
        label=lambda at, option: f"Share of GPU time on {at.names[option]} {what}",
        rule=rule + ", weighted by the GPU-months of each stage; run luck averaged out",
        value=lambda at, option: getattr(at.result, name)[option],
        inputs=(*PROFILE, _HORIZON),
        digits=2,
        central="mean",
    )


_LOST = (
    _overrun("p90", "p90", "P90", _P90),
    _overrun("es95", "expected_shortfall_95", "ES95", _WORST),
    _share("tail_share", "lost to stalls and collisions of the network", "step time the network adds ÷ step time"),
    _share(
        "incident_share",
        "lost to faults of the network",
        "1 − share that works ÷ (share that works on a perfect network × what stalls and collisions leave)",
    ),
    _share(
        "bring_up_share",
        "lost until the network is stable",
        "days × (1 − productivity) for the GPUs added ÷ all GPU-days",
    ),
    EachSpec(
        "tail_risk.common_lost[option]",
        "share",
        label=lambda at, option: (
            f"GPU time lost on {at.names[option]} to slow servers, faults and checkpoints, on any network"
        ),
        rule="1 − what slow servers, faults of GPUs and hosts, nodes that stand by for them, and checkpoints each leave",
        value=RiskFigures.common_lost,
        inputs=(*RUN, _HORIZON),
        digits=2,
        central="mean",
    ),
    EachSpec(
        "tail_risk.fabric_lost[option]",
        "share",
        label=lambda at, option: f"GPU time lost on {at.names[option]} to the network alone",
        rule="start-up + stalls + collisions + faults of the network; mean over the outcomes",
        value=RiskFigures.fabric_lost,
        inputs=(*RUN, _HORIZON),
        digits=2,
        central="mean",
    ),
)


def _events_label(at: RiskFigures, fault: str, option: str) -> str:
    law = at.law(fault, option)
    return f"{law.label if law else fault} a year on {at.names[option]}"


_RATES = (
    PairSpec(
        "tail_risk.events[fault][option]",
        _FAULTS,
        label=_events_label,
        rule="mean of rate per unit × units of the cluster",
        value=RiskFigures.events,
        inputs=PROFILE,
        digits=2,
        central="mean",
        when=lambda at, fault, option: at.law(fault, option) is not None,
    ),
    EachSpec(
        "tail_risk.incidents[option]",
        _FAULTS,
        label=lambda at, option: f"Faults of the network a year on {at.names[option]}",
        rule="mean of the sum of the expected events of every kind",
        value=RiskFigures.all_events,
        inputs=PROFILE,
        digits=2,
        central="mean",
    ),
    EachSpec(
        "tail_risk.common[option]",
        _INTERRUPTIONS,
        label=lambda at, option: f"Interruptions a year that no network causes, on {at.names[option]}",
        rule="mean of interruptions per GPU-year × GPUs",
        value=RiskFigures.common,
        inputs=("param:cluster.gpus",),
        digits=2,
        central="mean",
    ),
)


def _to_the_unit(value: Any) -> int:
    """Digits that print an exact figure to the unit, as the articles' example is quoted; three for an uncertain one."""
    return max(3, len(f"{abs(float(np.asarray(value))):.0f}")) if np.ndim(value) == 0 else 3


def _hit(at: RiskFigures, case: str) -> tuple[str, ...]:
    """What a stress case rests on."""
    return (*at.stress[case].sources, "param:cluster.gpus", "param:workload.run_days")


def _if(at: RiskFigures, case: str) -> str:
    """A stress case's title as it stands within a sentence."""
    return inside(at.stress[case].title)


_STRESS = (
    EachSpec(
        "tail_risk.stress[case].usd",
        "usd",
        label=lambda at, case: f"Cost if {_if(at, case)}",
        rule=lambda at, case: f"{at.stress[case].formula} × value of a GPU-hour",
        value=lambda at, case: at.stress[case].cost_usd,
        inputs=_hit,
        digits=lambda at, case: _to_the_unit(at.stress[case].cost_usd),
        central="mean",
    ),
    EachSpec(
        "tail_risk.stress[case].gpu_hours",
        "gpu-hour",
        label=lambda at, case: f"GPU-hours lost if {_if(at, case)}",
        rule=lambda at, case: at.stress[case].formula,
        value=lambda at, case: at.stress[case].lost_gpu_hours,
        inputs=_hit,
        digits=lambda at, case: _to_the_unit(at.stress[case].lost_gpu_hours),
        central="mean",
    ),
    EachSpec(
        "tail_risk.stress[case].delay",
        "h",
        label=lambda at, case: f"Hours lost, on the mean, if {_if(at, case)}",
        rule="share lost × hours it lasts",
        value=lambda at, case: HOURS_PER_DAY * np.asanyarray(at.stress[case].delay_days),
        inputs=_hit,
        central="mean",
    ),
    EachSpec(
        "tail_risk.stress[case].loss",
        "share",
        label=lambda at, case: f"Throughput lost while it lasts if {_if(at, case)}",
        rule=lambda at, case: at.stress[case].formula,
        value=lambda at, case: at.stress[case].loss_share,
        inputs=_hit,
        digits=2,
        central="mean",
    ),
)


def _lever(at: RiskFigures, lever: str) -> str:
    """A lever's label as it stands within a sentence."""
    return inside(at.levers[lever].label)


_LEVERS = (
    EachSpec(
        "tail_risk.lever[lever].saved",
        "usd",
        label=lambda at, lever: f"Saved in the first year by {_lever(at, lever)}",
        rule="GPU time of the first year (of the horizon, where shorter) that does work with it less without it, at its value; mean",
        value=lambda at, lever: at.levers[lever].saved_usd,
        inputs=PROFILE,
        central="mean",
    ),
    EachSpec(
        "tail_risk.lever[lever].cost",
        "usd",
        label=lambda at, lever: f"First-year cost of {_lever(at, lever)}",
        rule="as assumed, times GPUs where it is per GPU; mean",
        value=lambda at, lever: at.levers[lever].cost_usd,
        inputs=PROFILE,
        central="mean",
    ),
)

FIGURES: Declaration[Any] = Declaration(
    "tail_risk",
    (*_PLAN, *_DATES, *_LOST, *_RATES, *_STRESS, *_LEVERS, *VALIDATION),
    {
        "option": Index(lambda at: at.result.outcomes),
        "fault": Index(lambda at: at.faults),
        "case": Index(lambda at: at.stress),
        "lever": Index(lambda at: at.levers),
        "row": Index(lambda at: at.card),
    },
)
"""Every figure of the section."""
