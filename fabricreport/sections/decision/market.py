"""What is sold when: options of one generation side by side, purchases too far ahead for prices, and newer prices that are held."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from typing import Any

import numpy as np

from fabricreport.base.errors import InputError
from fabricreport.base.formats import listed
from fabricreport.base.provenance import Traced, inputs_of, mean_of, plain
from fabricreport.base.uncertain import exactly
from fabricreport.books.names import item_names
from fabricreport.books.options import Option
from fabricreport.books.prices.book import Price
from fabricreport.books.prices.settlement import Held
from fabricreport.inputs.inputs import Inputs
from fabricreport.ledger.facts import Name, Named
from fabricreport.models.judgement.comparison import Comparison, Verdict
from fabricreport.models.money.ownership import Purchase
from fabricreport.scenario import changed_params
from fabricreport.sections.chain import Chain
from fabricreport.sections.client import bars
from fabricreport.sections.decision.inputs import judge_of
from fabricreport.sections.decision.offers.study import OffersResult, offers_of
from fabricreport.sections.decision.sensitivity import course_told
from fabricreport.sections.decision.turning import Search
from fabricreport.sections.tco.cost import purchases
from fabricreport.sections.tco.result import Bills


@dataclass(frozen=True)
class Market:
    """What can be ordered: shipped options, for GPUs of this maker, on this day. `years`: between two generations."""

    options: tuple[Option, ...]
    vendor: str
    day: date
    years: float

    def sells(self, option: Option) -> bool:
        """Whether it is shipped with the package, on sale that day, and sold with the client's GPUs."""
        return option.shipped and self.vendor in option.gpus_of and not (option.on_sale and option.on_sale > self.day)

    def apart(self, a: Option, b: Option) -> bool:
        """Whether two options are of different generations."""
        return abs(a.generation - b.generation) >= self.years

    def in_place_of(self, older: Option, newer: Option) -> Option | None:
        """The option of the older one's side that is of the newer one's generation; None where none is sold.

        The nearest generation first, then the family, the operating model and the link speed, the earliest on file last.
        """
        sold = (
            o
            for o in self.options
            if self.sells(o)
            and o.side == older.side
            and o.generation > older.generation
            and not self.apart(o, newer)
            and o.id != newer.id
        )
        return min(
            sold,
            key=lambda o: (
                abs(o.generation - newer.generation),
                o.family != older.family,
                o.operating_model != older.operating_model,
                o.link_gbits_per_s != newer.link_gbits_per_s,
            ),
            default=None,
        )

    def at_speed_of(self, other: Option, option: Option) -> Option | None:
        """The option like this one in family and operating model whose link is as fast as the other's, of one generation
        with it; the option itself where it is as fast, None where none is sold."""
        if option.link_gbits_per_s == other.link_gbits_per_s:
            return option
        kin = (
            o
            for o in self.options
            if self.sells(o)
            and (o.family, o.operating_model) == (option.family, option.operating_model)
            and o.link_gbits_per_s == other.link_gbits_per_s
            and not self.apart(o, other)
        )
        return min(kin, key=lambda o: abs(o.generation - other.generation), default=None)


GENERATION, SPEED = "generation", "speed"
"""Keys of the pairs: only the older option replaced, and both of one link speed as well."""
MOST_OPTIONS = 20
"""Options that params can hold."""


@dataclass(frozen=True)
class Pair:
    """Two options in the place of the two compared: `choice` stands for the advised one, `rival` for its rival.

    `gap` (draws,): the rival's total cost less the choice's; `verdict`: the printed rule applied to the two alone.
    """

    key: str
    choice: str
    rival: str
    gap: Traced
    verdict: Verdict

    @property
    def lead(self) -> float:
        """Mean of the gap."""
        return mean_of(self.gap)

    @property
    def probability(self) -> float:
        """Share of draws in which the option in the choice's place costs less; a draw without a difference counts half."""
        gap = plain(self.gap)
        return float(np.mean(gap > 0) + np.mean(gap == 0) / 2)


@dataclass(frozen=True)
class Mismatch:
    """The advised option and its rival are of different generations: the pairs in their place.

    No `pairs`: nothing of the newer generation is sold on the older one's side.
    """

    pairs: tuple[Pair, ...]

    @property
    def alike(self) -> Pair | None:
        """The pair that is most alike."""
        return self.pairs[-1] if self.pairs else None

    def turns(self, lead: float) -> bool:
        """Whether the side that leads by this much falls behind where both are alike."""
        return self.alike is not None and lead * self.alike.lead < 0


def mismatch_of(base: Chain, comparison: Comparison) -> Mismatch | None:
    """How far the comparison is one of generations; None where the two are of one."""
    given = base.given
    if given.team.rented:  # whose switches they are is the seller's business
        return None
    pair = [o for name in (comparison.choice, comparison.rival) for o in given.options if o.id == name]
    market = Market(
        tuple(o for o in given.all_options.values() if not bars(given, o)),
        str(given.params.cluster.vendor),
        given.as_of,
        given.central("evidence:rule-generation-years"),
    )
    older, newer = sorted(pair, key=lambda o: o.generation)
    if not market.apart(older, newer):
        return None
    stand_in = market.in_place_of(older, newer)
    if stand_in is None:
        return Mismatch(())
    speed = market.at_speed_of(stand_in, newer)
    places: dict[str, Mapping[str, str]] = {}
    if speed is not newer:
        places[GENERATION] = {older.id: stand_in.id, newer.id: newer.id}
    if speed is not None:
        places[SPEED] = {older.id: stand_in.id, newer.id: speed.id}
    return Mismatch(tuple(_pairs(base, comparison, places)))


def _pairs(base: Chain, comparison: Comparison, places: Mapping[str, Mapping[str, str]]) -> Iterator[Pair]:
    """Each pair with its bills: the whole chain again on the same draws, the client's other options left as they are."""
    given = base.given
    named = dict.fromkeys([*(o for pair in places.values() for o in pair.values()), *given.params.options])
    try:
        params = changed_params(given.params, {"options": [*named][:MOST_OPTIONS]}, {}, extra_options=given.all_options)
        again = base.again(given.with_params(params))
    except InputError:  # more GPUs than such switches connect
        return
    judge = judge_of(again.given)
    for key, place in places.items():
        choice, rival = place[comparison.choice], place[comparison.rival]
        totals = {o: again.bills.totals[o] for o in (choice, rival)}
        verdict = judge.verdict(replace(again.bills, totals=totals))
        yield Pair(key, choice, rival, again.bills.gap(rival, choice), verdict)


def too_fast(given: Inputs, pair: Pair) -> bool:
    """Whether an option of a pair has faster links than the client's servers carry."""
    own = float(given.params.cluster.link_gbits_per_s)
    return any(given.all_options[o].link_gbits_per_s > own for o in (pair.choice, pair.rival))


def beyond_the_servers(given: Inputs, mismatch: Mismatch | None) -> bool:
    """Whether an option of the pair most alike has."""
    return mismatch is not None and mismatch.alike is not None and too_fast(given, mismatch.alike)


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


@dataclass(frozen=True)
class Advice:
    """What is advised at a price: a course by its id, and whom to ask where published prices stand in for offers."""

    course: str
    asked: tuple[str, ...] = ()


@dataclass(frozen=True)
class HeldPrice:
    """A price of the case, the newer one that is held against it, and the advice at either; None where only one is used."""

    price: Price
    held: Held
    old: Advice | None = None
    new: Advice | None = None

    @property
    def turns(self) -> bool:
        """Whether the advice is another at the newer price."""
        return self.old != self.new


def held_of(search: Search, offers: OffersResult | None) -> tuple[HeldPrice, ...]:
    """The prices behind the totals and the offers beside which a newer one is held, by item."""
    base = search.base
    behind = inputs_of(*base.bills.totals.values())
    behind |= {p for j in offers.judged.values() for p in j.offer.prices} if offers else set()
    prices = [base.given.prices.by_id(i) for i in sorted(behind) if i.startswith("price:")]
    return tuple(_held(search, price, price.held) for price in prices if price.held is not None)


def _held(search: Search, price: Price, held: Held) -> HeldPrice:
    if not held.spans or held.price is None:
        return HeldPrice(price, held)
    old, new = (_advised(search.base.replacing({price.id: exactly(at)})) for at in (price.price, held.price))
    return HeldPrice(price, held, old, new)


def _advised(at: Chain) -> Advice:
    """The advice on these inputs."""
    judge = judge_of(at.given)
    course = judge.verdict(at.bills).course.id
    offers = offers_of(at.given, at.bills, judge, lambda figures: at.replacing(figures).bills)
    return Advice(course, tuple(sorted(offers.asked)) if offers else ())


def held_words(
    given: Inputs, found: tuple[HeldPrice, ...], pair: tuple[str, str], sellers: Mapping[str, str]
) -> Mapping[str, object]:
    """The prices by whether the advice is another at an end; `sellers` by the ids of their offers."""

    def named(one: HeldPrice) -> Iterator[tuple[str, object]]:
        if one.held.date:
            yield "day", Name(f"{one.held.date.day} {one.held.date:%B %Y}")
        if one.old is None:
            yield "alone", Name("alone")
        if one.old and one.new and one.old.course != one.new.course:
            yield "then", course_told(given, one.old.course, pair)
            yield "now", course_told(given, one.new.course, pair)
        elif one.old and one.new and one.turns:
            yield "old", Name(listed([sellers.get(o, o) for o in one.old.asked]))
            yield "new", Name(listed([sellers.get(o, o) for o in one.new.asked]))

    each = [
        Named(item_names(o.price.item).phrase, o.price.item, **{"alone": None, "then": None, **dict(named(o))})
        for o in found
    ]
    pairs = list(zip(found, each, strict=True))
    return {
        "held_turning": tuple(n for o, n in pairs if o.turns),
        "held_still": tuple(n for o, n in pairs if not o.turns),
    }
