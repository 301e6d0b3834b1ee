"""Newer prices that are held until somebody settles them: what they are, and what would be advised at either end."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from fabricreport.books.names import item_names
from fabricreport.books.prices.book import Price
from fabricreport.books.prices.settling import Held
from fabricreport.chain import Chain
from fabricreport.findings import Name, Named
from fabricreport.formats import listed
from fabricreport.inputs import Inputs
from fabricreport.provenance import inputs_of
from fabricreport.sections.decision.inputs import judge_of
from fabricreport.sections.decision.offers.study import OffersResult, offers_of
from fabricreport.sections.decision.turning import Search
from fabricreport.sections.decision.turning_words import course_told
from fabricreport.uncertain import exactly


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
