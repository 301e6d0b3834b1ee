"""For a client that buys: an option's bill at the prices that a seller quotes for its pieces, beside the model's own."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from fabricreport.books.offers.offer import Offer
from fabricreport.books.options import Option
from fabricreport.chain import Chain
from fabricreport.inputs import Inputs
from fabricreport.provenance import Traced
from fabricreport.sections.client import rented
from fabricreport.sections.offered_fabric import option_of
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

    `missing` are the items of the option that the seller does not quote: they stay at the model's prices.
    """

    offer: Offer
    option: str
    lines: tuple[BidLine, ...]
    missing: tuple[str, ...]
    total: Traced
    model: Traced

    @property
    def gap(self) -> Traced:
        """Total cost at the prices quoted less the model's, draw by draw."""
        return Traced(self.total - self.model)


def bids_of(base: Chain) -> Mapping[str, Bid]:
    """Every offer of pieces to a client that buys, by the offer's id."""
    if rented(base.given):
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
    total = base.replacing(figures).bills.totals[option.id]
    return Bid(
        offer,
        option.id,
        lines,
        tuple(item for item, count in counts.items() if count and item not in offer.items),
        given.spread(Traced(total, {line.price for line in lines})),
        base.bills.totals[option.id],
    )


def _lines(option: Option, offer: Offer, counts: Mapping[str, int]) -> Iterator[BidLine]:
    for item, (price, counted) in offer.items.items():
        yield BidLine(item, price, counted, counts.get(item, 0), option.unquoted.get(item, f"price:{item}"))


def _own_price(given: Inputs, line: BidLine) -> float:
    """A price quoted, in the currency of what it replaces, at the central rate of the day."""
    quoted = given.prices.by_id(line.price)
    kind, _, item = line.replaces.partition(":")
    own = given.prices[item].currency if kind == "price" else "USD"
    return quoted.price * given.prices.rate(quoted.currency, own).rate
