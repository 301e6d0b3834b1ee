"""Figures that hold the models against what was published: the cards' rows, and what sources say of optics."""

from __future__ import annotations

from collections.abc import Callable

from fabricreport.sections.tail_risk.figure_context import (
    EFFECTIVE_TIME,
    PairSpec,
    RiskFigures,
    Spec,
    optics_sources,
)
from fabricreport.validation.productive import llama3_productive

_CARD_UNITS = ("1/month", "min", "h", "day", "share", "count", "us")
"""Units of a card that the ledger knows too; a row in another one is a ratio."""


def _stated(at: RiskFigures) -> tuple[str, ...]:
    """Ids of the sources on optics."""
    return tuple(f"evidence:{entry.id}" for entry in optics_sources(at.given))


def _optics(name: str, unit: str, label: str, rule: str, value: Callable[[RiskFigures], float]) -> Spec:
    return Spec(f"tail_risk.optics.{name}", unit, label=label, rule=rule, value=value, inputs=_stated, digits=2)


def _cited(at: RiskFigures, model: str, row: str) -> tuple[str, ...]:
    source = at.in_card(model, row).source
    return (source,) if source.startswith("evidence:") else ()


def _unit(at: RiskFigures, model: str, row: str) -> str:
    unit = at.in_card(model, row).unit
    return unit if unit in _CARD_UNITS else "ratio"


def _is_there(at: RiskFigures, model: str, row: str) -> bool:
    return at.card_row(model, row) is not None


def _in_row(what: str) -> PairSpec:
    """A column of a card in the row's own unit."""
    return PairSpec(
        f"tail_risk.card[model][row].{what}",
        _unit,
        label=lambda at, model, row: f"{at.in_card(model, row).case}, {what}",
        rule="validation card",
        value=lambda at, model, row: getattr(at.in_card(model, row), what),
        inputs=_cited,
        counted=True,
        when=_is_there,
    )


def _productive(name: str, label: str, share: float) -> Spec:
    """Productive time of Llama 3's run by this model, at a quantile of the draws."""
    return Spec(
        f"tail_risk.{name}",
        "share",
        label=f"Productive time of Llama 3 by this model, {label}",
        rule="time in steps ÷ all time, at 16,384 GPUs and the highest maturity",
        value=lambda _: llama3_productive(share),
        inputs=(EFFECTIVE_TIME,),
        digits=2,
    )


VALIDATION = (
    _in_row("published"),
    _in_row("ours"),
    PairSpec(
        "tail_risk.card[model][row].error",
        "share",
        label=lambda at, model, row: f"{at.in_card(model, row).case}, error",
        rule="ours ÷ published − 1",
        value=lambda at, model, row: at.in_card(model, row).error,
        inputs=_cited,
        counted=True,
        digits=2,
        when=_is_there,
    ),
    _productive("llama3", "median", 0.5),
    _productive("llama3_low", "P5", 0.05),
    _productive("llama3_high", "P95", 0.95),
    _optics(
        "low",
        "share",
        "Lowest published failure rate of optics a year",
        "lowest of the sources",
        lambda at: at.optics[0],
    ),
    _optics(
        "high",
        "share",
        "Highest published failure rate of optics a year",
        "highest of the sources",
        lambda at: at.optics[1],
    ),
    _optics(
        "factor",
        "ratio",
        "Spread of the published failure rates of optics",
        "highest ÷ lowest",
        lambda at: at.optics[1] / at.optics[0],
    ),
    _optics(
        "few",
        "count",
        "Failures of access links a year at the lowest rate",
        "lowest rate × links",
        lambda at: at.optics[0] * at.links,
    ),
    _optics(
        "many",
        "count",
        "Failures of access links a year at the highest rate",
        "highest rate × links, one end counted",
        lambda at: at.optics[1] * at.links,
    ),
    Spec(
        "tail_risk.links",
        "count",
        label="Access links",
        rule="cables from servers to leaf switches",
        value=lambda at: at.links,
        inputs=("param:cluster.gpus",),
    ),
)
