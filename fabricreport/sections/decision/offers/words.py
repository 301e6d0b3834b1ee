"""Findings and words of the offers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from fabricreport.books.offers.offer import RANKED, Offer
from fabricreport.books.offers.terms import UNNAMED, first_question
from fabricreport.findings import Name, Named
from fabricreport.inputs import Inputs
from fabricreport.models.money.offers import Standing
from fabricreport.sections.decision.finding import DecisionFinding as F
from fabricreport.sections.decision.offers.bids import Bid
from fabricreport.sections.decision.offers.judged import Judged, Open
from fabricreport.sections.decision.offers.study import OffersResult
from fabricreport.sections.decision.offers.tables import Figure, asking, conditions, network_name
from fabricreport.sections.decision.result import DecisionResult
from fabricreport.sections.stance import direction
from fabricreport.vocabulary import Confidence, Ground

_OPENS = {
    Standing.LISTED: F.OPENS_OFFERS_LISTED,
    Standing.TAKE: F.OPENS_OFFERS_TAKE,
    Standing.TAKE_IF: F.OPENS_OFFERS_TAKE_IF,
    Standing.TAKE_WITHIN: F.OPENS_OFFERS_WITHIN,
    Standing.RENEW: F.OPENS_OFFERS_RENEW,
    Standing.EITHER: F.OPENS_OFFERS_EITHER,
    Standing.NONE: F.OPENS_OFFERS_NONE,
}

_CONDITIONAL = (Standing.TAKE_IF, Standing.TAKE_WITHIN, Standing.RENEW)
_AGAINST = {"less": "more than", "more": "less than", "same": "from"}
"""A positive gap is what a lead prints as: there the first is said to cost less."""


def opening(found: OffersResult) -> F:
    """How page one opens for a client that is offered hours."""
    alone = found.pick.standing == Standing.TAKE and len(found.judged) == 1
    return F.OPENS_OFFERS_ALONE if alone else _OPENS[found.pick.standing]


def offer_findings(result: DecisionResult, *, late: bool) -> Iterator[F]:
    """What is true of the offers; nothing where there are none."""
    found = result.offers
    if result.bids:
        yield F.BIDS
    if found is None:
        return
    yield F.OFFERS
    yield F.OFFERS_PUBLISHED if found.listed else F.OFFERS_MADE
    if found.listed:
        yield F.OFFERS_ASK_MANY if len(found.asked) > 1 else F.OFFERS_ASK_ONE
    if late:
        yield F.OFFERS_LATE
    if len(found.judged) > 1:
        yield F.OFFERS_DIFFER
    elif found.best:
        yield F.OFFERS_ONE_WITHOUT if found.best.without_network else F.OFFERS_ONE
    yield from _of_the_first(found)
    yield from _in_time(found)
    if _one_network(found):
        yield F.OFFERS_ALIKE
    if found.having(Open.OLD):
        yield F.OFFERS_OLD
    if found.having(Open.EXTRA):
        yield F.OFFERS_EXTRA
    if found.having(Open.NETWORK):
        yield F.OFFERS_UNSURE
        if found.listed:
            yield F.OFFERS_ELSEWHERE
    if any(j.offer.add_ons for j in found.judged.values()):
        yield F.OFFERS_ADD_ONS
    if any(j.reach.barred for j in found.judged.values()):
        yield F.OFFERS_REFUSED
    if found.unpriced:
        yield F.OFFERS_UNPRICED
    if found.apart:
        yield F.OFFERS_APART
    if any(not j.named for j in found.judged.values()):
        yield F.OFFERS_UNNAMED
    yield from _of_fabrics(result)


def _of_the_first(found: OffersResult) -> Iterator[F]:
    """On what conditions the first offer is advised, and what stands behind it."""
    standing, best, other = found.pick.standing, found.best, found.next
    if best is None:
        return
    if standing == Standing.TAKE:
        if other:
            yield F.OFFERS_AHEAD
        if best.open:
            yield F.OFFERS_ASKS
        elif found.settled(best.offer.id):
            yield F.OFFERS_CLEAR
    within = standing == Standing.TAKE_WITHIN
    if within:
        yield F.OFFERS_WITHIN if found.room is not None else F.OFFERS_WITHIN_ALONE
    if standing == Standing.RENEW and best.without_network:
        yield F.OFFERS_WITHOUT
    if standing in _CONDITIONAL:
        if other is None:
            yield F.OFFERS_NO_ELSE
        elif not other.open:
            yield F.OFFERS_ELSE_WITHIN if within else F.OFFERS_ELSE
        else:
            yield F.OFFERS_ELSE_WITHIN_ASKED if within else F.OFFERS_ELSE_ASKED
    if found.room is not None and not within and {Open.NETWORK, Open.EXTRA} & {*best.open}:
        yield F.OFFERS_ROOM


def _in_time(found: OffersResult) -> Iterator[F]:
    """Whether the offer to take is likely to be ready by the client's date, and what is passed over because it is not."""
    if found.listed or found.best is None:
        yield F.OFFERS_UNDATED
        return
    yield F.OFFERS_DATED
    if found.likely_late(found.pick.first):
        yield F.OFFERS_NOT_READY
    if found.next and found.pick.standing in _CONDITIONAL and found.likely_late(found.pick.second):
        yield F.OFFERS_ELSE_LATE
    if found.pick.late:
        yield F.OFFERS_PASSED


def _one_network(found: OffersResult) -> str:
    """The fabric that several offers all name; '' where there is one offer, or they differ or name none."""
    named = {j.offer.fabric for j in found.judged.values()}
    return min(named) if len(found.judged) > 1 and len(named) == 1 and not named & {*UNNAMED} else ""


def _of_fabrics(result: DecisionResult) -> Iterator[F]:
    """What the network's name is worth beside the rents."""
    if len(result.totals) > 1:
        idle = result.ground in (Ground.SIZE, Confidence.DOES_NOT_MATTER)
        yield F.OFFERS_NAME_IDLE if idle else F.OFFERS_NAME_COUNTS


def offer_words(given: Inputs, result: DecisionResult, figure: Figure) -> Mapping[str, object]:
    """The words of the sentences on offers; None where there are none."""
    found, names = result.offers, {o.id: o.name for o in given.options}
    judged = found.judged if found else {}
    refused = [j for j in judged.values() if j.reach.barred]
    return {
        "first_offer": _named(figure, found.best) if found and found.best else None,
        "second_offer": _named(figure, found.next) if found and found.next else None,
        "asked_first": Name(listed(judged[o].offer.seller for o in found.asked)) if found else None,
        "bids": tuple(_bid(names, figure, b, key) for key, b in result.bids.items()),
        "late_sellers": Name(listed(judged[o].offer.seller for o in found.pick.late))
        if found and found.pick.late
        else None,
        "refusing": Name(listed(j.offer.seller for j in refused)) if refused else None,
        "one_network": Name(network_name(given, _one_network(found))) if found and _one_network(found) else None,
        "unpriced_sellers": Name(listed(found.unpriced)) if found and found.unpriced else None,
        "apart_sellers": Name(listed(f"{o.seller} ({_why_apart(o)})" for o in found.apart))
        if found and found.apart
        else None,
    }


def _named(figure: Figure, judged: Judged) -> Named:
    """A seller, with its price and every question that has to be answered before it is signed with."""
    asks = Name(" ".join(first_question(what) for what in conditions(judged)))
    first = Name(first_question(asking(judged)))
    return Named(judged.offer.seller, judged.offer.id, asks=asks, first_ask=first, price=figure(judged.price))


def _bid(names: Mapping[str, str], figure: Figure, bid: Bid, key: str) -> Named:
    """A seller of pieces, and whether its prices make the bill less, more, or leave it the same."""
    way = _AGAINST[direction(figure(f"decision.bids.gap.{key}"))]
    return Named(bid.offer.seller, key, option=Name(names[bid.option]), way=way)


def _why_apart(offer: Offer) -> str:
    """Why no term can be had at a price: it is a spot or a marketplace price, or the host decides on the network."""
    return "network by host" if offer.kind in RANKED else str(offer.kind)


def listed(names: Iterable[str]) -> str:
    """Names in a sentence: A, B and C."""
    *most, last = list(names) or [""]
    return f"{', '.join(most)} and {last}" if most else last
