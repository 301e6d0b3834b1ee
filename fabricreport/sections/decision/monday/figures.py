"""Figures of what is to be done before signing: what a fresh price or a later stage is worth."""

from __future__ import annotations

from fabricreport.sections.decision.figure_context import DecisionFigures, EachSpec, Spec
from fabricreport.sections.decision.turning import label_of
from fabricreport.sections.decision.unquoted_figures import RERUN


def _stale(at: DecisionFigures, item: str) -> str:
    return label_of(at.given, f"price:{item}")


MONDAY: tuple[Spec | EachSpec, ...] = (
    EachSpec(
        "decision.monday.stale[stale]",
        "usd",
        label=lambda at, item: f"How far a price that is out of date moves the total cost: {_stale(at, item)}",
        rule=RERUN + "mean total cost of the advised option at the price’s P95 less that at its P5, without sign",
        value=lambda at, item: at.result.monday.stale[item],
        inputs=lambda at, item: (f"price:{item}", "param:cluster.gpus", "param:money.horizon_months"),
    ),
    Spec(
        "decision.monday.later",
        "usd",
        label="Equipment of the fabric that is still to be bought after the first stage",
        rule="mean over the draws of the equipment of every later stage, servers left out, at today’s prices and not discounted",
        value=lambda at: at.result.monday.later,
        central="mean",
        when=lambda at: at.result.monday.later is not None,
    ),
)
