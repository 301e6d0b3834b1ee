"""What sellers offer a client: each offer as it is written, in the params or a file of its own, and as it is read.

    seller: Example Cloud            # a file holds one offer; every key is one of `scenario.candidates.Offer`
    date: 2026-11-12
    expiry: 2026-12-12
    fabric: infiniband               # a family, an option that is compared, unknown or varies
    network: included                # whether it is in the price
    price_per_gpu_hour: 2.60
    ladder: [{months: 12, price_per_gpu_hour: 2.20}]

Its amounts become prices of the price book (`offer-<id>-...`), so that each is one figure wherever it is printed. Every
fault of a file is reported at once, each with file, line, key, remedy and the nearest name.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import date
from pathlib import Path

from fabricreport.base.errors import InputError, Problem
from fabricreport.base.locations import Located
from fabricreport.base.vocabulary import Grade
from fabricreport.base.yaml_files import load_strict
from fabricreport.books.prices.book import Price, PriceView
from fabricreport.books.reader import checked
from fabricreport.books.sellers import Kind, Network, Offer, OfferAddOn, OfferRung, read_providers
from fabricreport.scenario import Offer as WrittenOffer
from fabricreport.scenario import Params, slugify
from fabricreport.scenario.rules import offer_findings


@dataclass(frozen=True)
class Stated:
    """An offer as it is written, and as it is read."""

    written: WrittenOffer
    offer: Offer


def with_offers(folder: Path, params: Params, view: PriceView) -> tuple[tuple[Offer, ...], PriceView]:
    """The offers of a client in the params' order, and the prices of the day with theirs; `InputError` with every fault."""
    stated = read_offers(folder, params)
    return tuple(one.offer for one in stated), view.plus(*(p for one in stated for p in prices_of(one, view.as_of)))


def read_offers(folder: Path, params: Params) -> tuple[Stated, ...]:
    """The offers of a client in the params' order; `InputError` with every fault of all files."""
    found: list[tuple[WrittenOffer, str, Located | None]] = []
    problems: list[Problem] = []
    for number, one in enumerate(params.offers):
        if isinstance(one, WrittenOffer):
            found.append((one, f"offers[{number}]", None))
            continue
        try:
            offer, located = read_offer(folder / str(one.file), params)
            found.append((offer, "", located))
        except InputError as error:
            problems += error.problems
    if problems:
        raise InputError(problems)
    ids: list[str] = []
    for offer, _, _ in found:
        name = slugify(offer.seller)
        ids.append(name if name not in ids else f"{name}-{sum(i.startswith(name) for i in ids) + 1}")
    return tuple(Stated(o, _read(o, i, key, at)) for i, (o, key, at) in zip(ids, found, strict=True))


def read_offer(path: Path, params: Params) -> tuple[WrittenOffer, Located]:
    """The offer of one file, and its lines. Raises `InputError` with every fault."""
    located = load_strict(path)
    if not isinstance(located.data, dict):
        remedy = "Begin with `seller:`; params/offers/example-cloud.yaml shows one."
        raise InputError(located.problem((), "must hold keys and values", remedy=remedy))
    offer = checked(located, WrittenOffer)
    faults = [
        replace(
            located.problem(f.path, f.message, value=f.value, remedy=f.remedy, suggestion=f.suggestion), rule=f.rule
        )
        for f in offer_findings(offer, params)
    ]
    if faults:
        raise InputError(faults)
    return offer, located


def _read(offer: WrittenOffer, own_id: str, key: str, located: Located | None) -> Offer:
    seller = read_providers().seller(offer.seller)
    rungs = [] if offer.price_per_gpu_hour is None else [OfferRung(offer.term_months or 0, _price(own_id, "hour"))]
    rungs += [OfferRung(r.months, _price(own_id, f"hour-{r.months}")) for r in offer.ladder]
    add_ons = (
        OfferAddOn(a.name, _price(own_id, f"add-on-{n}"), a.price_per_month is not None, a.needed)
        for n, a in enumerate(offer.add_ons, start=1)
    )
    lines = {} if located is None else {str(path[0]): line for path, line in located.lines.items() if len(path) == 1}
    return Offer(
        id=own_id,
        seller=offer.seller,
        kind=Kind.OFFER,
        fabric=offer.fabric,
        network=Network(offer.network),
        product=offer.product or "",
        topology=offer.topology or "",
        generation=offer.generation or "",
        rungs=tuple(rungs),
        size=offer.size or 0,
        minimum_share=offer.minimum_share,
        start=offer.start,
        add_ons=tuple(add_ons),
        uptime=offer.credits.uptime,
        credit=offer.credits.credit,
        cap=offer.credits.cap,
        refuses=offer.refuses,
        items={i.item: (_price(own_id, f"item-{i.item}"), i.quantity) for i in offer.items},
        known_as=seller.id if seller else "",
        key=key,
        file=located.file if located else "",
        lines=lines,
    )


def _price(own_id: str, what: str) -> str:
    return f"price:offer-{own_id}-{what}"


def prices_of(stated: Stated, as_of: date) -> Iterator[Price]:
    """The amounts of an offer as prices of the day."""
    written, offer = stated.written, stated.offer

    def price(price_id: str, amount: float, unit: str) -> Price:
        return Price(
            price_id.removeprefix("price:"), unit, amount, None, None, written.currency, written.date, written.expiry,
            f"{written.seller}, offer of {written.date.isoformat()}", Grade.QUOTE, stale=as_of > written.expiry,
            age_days=(as_of - written.date).days, file=offer.file,
        )  # fmt: skip

    amounts = [] if written.price_per_gpu_hour is None else [written.price_per_gpu_hour]
    amounts += [r.price_per_gpu_hour for r in written.ladder]
    for rung, amount in zip(offer.rungs, amounts, strict=True):
        yield price(rung.price, amount, "gpu-hour")
    for add_on, asked in zip(offer.add_ons, written.add_ons, strict=True):
        stated_price = asked.price_per_month if add_on.monthly else asked.price_per_gpu_hour
        yield price(add_on.price, float(stated_price or 0.0), "month" if add_on.monthly else "gpu-hour")
    for line in written.items:
        yield price(offer.items[line.item][0], line.price, "each")
