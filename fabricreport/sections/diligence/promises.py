"""The contract's acceptance test for one option: what to pass, what the cost rests on, what a shortfall costs.

Pass values come from the models at this client's full size, by the one rule of the acceptance plan: as demanding as a
fabric that is as good as the total cost assumes can hold. Times and counts are those the total cost rests on. Every promise is
priced by what breaking it costs this client, in present value where it lasts and in today's money where it does not.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from fabricreport.books.options import Option
from fabricreport.durations import DAYS_PER_WEEK, HOURS_PER_DAY, HOURS_PER_MONTH
from fabricreport.inputs import Inputs
from fabricreport.ledger import Number
from fabricreport.models.audit import diligence as model
from fabricreport.models.collectives.timing import CollectiveTime
from fabricreport.models.risk.incidents import Luck, event_counts
from fabricreport.models.training.step import Network
from fabricreport.provenance import Traced, inputs_of, plain
from fabricreport.sections.client import fabric_gpus, one_node, rented, whole_nodes
from fabricreport.sections.diligence.inputs import Ground
from fabricreport.sections.diligence.plan.healthy import healthy_of
from fabricreport.sections.diligence.plan.result import Line
from fabricreport.sections.diligence.plan.rule import Bar, bar_of
from fabricreport.sections.diligence.plan.stages import layout_of, stages
from fabricreport.sections.latency import inputs
from fabricreport.sections.latency.inputs import cluster_allreduce
from fabricreport.sections.tco.cost import FABRIC_CAUSES, LOST_CAUSES, hours_of
from fabricreport.sections.tco.result import TcoResult

GIB = 2.0**30
_PERCENT = 0.01
_EVERY = 4
"""Steps made slower are timed on every so many draws: their ratio varies little."""
ONE_AT_LEAST = 1.0
"""Interruptions in a month that no seller is refused for: a sound fabric may meet one."""


@dataclass(frozen=True)
class Promise:
    """One line of the acceptance test.

    `title` is a template of the blocks. `passes` is the value to write down; `expected` what the cost rests on (None where the test is exact); `price` what
    a unit of shortfall costs (None where the log is simply refused); `lead` where the option's lead is used up, if
    within what a fabric can reach; `credit` where the credit begins, None where it begins at `passes`.
    """

    id: str
    title: str
    passes: Number
    expected: Number | None = None
    price: Number | None = None
    lead: Number | None = None
    credit: Number | None = None


@dataclass(frozen=True)
class Percent:
    """A percent of bandwidth: what it costs over the horizon, and the share of what is assumed at which the lead is gone.

    `gone` is None where nobody leads, or no lead is used up within reach; `footing`: the inputs it rests on.
    """

    price: Number
    gone: float | None
    footing: frozenset[str]


@dataclass(frozen=True)
class Worth:
    """What time is worth that a network can lose: the GPU time of the horizon that is not lost on any network (draws,), one
    GPU-hour of the horizon so, and the option's mean lead."""

    horizon: Traced
    gpu_hour: Traced
    lead: float
    lead_inputs: frozenset[str]


def modelled(on: Ground, option: Option, gpus: int, sizes: list[float], *, every: int = 1) -> CollectiveTime:
    """AllReduce on the option over `gpus` (whole nodes) at sizes in bytes, (draws, sizes)."""
    return cluster_allreduce(on.given, on.network(option, every), gpus, sizes)


def _tested(on: Ground) -> int:
    """GPUs that one acceptance test spans: all that a network joins."""
    return fabric_gpus(on.given, int(on.given.params.cluster.gpus))


def worth_of(on: Ground) -> Worth:
    """What GPU time is worth to this client on the option, and by how much the option leads."""
    choice, tco, tail = on.option.id, on.tco, on.tail
    cost: Any = 0.0
    for cause in LOST_CAUSES:
        cost = cost + tco.components[choice].get(cause, 0.0)
    share = model.combined_share(
        tail.bring_up_share[choice],
        on.latency.exposed_share[choice],
        tail.tail_share[choice],
        tail.incident_share[choice],
    )
    horizon: Any = on.given.spread(model.time_per_lost_share(cost, share))
    hours = float(plain(np.sum(hours_of(tco.common))))
    lead = on.comparison.lead
    return Worth(horizon, horizon / hours, float(plain(lead).mean()), inputs_of(lead))


def price_of(given: Inputs, tco: TcoResult, option: str) -> Traced:
    """What an option's seller is paid over the horizon: the rent, or for what is owned the fabric's capital, (draws,)."""
    parts = tco.components[option]
    causes = ("rent",) if rented(given) else FABRIC_CAUSES
    return given.spread(sum((parts[cause] for cause in causes if cause in parts), start=np.asarray(0.0)))


def percent_of(on: Ground, worth: Worth) -> Percent | None:
    """What a percent of bandwidth costs, and how many use up the lead; None where no network is tested."""
    if one_node(on.given, on.given.params.cluster.gpus) or not stages(on.given):
        return None
    wires = on.network(on.option, _EVERY)
    loss = _slower(on, worth, replace(wires, slowdown=np.asanyarray(wires.slowdown) / (1.0 - _PERCENT)))
    price = on.given.number(
        "diligence.price.busbw",
        loss,
        "usd/percent",
        central="mean",
        label="Cost of one percent less busbw, over the horizon",
        rule="mean of (1 − step ÷ step with one percent less bandwidth between nodes) × present worth of the GPU time that is not lost on any network",
        inputs=inputs.PROFILE,
    )
    left = None if on.comparison.verdict.open else model.lead_lost_at(100.0, worth.lead, price.value)
    gone = None if left is None else left * _PERCENT
    return Percent(price, gone, frozenset(worth.lead_inputs | set(price.inputs)))


def promises(on: Ground, worth: Worth, percent: Percent | None) -> tuple[Promise, ...]:
    """The acceptance test of one option; empty for a client whose GPUs all sit in one node."""
    if percent is None:
        return ()
    later = tuple(
        Promise(f"busbw.{gpus}", f"The same on {{diligence.gpus.{gpus}}}, at least", floor)
        for gpus, floor in list(floors(on, percent))[1:]
    )
    return (
        _bandwidth(on, worth, percent),
        *later,
        _latency(on, worth),
        _ranks(on),
        _weeks(on, worth),
        _interruptions(on, worth),
        _detection(on, worth),
    )


def rivals(on: Ground) -> Ground | None:
    """The ground of the same test for the rival, where no option is advised over the other."""
    return replace(on, tested=on.rival.id) if on.comparison.verdict.open else None


def promises_of_rival(other: Ground, worth: Worth, percent: Percent | None) -> tuple[Promise, ...]:
    """The same test on the rival's ground.

    A value is written down for either, and none says where a lead is used up: nobody leads.
    """

    def of_rival(promise: Promise, part: str) -> Number | None:
        number: Number | None = getattr(promise, part)
        if number is None:
            return None
        return number.renamed(f"diligence.rival.{part}.{promise.id}", label=f"{number.label}: {other.option.name}")

    return tuple(
        replace(
            p,
            passes=of_rival(p, "passes") or p.passes,
            expected=None,
            price=of_rival(p, "price"),
            lead=None,
            credit=of_rival(p, "credit"),
        )
        for p in promises(other, worth, percent)
    )


def floors(on: Ground, percent: Percent) -> Iterator[tuple[int, Number]]:
    """(GPUs, busbw floor) of every size of network the client plans, the first included."""
    size = on.given.central("evidence:acceptance-message-gib") * GIB
    for gpus in dict.fromkeys(fabric_gpus(on.given, gpus) for gpus, _ in inputs.stages(on.given)):
        if not one_node(on.given, gpus):
            found = modelled(on, on.option, gpus, [size]).busbw_gbytes_per_s[..., 0]
            label = f"on {gpus:,} GPUs"
            yield gpus, _line(on, percent, gpus, f"diligence.floor.{gpus}", found, label).floor


def _together(on: Ground, gpus: int) -> int:
    """Thresholds of the stage at which a network of so many GPUs is tested."""
    stage = next(s for s in stages(on.given) if s.gpus >= whole_nodes(on.given, gpus))
    return layout_of(on.given, on.option).judged(stage)


def _line(on: Ground, percent: Percent, gpus: int, number_id: str, busbw: Any, where: str) -> Line:
    size = on.given.central("evidence:acceptance-message-gib") * GIB
    bar = Bar(
        number_id,
        "gbytes/s",
        label=f"Floor for AllReduce busbw {where}",
        noise="bandwidth",
        together=_together(on, gpus),
        used=("evidence:acceptance-message-gib",),
        healthy=healthy_of(on.given, on.option, "allreduce", whole_nodes(on.given, gpus), size),
    )
    return bar_of(on.given, bar, busbw, gone=percent.gone, footing=percent.footing).line


def _starts(promise: str, line: Line) -> Number:
    return line.credit.renamed(f"diligence.starts.{promise}")


def _bandwidth(on: Ground, worth: Worth, percent: Percent) -> Promise:
    busbw = on.latency.busbw[on.option.id]
    expected = on.given.number(
        "diligence.expected.busbw",
        busbw,
        "gbytes/s",
        label="AllReduce busbw the total cost rests on",
        rule="median of the latency analysis, at the full size",
        inputs=inputs.PROFILE,
    )
    lead = None
    if percent.gone is not None:
        lead = on.given.number(
            "diligence.lead.busbw",
            expected.value * percent.gone,
            "gbytes/s",
            label="Where the option's lead over its rival is used up: busbw",
            rule="expected value − mean lead ÷ mean price of a unit",
            inputs=percent.footing,
        )
    line = _line(on, percent, _tested(on), "diligence.pass.busbw", busbw, "in the acceptance test")
    return Promise(
        "busbw",
        "AllReduce busbw at {evidence:acceptance-message-gib} GiB, at least",
        line.floor,
        expected,
        percent.price,
        lead,
        _starts("busbw", line),
    )


def _latency(on: Ground, worth: Worth) -> Promise:
    option = on.option
    size = on.given.central("evidence:acceptance-message-bytes")
    time = modelled(on, option, _tested(on), [size]).time_us[..., 0]
    used = inputs_of(time) | {*inputs.PROFILE, "evidence:acceptance-message-bytes"}
    bar = Bar(
        "diligence.pass.latency",
        "us",
        label="Ceiling for the time of the smallest AllReduce in the acceptance test",
        noise="latency",
        together=_together(on, _tested(on)),
        at_least=False,
        used=("evidence:acceptance-message-bytes",),
    )
    line = bar_of(on.given, bar, time).line
    expected = on.given.number(
        "diligence.expected.latency",
        time,
        "us",
        label="Time of the smallest AllReduce the total cost rests on",
        rule="median of the collective model, at the full size",
        inputs=used,
    )
    return Promise(
        "latency",
        "AllReduce time at {evidence:acceptance-message-bytes} B, at most",
        line.floor,
        expected,
        _latency_price(on, worth, time, size),
        credit=_starts("latency", line),
    )


def _latency_price(on: Ground, worth: Worth, time: Any, size: float) -> Number | None:
    """Price of a microsecond more in the smallest AllReduce, by way of a longer step between NICs."""
    option = on.option
    wires = on.network(option, _EVERY)
    if wires.extra_step_us is None:
        return None
    longer = replace(wires, extra_step_us=np.asanyarray(wires.extra_step_us) + 1.0)
    now = time[::_EVERY] if np.ndim(time) else time  # within one NVLink domain nothing is drawn
    more = cluster_allreduce(on.given, longer, _tested(on), [size]).time_us[..., 0] - now
    if not np.all(plain(more) > 0):  # every step stays inside one NVLink domain: the way between NICs is never taken
        return None
    return on.given.number(
        "diligence.price.latency",
        _slower(on, worth, longer) / more,
        "usd/µs",
        central="mean",
        label="Cost of one microsecond more in the smallest AllReduce, over the horizon",
        rule="mean of (1 − step ÷ step with a longer way between NICs) × present worth of the GPU time that is not lost on any network ÷ microseconds added",
        inputs=inputs.PROFILE,
    )


def _slower(on: Ground, worth: Worth, worse: Network) -> Any:
    """Money lost over the horizon on a worse network, jobs weighted by their GPU time; every `_EVERY`-th draw."""
    option = on.option
    wires, jobs = on.network(option, _EVERY), on.latency.jobs
    share: Any = 0.0
    for gpus, weight in inputs.stages(on.given):
        for size, part in jobs.mixes[gpus]:
            if not one_node(on.given, size):
                work = jobs.own[option.id][size]
                steps = [inputs.step(on.given, work, w, every=_EVERY).step_time_s for w in (wires, worse)]
                share = share + weight * part * model.slower_step_share(*steps)
    return worth.horizon[::_EVERY] * share


def _ranks(on: Ground) -> Promise:
    gpus = whole_nodes(on.given, _tested(on))
    return Promise(
        "ranks",
        "Ratio of busbw to algbw in every log",
        on.given.number(
            "diligence.pass.ranks",
            2.0 * (gpus - 1) / gpus,
            "ratio",
            label="Ratio of the two bandwidths in an AllReduce log of the full size",
            rule="2 (n − 1) ÷ n for n ranks; n = 2 ÷ (2 − busbw ÷ algbw)",
            inputs=("param:cluster.gpus",),
            digits=5,
        ),
    )


def _weeks(on: Ground, worth: Worth) -> Promise:
    option = on.option
    weeks = on.tail.bring_up_weeks[option.id]
    productivity = np.asanyarray(on.tail.subjects[option.id].risk.bring_up.productivity)
    hours = DAYS_PER_WEEK * HOURS_PER_DAY * int(on.given.params.cluster.gpus)
    delay = DAYS_PER_WEEK * np.asanyarray(on.given.money("param:money.price_of_delay_usd_per_day"))
    unit, days = _long_unit(weeks)
    price = on.given.number(
        "diligence.price.weeks",
        (hours * (1.0 - productivity) * worth.gpu_hour + delay) * days / DAYS_PER_WEEK,
        f"usd/{unit}",
        central="mean",
        label=f"Cost of one more {unit} until the network runs stably",
        rule="mean of GPU-hours of that time × share not usable until stable × worth of a GPU-hour + price of delay",
        inputs=("param:cluster.gpus", "param:money.price_of_delay_usd_per_day"),
    )
    expected = on.given.number(
        "diligence.expected.weeks",
        weeks * DAYS_PER_WEEK / days,
        unit,
        label="Time until stable that the total cost rests on",
        central="mean",
        rule="mean of the risk analysis for this option, size and team",
        inputs=("param:cluster.gpus", "param:organisation.networking_maturity", "param:money.acquisition"),
        digits=2,
    )
    return Promise(
        "weeks",
        "Power-on until it runs stably, at most",
        expected.renamed("diligence.pass.weeks", label="Time until stable to write into the contract", spread=None),
        expected,
        price,
    )


def _long_unit(weeks: Traced) -> tuple[str, float]:
    """The unit in which time to stable is written, and its days: days where it is under a week."""
    return ("week", DAYS_PER_WEEK) if float(np.median(plain(weeks))) >= 1.0 else ("day", 1.0)


def _interruptions(on: Ground, worth: Worth) -> Promise:
    option = on.option
    subject = on.tail.subjects[option.id]
    luck = Luck(int(on.given.params.seed), on.given.sampler.size)
    mean: Any = 0.0
    counts: Any = 0.0
    for law in subject.risk.incidents:
        rate = law.interruptions_per_hour(subject.run.cluster) * HOURS_PER_MONTH
        mean = mean + rate
        counts = counts + event_counts(rate, law.clustering, luck, f"acceptance:{law.kind}")
    used = inputs_of(mean) | {"param:cluster.gpus", "param:organisation.networking_maturity"}
    return Promise(
        "interruptions",
        "Interruptions by the network a month, at most",
        on.given.number(
            "diligence.pass.interruptions",
            max(float(np.ceil(np.quantile(plain(counts), 0.95))), ONE_AT_LEAST),
            "count",
            label="Most interruptions by the network in a month",
            rule="high end of the 90 % range of the number in a month, clustering and luck included; one at least",
            inputs=used,
        ),
        on.given.number(
            "diligence.expected.interruptions",
            mean,
            "count",
            label="Interruptions by the network in a month that the total cost rests on",
            rule="median of the sum over kinds of rate × units × share that ends the job",
            inputs=used,
            digits=2,
        ),
        on.given.number(
            "diligence.price.interruptions",
            _stop_hours(on, option) * on.latency.job.gpus * worth.gpu_hour,
            "usd/interruption",
            central="mean",
            label="Cost of one interruption",
            rule="mean of (detection + restart + half a checkpoint interval) × GPUs × worth of a GPU-hour",
            inputs=("param:cluster.gpus",),
        ),
    )


def _detection_hours(on: Ground, option: Option) -> Any:
    laws = on.tail.subjects[option.id].risk.incidents
    return np.asanyarray(laws[0].detection_h) if laws else np.asanyarray(0.0)


def _stop_hours(on: Ground, option: Option) -> Any:
    """Hours that all GPUs stand still, or redo, after one interruption."""
    tail = on.tail
    interval_h = np.asanyarray(tail.outcomes[option.id].run.interval_s) / 3600.0
    return _detection_hours(on, option) + np.asanyarray(tail.subjects[option.id].run.restart_h) + interval_h / 2.0


def _detection(on: Ground, worth: Worth) -> Promise:
    option = on.option
    minutes = on.given.spread(60.0 * _detection_hours(on, option))
    expected = on.given.number(
        "diligence.expected.detection",
        minutes,
        "min",
        label="Minutes until a fault that stops the job is noticed",
        rule="median of the risk analysis, for the team that runs this network",
        inputs=("param:organisation.networking_maturity", "param:money.acquisition"),
        digits=2,
    )
    return Promise(
        "detection",
        "Time until a fault is noticed, at most",
        expected.renamed(
            "diligence.pass.detection", label="Minutes until a fault is noticed, to write down", spread=None
        ),
        expected,
        on.given.number(
            "diligence.price.detection",
            on.latency.job.gpus * worth.gpu_hour,
            "usd/hour",
            central="mean",
            label="Cost of one hour in which all GPUs stand still",
            rule="mean of GPUs × worth of a GPU-hour",
            inputs=("param:cluster.gpus",),
        ),
    )
