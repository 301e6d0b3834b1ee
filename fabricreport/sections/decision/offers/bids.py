"""For a client that buys: an option's bill at the prices that a seller quotes for its pieces, beside the model's own."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from fabricreport.books.offers.offer import Offer
from fabricreport.books.options import Option
from fabricreport.books.quotes.answers import weeks_to_delivery
from fabricreport.chain import Chain
from fabricreport.inputs import Inputs
from fabricreport.models.money.better_offer import Rates
from fabricreport.provenance import Traced
from fabricreport.sections.diligence.terms import delivery, tuning
from fabricreport.sections.offered_fabric import option_of
from fabricreport.sections.tco import fabric
from fabricreport.sections.tco.bills import Bills
from fabricreport.sections.tco.quantities import quantities
from fabricreport.uncertain import exactly


@dataclass(frozen=True)
class BidLine:
    """One item quoted: the price's id, the seller's count (0: none stated) and ours, and the input that the price replaces."""

    item: str
    price: str
    counted: float
    ours: int
    replaces: str


@dataclass(frozen=True)
class Bid:
    """An offer of pieces for one option: its total cost (draws,) at these prices, and the model's at its own.

    `compared`: what offers are compared by, from the price of the first order, the weeks to delivery that the seller states and
    our own of what it does not. `missing` are the items of the option that the seller does not quote: they stay at the model's prices.
    """

    offer: Offer
    option: str
    lines: tuple[BidLine, ...]
    missing: tuple[str, ...]
    total: Traced
    model: Traced
    compared: Traced

    @property
    def gap(self) -> Traced:
        """Total cost at the prices quoted less the model's, draw by draw."""
        return Traced(self.total - self.model)


def bids_of(base: Chain) -> Mapping[str, Bid]:
    """Every offer of pieces to a client that buys, by the offer's id."""
    if base.given.team.rented:
        return {}
    return {offer.id: bid_of(base, offer) for offer in base.given.offers if offer.items}


def bid_of(base: Chain, offer: Offer) -> Bid:
    """One offer: the whole chain's bill again with its prices in force, every other input at its draws."""
    given = base.given
    option = option_of(given, offer.fabric)
    assert option is not None, "an offer for no option is refused"
    counts, _ = quantities(given, option, base.bills.built[option.id][0])
    lines = tuple(_lines(option, offer, counts))
    figures = {line.replaces: exactly(_own_price(given, line)) for line in lines}
    bills = base.replacing(figures).bills
    total = bills.totals[option.id]
    return Bid(
        offer,
        option.id,
        lines,
        tuple(item for item, count in counts.items() if count and item not in offer.items),
        given.spread(given.tagged(total, {line.price for line in lines})),
        base.bills.totals[option.id],
        given.spread(given.tagged(_compared(given, bills, option, lines), {line.price for line in lines})),
    )


def _compared(given: Inputs, bills: Bills, option: Option, lines: Sequence[BidLine]) -> Any:
    """What the offer is compared by (draws,): the bandwidth is what we assume until a test shows it."""
    own, common = bills.own[option.id], bills.common
    price: Any = sum(fabric.capex(bills.built[option.id][0], own, common).values(), start=0.0)
    stated = [w for line in lines if (w := weeks_to_delivery(given.prices.by_id(line.price).source)) is not None]
    lead = max(stated) if stated else own.arrival.lead
    late, unstable = delivery(given, common, price), tuning(given, common, own.bring_up_weeks, price)
    return Rates(late.loss_per_week, unstable.loss_per_week).total(price, lead, own.bring_up_weeks)


def _lines(option: Option, offer: Offer, counts: Mapping[str, int]) -> Iterator[BidLine]:
    for item, (price, counted) in offer.items.items():
        yield BidLine(item, price, counted, counts.get(item, 0), option.unquoted.get(item, f"price:{item}"))


def _own_price(given: Inputs, line: BidLine) -> float:
    """A price quoted, in the currency of what it replaces, at the central rate of the day."""
    quoted = given.prices.by_id(line.price)
    kind, _, item = line.replaces.partition(":")
    own = given.prices[item].currency if kind == "price" else "USD"
    return quoted.price * given.prices.rate(quoted.currency, own).rate
