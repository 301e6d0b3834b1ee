"""Rules on one offer, the same whether it stands in the params or in a file of its own."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from fabricreport.books.families import families
from fabricreport.books.offers.offer import Network
from fabricreport.books.offers.terms import UNNAMED, refusable
from fabricreport.durations import DAYS_PER_MONTH
from fabricreport.located import KeyPath, did_you_mean
from fabricreport.scenario.finding import Finding
from fabricreport.scenario.offers import Offer

if TYPE_CHECKING:
    from fabricreport.scenario.schema import Params


def offer_findings(offer: Offer, params: Params, at: KeyPath = ()) -> Iterator[Finding]:
    """Every broken rule of an offer that stands at this key."""
    for rule in (_dates, _goods, _trade, _fabric, _prices, _refused):
        yield from rule(offer, params, at)


def _dates(offer: Offer, params: Params, at: KeyPath) -> Iterator[Finding]:
    if offer.date > params.as_of:
        yield Finding(
            "offer-after-memo",
            (*at, "date"),
            f"is after the memo's date, {params.as_of.isoformat()}",
            offer.date.isoformat(),
            "Date the memo later, or leave the offer out.",
            uses=(("as_of",),),
        )
    if offer.expiry < offer.date:
        yield Finding(
            "offer-ends-before-it-begins",
            (*at, "expiry"),
            f"lies before the offer's own date, {offer.date.isoformat()}",
            offer.expiry.isoformat(),
            "Correct one of the two.",
        )

    horizon = params.money.horizon_months
    if offer.start is not None and (offer.start - params.as_of).days >= horizon * DAYS_PER_MONTH:
        yield Finding(
            "offer-after-horizon",
            (*at, "start"),
            f"lies after the horizon, {horizon} months from the memo's date",
            offer.start.isoformat(),
            "Ask for an earlier day, correct it, or leave the offer out.",
            uses=(("as_of",), ("money", "horizon_months")),
        )


def _goods(offer: Offer, params: Params, at: KeyPath) -> Iterator[Finding]:
    cluster = params.cluster
    if offer.gpu is not None and offer.gpu != cluster.gpu:
        yield Finding(
            "offer-of-other-gpus",
            (*at, "gpu"),
            f"is another GPU than cluster.gpu, {cluster.gpu}",
            offer.gpu,
            "Ask the seller for that GPU, or leave the offer out.",
            uses=(("cluster", "gpu"),),
        )
    if offer.size is not None and offer.size < cluster.gpus:
        yield Finding(
            "offer-too-small",
            (*at, "size"),
            f"is fewer GPUs than cluster.gpus, {cluster.gpus}",
            offer.size,
            "Ask for all of them in one network, or leave the offer out.",
            uses=(("cluster", "gpus"),),
        )


def _trade(offer: Offer, params: Params, at: KeyPath) -> Iterator[Finding]:
    rents = params.money.acquisition == "rent"
    hourly = offer.price_per_gpu_hour is not None or bool(offer.ladder)
    wrong = "items" if rents and offer.items else "price_per_gpu_hour" if hourly and not rents else ""
    if wrong:
        trade = "rents, and is offered hours" if rents else "buys, and is offered pieces"
        yield Finding(
            "offer-of-another-trade",
            (*at, wrong if getattr(offer, wrong) is not None else "ladder"),
            f"the client {trade}",
            "",
            "Leave it out, or correct money.acquisition.",
            uses=(("money", "acquisition"),),
        )
    elif not (hourly if rents else offer.items):
        needed = "price_per_gpu_hour or ladder" if rents else "items"
        price = (*at, "price_per_gpu_hour" if rents else "items")
        remedy = f"Add {needed}."
        yield Finding("offer-without-price", (*at, "seller"), "asks no price", offer.seller, remedy, uses=(price,))


def _fabric(offer: Offer, params: Params, at: KeyPath) -> Iterator[Finding]:
    known = (*params.options, *families(), *UNNAMED)
    if offer.fabric not in known:
        yield Finding(
            "",
            (*at, "fabric"),
            "is no option that is compared and no family of fabrics",
            offer.fabric,
            f"Write one of {', '.join(known)}.",
            did_you_mean(offer.fabric, known),
            uses=(("options",),),
        )


def _prices(offer: Offer, params: Params, at: KeyPath) -> Iterator[Finding]:
    for n, add_on in enumerate(offer.add_ons):
        if (add_on.price_per_gpu_hour is None) == (add_on.price_per_month is None):
            message = "needs one price: for a GPU-hour or for a month"
            yield Finding("offer-without-price", (*at, "add_ons", n), message, add_on.name, "Write one of the two.")
    if Network(offer.network) is Network.ADD_ON and not any(a.needed for a in offer.add_ons):
        yield Finding(
            "offer-without-price",
            (*at, "network"),
            "is said to be in an add-on, and no add-on is needed",
            offer.network,
            "Add it to add_ons, or write extra.",
        )
    first = [] if offer.price_per_gpu_hour is None else [offer.term_months]
    yield from _twice(at, "ladder", "months", [*first, *(r.months for r in offer.ladder)])
    yield from _twice(at, "items", "item", [i.item for i in offer.items])


def _twice(at: KeyPath, name: str, key: str, values: list[Any]) -> Iterator[Finding]:
    for n, value in enumerate(values):
        if value in values[:n]:
            yield Finding("given-twice", (*at, name), f"has this {key} twice", value, "Keep one of the two.")


def _refused(offer: Offer, params: Params, at: KeyPath) -> Iterator[Finding]:
    known = refusable()
    for n, term in enumerate(offer.refuses):
        if term not in known:
            remedy = f"One of: {', '.join(known)}."
            close = did_you_mean(term, known)
            yield Finding("", (*at, "refuses", n), "is no term or question", term, remedy, close)
