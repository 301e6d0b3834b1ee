"""Figures of what is to be done before signing: what a fresh price is worth, and the chance on the last day to sign."""

from __future__ import annotations

from fabricreport.sections.decision.figure_context import DATE, HORIZON, DecisionFigures, EachSpec, Spec
from fabricreport.sections.decision.turning import label_of
from fabricreport.sections.decision.unquoted_figures import RERUN


def _stale(at: DecisionFigures, item: str) -> str:
    return label_of(at.given, f"price:{item}")


MONDAY: tuple[Spec | EachSpec, ...] = (
    EachSpec(
        "decision.monday.stale[stale]",
        "usd",
        label=lambda at, item: f"How far a price that is out of date moves the total cost: {_stale(at, item)}",
        rule=RERUN
        + "mean total cost of the option with the lower mean at the high end of the price’s 90 % range less that at its low end, without sign",
        value=lambda at, item: at.result.monday.stale[item],
        inputs=lambda at, item: (f"price:{item}", "param:cluster.gpus", HORIZON),
    ),
    Spec(
        "decision.monday.ready",
        "share",
        label="Chance of being stable by the client's date where the last day to sign is kept and delivery takes no time",
        rule="share of outcomes with weeks to stable ≤ weeks to production less the weeks until that day; where either of two may be taken, the lower",
        value=lambda at: at.result.monday.last.chance,
        inputs=lambda at: {*at.result.monday.last_rests_on, DATE, "evidence:rule-ready-probability"},
        digits=2,
    ),
)
