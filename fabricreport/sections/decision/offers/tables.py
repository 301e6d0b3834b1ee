"""Tables of the offers: what each comes to, and what sellers of pieces ask; and what an offer says of its network."""

from __future__ import annotations

from fabricreport.blocks import Column, Name, Row, Table
from fabricreport.books.families import families
from fabricreport.books.names import family_names, item_names
from fabricreport.books.offers.offer import Network, Offer
from fabricreport.inputs import Inputs
from fabricreport.ledger import FigureOf
from fabricreport.sections.decision.offers.judged import Judged, Open
from fabricreport.sections.decision.offers.study import OffersResult
from fabricreport.sections.decision.result import DecisionResult

_ROUNDING = 1e-9
_SOLD: dict[str, str] = {
    Network.INCLUDED: "in the price",
    Network.ADD_ON: "as an add-on, counted",
    Network.EXTRA: "not in the price",
    Network.UNKNOWN: "not said",
}


def _offers(result: DecisionResult) -> OffersResult:
    assert result.offers is not None, "asked for where there are offers"
    return result.offers


def tiers(offer: Offer) -> str:
    """What an hour more is paid for the network that is sold as an add-on, as a table's cell prints it; '' where it is not."""
    if offer.network != Network.ADD_ON:
        return ""
    return "".join(f", +{{{a.price}:bare}}" for a in offer.add_ons if a.needed and not a.monthly)


def where_of(offer: Offer) -> str:
    """Where the network of an offer can be had: on which product, or whether it is in the price."""
    if offer.contractual and offer.network == Network.ADD_ON:
        return ", ".join(a.name for a in offer.add_ons if a.needed and not a.monthly) or _SOLD[offer.network]
    said = offer.contractual and offer.network in (Network.EXTRA, Network.UNKNOWN)
    return _SOLD[offer.network] if said or not offer.product else offer.product


def network_name(given: Inputs, fabric: str) -> str:
    """What a sentence calls the fabric that an offer names."""
    family = next((o.family for o in given.options if o.id == fabric), fabric)
    return family_names(family).phrase if family in families() else "not named"


def conditions(judged: Judged) -> tuple[str, ...]:
    """What a seller has to answer before its offer is taken, in the order in which it is asked."""
    renew = ("renew",) if Open.OLD in judged.open else ()
    return (*renew, *(str(what) for what in (Open.EXTRA, Open.NETWORK, Open.FABRIC) if what in judged.open))


def asking(judged: Judged) -> str:
    """What to ask a seller first, by what is open."""
    open_, bound = set(judged.open), judged.offer.contractual
    if Open.OLD in open_:
        apart = "old-network" if Open.NETWORK in open_ else "old-extra" if Open.EXTRA in open_ else "old"
        return "renew" if bound else apart
    order = (
        Open.EXTRA,
        Open.NETWORK,
        Open.FABRIC,
        Open.GROWTH,
        Open.TOPOLOGY,
        Open.GENERATION,
        Open.SPEED,
        Open.LISTED,
    )
    return next((str(what) for what in order if what in open_), "nothing")


def bid_items(result: DecisionResult, figure: FigureOf) -> Table:
    """Every line of the bills: what the seller counts and asks, and what the model does; no rows without offers to a buyer."""
    rows = [
        Row(
            [
                Name(b.offer.seller),
                Name(item_names(line.item).row),
                figure(f"decision.bids.counted.{key}.{line.item}") if line.counted else None,
                figure(f"decision.bids.ours.{key}.{line.item}"),
                figure(line.price),
                figure(line.replaces),
            ]
        )
        for key, b in ({} if result.in_nodes else result.bids).items()
        for line in b.lines
    ]
    heads = ("Seller", "Item", "Counted", "First stage takes", "Price asked", "Price in use")
    return Table([Column(h, style="mixed" if h.startswith("Price") else "value") for h in heads], rows)
