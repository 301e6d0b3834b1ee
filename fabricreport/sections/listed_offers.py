"""Published prices of GPU time by seller: the newest that the price book holds for the client's GPU, as it was found.

They stand in for offers until there are some. One reading of them serves every section, so that the price of one seller
is the same figure wherever it is printed.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from fabricreport.answer_effects import Effect
from fabricreport.books.gpus import gpu_types
from fabricreport.books.offers.offer import Kind, Network, Offer, OfferRung
from fabricreport.books.offers.terms import UNNAMED
from fabricreport.books.prices.rules import product_named
from fabricreport.books.providers import Seller, read_providers
from fabricreport.inputs import Inputs
from fabricreport.scenario import slugify
from fabricreport.sections.rent_terms import for_the_term, slugs

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

    ranked: tuple[Offer, ...]
    apart: tuple[Offer, ...]
    unpriced: tuple[str, ...]
    undated: Mapping[str, str]
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
