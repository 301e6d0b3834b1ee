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

from fabricreport.base.provenance import inputs_of, plain
from fabricreport.base.units import HOURS_PER_MONTH
from fabricreport.books.options import Option
from fabricreport.ledger.figures import worded
from fabricreport.ledger.numbers import Number
from fabricreport.models.risk.incidents import Luck, event_counts
from fabricreport.sections.client import fabric_gpus, one_node, whole_nodes
from fabricreport.sections.diligence.amounts import ALLREDUCE, GIB, Tested, busbw_of, smallest_us, tested_gpus
from fabricreport.sections.diligence.inputs import Ground
from fabricreport.sections.diligence.plan.result import Line, layout_of, stages
from fabricreport.sections.diligence.plan.rule import Bar, bar_name, bar_of, healthy_of
from fabricreport.sections.diligence.terms import Exchange, Terms
from fabricreport.sections.latency import inputs

ONE_AT_LEAST = 1.0
"""Interruptions in a month that no seller is refused for: a sound fabric may meet one."""


@dataclass(frozen=True)
class Promise:
    """One line of the acceptance test.

    `title` is a template of the blocks. `passes` is the value to write down; `expected` what the cost rests on (None where the test is exact); `price` what
    a unit of shortfall costs (None where the log is simply refused); `credit` where the credit begins, None where it begins at
    `passes`.
    """

    id: str
    title: str
    passes: Number
    expected: Number | None = None
    price: Number | None = None
    credit: Number | None = None


# ---- the test


def promises(tested: Tested | None) -> tuple[Promise, ...]:
    """The acceptance test of one option; empty for a client whose GPUs all sit in one node."""
    if tested is None:
        return ()
    on = tested.on
    later = tuple(
        Promise(f"busbw.{gpus}", f"The same on {{diligence.gpus.{gpus}}}, at least", floor)
        for gpus, floor in list(floors(tested))[1:]
    )
    return (
        _bandwidth(tested),
        *later,
        _allreduce(tested),
        _latency(tested),
        _ranks(on),
        _weeks(tested.terms),
        _interruptions(on),
        _detection(on),
    )


def _weeks(terms: Terms) -> Promise:
    assert terms.limit is not None, "asked for where a network is bought"
    return Promise("weeks", "Power-on until it runs stably, at most", terms.limit, price=terms.loss["weeks"])


def rivals(on: Ground) -> Ground | None:
    """The ground of the same test for the rival, where a network is bought and no option is advised over the other."""
    return replace(on, tested=on.rival.id) if on.comparison.verdict.open and on.networked else None


def promises_of_rival(other: Tested | None) -> tuple[Promise, ...]:
    """The same test on the rival's ground.

    A value is written down for either.
    """

    def of_rival(promise: Promise, part: str) -> Number | None:
        number: Number | None = getattr(promise, part)
        if number is None or number.id.startswith("diligence.rival."):
            return number
        return number.renamed(f"diligence.rival.{part}.{promise.id}")

    return tuple(
        replace(
            p,
            passes=of_rival(p, "passes") or p.passes,
            expected=None,
            price=of_rival(p, "price"),
            credit=of_rival(p, "credit"),
        )
        for p in promises(other)
    )


def floors(tested: Tested) -> Iterator[tuple[int, Number]]:
    """(GPUs, busbw floor) of every size of network the client plans, the first included."""
    on = tested.on
    for gpus in dict.fromkeys(fabric_gpus(on.given, gpus) for gpus, _ in inputs.stages(on.given)):
        if not one_node(on.given, gpus):
            found = busbw_of(on, tested.terms.exchange, gpus)
            yield gpus, _line(tested, tested.terms.exchange, gpus, f"diligence.floor.{gpus}", found).floor


def _together(on: Ground, gpus: int) -> int:
    """Thresholds of the stage at which a network of so many GPUs is tested."""
    stage = next(s for s in stages(on.given) if s.gpus >= whole_nodes(on.given, gpus))
    return layout_of(on.given, on.option).judged(stage)


def _line(tested: Tested, exchange: Exchange, gpus: int, number_id: str, busbw: Any) -> Line:
    on = tested.on
    size = on.given.central("evidence:acceptance-message-gib") * GIB
    bar = Bar(
        number_id,
        "gbytes/s",
        label=bar_name("floor", exchange=exchange.name, gpus=gpus),
        noise="bandwidth",
        together=_together(on, gpus),
        used=("evidence:acceptance-message-gib",),
        healthy=healthy_of(on.given, on.option, exchange.measures, whole_nodes(on.given, gpus), size),
    )
    return bar_of(on, bar, busbw, gone=tested.percent.gone, footing=tested.percent.footing).line


def _starts(promise: str, line: Line) -> Number:
    return line.credit.renamed(f"diligence.starts.{promise}")


def _bandwidth(tested: Tested) -> Promise:
    """The exchange that the job runs; where the step sends none that is timed, AllReduce without a credit."""
    on, terms = tested.on, tested.terms
    line = _line(
        tested, terms.exchange, tested_gpus(on), "diligence.pass.busbw", busbw_of(on, terms.exchange, tested_gpus(on))
    )
    credit = terms.credits.get(1)
    return Promise(
        "busbw",
        f"{terms.exchange.name} busbw at {{evidence:acceptance-message-gib}} GiB, at least",
        line.floor,
        line.credit,
        None if credit is None else credit.rate,
        None if credit is None else _starts("busbw", line),
    )


def _allreduce(tested: Tested) -> Promise:
    """What sellers publish: a floor, whatever the job runs."""
    on = tested.on
    line = _line(
        tested, ALLREDUCE, tested_gpus(on), "diligence.pass.allreduce", busbw_of(on, ALLREDUCE, tested_gpus(on))
    )
    return Promise("allreduce", "AllReduce busbw at {evidence:acceptance-message-gib} GiB, at least", line.floor)


def _latency(tested: Tested) -> Promise:
    on = tested.on
    time = smallest_us(on)
    bar = Bar(
        "diligence.pass.latency",
        "us",
        label=bar_name("ceiling"),
        noise="latency",
        together=_together(on, tested_gpus(on)),
        at_least=False,
        used=("evidence:acceptance-message-bytes",),
    )
    line = bar_of(on, bar, time).line
    price = tested.terms.latency.get(1)
    return Promise(
        "latency",
        "AllReduce time at {evidence:acceptance-message-bytes} B, at most",
        line.floor,
        line.credit,
        price,
        None if price is None else _starts("latency", line),
    )


def _ranks(on: Ground) -> Promise:
    gpus = whole_nodes(on.given, tested_gpus(on))
    return Promise(
        "ranks",
        "Ratio of busbw to algbw in every log",
        on.number(
            "diligence.pass.ranks",
            2.0 * (gpus - 1) / gpus,
            "ratio",
            **worded("agreed", "ranks"),
            inputs=("param:cluster.gpus",),
            digits=5,
        ),
    )


def _interruptions(on: Ground) -> Promise:
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
        on.number(
            "diligence.pass.interruptions",
            max(float(np.ceil(np.quantile(plain(counts), 0.95))), ONE_AT_LEAST),
            "count",
            **worded("agreed", "interruptions"),
            inputs=used,
        ),
        on.number(
            "diligence.expected.interruptions",
            mean,
            "count",
            **worded("agreed", "expected-interruptions"),
            inputs=used,
            digits=2,
        ),
        on.number(
            "diligence.price.interruptions",
            _stop_hours(on, option) * on.latency.job.gpus * on.tco.common.gpu_hour_value,
            "usd/interruption",
            central="mean",
            **worded("agreed", "interruption"),
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


def _detection(on: Ground) -> Promise:
    option = on.option
    minutes = on.given.spread(60.0 * _detection_hours(on, option))
    expected = on.number(
        "diligence.expected.detection",
        minutes,
        "min",
        **worded("agreed", "detection"),
        inputs=("param:organisation.networking_maturity", "param:money.acquisition"),
        digits=2,
    )
    return Promise(
        "detection",
        "Time until a fault is noticed, at most",
        expected.renamed("diligence.pass.detection", label=f"{expected.label}, to write down", spread=None),
        expected,
        on.number(
            "diligence.price.detection",
            on.given.spread(on.latency.job.gpus * on.tco.common.gpu_hour_value),
            "usd/hour",
            central="mean",
            **worded("agreed", "stop"),
            inputs=("param:cluster.gpus",),
        ),
    )
