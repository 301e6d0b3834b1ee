"""The two prices of each item of which a newer one is held."""

from __future__ import annotations

from collections.abc import Callable

from fabricreport.books.names import item_names
from fabricreport.sections.decision.figure_context import EachSpec
from fabricreport.sections.decision.held import HeldPrice


def _price(
    name: str, said: str, value: Callable[[HeldPrice], float | None], date: Callable[[HeldPrice], str]
) -> EachSpec:
    return EachSpec(
        f"decision.held.{name}[held]",
        lambda at, item: str(at.given.record(at.held[item].price.id)["unit"]),
        label=lambda _, item: f"{said}: {item_names(item).row}",
        rule="as its row in the price files states it",
        value=lambda at, item: float(value(at.held[item]) or 0.0),
        sources=lambda at, item: (at.held[item].price.id,),
        digits=6,
        currency=lambda at, item: at.held[item].price.currency,
        date=lambda at, item: date(at.held[item]),
    )


HELD = (
    _price("asked", "Newer price that is held", lambda one: one.held.price, lambda one: str(one.held.date)),
    _price("stands", "Last good price before it", lambda one: one.price.price, lambda one: str(one.price.date)),
)
