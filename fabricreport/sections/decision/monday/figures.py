"""Figures of what is to be done before signing: what a fresh price is worth."""

from __future__ import annotations

from fabricreport.sections.decision.figure_context import HORIZON, DecisionFigures, EachSpec
from fabricreport.sections.decision.turning import label_of
from fabricreport.sections.decision.unquoted_figures import RERUN


def _stale(at: DecisionFigures, item: str) -> str:
    return label_of(at.given, f"price:{item}")


MONDAY: tuple[EachSpec, ...] = (
    EachSpec(
        "decision.monday.stale[stale]",
        "usd",
        label=lambda at, item: f"How far a price that is out of date moves the total cost: {_stale(at, item)}",
        rule=RERUN
        + "mean total cost of the option with the lower mean at the high end of the price’s 90 % range less that at its low end, without sign",
        value=lambda at, item: at.result.monday.stale[item],
        inputs=lambda at, item: (f"price:{item}", "param:cluster.gpus", HORIZON),
    ),
)
