"""Rents of GPU time: what a term takes off them, published prices by seller, and which of the options compared an offer is for.

Published prices stand in for offers until there are some. One reading of them serves every section, so that the price of one seller
is the same figure wherever it is printed.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from fabricreport.base.uncertain import Uncertain, exactly
from fabricreport.books.equipment import families, gpu_types
from fabricreport.books.names import seller_names
from fabricreport.books.options import Option
from fabricreport.books.prices.rules import product_named, term_months
from fabricreport.books.sellers import UNNAMED, Kind, Network, Offer, OfferRung, Seller, read_providers
from fabricreport.inputs.effects import Effect
from fabricreport.inputs.inputs import Inputs
from fabricreport.scenario import slugify

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


_ENDS = {"": Kind.ON_DEMAND, "-list": Kind.LIST, "-marketplace": Kind.MARKETPLACE, "-spot": Kind.SPOT}
_PANELS = ("-on-demand", "-hyperscaler", "-hyperscaler-on-demand", "-index")
"""Ends of rents that are of many sellers at once."""
_LASTING = (Kind.TERM, Kind.ON_DEMAND, Kind.LIST)


@dataclass(frozen=True)
class Listing:
    """The published prices of the sellers asked about.

    `ranked`: those at which a term can be had on a fabric that is named. `apart`: spot and marketplace prices, and those of
    sellers whose fabric varies by host. `unpriced`: names of sellers without any dated price that was found; `undated`: of
    these, by name, the entry of the price that an article has of a day unknown. `slow`: names of those who document slower links
    than the client asks for.
    """

    ranked: tuple[Offer, ...] = ()
    apart: tuple[Offer, ...] = ()
    unpriced: tuple[str, ...] = ()
    undated: Mapping[str, str] = field(default_factory=dict)
    slow: tuple[str, ...] = ()


def listing(given: Inputs) -> Listing:
    """The newest price of each provider named in the params, or of every known one if none is named."""
    names = [p.name for p in given.params.providers] or [s.name for s in read_providers().sellers]
    found = {name: _newest(given, name) for name in names}
    slow = [name for name, offer in found.items() if offer is not None and _too_slow(given, offer)]
    offers = [offer for name, offer in found.items() if offer is not None and name not in slow]
    ranked = [o for o in offers if o.kind in _LASTING and o.fabric != UNNAMED[1]]
    return Listing(
        tuple(ranked),
        tuple(o for o in offers if o not in ranked),
        tuple(name for name, offer in found.items() if offer is None),
        {name: entry for name, offer in found.items() if offer is None for entry in _undated(given, name)},
        tuple(slow),
    )


def _too_slow(given: Inputs, offer: Offer) -> bool:
    """Whether its seller documents slower links between servers than the client asks for, and it needs some."""
    cluster = given.params.cluster
    seller = read_providers().seller(offer.seller)
    fastest = seller.link_high_gbits_per_s if seller else None
    slower = fastest is not None and fastest < float(cluster.link_gbits_per_s)
    return slower and cluster.final_gpus > cluster.gpus_per_node


def listed_sellers(prices: Iterable[str]) -> tuple[str, ...]:
    """The sellers of GPU time among the ids of prices, as these spell them (`voltage-park`)."""
    gpus = sorted(gpu_types().known, key=len, reverse=True)
    found: dict[str, None] = {}
    for rest in (price.removeprefix("gpu-hour-") for price in prices if price.startswith("gpu-hour-")):
        gpu = next((gpu for gpu in gpus if rest.startswith(f"{gpu}-")), rest.partition("-")[0])
        seller = rest[len(gpu) + 1 :]
        seller = seller.removesuffix(f"-{product_named(rest)}")
        found |= {} if f"-{seller}" in (*_ENDS, *_PANELS) or not seller else {seller: None}
    return tuple(found)


def _undated(given: Inputs, name: str) -> Iterator[str]:
    """Entries of the evidence about a seller that are a price of a GPU-hour without a date."""
    seller = read_providers().seller(name)
    for entry in seller.notes if seller else ():
        record = given.record(entry)
        if record["unit"] == "usd/gpu-hour" and record["date"] == "undated":
            yield entry


def _newest(given: Inputs, name: str) -> Offer | None:
    """A seller's newest price for a term, else its newest of another kind; None where none is known."""
    seller = read_providers().seller(name)
    known = [*_prices(given, name)]
    lasting = [found for found in known if found[1] in _LASTING]
    if not known:
        return _answered_alone(given, name, seller)
    item, kind = max(
        lasting or known,
        key=lambda found: (
            not given.prices[found[0]].stale,
            found[1] == Kind.TERM,
            given.prices[found[0]].date,
            found[0],
        ),
    )
    return _offer(given, name, seller, f"price:{item}", kind)


def _offer(given: Inputs, name: str, seller: Seller | None, price: str, kind: Kind) -> Offer:
    """A price of a seller as an offer, with what the shipped table knows of its network."""
    return Offer(
        id=seller.id if seller else slugify(name),
        seller=name,
        kind=kind,
        fabric=seller.fabric if seller else UNNAMED[0],
        network=_network(seller, given.prices.by_id(price).network if price.startswith("price:") else ""),
        product=seller.availability if seller else "",
        topology=seller.stated_topology if seller else "",
        generation=seller.generation if seller else "",
        rungs=(OfferRung(0, price),),
        known_as=seller.id if seller else "",
    )


def _answered_alone(given: Inputs, name: str, seller: Seller | None) -> Offer | None:
    """The price that a seller answered, where none of it is published."""
    term = given.answered.terms_of(name).get(Effect.PRICE) if given.answer_files else None
    return None if term is None else _offer(given, name, seller, term.input_id, Kind.LIST)


def _prices(given: Inputs, name: str) -> Iterator[tuple[str, Kind]]:
    gpu = given.params.cluster.gpu
    for slug in slugs(name):
        for item in for_the_term(given, slug):
            yield item, Kind.TERM
        for end, kind in _ENDS.items():
            if (item := f"gpu-hour-{gpu}-{slug}{end}") in given.prices:
                yield item, kind


def _network(seller: Seller | None, stated: str) -> Network:
    """Whether the price found holds the network: as its row says, else surely where every GPU node has it, and not where it
    is sold as an add-on."""
    if stated:
        return Network(stated)
    if seller is None:
        return Network.UNKNOWN
    if seller.add_on:
        return Network.EXTRA
    return Network.INCLUDED if seller.every_gpu_node else Network.UNKNOWN


def option_of(given: Inputs, fabric: str) -> Option | None:
    """The option compared that an offer's fabric is: itself, the first of its family, or the first of its family's side."""
    by_id = {o.id: o for o in given.options}
    if fabric in by_id:
        return by_id[fabric]
    of_family = [o for o in given.options if o.family == fabric]
    side = families()[fabric].side if fabric in families() else None
    return next(iter([*of_family, *(o for o in given.options if o.side == side)]), None)
