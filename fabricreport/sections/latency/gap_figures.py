"""The figures on the gap between the fabrics: what it costs, by algorithm and size, and what it hangs on."""

from __future__ import annotations

from typing import Any

import numpy as np

from fabricreport.books.names import family_names
from fabricreport.durations import HOURS_PER_DAY
from fabricreport.figures import Index
from fabricreport.provenance import inputs_of
from fabricreport.sections.client import fabric_gpus, whole_nodes
from fabricreport.sections.latency import inputs
from fabricreport.sections.latency.figure_context import THRESHOLD, EachSpec, LatencyFigures, Spec, size_unit
from fabricreport.sections.latency.gap import display, flat_ring, latency_alone, within

_WIDEST = "evidence:roce-extra-latency-widest"


def _run_hours(at: LatencyFigures) -> Any:
    """Hours that RoCEv2 adds to one run, (draws,)."""
    return at.result.penalty * float(at.given.params.workload.run_days or 0.0) * HOURS_PER_DAY


def _short(at: LatencyFigures) -> bool:
    """Whether those are better told in minutes."""
    return float(np.quantile(np.abs(np.asarray(_run_hours(at))), 0.95)) < 1.0


_PENALTY = (
    Spec(
        "latency.penalty",
        "share",
        label=lambda at: f"Extra step time of {at.ours} over {at.base} at the first size",
        rule="step time ÷ step time − 1, outcome by outcome",
        value=lambda at: at.result.penalty,
        inputs=inputs.PROFILE,
        digits=2,
    ),
    Spec(
        "latency.penalty_final",
        "share",
        label=lambda at: f"Extra step time of {at.ours} over {at.base} at the last size",
        rule="step time ÷ step time − 1, outcome by outcome",
        value=lambda at: at.result.penalty_final,
        inputs=inputs.PROFILE,
        digits=2,
    ),
    Spec(
        "latency.extra_time",
        lambda at: "min" if _short(at) else "h",
        label=lambda at: f"Time that {at.ours} adds to one run over {at.base}",
        rule="extra step time × planned days of a run",
        value=lambda at: _run_hours(at) * 60.0 if _short(at) else _run_hours(at),
        inputs=(*inputs.PROFILE, "param:workload.run_days"),
        digits=2,
        when=lambda at: at.given.params.workload.run_days is not None,
    ),
    Spec(
        "latency.penalty_below_threshold",
        "share",
        label="Share of outcomes in which the extra step time stays below what matters",
        rule="count of outcomes below evidence:latency-worth-a-thought ÷ all outcomes",
        value=lambda at: float(np.mean(np.asarray(at.result.penalty) < at.given.central(THRESHOLD))),
        inputs=lambda at: {*inputs_of(at.result.penalty), THRESHOLD},
        digits=2,
    ),
    Spec(
        "latency.infiniband_slower",
        "share",
        label=lambda at: f"Share of outcomes in which {at.base} has the longer step",
        rule="count of outcomes with a negative extra step time ÷ all outcomes",
        value=lambda at: float(np.mean(np.asarray(at.result.penalty) < 0.0)),
        inputs=lambda at: inputs_of(at.result.penalty),
        digits=2,
    ),
)

_SPREAD = (
    EachSpec(
        "latency.hangs[cause]",
        "share",
        label=lambda at, cause: f"Share of the gap's explained spread: {at.causes[cause]}",
        rule="squared rank correlation with the extra step time ÷ sum over all causes",
        value=lambda at, cause: at.result.gap.hangs_on[at.causes[cause]],
        inputs=lambda at, _: inputs_of(at.result.penalty),
        digits=2,
    ),
    Spec(
        "latency.disagreement",
        "share",
        label="Share of the gap's explained spread that hangs on the sources' disagreement",
        rule="sum of the shares of time per step and of bandwidth",
        value=lambda at: sum(v for k, v in at.result.gap.hangs_on.items() if "disagree" in k),
        inputs=lambda at: inputs_of(at.result.penalty),
        digits=2,
    ),
)


def _published(name: str, entry: str) -> Spec:
    """A share as its source states it."""
    return Spec(
        f"latency.{name}",
        "share",
        label=lambda at: at.given.evidence[entry].what,
        rule="as published, as a share",
        value=lambda at: at.given.draw(f"evidence:{entry}")[0],
        digits=2,
    )


def _drawn(input_id: str) -> str:
    """How an input is drawn, in words."""
    contested = input_id.startswith("contested:")
    return "mixture of the sources, each publisher weighing the same" if contested else "as drawn from its entry"


_SOURCES = (
    _published("pairs_median", "mlperf-pairs-median"),
    _published("tuning_gain", "ib-tuning-gain-64gpu"),
    Spec(
        "latency.step_us",
        "us",
        label=lambda at: (
            f"Extra time per inter-node step of {family_names(at.result.pair[1].family).phrase} over InfiniBand"
        ),
        rule=lambda at: _drawn(inputs.step_id(at.result.pair[1])),
        value=lambda at: at.given.draw(inputs.step_id(at.result.pair[1])),
        digits=2,
    ),
    Spec(
        "latency.share_x",
        "x",
        label=lambda at: (
            f"Collective bandwidth of {family_names(at.result.pair[1].family).phrase} as a multiple of InfiniBand's, both tuned"
        ),
        rule=lambda at: _drawn(inputs.share_id(at.result.pair[1])),
        value=lambda at: at.given.draw(inputs.share_id(at.result.pair[1])),
    ),
)


def _alone(at: LatencyFigures, name: str, *, gpus: int, extra_step_us: Any) -> Any:
    """The gap of a large AllReduce from the time per step alone, on the library's choice or on a flat ring."""
    how = flat_ring(at.given, at.headline_gpus) if name == "ring" else {}
    size = float(display()["headline_bytes"])
    return latency_alone(at.given, gpus=gpus, size_bytes=size, extra_step_us=extra_step_us, **how)


def _headline(name: str) -> Spec:
    """The widest gap of the articles at the size of the example."""
    return Spec(
        f"latency.headline.{name}",
        "share",
        label=lambda at: f"Longer AllReduce of 1 GiB at {at.headline_gpus:,} GPUs, widest gap of the articles, {name}",
        rule="time with the extra time per inter-node step ÷ time without − 1, equal bandwidth",
        value=lambda at: _alone(at, name, gpus=at.headline_gpus, extra_step_us=at.given.draw(_WIDEST)[0]),
        inputs=(_WIDEST, "param:cluster.gpu", "param:cluster.gpus_per_node"),
        digits=2,
    )


def _own(name: str) -> Spec:
    """The sources' gap on the client's own cluster."""
    return Spec(
        f"latency.own.{name}",
        "share",
        label=f"Longer AllReduce of 1 GiB on the client's cluster from time per step alone, {name}",
        rule="time with the time per inter-node step ÷ time without − 1, equal bandwidth",
        value=lambda at: at.given.spread(
            _alone(
                at,
                name,
                gpus=whole_nodes(at.given, fabric_gpus(at.given, int(at.given.params.cluster.gpus))),
                extra_step_us=at.given.draw(inputs.step_id(at.result.pair[1])),
            )
        ),
        inputs=inputs.PROFILE[:3],
        digits=2,
    )


_SWEEPS = ("ring", "step")


def _largest(at: LatencyFigures, name: str) -> float:
    largest, _ = within(at.given, at.result.gap.sweeps[name], at.given.central(THRESHOLD))
    return largest


def _worst(at: LatencyFigures, name: str) -> float:
    return float(np.max(at.result.gap.maps[name].penalty))


_MAPS = {"auto": "the library’s choice", "ring": "flat ring"}

_SIZES = (
    Spec(
        "latency.headline_gpus",
        "gpus",
        label="Size of the example",
        rule="size the example is stated at, in whole nodes",
        value=lambda at: float(at.headline_gpus),
        inputs=("param:cluster.gpus_per_node",),
    ),
    EachSpec(
        "latency.quiet_up_to[sweep]",
        "gpus",
        label=lambda _, name: f"Largest cluster tried at which the gap is not worth a thought: {name}",
        rule="largest size, doubling, up to which the median gap stays within evidence:latency-worth-a-thought",
        value=_largest,
        inputs=lambda at, name: {*inputs_of(at.result.gap.sweeps[name].gap), THRESHOLD, *inputs.PROFILE[:3]},
    ),
    Spec(
        "latency.half_size.infiniband",
        lambda at: size_unit(at.result.gap.half_latency_bytes[0])[0],
        label="Size under which latency is most of an AllReduce, infiniband",
        rule="latency ≥ half of the modelled time",
        value=lambda at: at.result.gap.half_latency_bytes[0] / size_unit(at.result.gap.half_latency_bytes[0])[1],
        inputs=inputs.PROFILE[:1],
        digits=2,
    ),
    EachSpec(
        "latency.map[algorithm].worst",
        "share",
        label=lambda _, name: f"Largest gap of the map ({_MAPS[name]})",
        rule="largest time ÷ time − 1 over the sizes and clusters of the map, at the median time per step",
        value=_worst,
        inputs=lambda at, _: inputs_of(at.given.draw(inputs.step_id(at.result.pair[1]))),
        digits=2,
    ),
)

GAP_SPECS = (
    *_PENALTY,
    *_SPREAD,
    *_SOURCES,
    *(make(name) for name in ("tree", "ring") for make in (_headline, _own)),
    *_SIZES,
)
GAP_INDEXES = {
    "cause": Index[LatencyFigures](lambda at: at.causes),
    "sweep": Index[LatencyFigures](lambda at: at.result.gap.sweeps, _SWEEPS),
    "algorithm": Index[LatencyFigures](lambda _: _MAPS, tuple(_MAPS)),
}
"""Every figure on the gap, and the indexes that their patterns name."""
