"""The figures on the gap between the fabrics: what it costs, and at which size of job it is widest."""

from __future__ import annotations

from fabricreport.provenance import inputs_of
from fabricreport.sections.latency import inputs
from fabricreport.sections.latency.figure_context import Spec
from fabricreport.sections.latency.gap import widest

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
)

_WIDEST = (
    Spec(
        "latency.widest_at",
        "gpus",
        label="Size of job at which the median steps differ most",
        rule="of the sizes drawn, doubling, that of the largest median gap either way",
        value=lambda at: widest(at.result.gap.step_by_size)[0],
        inputs=lambda at: {*inputs_of(at.result.gap.step_by_size.gap), *inputs.PROFILE[:3]},
    ),
    Spec(
        "latency.widest",
        "share",
        label=lambda at: f"Extra step time of {at.ours} over {at.base} where it is furthest from nothing",
        rule="step time ÷ step time − 1, outcome by outcome, at the size of the largest median gap either way",
        value=lambda at: widest(at.result.gap.step_by_size)[1],
        inputs=inputs.PROFILE,
        digits=2,
    ),
)

GAP_SPECS = (*_PENALTY, *_WIDEST)
"""Every figure on the gap."""
