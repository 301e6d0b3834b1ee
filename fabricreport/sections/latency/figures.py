"""The figures of the latency section: what each option exposes, its step, the bandwidth of its network, the logs."""

from __future__ import annotations

from typing import Any

from fabricreport.figures import Declaration, Index
from fabricreport.sections.latency.figure_context import (
    EachSpec,
    LatencyFigures,
    PairSpec,
)
from fabricreport.sections.latency.gap_figures import GAP_SPECS
from fabricreport.sections.latency.job_figures import JOB_INDEXES, JOB_SPECS
from fabricreport.sections.latency.measured import ClientLog

_STAGES = ("param:cluster.trajectory", "param:money.horizon_months")
_RULE_LOST = (
    "1 − time of the same work under the plan that suits a tuned network, were no traffic exposed ÷ time under the "
    "option's own plan; under the same plan exposed network traffic ÷ step time; step = "
)
_RULE_STEP = (
    "kernels + NVLink traffic + network traffic that nothing hides + pipeline bubble + optimiser; exposed = what is left "
    "of traffic after the overlap assumed, and the slowing of kernels by what is hidden"
)
PARTS = {
    "compute": "compute_s",
    "inside_nodes": "in_node_s",
    "exposed": "exposed_communication_s",
    "bubble": "bubble_s",
    "other": "other_s",
}
"""Parts of a step: the end of the figure's id, and the name in the step."""


def _exposed(suffix: str, when: str) -> EachSpec:
    """What an option loses to exposed communication over the horizon, or at one size."""
    return EachSpec(
        f"latency.exposed{suffix}[option]",
        "share",
        label=lambda at, option: f"GPU time lost to network traffic {when}: {at.names[option]}",
        rule=_RULE_LOST + _RULE_STEP,
        value=lambda at, option: getattr(at.result, f"exposed{suffix or '_share'}")[option],
        inputs=lambda at, _: at.profile if suffix else (*at.profile, *_STAGES),
        digits=2,
        central="mean",
    )


_OPTIONS = (
    _exposed("", "over the horizon, sizes weighted by GPU-months"),
    _exposed("_now", "at the first size"),
    _exposed("_final", "at the last size"),
)

_STEPS = (
    EachSpec(
        "latency.step[stepped]",
        "s",
        label=lambda at, option: f"Time of one step: {at.names[option]}",
        rule=_RULE_STEP,
        value=lambda at, option: at.given.spread(at.result.steps[option].step_time_s),
        inputs=lambda at, _: at.profile,
    ),
    PairSpec(
        "latency.part[part][stepped]",
        "share",
        label=lambda at, part, option: f"Share of the step: {part.replace('_', ' ')}, {at.names[option]}",
        rule=lambda _, part, __: f"{part.replace('_', ' ')} ÷ step time",
        value=lambda at, part, option: _part(at, part, option),
        inputs=lambda at, _, __: at.profile,
        digits=2,
        central="mean",
    ),
)


def _part(at: LatencyFigures, part: str, option: str) -> Any:
    """One part of a step as a share of it, (draws,)."""
    step = at.result.steps[option]
    return at.given.spread(getattr(step, PARTS[part]) / step.step_time_s)


def _factor(log: ClientLog) -> float:
    return log.factors.bandwidth_factor if log.factors else 1.0


def _measured(name: str, unit: str, label: str, value: Any) -> EachSpec:
    """What one of the client's logs shows; `value` is worked out from the log."""
    return EachSpec(
        f"latency.measured.{name}[log]",
        unit,
        label=label,
        rule="from the client's log (param:measurements)",
        value=lambda at, log: float(value(at.logs[log])),
        inputs=("param:measurements",),
        grade="measured",
    )


_MEASURED = (
    _measured("before", "share", "Median absolute error of the model's time before", lambda log: log.error_before),
    _measured("after", "share", "Median absolute error of the model's time after", lambda log: log.error_after),
    _measured("rows", "count", "Rows used", lambda log: log.size_bytes.size),
    _measured("left_out", "count", "Rows left out", lambda log: log.left_out),
    _measured("gpus", "gpus", "GPUs of the log", lambda log: log.gpus),
    _measured("bandwidth_factor", "x", "Bandwidth of the client's cluster over the model's", _factor),
)


FIGURES = Declaration(
    "latency",
    (*_OPTIONS, *_STEPS, *JOB_SPECS, *GAP_SPECS, *_MEASURED),
    {
        "option": Index(lambda at: at.result.exposed_share),
        "stepped": Index(lambda at: at.result.steps),
        "part": Index(lambda _: PARTS, tuple(PARTS)),
        "log": Index(lambda at: at.logs),
        **JOB_INDEXES,
    },
)
"""Every figure of the section."""
