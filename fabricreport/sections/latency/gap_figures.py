"""Ledger numbers on the gap between the fabrics: what it costs, by algorithm and size, and what it hangs on."""

from __future__ import annotations

import re
from collections.abc import Iterator

import numpy as np

from fabricreport.durations import HOURS_PER_DAY
from fabricreport.inputs import Inputs
from fabricreport.ledger import Number
from fabricreport.provenance import inputs_of
from fabricreport.sections.client import whole_nodes
from fabricreport.sections.latency import gap as latency_gap
from fabricreport.sections.latency import inputs
from fabricreport.sections.latency.result import LatencyResult

_SIZE_UNITS = (("gib", 2.0**30), ("mib", 2.0**20), ("kib", 2.0**10))


def slug(text: str) -> str:
    """A text as part of a ledger id."""
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")


def numbers(given: Inputs, result: LatencyResult) -> Iterator[Number]:
    """Every number on the gap."""
    yield from _penalty(given, result)
    yield from _shares(given, result)
    yield from _sources(given)
    yield from _algorithms(given)
    yield from _sizes(given, result)


def _penalty(given: Inputs, result: LatencyResult) -> Iterator[Number]:
    base, ours = (o.name for o in result.pair)
    for suffix, values, when in (("", result.penalty, "first"), ("_final", result.penalty_final, "last")):
        yield given.number(
            f"latency.penalty{suffix}",
            values,
            "share",
            label=f"Extra step time of {ours} over {base} at the {when} size",
            rule="step time ÷ step time − 1, draw by draw on the same draws",
            inputs=inputs.PROFILE,
            digits=2,
        )
    if given.params.workload.run_days is not None:
        hours = result.penalty * float(given.params.workload.run_days) * HOURS_PER_DAY
        short = float(np.quantile(np.abs(np.asarray(hours)), 0.95)) < 1.0
        yield given.number(
            "latency.extra_time",
            hours * 60.0 if short else hours,
            "min" if short else "h",
            label=f"Time that {ours} adds to one run over {base}",
            rule="extra step time × planned days of a run",
            inputs=(*inputs.PROFILE, "param:workload.run_days"),
            digits=2,
        )


def _shares(given: Inputs, result: LatencyResult) -> Iterator[Number]:
    base = result.pair[0].name
    small = float(np.mean(np.asarray(result.penalty) < given.central("evidence:latency-worth-a-thought")))
    yield given.number(
        "latency.penalty_below_threshold",
        small,
        "share",
        label="Share of draws in which the extra step time stays below what is worth a thought",
        rule="count of draws below evidence:latency-worth-a-thought ÷ all draws",
        inputs={*inputs_of(result.penalty), "evidence:latency-worth-a-thought"},
        digits=2,
    )
    yield given.number(
        "latency.infiniband_slower",
        float(np.mean(np.asarray(result.penalty) < 0.0)),
        "share",
        label=f"Share of draws in which {base} has the longer step",
        rule="count of draws with a negative extra step time ÷ all draws",
        inputs=inputs_of(result.penalty),
        digits=2,
    )
    for cause, share in result.gap.hangs_on.items():
        yield given.number(
            f"latency.hangs.{slug(cause)}",
            share,
            "share",
            label=f"Share of the gap's explained spread: {cause}",
            rule="squared rank correlation with the extra step time ÷ sum over all causes",
            inputs=inputs_of(result.penalty),
            digits=2,
        )
    yield given.number(
        "latency.disagreement",
        sum(v for k, v in result.gap.hangs_on.items() if "disagree" in k),
        "share",
        label="Share of the gap's explained spread that hangs on the sources' disagreement",
        rule="sum of the shares of time per step and of bandwidth",
        inputs=inputs_of(result.penalty),
        digits=2,
    )


def _sources(given: Inputs) -> Iterator[Number]:
    for name, entry in (("pairs_median", "mlperf-pairs-median"), ("tuning_gain", "ib-tuning-gain-64gpu")):
        yield given.number(
            f"latency.{name}",
            given.draw(f"evidence:{entry}")[0],
            "share",
            label=given.evidence[entry].what,
            rule="as published, as a share",
            digits=2,
        )
    yield given.number(
        "latency.step_us",
        given.draw(inputs.STEP),
        "us",
        label="Extra time per inter-node step of RoCEv2 over InfiniBand",
        rule="mixture of the sources, each publisher weighing the same",
        digits=2,
    )
    yield given.number(
        "latency.share_x",
        given.draw(inputs.SHARE),
        "x",
        label="Collective bandwidth of RoCEv2 as a multiple of InfiniBand's, both tuned",
        rule="mixture of the sources, each publisher weighing the same",
    )


def _algorithms(given: Inputs) -> Iterator[Number]:
    shown = latency_gap.display()
    gpus, size = whole_nodes(given, int(shown["headline_gpus"])), float(shown["headline_bytes"])
    widest = given.draw("evidence:roce-extra-latency-widest")[0]
    drawn = given.draw(inputs.STEP)
    own = whole_nodes(given, int(given.params.cluster.gpus))
    for name, how in (("tree", {}), ("ring", latency_gap.flat_ring(given, gpus))):
        yield given.number(
            f"latency.headline.{name}",
            latency_gap.latency_alone(given, gpus=gpus, size_bytes=size, extra_step_us=widest, **how),
            "share",
            label=f"Longer AllReduce of 1 GiB at {gpus:,} GPUs, widest gap of the articles, {name}",
            rule="time with the extra time per inter-node step ÷ time without − 1, equal bandwidth",
            inputs=("evidence:roce-extra-latency-widest", "param:cluster.gpu", "param:cluster.gpus_per_node"),
            digits=2,
        )
        yield given.number(
            f"latency.own.{name}",
            given.spread(latency_gap.latency_alone(given, gpus=own, size_bytes=size, extra_step_us=drawn, **how)),
            "share",
            label=f"Longer AllReduce of 1 GiB on the client's cluster from time per step alone, {name}",
            rule="time with the contested time per inter-node step ÷ time without − 1, equal bandwidth",
            inputs=inputs.PROFILE[:3],
            digits=2,
        )


def _sizes(given: Inputs, result: LatencyResult) -> Iterator[Number]:
    gpus = whole_nodes(given, int(latency_gap.display()["headline_gpus"]))
    yield given.number(
        "latency.headline_gpus",
        float(gpus),
        "gpus",
        label="Size of the example",
        rule="size the example is stated at, in whole nodes",
        inputs=("param:cluster.gpus_per_node",),
    )
    threshold = given.central("evidence:latency-worth-a-thought")
    for name, sweep in (("tree", result.gap.tree), ("ring", result.gap.ring), ("step", result.gap.step_by_size)):
        largest, _ = latency_gap.within(given, sweep, threshold)
        yield given.number(
            f"latency.quiet_up_to.{name}",
            largest,
            "gpus",
            label=f"Largest cluster tried at which the gap is not worth a thought: {name}",
            rule="largest size, doubling, up to which the median gap stays within evidence:latency-worth-a-thought",
            inputs={*inputs_of(sweep.gap), "evidence:latency-worth-a-thought", *inputs.PROFILE[:3]},
        )
    for name, value in zip(("infiniband", "rocev2"), result.gap.half_latency_bytes, strict=True):
        yield size_number(
            given, f"latency.half_size.{name}", value, f"Size under which latency is most of an AllReduce, {name}"
        )
    for map_name, found in result.gap.maps.items():
        worst = np.unravel_index(int(np.argmax(found.penalty)), found.penalty.shape)
        yield given.number(
            f"latency.map.{map_name}.worst",
            float(found.penalty[worst]),
            "share",
            label=f"Largest gap of the map ({'flat ring' if map_name == 'ring' else 'the library’s choice'})",
            rule="largest time ÷ time − 1 over the sizes and clusters of the map, at the median time per step",
            inputs=inputs_of(given.draw(inputs.STEP)),
            digits=2,
        )


def size_number(given: Inputs, number_id: str, size_bytes: float, label: str) -> Number:
    """A message size in the largest unit that keeps it above one."""
    unit, by = next((u for u in _SIZE_UNITS if size_bytes >= u[1]), _SIZE_UNITS[-1])
    rule = "latency ≥ half of the modelled time" if "half" in number_id else "size shown"
    return given.number(number_id, size_bytes / by, unit, label=label, rule=rule, inputs=inputs.PROFILE[:1], digits=2)
