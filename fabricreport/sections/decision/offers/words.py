"""Findings and words of the offers."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from fabricreport.books.names import whole_names
from fabricreport.books.offers.offer import RANKED, Kind, Offer
from fabricreport.books.offers.terms import UNNAMED, first_question
from fabricreport.findings import Name, Named
from fabricreport.formats import listed
from fabricreport.inputs import Inputs
from fabricreport.ledger import FigureOf
from fabricreport.models.money.offers import Standing
from fabricreport.provenance import mean_of
from fabricreport.sections.decision.finding import DecisionFinding as F
from fabricreport.sections.decision.offers.bids import Bid
from fabricreport.sections.decision.offers.judged import Judged, Open
from fabricreport.sections.decision.offers.study import OffersResult
from fabricreport.sections.decision.offers.tables import asking, conditions
from fabricreport.sections.decision.result import DecisionResult
from fabricreport.sections.stance import direction
from fabricreport.vocabulary import Confidence, CourseKind, Ground

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
_KINDS: Mapping[Kind, str] = {Kind.OFFER: "offered", Kind.TERM: "term", Kind.ON_DEMAND: "on-demand", Kind.LIST: "list"}
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
        yield F.OFFERS_ASK_MANY if found.unranked else F.OFFERS_ASK_ONE
        if any(t.assumed for t in found.terms.values()):
            yield F.OFFERS_TERMS_ASSUMED
    if late:
        yield F.OFFERS_LATE
    if len(found.judged) > 1:
        yield F.OFFERS_DIFFER
    elif found.best:
        yield F.OFFERS_ONE_WITHOUT if found.best.without_network else F.OFFERS_ONE
    yield from _of_the_first(found)
    yield from _in_time(found)
    yield from _of_all(found)
    yield from _of_fabrics(result, found)
    single = result.courses.row(CourseKind.SINGLE_NODE)
    if single and single.key != result.courses.advised.kind and _has_level(result):
        yield F.OFFERS_SINGLE_NODE_CHEAPER if mean_of(single.against) < 0 else F.OFFERS_SINGLE_NODE_DEARER


def _has_level(result: DecisionResult) -> bool:
    """Whether jobs within single nodes are another course, and the rent is told at which they cost the same."""
    return result.courses.single.days is not None and result.courses.single.level_rent is not None


def _of_all(found: OffersResult) -> Iterator[F]:
    """What is open, refused or missing among all of them."""
    if found.having(Open.OLD):
        yield F.OFFERS_OLD
    if any(j.offer.add_ons for j in found.judged.values()):
        yield F.OFFERS_ADD_ONS
    if _unpriced(found):
        yield F.OFFERS_UNPRICED
    if found.apart:
        yield F.OFFERS_APART
    if found.slow:
        yield F.OFFERS_SLOW
    if any(not j.named for j in found.judged.values()):
        yield F.OFFERS_UNNAMED


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
    if found.room is None or other is None or within:
        return
    if found.listed:
        yield F.OFFERS_LEAVE
    elif {Open.NETWORK, Open.EXTRA} & {*best.open}:
        yield F.OFFERS_ROOM


def _in_time(found: OffersResult) -> Iterator[F]:
    """Whether the offer to take is likely to be ready by the client's date, and what is passed over because it is not."""
    if found.listed or found.best is None:
        yield F.OFFERS_NO_DAY
        return
    yield F.OFFERS_DAY
    if found.likely_late(found.pick.first):
        yield F.OFFERS_NOT_READY
    if found.next and found.pick.standing in _CONDITIONAL and found.likely_late(found.pick.second):
        yield F.OFFERS_ELSE_LATE
    if found.pick.late:
        yield F.OFFERS_PASSED


def _one_network(found: OffersResult) -> bool:
    """Whether there are several offers, and all name one fabric."""
    named = {j.offer.fabric for j in found.judged.values()}
    return len(found.judged) > 1 and len(named) == 1 and not named & {*UNNAMED}


def _unpriced(found: OffersResult) -> tuple[str, ...]:
    """Sellers of whom not even a price without a date was found."""
    return tuple(name for name in found.unpriced if name not in found.undated)


def _of_fabrics(result: DecisionResult, found: OffersResult) -> Iterator[F]:
    """What the network's name is worth beside the rents; nothing where it is worth little and all name the same."""
    idle = result.ground in (Ground.SIZE, Confidence.DOES_NOT_MATTER)
    if len(result.totals) > 1 and not (idle and _one_network(found)):
        yield F.OFFERS_NAME_IDLE if idle else F.OFFERS_NAME_COUNTS


def offer_words(given: Inputs, result: DecisionResult, figure: FigureOf) -> Mapping[str, object]:
    """The words of the sentences on offers; None where there are none."""
    offers, names = result.offers, whole_names(given.options)

    def of(said: Callable[[OffersResult], object]) -> object:
        return said(offers) if offers else None

    return {
        "first_offer": of(lambda found: _named(figure, found.best)),
        "second_offer": of(lambda found: _named(figure, found.next)),
        "asked_all": of(lambda found: _sellers(found, found.asked)),
        "assumed_terms": of(_assumed),
        "termed": of(_termed) or (),
        "moved": of(lambda found: tuple(Named(found.judged[o].offer.seller, o) for o in found.moved)) or (),
        "slow_sellers": of(lambda found: _names(found.slow)),
        "price_kinds": of(lambda found: Name(_kinds(found))),
        "undated": of(lambda found: _undated(figure, found)) or (),
        "bids": tuple(_bid(names, figure, b, key) for key, b in result.bids.items()),
        "late_sellers": of(lambda found: _sellers(found, found.pick.late)),
        "refusing": of(lambda found: _names([j.offer.seller for j in found.judged.values() if j.reach.barred])),
        "unpriced_sellers": of(lambda found: _names(_unpriced(found))),
        "apart_sellers": of(lambda found: _names([f"{o.seller} ({_why_apart(o)})" for o in found.apart])),
    }


def _termed(found: OffersResult) -> tuple[Named, ...]:
    """Sellers who publish what a term takes off, each with the entry or price that says so."""
    told = {o: t for o, t in found.terms.items() if not t.assumed and t.behind}
    return tuple(Named(found.judged[o].offer.seller, o, sources=tuple(sorted(t.behind))) for o, t in told.items())


def _assumed(found: OffersResult) -> Named | None:
    """Sellers who publish none, in one name; its figures are those of the first."""
    ids = [o for o, t in found.terms.items() if t.assumed]
    return Named(listed([found.judged[o].offer.seller for o in ids]), ids[0]) if ids else None


def _names(names: Sequence[str]) -> Name | None:
    """Names as a sentence lists them; None where there are none."""
    return Name(listed(names)) if names else None


def _sellers(found: OffersResult, offers: Sequence[str]) -> Name | None:
    """Who makes these offers, likewise."""
    return _names([found.judged[o].offer.seller for o in offers])


def _undated(figure: FigureOf, found: OffersResult) -> tuple[Named, ...]:
    """Sellers with a price of a day unknown, and that price."""
    return tuple(Named(name, entry, price=figure(entry), sources=(entry,)) for name, entry in found.undated.items())


def _kinds(found: OffersResult) -> str:
    """What sorts of price stand in the table."""
    return " or ".join(dict.fromkeys(_KINDS[j.offer.kind] for j in found.judged.values()))


def _named(figure: FigureOf, judged: Judged | None) -> Named | None:
    """A seller, with its price and every question that has to be answered before it is signed with; None without one."""
    if judged is None:
        return None
    asks = Name(" ".join(first_question(what) for what in conditions(judged)))
    first = Name(first_question(asking(judged)))
    return Named(judged.offer.seller, judged.offer.id, asks=asks, first_ask=first, price=figure(judged.price))


def _bid(names: Mapping[str, str], figure: FigureOf, bid: Bid, key: str) -> Named:
    """A seller of pieces, and whether its prices make the bill less, more, or leave it the same."""
    way = _AGAINST[direction(figure(f"decision.bids.gap.{key}"))]
    return Named(bid.offer.seller, key, option=Name(names[bid.option]), way=way)


def _why_apart(offer: Offer) -> str:
    """Why no term can be had at a price: it is a spot or a marketplace price, or the host decides on the network."""
    return "network by host" if offer.kind in RANKED else str(offer.kind)
