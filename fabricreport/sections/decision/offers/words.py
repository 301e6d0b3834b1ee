"""Words of the offers."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from fabricreport.books.names import whole_names
from fabricreport.books.offers.offer import RANKED, Kind, Offer
from fabricreport.books.offers.terms import first_question
from fabricreport.findings import Name, Named
from fabricreport.formats import listed
from fabricreport.inputs import Inputs
from fabricreport.ledger import FigureOf
from fabricreport.sections.decision.offers.bids import Bid
from fabricreport.sections.decision.offers.judged import Judged, Open
from fabricreport.sections.decision.offers.study import OffersResult
from fabricreport.sections.decision.offers.tables import asking, conditions
from fabricreport.sections.decision.result import DecisionResult
from fabricreport.sections.stance import direction

_KINDS: Mapping[Kind, str] = {Kind.OFFER: "offered", Kind.TERM: "term", Kind.ON_DEMAND: "on-demand", Kind.LIST: "list"}
_AGAINST = {"less": "more than", "more": "less than", "same": "from"}
"""A positive gap is what a lead prints as: there the first is said to cost less."""


def _unpriced(found: OffersResult) -> tuple[str, ...]:
    """Sellers of whom not even a price without a date was found."""
    return tuple(name for name in found.unpriced if name not in found.undated)


def offer_words(given: Inputs, result: DecisionResult, figure: FigureOf) -> Mapping[str, object]:
    """The words of the sentences on offers; None where there are none."""
    offers, names = result.offers, whole_names(given.options)

    def of(said: Callable[[OffersResult], object]) -> object:
        return said(offers) if offers else None

    return {
        "first_offer": of(lambda found: _named(figure, found.best)),
        "second_offer": of(lambda found: _named(figure, found.next)),
        "asked_new": of(lambda found: None if found.having(Open.OLD) else _unranked(found)),
        "asked_old": of(lambda found: _unranked(found) if found.having(Open.OLD) else None),
        "assumed_terms": of(_assumed) or (),
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


def _unranked(found: OffersResult) -> Name | None:
    """All sellers to ask where what is published does not tell which is the cheapest."""
    return _sellers(found, found.asked if found.unranked else ())


def _termed(found: OffersResult) -> tuple[Named, ...]:
    """Sellers who publish what a term takes off, each with the entry or price that says so."""
    told = {o: t for o, t in found.terms.items() if not t.assumed and t.behind}
    return tuple(
        Named(
            found.judged[o].offer.seller,
            o,
            sources=tuple(sorted(t.behind)),
            fixed=Name("fixed") if t.share.fixed else None,
        )
        for o, t in told.items()
    )


def _assumed(found: OffersResult) -> tuple[Named, ...]:
    """Sellers who publish none, in one name; its figures are those of the first."""
    ids = [o for o, t in found.terms.items() if t.assumed]
    return (Named(listed([found.judged[o].offer.seller for o in ids]), ids[0]),) if ids else ()


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
    first = Name(first_question(asking(judged))) if judged.open else None
    return Named(judged.offer.seller, judged.offer.id, asks=asks, first_ask=first, price=figure(judged.price))


def _bid(names: Mapping[str, str], figure: FigureOf, bid: Bid, key: str) -> Named:
    """A seller of pieces, and whether its prices make the bill less, more, or leave it the same."""
    way = _AGAINST[direction(figure(f"decision.bids.gap.{key}"))]
    return Named(bid.offer.seller, key, option=Name(names[bid.option]), way=way)


def _why_apart(offer: Offer) -> str:
    """Why no term can be had at a price: it is a spot or a marketplace price, or the host decides on the network."""
    return "network by host" if offer.kind in RANKED else str(offer.kind)
