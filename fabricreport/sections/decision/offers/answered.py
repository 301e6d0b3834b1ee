"""An offer, or a published price, with what its seller answered besides: terms that it leaves out, and its own fabric."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import timedelta

from fabricreport.answer_effects import Effect
from fabricreport.answer_terms import Term
from fabricreport.books.offers.offer import Network, Offer, OfferAddOn, OfferRung
from fabricreport.books.offers.terms import UNNAMED
from fabricreport.books.providers import folded
from fabricreport.durations import DAYS_PER_WEEK
from fabricreport.inputs import Inputs
from fabricreport.models.audit.answering import Observed, updated
from fabricreport.sections.offered_fabric import option_of
from fabricreport.uncertain import Uncertain

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
