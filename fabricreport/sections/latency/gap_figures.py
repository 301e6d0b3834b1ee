"""The figures on the gap between the fabrics: what it costs, and up to which size it is not worth a thought."""

from __future__ import annotations

from fabricreport.provenance import inputs_of
from fabricreport.sections.latency import inputs
from fabricreport.sections.latency.figure_context import THRESHOLD, Spec
from fabricreport.sections.latency.gap import within

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

_QUIET = Spec(
    "latency.quiet_up_to.step",
    "gpus",
    label="Largest cluster tried at which the gap is not worth a thought: step",
    rule="largest size, doubling, up to which the median gap stays within evidence:latency-worth-a-thought",
    value=lambda at: within(at.given, at.result.gap.step_by_size, at.given.central(THRESHOLD))[0],
    inputs=lambda at: {*inputs_of(at.result.gap.step_by_size.gap), THRESHOLD, *inputs.PROFILE[:3]},
)

GAP_SPECS = (*_PENALTY, _QUIET)
"""Every figure on the gap."""
