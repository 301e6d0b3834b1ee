"""What an offer is judged on: whose lost time it has, what it comes to, how far its price may move, what is open or answered."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import date, timedelta
from enum import StrEnum
from typing import Any

import numpy as np

from fabricreport.base.provenance import Traced, mean_of, plain
from fabricreport.base.uncertain import Uncertain, exactly
from fabricreport.base.units import DAYS_PER_WEEK
from fabricreport.books.sellers import (
    UNNAMED,
    Kind,
    Network,
    Offer,
    OfferAddOn,
    OfferRung,
    folded,
    needed,
    read_providers,
)
from fabricreport.inputs.effects import Effect, Term
from fabricreport.inputs.inputs import Inputs
from fabricreport.models.audit.diligence import Observed, speed_fit, topology_stated, updated
from fabricreport.models.money.offers import OfferCost, OfferTerms, Reach, Rung, Work, cost_of
from fabricreport.sections.arrivals import Arrival
from fabricreport.sections.rents import option_of, term_discount
from fabricreport.sections.tco.cost import delay_days, rented_hours
from fabricreport.sections.tco.inputs import market_rent
from fabricreport.sections.tco.result import Bills

_ADD_ON = "network, as answered"


def with_answers(given: Inputs, offer: Offer) -> Offer:
    """The offer with the terms that its seller answered; what it says itself stands."""
    files = [f for f in given.answer_files if folded(f.provider) == folded(offer.seller)]
    if not files:
        return offer
    terms = given.answered.terms_of(offer.seller)
    told = option_of(given, files[0].fabric) if offer.fabric in UNNAMED else None
    fabric = offer.fabric if told is None else files[0].fabric
    return _credited(given, _with_network(_priced(replace(offer, fabric=fabric), terms), terms), terms)


def too_small(given: Inputs, offer: Offer) -> bool:
    """Whether its seller answered that it has fewer GPUs on one fabric than the client starts with."""
    size = given.answered.terms_of(offer.seller).get(Effect.SIZE) if given.answer_files else None
    return size is not None and not offer.size and size.value < int(given.params.cluster.gpus)


def price_range(given: Inputs, offer: Offer, spread: Uncertain) -> tuple[Uncertain, frozenset[str]]:
    """How far a price may move once it is asked for: less, where its seller answered it; and the entry that says how much."""
    term = given.answered.terms_of(offer.seller).get(Effect.PRICE) if given.answer_files else None
    if term is None:
        return spread, frozenset()
    noise = f"evidence:answer-noise-{term.proof}"
    return updated(spread, [Observed(1.0, 1.0, max(1.0, given.central(noise)))]), frozenset({noise})


def _priced(offer: Offer, terms: Mapping[Effect, Term]) -> Offer:
    term = terms.get(Effect.PRICE)
    return offer if term is None else replace(offer, rungs=(OfferRung(0, term.input_id),))


def _with_network(offer: Offer, terms: Mapping[Effect, Term]) -> Offer:
    """The network for what the answer asks more for it; nothing more, and it is in the price. What was published of it gives way."""
    term = terms.get(Effect.ADD_ON)
    if term is None:
        return offer
    if offer.network == Network.ADD_ON:
        offer = replace(offer, add_ons=tuple(a for a in offer.add_ons if a.monthly or not a.needed))
    if term.value == 0.0:
        return replace(offer, network=Network.INCLUDED)
    add_on = OfferAddOn(_ADD_ON, term.input_id, monthly=False, needed=True)
    return replace(offer, network=Network.ADD_ON, add_ons=(*offer.add_ons, add_on))


def _credited(given: Inputs, offer: Offer, terms: Mapping[Effect, Term]) -> Offer:
    """Room to grow, the day of hand-over after a signature on the memo's date, and the credit.

    Who has fewer GPUs on one fabric than the client's plan ends with is taken for what the client starts with.
    """
    size, start, credit = (terms.get(effect) for effect in (Effect.SIZE, Effect.START, Effect.CREDITS))
    cluster = given.params.cluster
    short = size is not None and size.value < cluster.final_gpus
    return replace(
        offer,
        size=offer.size or (int(cluster.gpus) if short else 0),
        start=offer.start or (given.as_of + timedelta(days=start.value * DAYS_PER_WEEK) if start else None),
        credit=credit.value if offer.credit is None and credit else offer.credit,
    )


SPREAD, MOVE = "evidence:rent-spread", "evidence:rent-move-same-seller"
"""How far the prices of sellers lie around their median, and how far the same sellers' prices moved in eleven months."""
_MOVE_DAYS = 335


class Open(StrEnum):
    """What a seller has to say before its offer can be taken, then what is only worth asking."""

    OLD = "old"
    EXTRA = "extra"
    NETWORK = "network"
    FABRIC = "fabric"
    LISTED = "listed"
    GROWTH = "growth"
    TOPOLOGY = "topology"
    GENERATION = "generation"
    SPEED = "speed"


SETTLED_FIRST = frozenset({Open.OLD, Open.EXTRA, Open.NETWORK, Open.FABRIC, Open.LISTED})
"""An offer of which one of these is open cannot be advised without a condition."""


@dataclass(frozen=True)
class Judged:
    """An offer judged: `option` is the compared one whose lost time it has, `named` whether the offer says so itself.

    `total` (draws,) is the cost of the whole work, `useful_hour` that of a useful GPU-hour without a price of delay.
    `factor` (draws,) is what its price may become once it is asked for, exactly 1 for a contract. `arrival` is when
    it is handed over, `ready` the share of draws in which it is in production by the client's date.
    """

    offer: Offer
    option: str
    named: bool
    cost: OfferCost
    total: Traced
    useful_hour: Traced
    factor: Traced
    arrival: Arrival
    ready: float
    reach: Reach
    open: tuple[Open, ...]

    @property
    def price(self) -> str:
        """The id of the price that is in use: that of the rung which is the cheapest for the work."""
        return next(r.price for r in self.offer.rungs if r.months == self.cost.rung.months)

    @property
    def refused(self) -> tuple[str, ...]:
        """What it refuses of what has to be in writing."""
        return tuple(term for term in self.offer.refuses if term in needed())


def judged_of(given: Inputs, bills: Bills, offer: Offer, factor: Traced | None = None) -> Judged:
    """One offer on the draws of the option whose network it has; `factor`: what its price becomes, where that is known."""
    option = option_of(given, offer.fabric)
    named = option is not None
    own_id = option.id if option else _slowest(given, bills)
    own, common = bills.own[own_id], bills.common
    becomes, arrival = Becomes(given, offer), stands_from(offer, own.arrival, given.as_of)
    factor = becomes.drawn() if factor is None else factor
    hired = replace(own, arrival=arrival)
    delay: Any = 0.0
    if np.any(np.asarray(common.delay_per_day) > 0):
        delay = delay_days(hired, common) * common.delay_per_day
    cost = cost_of(_terms(given, offer, factor), own.lost, _work(bills), delay)
    total = given.spread(cost.total)
    hours = rented_hours(common)
    open_ = tuple(_open(given, offer, named))
    ready = float(np.mean(plain(hired.production_weeks) <= common.weeks_allowed))
    return Judged(
        offer=offer,
        option=own_id,
        named=named,
        cost=cost,
        total=total,
        useful_hour=given.spread((total - delay) / hours),
        factor=factor,
        arrival=arrival,
        ready=ready,
        reach=_reach(given, offer, mean_of(total), becomes.ends(factor), ready, open_),
        open=open_,
    )


@dataclass(frozen=True)
class Market:
    """What the same work comes to at the market's rent, on the network of the offer advised: (draws,) each."""

    useful_hour: Traced
    total: Traced


def market_of(given: Inputs, bills: Bills, option: str) -> Market:
    """The market beside an offer that has the network of this option."""
    own, work = bills.own[option], _work(bills)
    terms = OfferTerms((Rung(0, market_rent(given)),), int(given.params.cluster.gpus))
    total = given.spread(cost_of(terms, own.lost, work).total)
    return Market(given.spread(total / rented_hours(bills.common)), total)


def _slowest(given: Inputs, bills: Bills) -> str:
    """The compared network between servers, with RDMA if one has it, that loses most: what an unnamed one is taken for."""
    ids = [o.id for o in given.options if o.rdma] or [o.id for o in given.options]
    return min(ids, key=lambda o: mean_of(bills.own[o].lost.useful))


def price_of(given: Inputs, price_id: str) -> Any:
    """A price as it was found or offered, in the memo's currency: one figure, and no mean of a range around it."""
    price = given.prices.by_id(price_id)
    return given.tagged(given.central(price_id), {price_id}) * given.rate(price.currency)


def hour_of(given: Inputs, offer: Offer, price_id: str) -> Any:
    """What a GPU-hour comes to with an offer at one of its prices, add-ons included that are paid by the hour, (draws,)."""
    hour = price_of(given, price_id) * Becomes(given, offer).drawn() + hourly_add_ons(given, offer)
    return hour if isinstance(given.spread(0.0), Traced) else plain(hour)


def hourly_add_ons(given: Inputs, offer: Offer) -> Any:
    """Add-ons that are needed and paid by the GPU-hour."""
    return sum((price_of(given, a.price) for a in offer.add_ons if a.needed and not a.monthly), start=0.0)


@dataclass(frozen=True)
class Becomes:
    """What a price may become once it is asked for, as factors of it, each with the ids behind it.

    A published price: less the discount for the term asked for. One that has expired: moved on by what other sellers' own
    prices did in the time since. One that a seller answered: as far as his answers are usually off. One beside which a
    newer price is held: anything between the two.
    """

    given: Inputs
    offer: Offer

    @property
    def expired_days(self) -> int:
        """How long ago the last of its prices expired; less than nothing where one has not."""
        return max((self.given.as_of - self.given.prices.by_id(r.price).expiry).days for r in self.offer.rungs)

    @property
    def move(self) -> Uncertain:
        """The factor by which a price has moved since it expired; exactly 1 where it has not expired."""
        move, share = self.given.uncertain(MOVE), min(1.0, max(self.expired_days, 0) / _MOVE_DAYS)
        return Uncertain("pert", *(end**share for end in (move.low, move.mode, move.high))) if share else exactly(1.0)

    @property
    def moved_to(self) -> float:
        """What an hour of it is on average by now, in the memo's currency."""
        found = mean_of(price_of(self.given, self.offer.rungs[0].price))
        return float(found * self.given.sampler.draws(self.move, self._stream(MOVE)).mean())

    def _stream(self, entry: str) -> str:
        return f"{entry} of {self.offer.id}"

    @property
    def parts(self) -> Iterator[tuple[str, Uncertain, frozenset[str]]]:
        """Each factor by the name of its stream."""
        given, offer = self.given, self.offer
        prices = [given.prices.by_id(r.price) for r in offer.rungs]
        if offer.contractual and any(p.stale for p in prices):
            yield SPREAD, given.uncertain(SPREAD), frozenset({SPREAD})
        elif not offer.contractual:
            figure, behind = price_range(given, offer, given.uncertain(SPREAD))
            if behind:
                yield SPREAD, figure, frozenset({SPREAD, *behind})
            else:
                term = term_discount(given, offer)
                yield term.entry, term.left, term.behind
        if prices and not self.move.fixed:
            yield MOVE, self.move, frozenset({MOVE})
        for price in prices:
            if price.spanned:
                span = price.figure
                yield price.id, span.times(1 / span.central), frozenset({price.id})

    def drawn(self) -> Traced:
        """The factor (draws,); each offer has draws of its own. Where nobody knows which way a price goes its mean is 1."""
        found: Any = Traced(np.ones(self.given.draws))
        for stream, figure, behind in self.parts:
            for entry in behind:
                self.given.value(entry)  # noted as asked for
            drawn = self.given.sampler.draws(figure, self._stream(stream))
            found = found * Traced(drawn / drawn.mean() if stream == SPREAD else drawn, behind)
        return self.given.spread(found)

    def ends(self, factor: Traced) -> tuple[float, float]:
        """The least and the most that the price may become, over its mean."""
        low = high = 1.0
        for stream, figure, _ in self.parts:
            one = (
                figure.quantile([0.0, 1.0]) if figure.kind not in ("interval", "pooled") else (figure.low, figure.high)
            )
            by = 1.0 if stream != SPREAD else float(np.mean(figure.quantile(np.linspace(0.005, 0.995, 100))))
            low, high = low * float(one[0]) / by, high * float(one[1]) / by
        mean = mean_of(factor)
        return low / mean, high / mean


def stands_from(offer: Offer, usual: Arrival, as_of: date) -> Arrival:
    """When an offer is handed over: on the day that it states, else as machines are that are rented at once."""
    return usual.handed_over(max((offer.start - as_of).days, 0) / DAYS_PER_WEEK) if offer.start else usual


def _work(bills: Bills) -> Work:
    common = bills.common
    stated = common.gpu_hour_value if common.value_basis == "stated" else None
    return Work(common.stages, common.months, common.discounting, stated)


def _terms(given: Inputs, offer: Offer, factor: Traced) -> OfferTerms:
    monthly = [price_of(given, a.price) for a in offer.add_ons if a.needed and a.monthly]
    return OfferTerms(
        rungs=tuple(Rung(r.months, price_of(given, r.price) * factor) for r in offer.rungs),
        gpus=offer.size or int(given.params.cluster.gpus),
        minimum_share=offer.minimum_share,
        add_ons_usd_per_gpu_hour=hourly_add_ons(given, offer),
        add_ons_usd_per_month=sum(monthly, start=0.0),
    )


def _open(given: Inputs, offer: Offer, named: bool) -> Iterator[Open]:
    if any(given.prices.by_id(p).stale for p in offer.prices):
        yield Open.OLD
    if not offer.with_network:
        yield Open.EXTRA if offer.network == Network.EXTRA else Open.NETWORK
    if offer.fabric in UNNAMED or not named:
        yield Open.FABRIC
    if offer.kind != Kind.OFFER:
        yield Open.LISTED
    if offer.size and given.params.cluster.final_gpus > offer.size:
        yield Open.GROWTH
    wording = read_providers().wording
    if topology_stated(offer.topology, wording.topology, wording.topology_unknown) != "stated":
        yield Open.TOPOLOGY
    if not offer.generation:
        yield Open.GENERATION
    if not offer.contractual and _speed(given, offer) not in ("enough", "unknown"):
        yield Open.SPEED


def _speed(given: Inputs, offer: Offer) -> str:
    seller = next((s for s in read_providers().sellers if s.id == offer.known_as), None)
    option = option_of(given, offer.fabric)
    asked = float(given.params.cluster.link_gbits_per_s)
    need = min(option.link_gbits_per_s, asked) if option else asked
    return speed_fit(seller.link_low_gbits_per_s, seller.link_high_gbits_per_s, need) if seller else "unknown"


def _reach(
    given: Inputs, offer: Offer, mean: float, ends: tuple[float, float], ready: float, open_: tuple[Open, ...]
) -> Reach:
    """How far the mean may move by what is open: the `ends` of what its price may become, over its mean."""
    low, high = ends
    if offer.contractual and {Open.EXTRA, Open.NETWORK, Open.FABRIC} & set(open_):
        high = float("inf")
    barred = any(term in needed() for term in offer.refuses)
    firm = offer.contractual and Open.OLD not in open_
    return Reach(
        mean,
        mean * low,
        mean * high,
        open=bool(SETTLED_FIRST & set(open_)),
        firm=firm,
        barred=barred,
        apart=Open.EXTRA in open_,
        expired=offer.contractual and Open.OLD in open_,
        old=not offer.contractual and Open.OLD in open_,
        ready=ready >= given.params.schedule.share_wanted,
    )
