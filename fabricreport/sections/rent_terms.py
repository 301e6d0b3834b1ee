"""What a term takes off a rent: published prices are on demand, and a renter asks for months."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from fabricreport.books.names import seller_names
from fabricreport.books.offers.offer import Offer
from fabricreport.books.prices.rules import term_months
from fabricreport.books.providers import read_providers
from fabricreport.inputs import Inputs
from fabricreport.scenario import slugify
from fabricreport.uncertain import Uncertain, exactly

ASSUMED = "evidence:rent-term-discount"
"""The discount of a seller who publishes none."""


@dataclass(frozen=True)
class TermDiscount:
    """The discount of one seller as a share, what it rests on, and the `entry` that names it; `left`: what it leaves of a price."""

    entry: str
    share: Uncertain
    behind: frozenset[str]

    @property
    def left(self) -> Uncertain:
        """The factor that it makes of a price."""
        if self.share.fixed:
            return exactly(1.0 - self.share.mode)
        return Uncertain.of({"low": 1.0 - self.share.high, "high": 1.0 - self.share.low})

    @property
    def assumed(self) -> bool:
        """Whether the seller publishes none."""
        return self.entry == ASSUMED


def term_discount(given: Inputs, offer: Offer) -> TermDiscount:
    """What a seller takes off his list for the term: by his reserved price, else as he says, else as assumed.

    "Up to" is an end, and a price "from" is one: anything between nothing and it. A price that is for a term is whole.
    """
    price = offer.rungs[0].price if offer.rungs else ""
    if term_months(price):
        return TermDiscount(price, exactly(0.0), frozenset())
    asked = given.prices.by_id(price) if price else None
    for slug in slugs(offer.seller):
        reserved = f"gpu-hour-{given.params.cluster.gpu}-{slug}-reserved"
        if asked and reserved in given.prices and 0 < given.prices[reserved].price < asked.price:
            most = 1.0 - given.prices[reserved].price / asked.price
            behind = frozenset({price, f"price:{reserved}"})
            return TermDiscount(f"price:{reserved}", Uncertain.of({"low": 0.0, "high": most}), behind)
        for entry in (*_of_a_term(given, f"{ASSUMED}-{slug}"), f"{ASSUMED}-{slug}"):
            if entry.partition(":")[2] in given.evidence:
                return TermDiscount(entry, given.uncertain(entry), frozenset({entry}))
    return TermDiscount(ASSUMED, given.uncertain(ASSUMED), frozenset({ASSUMED}))


def _of_a_term(given: Inputs, entry: str) -> Iterator[str]:
    """What a seller publishes for a term no longer than the client's, the longest first."""
    start, most = entry.partition(":")[2], int(given.params.money.horizon_months)
    found = {
        i: int(part) for i in given.evidence if (part := i.removeprefix(f"{start}-").removesuffix("-months")).isdigit()
    }
    yield from (f"evidence:{i}" for i in sorted(found, key=lambda i: -found[i]) if found[i] <= most)


def slugs(name: str) -> tuple[str, ...]:
    """How the books may spell a seller."""
    seller = read_providers().seller(name)
    return tuple(dict.fromkeys((*map(slugify, seller_names(name)), *(seller.listed_as if seller else ()))))


def for_the_term(given: Inputs, slug: str) -> Iterator[str]:
    """The seller's items that are a price for a term no longer than the client's, the longest first."""
    start = f"gpu-hour-{given.params.cluster.gpu}-{slug}-reserved-"
    terms = {item: months for item in given.prices if item.startswith(start) and (months := term_months(item))}
    most = int(given.params.money.horizon_months)
    yield from sorted((i for i, months in terms.items() if months <= most), key=lambda i: -terms[i])
