"""Figures of what moves the risk: maturity, the size of the cluster, the correlation of the jitter."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVarTuple

from fabricreport.figures import FigureSpec
from fabricreport.sections.tail_risk.figure_context import EachSpec, RiskFigures
from fabricreport.sections.tail_risk.inputs import PROFILE
from fabricreport.sections.tail_risk.sensitivity import Setting

Keys = TypeVarTuple("Keys")

RUN = (*PROFILE, "param:workload.run_days", "param:workload.latency_variance_bound", "param:cluster.topology")
"""Params that a run's length and luck rest on beside what its draws name."""
DEADLINE = ("evidence:run-deadline-slack-share",)
WEEKS = ("param:organisation.time_to_production_weeks",)
_SETTING = RUN + DEADLINE + WEEKS
_STANDARD_DEVIATIONS = "standard deviations"


def _settings(
    pattern: str, of: Callable[[RiskFigures, *Keys], Setting], where: Callable[[RiskFigures, *Keys], str]
) -> tuple[FigureSpec[RiskFigures, *Keys], ...]:
    """The four figures of one setting of a sensitivity."""

    def spec(
        name: str, field: str, words: str, rule: str, unit: str = "share", inputs: tuple[str, ...] = _SETTING
    ) -> FigureSpec[RiskFigures, *Keys]:
        def value(at: RiskFigures, *keys: *Keys) -> Any:
            return getattr(of(at, *keys), field)

        def label(at: RiskFigures, *keys: *Keys) -> str:
            return f"{words} {where(at, *keys)}"

        digits = 2 if unit == "share" else 3
        return FigureSpec(f"{pattern}.{name}", unit, label=label, rule=rule, value=value, inputs=inputs, digits=digits)

    lost, mean = "Mean share of the run lost to faults of the network", "mean of hours lost to the network's faults"
    return (
        spec("late", "p_late", "P(late)", "share of runs drawn that take longer than planned days × (1 + slack)"),
        spec(
            "not_ready",
            "p_not_ready",
            "P(not stable in time)",
            "share of outcomes with weeks to stable > time to production",
        ),
        spec("fabric", "fabric_share", lost, mean + " ÷ hours of the run", inputs=RUN),
        spec("p90", "run_p90_days", "Days of a run, P90,", "90th percentile of the run's days", "day", RUN),
    )


def _at_maturity(at: RiskFigures, level: str, option: str) -> Setting:
    return at.result.sensitivity.maturity[option][level]


def _maturity_words(at: RiskFigures, level: str, option: str) -> str:
    return f"at {level} maturity on {at.names[option]}"


def _at_size(at: RiskFigures, size: str) -> Setting:
    return at.sizes[size]


def _size_words(at: RiskFigures, size: str) -> str:
    return f"at {size} GPUs on {at.names[at.result.worked]}"


MOVING = (
    *_settings("tail_risk.maturity[level][option]", _at_maturity, _maturity_words),
    *_settings("tail_risk.size[size]", _at_size, _size_words),
    EachSpec(
        "tail_risk.size[size].gpus",
        "gpus",
        label="GPUs",
        rule="a size looked at",
        value=lambda at, size: at.sizes[size].value,
        inputs=("param:cluster.gpus",),
    ),
    EachSpec(
        "tail_risk.maximum[correlation]",
        _STANDARD_DEVIATIONS,
        label=lambda at, key: (
            f"Mean of the slowest of {at.result.subjects[at.result.worked].run.cluster.gpus} workers above the mean worker, "
            f"correlation {at.correlations[key]:g}"
        ),
        rule="order statistics of a one-factor normal law",
        value=lambda at, key: float(at.result.sensitivity.maxima[at.correlations[key]][0]),
        inputs=("param:cluster.gpus",),
    ),
    EachSpec(
        "tail_risk.jitter[correlation]",
        "share",
        label=lambda at, key: f"Step time added by fresh jitter at correlation {at.correlations[key]:g}",
        rule="scale of the unshared noise × log(GPUs)",
        value=lambda at, key: at.result.sensitivity.tail_at[at.correlations[key]],
        inputs=PROFILE,
        digits=2,
    ),
    EachSpec(
        "tail_risk.correlation[correlation]",
        "index",
        label="Latent correlation between workers",
        rule="a value looked at",
        value=lambda at, key: at.correlations[key],
        inputs=("param:cluster.gpus",),
    ),
)
