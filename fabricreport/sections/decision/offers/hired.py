"""At what price a renter's hours are counted: that of the offer advised, whatever the market asks."""

from __future__ import annotations

from functools import partial

from fabricreport.chain import Chain
from fabricreport.sections.decision.inputs import judge_of
from fabricreport.sections.decision.offers.judged import hour_of
from fabricreport.sections.decision.offers.study import offers_of
from fabricreport.sections.tco.inputs import Hired


def at_offer(base: Chain) -> Chain:
    """The same chain at the price of the offer to take or to ask first; at the market's rent where there is none.

    No offer is judged by the rent of others, so that this price moves none of them.
    """
    given = base.given
    if not given.team.rented:
        return base
    found = offers_of(given, base.bills, judge_of(given), lambda figures: base.replacing(figures).bills)
    best = found.best if found else None
    if best is None:
        return base if base.hired is None else base.at(None)
    return base.at(Hired(partial(hour_of, offer=best.offer, price_id=best.price), best.offer.contractual))
