"""The ledger numbers of the risk section: every figure the notebook prints, with its rule."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from fabricreport.durations import HOURS_PER_DAY, HOURS_PER_YEAR
from fabricreport.inputs import Inputs
from fabricreport.ledger import Number
from fabricreport.models.risk.answers import p_late, spread
from fabricreport.provenance import inputs_of
from fabricreport.sections.client import LEVELS
from fabricreport.sections.tail_risk.horizon import CAUSES, FABRIC_CAUSES
from fabricreport.sections.tail_risk.inputs import PROFILE
from fabricreport.sections.tail_risk.outcomes import Outcome
from fabricreport.sections.tail_risk.result import TailResult
from fabricreport.sections.tail_risk.sensitivity import CORRELATIONS, Setting

RUN = (*PROFILE, "param:workload.run_days", "param:workload.latency_variance_bound", "param:cluster.topology")
_DEADLINE = ("evidence:run-deadline-slack-share",)
_WEEKS = ("param:organisation.time_to_production_weeks",)
_SHORT_RUN_DAYS = 5.0
STANDARD_DEVIATIONS = "standard deviations"
FAULTS, INTERRUPTIONS = "faults a year", "interruptions a year"


def numbers_of(given: Inputs, result: TailResult) -> Iterator[Number]:
    """All figures of the section."""
    yield from _plan(given, result)
    for option, outcome in result.outcomes.items():
        yield from _dates(given, result, option, outcome)
        yield from _money(given, option, outcome)
        yield from _shares(given, result, option)
        yield from _rates(given, result, option)
        yield from _causes(given, result, option)
    if result.difference:
        yield from _difference(given, result)
    yield from _sensitivity(given, result)
    yield from _stress(given, result)
    yield from _levers(given, result)


def _plan(given: Inputs, result: TailResult) -> Iterator[Number]:
    yield given.number("tail_risk.planned", result.planned_days, "day", label="Planned length of one run",
                      rule="as stated or assumed, or tokens × parameters × 6 ÷ (GPUs × peak × kernel efficiency)", inputs=RUN)  # fmt: skip
    yield given.number("tail_risk.deadline", result.deadline_days, "day", label="Days after which a run counts as late",
                      rule="planned days × (1 + slack)", inputs=RUN + _DEADLINE)  # fmt: skip
    final = max(int(s.gpus) for s in given.params.cluster.trajectory) if given.params.cluster.trajectory else 0
    if final:
        yield given.number("tail_risk.final_gpus", float(final), "gpus", label="GPUs at the end of the plan",
                          rule="as stated in the params", inputs=("param:cluster.gpus",))  # fmt: skip


def in_run_units(given: Inputs, id: str, days: Any, planned: float, **more: Any) -> Number:
    """A duration in days, or in hours where the run itself takes only a few days."""
    short = planned < _SHORT_RUN_DAYS
    return given.number(id, days * HOURS_PER_DAY if short else days, "h" if short else "day", **more)


def _dates(given: Inputs, result: TailResult, option: str, outcome: Outcome) -> Iterator[Number]:
    planned, days = result.planned_days, outcome.run_days
    late, weeks = p_late(days, result.deadline_days), result.bring_up_weeks[option]
    yield given.number(f"tail_risk.late.{option}", late, "share", digits=2, inputs=(*RUN, *_DEADLINE, *inputs_of(days)),
                      label=f"P(a run on {option} ends later than planned by more than the slack)",
                      rule="share of runs drawn that take longer than planned days × (1 + slack)")  # fmt: skip
    not_ready = np.mean(weeks > result.weeks_allowed)
    yield given.number(f"tail_risk.not_ready.{option}", not_ready, "share", digits=2, inputs=(*PROFILE, *_WEEKS, *inputs_of(weeks)),
                      label=f"P({option} is not stable within the weeks to production)",
                      rule="share of draws with weeks to stable > time to production")  # fmt: skip
    yield given.number(f"tail_risk.weeks.{option}", weeks, "week", digits=2, inputs=PROFILE,
                      label=f"Weeks until {option} is stable at the starting size",
                      rule="median of weeks to stable of the family × size factor × maturity factor")  # fmt: skip
    yield given.number(f"tail_risk.weeks_p90.{option}", np.quantile(weeks, 0.9), "week", digits=2, inputs=PROFILE,
                      label=f"Weeks until {option} is stable, exceeded in one draw in ten",
                      rule="90th percentile of weeks to stable")  # fmt: skip
    end = outcome.end_days
    yield given.number(f"tail_risk.end.{option}", end, "day", inputs=RUN,
                      label=f"Days from delivery to the end of the first run on {option}",
                      rule="7 × weeks to stable + days of the run")  # fmt: skip
    yield given.number(f"tail_risk.end_p90.{option}", np.quantile(end, 0.9), "day", inputs=RUN,
                      label=f"Days from delivery to the end of the first run on {option}, exceeded in one draw in ten",
                      rule="90th percentile of 7 × weeks to stable + days of the run")  # fmt: skip
    sample = spread(days)
    for name, value in (
        ("p50", sample.p50),
        ("p90", sample.p90),
        ("p95", sample.p95),
        ("es95", sample.expected_shortfall_95),
    ):
        yield given.number(f"tail_risk.finish_{name}.{option}", value, "day", inputs=RUN,
                          label=f"Days a run on {option} takes, {name.upper()}",
                          rule=_STATISTIC[name] + " of the days from the run's start to its end")  # fmt: skip
        yield in_run_units(given, f"tail_risk.delay_{name}.{option}", value - planned, planned, inputs=RUN, digits=2,
                           label=f"Time a run on {option} takes beyond its plan, {name.upper()}",
                           rule=_STATISTIC[name] + " of the run's days less the planned days")  # fmt: skip


_STATISTIC = {
    "p50": "median",
    "p90": "90th percentile",
    "p95": "95th percentile",
    "es95": "mean of the worst twentieth",
}


def _money(given: Inputs, option: str, outcome: Outcome) -> Iterator[Number]:
    sample = spread(outcome.overrun_usd)
    for name, value in (
        ("p50", sample.p50),
        ("p90", sample.p90),
        ("p95", sample.p95),
        ("es95", sample.expected_shortfall_95),
    ):
        yield given.number(f"tail_risk.overrun_{name}.{option}", value, "usd", inputs=RUN,
                          label=f"Cost of one run on {option} beyond its plan, {name.upper()}",
                          rule=_STATISTIC[name] + " of lost GPU-hours × their value + engineers' hours + price of delay")  # fmt: skip
    yield given.number(f"tail_risk.bring_up_usd.{option}", outcome.bring_up_usd, "usd", central="mean", inputs=PROFILE,
                      label=f"GPU time lost until {option} is stable, in money",
                      rule="mean of weeks to stable × (1 − productivity) × GPUs × value of a GPU-hour")  # fmt: skip


def _shares(given: Inputs, result: TailResult, option: str) -> Iterator[Number]:
    words = {
        "tail_share": ("lost to slow servers, jitter, stalls and contention", "added step time ÷ step time"),
        "incident_share": ("lost to faults of the fabric", "expected hours lost to the fabric's faults ÷ hours of running"),
        "bring_up_share": ("lost until the fabric is stable", "days × (1 − productivity) for the GPUs added ÷ all GPU-days"),
    }  # fmt: skip
    for name, (what, rule) in words.items():
        yield given.number(f"tail_risk.{name}.{option}", getattr(result, name)[option], "share", digits=2,
                          inputs=(*PROFILE, "param:money.horizon_months"), label=f"Share of GPU time on {option} {what}",
                          rule=rule + ", weighted by the GPU-months of each stage; run luck averaged out")  # fmt: skip


def _rates(given: Inputs, result: TailResult, option: str) -> Iterator[Number]:
    at = result.subjects[option]
    events: Any = 0.0
    stops: Any = 0.0
    for law in at.risk.incidents:
        rate = HOURS_PER_YEAR * law.events_per_hour(at.run.cluster)
        events = events + rate
        stops = stops + rate * np.asanyarray(law.interrupts_share)
        yield given.number(f"tail_risk.events.{law.kind}.{option}", rate, FAULTS, digits=2, inputs=PROFILE,
                          label=f"{law.label} a year on {option}", rule="rate per unit × units of the cluster")  # fmt: skip
    yield given.number(f"tail_risk.incidents.{option}", events, FAULTS, digits=2, inputs=PROFILE,
                      label=f"Faults of the fabric a year on {option}", rule="sum of the expected events of every class")  # fmt: skip
    yield given.number(f"tail_risk.stops.{option}", stops, FAULTS, digits=2, inputs=PROFILE,
                      label=f"Faults of the fabric a year that end the job on {option}",
                      rule="sum over classes of events × share that end the job")  # fmt: skip
    common = at.run.common[0]
    yield given.number(f"tail_risk.common.{option}", HOURS_PER_YEAR * common.interruptions_per_hour(at.run.cluster), INTERRUPTIONS,
                      digits=2, label="Interruptions a year that no fabric causes", inputs=("param:cluster.gpus",),
                      rule="interruptions per GPU-year × GPUs")  # fmt: skip
    risk = result.outcomes[option].run
    yield given.number(f"tail_risk.interval.{option}", np.asanyarray(risk.interval_s) / 60.0, "min", digits=2, inputs=PROFILE,
                      label=f"Best time between checkpoints on {option}",
                      rule="Daly 2006, higher order, from the checkpoint's time and the total time between interruptions")  # fmt: skip
    yield given.number(f"tail_risk.mtbf.{option}", risk.mtbf_h, "h", digits=2, inputs=PROFILE,
                      label=f"Mean time between interruptions of every cause on {option}",
                      rule="1 ÷ sum of the interruption rates")  # fmt: skip


def _causes(given: Inputs, result: TailResult, option: str) -> Iterator[Number]:
    inputs = (*RUN, "param:money.horizon_months")
    total: Any = 0.0
    fabric: Any = 0.0
    for cause, label in CAUSES.items():
        share = result.lost[option][cause]
        total = total + share
        fabric = fabric + share * (cause in FABRIC_CAUSES)
        yield given.number(f"tail_risk.lost.{cause}.{option}", share, "share", central="mean", inputs=inputs, digits=2,
                          label=f"GPU time lost on {option}: {label[0].lower()}{label[1:]}",
                          rule="expected loss ÷ GPU time over the horizon; mean over the draws")  # fmt: skip
    yield given.number(f"tail_risk.lost.{option}", total, "share", central="mean", inputs=inputs, digits=2,
                      label=f"GPU time lost on {option}, every cause", rule="sum of the causes; mean over the draws")  # fmt: skip
    yield given.number(f"tail_risk.fabric_lost.{option}", fabric, "share", central="mean", inputs=inputs, digits=2,
                      label=f"GPU time lost on {option} to the fabric alone",
                      rule="bring-up + stalls + collisions + faults of the fabric; mean over the draws")  # fmt: skip


def _difference(given: Inputs, result: TailResult) -> Iterator[Number]:
    assert result.pair and result.difference
    first, second = (result.outcomes[o] for o in result.pair)
    days = second.run_days - first.run_days
    yield in_run_units(given, "tail_risk.difference", days, result.planned_days, central="mean", inputs=RUN, digits=2,
                       label=f"Time a run on {second.option} takes longer than on {first.option}",
                       rule="difference of run days, draw by draw on the same luck; mean")  # fmt: skip
    yield given.number("tail_risk.difference_usd", second.overrun_usd - first.overrun_usd, "usd", central="mean", inputs=RUN,
                      label=f"Cost of a run beyond plan on {second.option} less that on {first.option}",
                      rule="difference draw by draw on the same luck; mean")  # fmt: skip
    yield given.number("tail_risk.later", np.mean(days > 0), "share", digits=2, inputs=RUN,
                      label=f"Share of runs that end later on {second.option} than on {first.option}",
                      rule="count of draws with a positive difference ÷ all draws")  # fmt: skip
    yield given.number("tail_risk.end_difference", second.end_days - first.end_days, "day", central="mean", inputs=RUN,
                      label=f"Days the first run ends later on {second.option} than on {first.option}, from delivery",
                      rule="difference of 7 × weeks to stable + run days, draw by draw; mean")  # fmt: skip


def _setting(given: Inputs, id: str, words: str, one: Setting) -> Iterator[Number]:
    inputs = RUN + _DEADLINE + _WEEKS
    yield given.number(f"{id}.late", one.p_late, "share", digits=2, label=f"P(late) {words}", inputs=inputs,
                      rule="share of runs drawn that take longer than planned days × (1 + slack)")  # fmt: skip
    yield given.number(f"{id}.not_ready", one.p_not_ready, "share", digits=2, label=f"P(not stable in time) {words}",
                      inputs=inputs, rule="share of draws with weeks to stable > time to production")  # fmt: skip
    yield given.number(f"{id}.fabric", one.fabric_share, "share", digits=2, inputs=RUN,
                      label=f"Mean share of the run lost to faults of the fabric {words}",
                      rule="mean of hours lost to the fabric's faults ÷ hours of the run")  # fmt: skip
    yield given.number(f"{id}.p90", one.run_p90_days, "day", inputs=RUN, label=f"Days of a run, P90, {words}",
                      rule="90th percentile of the run's days")  # fmt: skip


def _sensitivity(given: Inputs, result: TailResult) -> Iterator[Number]:
    found = result.sensitivity
    for option, levels in found.maturity.items():
        for level in LEVELS:
            yield from _setting(
                given, f"tail_risk.maturity.{level}.{option}", f"at {level} maturity on {option}", levels[level]
            )
    for one in found.sizes:
        yield from _setting(given, f"tail_risk.size.{one.label}", f"at {one.label} GPUs on {result.focus}", one)
        yield given.number(f"tail_risk.size.{one.label}.gpus", one.value, "gpus", label="GPUs", rule="a size looked at",
                          inputs=("param:cluster.gpus",))  # fmt: skip
    gpus = int(given.params.cluster.gpus)
    for rho in CORRELATIONS:
        key = correlation_key(rho)
        yield given.number(f"tail_risk.maximum.{key}", float(found.maxima[rho][0]), STANDARD_DEVIATIONS,
                          label=f"Mean of the slowest of {gpus} workers above the mean worker, correlation {rho:g}",
                          rule="order statistics of a one-factor normal law", inputs=("param:cluster.gpus",))  # fmt: skip
        yield given.number(f"tail_risk.jitter.{key}", found.tail_at[rho], "share", digits=2, inputs=PROFILE,
                          label=f"Step time added by fresh jitter at correlation {rho:g}",
                          rule="scale of the unshared noise × log(GPUs)")  # fmt: skip
        yield given.number(f"tail_risk.correlation.{key}", rho, "index", label="Latent correlation between workers",
                          rule="a value looked at", inputs=("param:cluster.gpus",))  # fmt: skip


def correlation_key(correlation: float) -> str:
    """The part of an id that names a correlation: 0.3 is `0_3`."""
    return f"{correlation:.1f}".replace(".", "_")


def _stress(given: Inputs, result: TailResult) -> Iterator[Number]:
    for one in result.stress:
        more: Any = {"inputs": (*one.sources, "param:cluster.gpus", "param:workload.run_days")}
        title = one.title[0].lower() + one.title[1:]
        yield given.number(f"tail_risk.stress.{one.id}.usd", one.cost_usd, "usd", central="mean", label=f"Cost if {title}", digits=_to_the_unit(one.cost_usd),
                          rule=f"{one.formula} × value of a GPU-hour", **more)  # fmt: skip
        yield given.number(f"tail_risk.stress.{one.id}.gpu_hours", one.lost_gpu_hours, "gpu-hour", central="mean", digits=_to_the_unit(one.lost_gpu_hours),
                          label=f"GPU-hours lost if {title}", rule=one.formula, **more)  # fmt: skip
        yield given.number(f"tail_risk.stress.{one.id}.delay", HOURS_PER_DAY * np.asanyarray(one.delay_days), "h", central="mean",
                          label=f"Hours lost if {title}", rule="share lost × hours it lasts", **more)  # fmt: skip
        yield given.number(f"tail_risk.stress.{one.id}.loss", one.loss_share, "share", central="mean", digits=2,
                          label=f"Throughput lost while it lasts if {title}", rule=one.formula, **more)  # fmt: skip
        if one.id == "efficiency-loss":
            yield given.number("tail_risk.stress.efficiency-loss.days", one.delay_days, "day", central="mean",
                              label="Days lost to lower efficiency through the run", rule="loss × days", **more)  # fmt: skip


def _to_the_unit(value: Any) -> int:
    """Digits that print an exact figure to the unit, as the articles' example is quoted; three for an uncertain one."""
    return max(3, len(f"{abs(float(np.asarray(value))):.0f}")) if np.ndim(value) == 0 else 3


def _levers(given: Inputs, result: TailResult) -> Iterator[Number]:
    for one in result.levers:
        words = one.label[0].lower() + one.label[1:]
        yield given.number(f"tail_risk.lever.{one.id}.per_dollar", one.saved_per_dollar, "usd", digits=2, inputs=PROFILE,
                          label=f"Saved in the first year per dollar spent on {words}",
                          rule="mean saving ÷ mean cost; each lever pulled alone")  # fmt: skip
        yield given.number(f"tail_risk.lever.{one.id}.saved", one.saved_usd, "usd", central="mean", inputs=PROFILE,
                          label=f"Saved in the first year by {words}", rule="lost time and work without less with it; mean")  # fmt: skip
        yield given.number(f"tail_risk.lever.{one.id}.cost", one.cost_usd, "usd", central="mean", inputs=PROFILE,
                          label=f"First-year cost of {words}", rule="as assumed, times GPUs where it is per GPU; mean")  # fmt: skip
