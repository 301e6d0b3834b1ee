"""Sellers that the params name and the library does not know: a slip of the pen leaves a renter's memo without a price."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from fabricreport.as_run import is_rented
from fabricreport.books.offers.offer import Offer
from fabricreport.books.providers import folded, read_providers
from fabricreport.errors import Problem
from fabricreport.hostile_text import visible
from fabricreport.located import did_you_mean
from fabricreport.scenario import Params, slugify
from fabricreport.sections.listed_offers import listed_sellers

_RIGHT = "Right if it is a seller we do not know"


def unknown_sellers(params: Params, offers: Sequence[Offer], prices: Iterable[str]) -> Iterator[Problem]:
    """One note for each seller of the params or an offer that the library does not know; `prices`: ids of its price book.

    Without a name like it only where the advice rests on what is published: a renter without offers, and a seller who has
    answered nothing.
    """
    library = [*listed_sellers(prices), *_named()]
    offered, asked = [offer.seller for offer in offers], [provider.name for provider in params.providers]
    resting = is_rented(params) and not offers
    for number, provider in enumerate(params.providers):
        place = Problem("", key=f"providers[{number}].name")
        yield from _unknown(provider.name, library, offered, place, needed=resting and not provider.answers)
    for offer in offers:
        place = Problem("", offer.file, offer.lines.get("seller"), f"{offer.key}.seller" if offer.key else "seller")
        yield from _unknown(offer.seller, library, asked, place, needed=False)


def _unknown(
    name: str, library: Sequence[str], beside: Iterable[str], place: Problem, *, needed: bool
) -> Iterator[Problem]:
    """The note of one seller; `beside` are the names that others of these params go by: one that is the same is meant."""
    if slugify(name) in map(slugify, library) or folded(name) in map(folded, beside):
        return
    close = _near(name, (*library, *beside))
    if not (close or needed):
        return
    message = f"no published price or network of '{visible(name)}' is in the library"
    remedy = f"{_RIGHT}." if close else f"{_RIGHT}: the memo has no price of theirs until an offer names one."
    yield replace(place, message=message, remedy=remedy, suggestion=close)


def _near(name: str, known: Sequence[str]) -> str:
    """A known name that is a slip away, or begins with the same word; unlike ids, names of sellers are much alike."""
    first = slugify(name.split()[0])
    return did_you_mean(name, known, slips_only=True) or next((k for k in known if slugify(k.split()[0]) == first), "")


def _named() -> Iterator[str]:
    """Names of the shipped tables, that of a price file first, so that of two spellings the seller's own is told."""
    book = read_providers()
    for seller in book.sellers:
        yield from (*seller.listed_as, *seller.name.split("/"), seller.name)
    for contract in book.contracts_only:
        yield from (contract.id, contract.name)
