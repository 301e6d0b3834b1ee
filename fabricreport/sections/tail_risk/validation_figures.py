"""Figures that hold the rates of failure against what was published: the rows of the card of goodput."""

from __future__ import annotations

from fabricreport.sections.tail_risk.figure_context import EachSpec, RiskFigures

_CARD_UNITS = ("1/month", "min", "h", "day", "share", "count", "us")
"""Units of a card that the ledger knows too; a row in another one is a ratio."""


def _cited(at: RiskFigures, row: str) -> tuple[str, ...]:
    source = at.card[row].source
    return (source,) if source.startswith("evidence:") else ()


def _unit(at: RiskFigures, row: str) -> str:
    unit = at.card[row].unit
    return unit if unit in _CARD_UNITS else "ratio"


def _in_row(what: str) -> EachSpec:
    """A column of the card in the row's own unit."""
    return EachSpec(
        f"tail_risk.card.goodput[row].{what}",
        _unit,
        label=lambda at, row: f"{at.card[row].case}, {what}",
        rule="validation card",
        value=lambda at, row: getattr(at.card[row], what),
        inputs=_cited,
        counted=True,
    )


VALIDATION = (_in_row("published"), _in_row("ours"))
