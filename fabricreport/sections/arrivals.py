"""When a network arrives and runs stably: orders, deliveries, bring-up, and an option’s own weeks.

The last part to come counts. Where sellers of an option answered when all of it is delivered, that holds; where quotes say
it of some parts, the latest of them and what is assumed of the rest.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from fabricreport.base.provenance import inputs_of, plain
from fabricreport.base.units import DAYS_PER_WEEK, HOURS_PER_WEEK
from fabricreport.books.options import Option
from fabricreport.books.quote_answers import weeks_to_delivery
from fabricreport.inputs.inputs import Inputs
from fabricreport.sections.client import gpu_type
from fabricreport.sections.schedule import HAND_OVER, INSTALLATION, LEAD, ORDER, RENT_ORDER, start_unit

SOAK = "evidence:acceptance-soak-hours"
_PRICE, _SERVER = "price:", "server"
_ALWAYS = ("switch", "nic", _SERVER)
"""Parts that every cluster takes: what quotes say of these holds for all, what they leave out is assumed."""


@dataclass(frozen=True)
class Arrival:
    """Weeks one after another: until the `order` is signed, from it to the last part's delivery or the hand-over (`lead`),
    from that to power-on (`installation`), and of the `soak` after the network runs stably. Scalars or (draws,)."""

    order: Any
    lead: Any
    installation: Any
    soak: Any

    @property
    def power_on(self) -> Any:
        """From the memo's date to power-on."""
        return self.order + self.lead + self.installation

    def production(self, stable: Any) -> Any:
        """From the memo's date to production, where a network takes so many weeks from power-on until it is stable."""
        return self.power_on + stable + self.soak

    def handed_over(self, weeks: float) -> Arrival:
        """The same where all is handed over so many weeks after the memo's date."""
        return replace(self, order=np.minimum(self.order, weeks), lead=weeks - np.minimum(self.order, weeks))


def arrival_of(given: Inputs, option: Option) -> Arrival:
    """When an option stands that is ordered at once: bought, or rented on a day that nobody has named."""
    if given.team.rented:
        return hired(given)
    return replace(in_nodes(given), lead=_lead(given, option), soak=_soak(given))


def hired(given: Inputs) -> Arrival:
    """When machines stand that are rented at once."""
    return Arrival(given.value(RENT_ORDER), given.value(HAND_OVER), 0.0, _soak(given))


def in_nodes(given: Inputs) -> Arrival:
    """When servers stand that are ordered at once, for jobs that wait for no network between them."""
    if given.team.rented:
        return replace(hired(given), soak=0.0)
    return Arrival(given.value(ORDER), given.value(LEAD), given.value(INSTALLATION), 0.0)


def _soak(given: Inputs) -> Any:
    return given.value(SOAK) / HOURS_PER_WEEK


def _lead(given: Inputs, option: Option) -> Any:
    """Weeks from the order to the delivery of the last part."""
    answered = given.answered.leads.get(option.id)
    if answered is not None:
        return answered
    parts = {kind: piece.price for kind, piece in option.pieces.items()} | {_SERVER: gpu_type(given).server.price}
    prices = {k: given.prices[ref.removeprefix(_PRICE)] for k, ref in parts.items() if ref.startswith(_PRICE)}
    told = {k: weeks for k, price in prices.items() if (weeks := weeks_to_delivery(price.source)) is not None}
    if told.keys() >= {*_ALWAYS} & parts.keys():
        return max(told.values())
    return np.maximum(given.value(LEAD), max(told.values())) if told else given.value(LEAD)


OF_WEEKS = "evidence:weeks-to-stable-"
"""What the id of weeks until a network runs stably begins with; an option's own weeks are a multiple of them."""


@dataclass(frozen=True)
class OwnUnit:
    """How values of an input are told: in `unit`, of which one of the input's own is `per`.

    `option`: whose own time it is, '' for any input but the weeks that those of every network are reckoned from.
    """

    unit: str
    per: float
    option: str = ""

    def told(self, value: float) -> float:
        """A value of the input, in that unit."""
        return value * self.per


def own_weeks(input_id: str, draws: Any, weeks: Mapping[str, Any], among: Iterable[str]) -> OwnUnit | None:
    """The unit of the client's own weeks, for an input that those of an option are made from; None for any other input.

    `draws`: the input's; `weeks`: until each option runs stably; of several options `among` those it carries, the first's.
    """
    for option in among if input_id.startswith(OF_WEEKS) else ():
        if input_id in inputs_of(weeks[option]):
            unit = start_unit(weeks.values())
            own = plain(weeks[option]) * (DAYS_PER_WEEK if unit == "day" else 1.0)
            return OwnUnit(unit, float(np.median(own / plain(draws))), option)
    return None
