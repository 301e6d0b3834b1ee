"""Figures of what nobody publishes a price for, and of what the brand of the modules moves."""

from __future__ import annotations

from fabricreport.sections.decision.figure_context import DecisionContext, EachSpec
from fabricreport.sections.decision.turning import label_of

RERUN = "found by running the model again with this input set, all others as they vary: "


def _level(at: DecisionContext, item: str) -> float:
    level = at.unquoted[item].level
    assert level is not None
    return level


UNQUOTED = (
    EachSpec(
        "decision.price_level[unquoted]",
        "usd",
        label=lambda at, item: f"Price at which the money is level: {label_of(at.given, at.unquoted[item].stands_in)}",
        rule=RERUN + "mean difference zero, at any positive price",
        value=lambda at, item: _level(at, item),
        inputs=lambda at, item: at.everything - {at.unquoted[item].stands_in},
        currency="USD",
        when=lambda at, item: at.unquoted[item].level is not None,
    ),
)
