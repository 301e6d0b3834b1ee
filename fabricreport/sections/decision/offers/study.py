"""Which offer: every one judged on the same work and draws; the price of a renter's hours, and bids for an owner's pieces."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from fabricreport.base.provenance import Traced, mean_of
from fabricreport.base.uncertain import Uncertain, exactly
from fabricreport.books.options import Option
from fabricreport.books.quote_answers import weeks_to_delivery
from fabricreport.books.sellers import Offer
from fabricreport.inputs.inputs import Inputs
from fabricreport.models.money.offers import (
    Pick,
    Rates,
    Standing,
    cheapest_in,
    in_time,
    order_of,
    pick,
    room_per_gpu_hour,
)
from fabricreport.sections.chain import Chain
from fabricreport.sections.decision.inputs import Judge, judge_of
from fabricreport.sections.decision.offers.judgements import (
    Becomes,
    Judged,
    Market,
    Open,
    hour_of,
    judged_of,
    market_of,
    too_small,
    with_answers,
)
from fabricreport.sections.diligence.terms import delivery, tuning
from fabricreport.sections.rents import Listing, TermDiscount, listing, option_of, term_discount
from fabricreport.sections.tco import fabric
from fabricreport.sections.tco.fabric import quantities
from fabricreport.sections.tco.inputs import Hired
from fabricreport.sections.tco.result import Bills


@dataclass(frozen=True)
class OffersResult:
    """The offers of a renter, or published prices in their place, the cheapest first.

    `published`: what stands in for offers where there are none. `asked`: whom to ask where nobody is bound yet, all who may
    come to cost least. `cheapest`: share of draws in which each costs least. `terms`: what each takes off for the term asked
    for, `moved`: what an expired price has become, where published prices stand in. `market`: the same work at the market's
    rent, beside the offer to take or to ask first. `dated`: the client stated a date, `by_date`: and no price of missing it,
    so that the date itself sets offers apart.
    """

    judged: Mapping[str, Judged]
    pick: Pick
    asked: tuple[str, ...]
    cheapest: Mapping[str, float]
    published: Listing
    terms: Mapping[str, TermDiscount]
    moved: Mapping[str, float]
    market: Market | None = None
    dated: bool = False
    by_date: bool = False

    @property
    def listed(self) -> bool:
        """Whether published prices stand in for offers."""
        return self.pick.standing == Standing.LISTED

    @property
    def unranked(self) -> bool:
        """Whether no order of published prices holds once a term's discount is off them: all of `asked` may cost least."""
        return self.listed and len(self.asked) > 1

    @property
    def order(self) -> tuple[str, ...]:
        """Ids, the lowest mean total first."""
        return tuple(self.judged)

    @property
    def totals(self) -> Mapping[str, Traced]:
        """Total cost (draws,) of each offer by id that may be committed to: none that is refused, or passed over as late."""
        able = in_time({o: j.reach for o, j in self.judged.items()}, self.by_date)
        return {o: self.judged[o].total for o in able}

    @property
    def price_factors(self) -> Mapping[str, Traced]:
        """The uncertainty of each offer's price as a factor (draws,) with a mean of 1; exactly 1 for a contract."""
        return {o: Traced(j.factor / mean_of(j.factor)) for o, j in self.judged.items()}

    def having(self, what: Open) -> tuple[str, ...]:
        """Offers of which this is open."""
        return tuple(o for o, j in self.judged.items() if what in j.open)

    def likely_late(self, offer: str) -> bool:
        """Whether the client stated a date that this offer is not likely to meet."""
        return self.dated and not self.judged[offer].reach.ready

    @property
    def best(self) -> Judged | None:
        """The offer to take or to ask first."""
        return self.judged.get(self.pick.first)

    @property
    def next(self) -> Judged | None:
        """The one after it."""
        return self.judged.get(self.pick.second)

    @property
    def leading(self) -> Judged:
        """The offer to take or to ask first, else the cheapest."""
        return self.best or next(iter(self.judged.values()))

    @property
    def per_dollar(self) -> float:
        """What the total of the leading offer grows by for each dollar more for a GPU-hour."""
        return mean_of(self.leading.cost.per_dollar)

    @property
    def room(self) -> float | None:
        """What an hour of the first may cost more until the second costs no more; None where it has no lead that holds."""
        best, other = self.best, self.next
        if best is None or other is None or self.unranked:
            return None
        first, second = (mean_of(j.total) for j in (best, other))
        room = room_per_gpu_hour(first, second, self.per_dollar)
        return room if room > 0 else None


def offers_of(
    given: Inputs, bills: Bills, judge: Judge, again: Callable[[Mapping[str, Uncertain]], Bills]
) -> OffersResult | None:
    """The offers of a client that rents, or the published prices; None where there is neither, or nothing is rented.

    What a seller answered of its own fabric makes the bills `again`, for its offer alone.
    """
    if not given.team.rented:
        return None
    stated = given.offers
    published = Listing() if stated else listing(given)
    offers = [o for o in stated or published.ranked if not too_small(given, o)]
    if not offers:
        return None
    own = {o.id: given.answered.figures_of(o.seller) if given.answer_files else {} for o in offers}
    each = {o.id: again(own[o.id]) if own[o.id] else bills for o in offers}
    found = {o.id: judged_of(given, each[o.id], with_answers(given, o)) for o in offers}
    order = order_of({o: j.total for o, j in found.items()})
    judged = {o: found[o] for o in order}
    reach = {o: j.reach for o, j in judged.items()}
    dated = judge.weighing.date_stated
    by_date = dated and not np.any(np.asarray(bills.common.delay_per_day) > 0)
    picked = pick(reach, judge.stated or 0.0, by_date=by_date)
    listed = () if stated else order
    return OffersResult(
        judged=judged,
        pick=picked,
        asked=picked.contenders,
        dated=dated,
        by_date=by_date,
        cheapest=cheapest_in({o: j.total for o, j in judged.items()}),
        published=published,
        moved={o: b.moved_to for o in listed if (b := Becomes(given, judged[o].offer)).expired_days > 0},
        market=market_of(given, bills, judged[picked.first].option) if picked.first else None,
        terms={o: term_discount(given, judged[o].offer) for o in listed},
    )


def committing(judge: Judge, bills: Bills, offers: OffersResult | None) -> Mapping[str, Traced]:
    """Total cost (draws,) of everything that the client may commit to: offers where it rents, else options."""
    return offers.totals if offers is not None else judge.advisable(bills)


def at_offer(base: Chain) -> Chain:
    """The same chain at the price of the offer to take or to ask first; at the market's rent where there is none.

    No offer is judged by the rent of others, so that this price moves none of them.
    """
    given = base.given
    if not given.team.rented:
        return base
    found = offers_of(given, base.bills, judge_of(given), lambda figures: base.replacing(figures).bills)
    best = found.best if found else None
    if best is None:
        return base if base.hired is None else base.at(None)
    return base.at(Hired(partial(hour_of, offer=best.offer, price_id=best.price)))


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
    late, unstable = delivery(given, bills.late, price), tuning(given, bills.late, own.bring_up_weeks, price)
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
