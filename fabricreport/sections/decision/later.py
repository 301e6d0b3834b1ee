"""Purchases so far ahead that no price of what will be sold then is known: they are priced at today's generation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from fabricreport.inputs import Inputs
from fabricreport.models.money.ownership import Purchase
from fabricreport.sections.tco.bills import Bills
from fabricreport.sections.tco.cost import purchases


@dataclass(frozen=True)
class Later:
    """The first month beyond which prices are taken to hold, and the share of the plan's equipment that is bought from then
    on (at today's prices)."""

    month: int
    share: Any


def later_of(given: Inputs, bills: Bills, choice: str) -> Later | None:
    """What an owner buys later than prices hold; None where nothing is, or where the equipment is rented."""
    if given.team.rented:
        return None
    bought = purchases(bills.built[choice], bills.own[choice], bills.common)
    holds = given.central("evidence:rule-todays-price-months")
    beyond = [p for p in bought if p.month > holds and _capital([p]).mean() > 0]
    if not beyond:
        return None
    return Later(beyond[0].month, _capital(beyond) / _capital(bought))


def _capital(bought: Sequence[Purchase]) -> Any:
    """What these purchases cost, draw by draw."""
    return sum((value for purchase in bought for value in purchase.capex_usd.values()), start=0.0)
