"""Figures of what nobody publishes a price for, and of what the brand of the modules moves."""

from __future__ import annotations

from fabricreport.sections.decision.figure_context import DecisionFigures, EachSpec
from fabricreport.sections.decision.turning import label_of

RERUN = "found by running the model again with this input set, all others as they vary: "


def _level(at: DecisionFigures, item: str) -> float:
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
    EachSpec(
        "decision.stands_in[unquoted]",
        "usd",
        label=lambda at, item: f"Range in the place of a price: {label_of(at.given, at.unquoted[item].stands_in)}",
        rule="the assumption's own range",
        value=lambda at, item: at.given.own(at.unquoted[item].stands_in),
        currency="USD",
        central="mean",
    ),
    EachSpec(
        "decision.price_alone[unquoted]",
        "usd",
        label=lambda at, item: (
            f"The same on switches alone, held against {at.names[at.unquoted[item].alone_of]}: {item}"
        ),
        rule="price of the other's switch × its switches per GPU ÷ switches per GPU of this one",
        value=lambda at, item: at.unquoted[item].alone,
        inputs=lambda at, item: (at.unquoted[item].alone_at, "param:cluster.gpus"),
        currency=lambda at, item: at.given.currency_of(at.unquoted[item].alone_at),
        when=lambda at, item: bool(at.unquoted[item].alone_of),
    ),
    EachSpec(
        "decision.optics_brand[option]",
        "usd",
        label=lambda at, option: f"What modules of the switch’s own maker would add to {at.names[option]}",
        rule="mean over the outcomes of present value of its modules × (price of a genuine module ÷ compatible one − 1)",
        value=lambda at, option: at.optics_brand(option),
        central="mean",
        when=lambda at, option: "optics" in at.bills.parts[option],
    ),
)
