"""Figures of the offers: what each comes to, what is left open, and how far the first is ahead.

What each is called and rests on stands in `figures.yaml`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fabricreport.base.provenance import inputs_of
from fabricreport.books.names import item_names
from fabricreport.books.sellers import Offer
from fabricreport.ledger.figures import Footing, Index, Reckoning, figure, there
from fabricreport.sections.decision.context import DATE, DecisionContext
from fabricreport.sections.decision.offers.judgements import MOVE, Judged, Open
from fabricreport.sections.decision.offers.study import BidLine, OffersResult
from fabricreport.sections.rents import TermDiscount


class OfferFigures(DecisionContext):
    """What is asked of the offers, and how each of their figures is made."""

    @property
    def offers(self) -> OffersResult:
        """What was found of them; asked for where there are some."""
        return there(self.result.offers)

    # ---- one offer

    @property
    def judged(self) -> Mapping[str, Judged]:
        """The offers by id; none where there are none."""
        return self.result.offers.judged if self.result.offers else {}

    def seller(self, offer: str) -> str:
        """Who makes an offer."""
        return self.stated(offer).seller

    def stated(self, offer: str) -> Offer:
        """An offer as it was made."""
        return self.judged[offer].offer

    def price_in_use(self, offer: str) -> Footing:
        """The id of its price that is in use."""
        return (self.judged[offer].price,)

    @figure("decision.offers.total[offer]")
    def offer_total(self, offer: str) -> Any:
        return self.judged[offer].total

    @figure("decision.offers.useful_hour[offer]")
    def offer_useful_hour(self, offer: str) -> Any:
        return self.judged[offer].useful_hour

    def is_not_first(self, offer: str) -> bool:
        """Whether there is an offer to take or to ask first, and it is another."""
        return self.offers.pick.first not in ("", offer)

    @figure("decision.offers.gap[offer]")
    def offer_gap(self, offer: str) -> Any:
        return self.judged[offer].total - self.judged[self.offers.pick.first].total

    @figure("decision.offers.cheapest[offer]")
    def offer_cheapest(self, offer: str) -> Reckoning:
        return Reckoning(self.offers.cheapest[offer], inputs=inputs_of(self.judged[offer].total))

    @figure("decision.offers.least[ranged]")
    def offer_least(self, offer: str) -> Reckoning:
        return Reckoning(self.judged[offer].reach.low, inputs=inputs_of(self.judged[offer].total))

    @figure("decision.offers.most[ranged]")
    def offer_most(self, offer: str) -> Reckoning:
        return Reckoning(self.judged[offer].reach.high, inputs=inputs_of(self.judged[offer].total))

    def term(self, offer: str) -> TermDiscount:
        """What is taken off its price for the term."""
        return self.offers.terms[offer]

    @figure("decision.offers.term_low[termed]")
    def offer_term_low(self, offer: str) -> float:
        return self.term(offer).share.low

    @figure("decision.offers.term_high[termed]")
    def offer_term_high(self, offer: str) -> float:
        return self.term(offer).share.high

    @figure("decision.offers.moved[moved]")
    def offer_moved(self, offer: str) -> Reckoning:
        return Reckoning(self.offers.moved[offer], inputs=(self.judged[offer].price, MOVE))

    @figure("decision.offers.ready[offer]")
    def offer_ready(self, offer: str) -> Reckoning:
        found = self.judged[offer]
        weeks = found.arrival.production(self.bills.own[found.option].bring_up_weeks)
        return Reckoning(found.ready, inputs={*inputs_of(weeks), DATE})

    @figure("decision.offers.uptime[offer]")
    def offer_uptime(self, offer: str) -> Any:
        return self.stated(offer).uptime

    @figure("decision.offers.credit[offer]")
    def offer_credit(self, offer: str) -> Any:
        return self.stated(offer).credit

    @figure("decision.offers.cap[offer]")
    def offer_cap(self, offer: str) -> Any:
        return self.stated(offer).cap

    # ---- what the market asks, beside the offers

    @figure("decision.offers.market_useful_hour")
    def market_useful_hour(self) -> Any:
        return there(self.offers.market).useful_hour

    @figure("decision.offers.market_total")
    def market_total(self) -> Any:
        return there(self.offers.market).total

    # ---- all offers together

    @figure("decision.offers.count")
    def offer_count(self) -> int:
        return len(self.judged)

    @figure("decision.offers.old")
    def offer_old(self) -> int:
        return len(self.offers.having(Open.OLD))

    @figure("decision.offers.asked")
    def offer_asked(self) -> int:
        return len(self.offers.asked)

    @figure("decision.offers.unsure")
    def offer_unsure(self) -> int:
        return len(self.offers.having(Open.NETWORK))

    @figure("decision.offers.extra")
    def offer_extra(self) -> int:
        return len(self.offers.having(Open.EXTRA))

    @figure("decision.offers.spread")
    def offer_spread(self) -> Any:
        order = self.offers.order
        return self.judged[order[-1]].total - self.judged[order[0]].total

    @figure("decision.offers.cent")
    def offer_cent(self) -> Reckoning:
        return Reckoning(self.offers.per_dollar / 100, inputs=inputs_of(self.offers.leading.cost.per_dollar))

    @figure("decision.offers.room")
    def offer_room(self) -> Reckoning:
        pick = self.offers.pick
        return Reckoning(self.offers.room, inputs=inputs_of(*(self.judged[o].total for o in (pick.first, pick.second))))

    # ---- offers of pieces to a buyer

    @property
    def bid_lines(self) -> Mapping[str, BidLine]:
        """The lines of every bill of quantities, by offer and item."""
        return {f"{bid.offer.id}.{line.item}": line for bid in self.result.bids.values() for line in bid.lines}

    def option_of_bid(self, bid: str) -> str:
        """The name of the option that its pieces are for."""
        return self.names[self.result.bids[bid].option]

    def counts_line(self, line: str) -> bool:
        """Whether the seller states a count of an item."""
        return self.bid_lines[line].counted > 0

    @figure("decision.bids.total[bid]")
    def bid_total(self, bid: str) -> Any:
        return self.result.bids[bid].total

    @figure("decision.bids.gap[bid]")
    def bid_gap(self, bid: str) -> Any:
        return self.result.bids[bid].gap

    @figure("decision.bids.compared[bid]")
    def bid_compared(self, bid: str) -> Any:
        return self.result.bids[bid].compared

    @figure("decision.bids.counted[line]")
    def bid_counted(self, line: str) -> Reckoning:
        return Reckoning(self.bid_lines[line].counted, sources=(self.bid_lines[line].price,))

    @figure("decision.bids.ours[line]")
    def bid_ours(self, line: str) -> int:
        return self.bid_lines[line].ours


def _termed(at: OfferFigures) -> list[str]:
    return [offer for offer, term in at.offers.terms.items() if term.behind] if at.result.offers else []


OFFER_INDEXES: Mapping[str, Index[Any]] = {
    "offer": Index(lambda at: at.judged, called=OfferFigures.seller),
    "ranged": Index(
        lambda at: at.judged if at.result.offers and at.offers.unranked else (), called=OfferFigures.seller
    ),
    "termed": Index(_termed, called=OfferFigures.seller),
    "moved": Index(lambda at: at.offers.moved if at.result.offers else (), called=OfferFigures.seller),
    "bid": Index(lambda at: at.result.bids, called=lambda at, bid: at.result.bids[bid].offer.seller),
    "line": Index(lambda at: at.bid_lines, called=lambda at, line: item_names(at.bid_lines[line].item).row),
}
"""What their ids run through."""
