"""Offers that no option compared could be: found before any analysis."""

from __future__ import annotations

from collections.abc import Iterator

from fabricreport.books.offers.offer import Offer
from fabricreport.books.offers.terms import UNNAMED
from fabricreport.books.quotes.terms import items_of
from fabricreport.errors import Problem
from fabricreport.inputs import Inputs
from fabricreport.located import did_you_mean
from fabricreport.sections.offered_fabric import option_of


def unfit_offers(given: Inputs) -> Iterator[Problem]:
    """One problem for each offer of a fabric that is not compared, and for each piece that its option does not take."""
    for offer in given.offers:
        option = option_of(given, offer.fabric)
        if option is None and (offer.fabric not in UNNAMED or not given.team.rented):
            compared = ", ".join(o.id for o in given.options)
            yield _at(
                offer,
                "fabric",
                "no option of it is compared",
                offer.fabric,
                f"Add one to the options, or write one of those compared: {compared}.",
                rule="offer-of-no-option",
            )
        elif option is not None:
            known = tuple(items_of(option))
            for item in offer.items:
                if item not in known:
                    remedy = f"{option.id} is priced by {', '.join(known)}."
                    message = f"is no item that {option.id} takes"
                    yield _at(offer, "items", message, item, remedy, did_you_mean(item, known))


def _at(
    offer: Offer, key: str, message: str, value: str, remedy: str, suggestion: str = "", *, rule: str = ""
) -> Problem:
    """A problem at a key of an offer, in its own file or in the params."""
    place = f"{offer.key}.{key}" if offer.key else key
    return Problem(message, offer.file, offer.lines.get(key), place, value, remedy, suggestion, rule)
