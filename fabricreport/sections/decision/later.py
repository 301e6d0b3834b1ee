"""Purchases so far ahead that no price of what will be sold then is known: they are priced at today's generation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any

from fabricreport.inputs import Inputs
from fabricreport.models.money.ownership import Purchase
from fabricreport.sections.client import rented
from fabricreport.sections.generations import on_sale_by
from fabricreport.sections.tco.bills import Bills
from fabricreport.sections.tco.cost import purchases


@dataclass(frozen=True)
class Later:
    """The first month beyond which prices are taken to hold, the share of the plan's equipment that is bought from then
    on (at today's prices), and the options of the choice's side that come on sale by then."""

    month: int
    share: Any
    coming: tuple[str, ...]


def later_of(given: Inputs, bills: Bills, choice: str) -> Later | None:
    """What an owner buys later than prices hold; None where nothing is, or where the equipment is rented."""
    if rented(given):
        return None
    bought = purchases(bills.built[choice], bills.own[choice], bills.common)
    holds = given.central("evidence:rule-todays-price-months")
    beyond = [p for p in bought if p.month > holds and _capital([p]).mean() > 0]
    if not beyond:
        return None
    month = beyond[0].month
    side = next(o.side for o in given.options if o.id == choice)
    coming = on_sale_by(
        given.all_options.values(),
        side,
        str(given.params.cluster.vendor),
        given.as_of,
        months_after(given.as_of, month),
    )
    return Later(month, _capital(beyond) / _capital(bought), tuple(o.id for o in coming))


def months_after(day: date, months: int) -> date:
    """The same day of the month so many months later, or the last of a shorter month before it: the 28th is in all."""
    years, month = divmod(day.month - 1 + months, 12)
    return date(day.year + years, month + 1, min(day.day, 28))


def _capital(bought: Sequence[Purchase]) -> Any:
    """What these purchases cost, draw by draw."""
    return sum((value for purchase in bought for value in purchase.capex_usd.values()), start=0.0)
