"""The figures on the gap between the fabrics: what it costs, and up to which size it is not worth a thought."""

from __future__ import annotations

from typing import Any

import numpy as np

from fabricreport.durations import HOURS_PER_DAY
from fabricreport.provenance import inputs_of
from fabricreport.sections.latency import inputs
from fabricreport.sections.latency.figure_context import THRESHOLD, LatencyFigures, Spec
from fabricreport.sections.latency.gap import within


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
