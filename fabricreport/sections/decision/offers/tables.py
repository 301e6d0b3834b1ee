"""Tables of the offers: what each costs and what to ask first, its parts, and the terms of those made to this client."""

from __future__ import annotations

from fabricreport.blocks import Column, Name, Row, Table
from fabricreport.books.families import families
from fabricreport.books.names import family_names, item_names, whole_names
from fabricreport.books.offers.offer import Network, Offer
from fabricreport.books.offers.terms import first_question, spoken
from fabricreport.inputs import Inputs
from fabricreport.ledger import FigureOf, Number
from fabricreport.models.money.offers import Standing
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


def offers(given: Inputs, result: DecisionResult, figure: FigureOf) -> Table:
    """The offers, the cheapest first."""
    found = _offers(result)
    taken = found.pick.standing == Standing.TAKE
    mixed = len({j.offer.fabric for j in found.judged.values()}) > 1
    rows = [
        Row(
            [
                Name(j.offer.seller),
                f"{{{j.price}:bare}}, {{dated_{n}}}",
                figure(f"decision.offers.total.{o}"),
                f"{{net_{n}}}{tiers(j.offer)}",
                "no" if Open.TOPOLOGY in j.open else "yes",
                Name(first_question(asking(j), "short")),
            ],
            role="winner" if taken and o == found.pick.first else "normal",
        )
        for n, (o, j) in enumerate(found.judged.items())
    ]
    words = {f"dated_{n}": Name(month_of(given, j)) for n, j in enumerate(found.judged.values())}
    for n, j in enumerate(found.judged.values()):
        words[f"net_{n}"] = Name(network_of(given, j.offer) if mixed else where_of(j.offer))
    heads = ("Whole work", "Network on", "Topology", "Ask first")
    money = Name(str(given.params.money.currency))
    columns = [Column("Seller"), Column("Rent, {money}"), *(Column(h) for h in heads)]
    return Table(columns, rows, {**words, "money": money})


def tiers(offer: Offer) -> str:
    """What an hour more is paid for the network that is sold as an add-on, as a table's cell prints it; '' where it is not."""
    if offer.network != Network.ADD_ON:
        return ""
    return "".join(f", +{{{a.price}:bare}}" for a in offer.add_ons if a.needed and not a.monthly)


def dated(given: Inputs, judged: Judged) -> str:
    """The day of the price in use, and that it is out of date."""
    day = given.prices.by_id(judged.price).date.isoformat()
    return f"{day}, old" if Open.OLD in judged.open else day


def month_of(given: Inputs, judged: Judged) -> str:
    """The month of the price in use."""
    return f"{given.prices.by_id(judged.price).date:%Y-%m}"


def where_of(offer: Offer) -> str:
    """Where the network of an offer can be had: on which product, or whether it is in the price."""
    if offer.contractual and offer.network == Network.ADD_ON:
        return ", ".join(a.name for a in offer.add_ons if a.needed and not a.monthly) or _SOLD[offer.network]
    said = offer.contractual and offer.network in (Network.EXTRA, Network.UNKNOWN)
    return _SOLD[offer.network] if said or not offer.product else offer.product


def network_of(given: Inputs, offer: Offer) -> str:
    """The network of an offer in a few words, and where it can be had."""
    return f"{network_name(given, offer.fabric)}, {where_of(offer)}"


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


def found_as(given: Inputs, result: DecisionResult, figure: FigureOf) -> Table:
    """Where each price comes from: its sort, the range found with it, the network it may hold, questions answered."""
    rows = [
        Row(
            [
                Name(j.offer.seller),
                Name(str(j.offer.kind)),
                Name(as_found(given, j)),
                Name(dated(given, j)),
                Name(network_of(given, j.offer)),
                None if j.answered is None else figure(f"decision.offers.answered.{o}"),
            ]
        )
        for o, j in _offers(result).judged.items()
    ]
    heads = ("Seller", "Price is", "As found", "Dated", "Network, and where", "Answers")
    return Table([Column(h) for h in heads], rows)


def as_found(given: Inputs, judged: Judged) -> str:
    """The price in use and the range found with it, and that it is no price anybody asked but the middle of that range."""
    price, text = given.prices.by_id(judged.price), str(given.record(judged.price)["text"])
    low, high = price.figure.low, price.figure.high
    middle = low < high and abs(price.price - (low + high) / 2) < _ROUNDING
    return f"{text}, the middle of it" if middle else text


def add_ons(result: DecisionResult, figure: FigureOf) -> Table:
    """Everything that an offer's price of a GPU-hour does not hold, with its price, and whether the work is charged with it."""
    rows = [
        Row(
            [
                Name(j.offer.seller),
                Name(a.name),
                figure(a.price),
                "month" if a.monthly else "GPU-hour",
                "yes" if a.needed else "no",
            ]
        )
        for j in _offers(result).judged.values()
        for a in j.offer.add_ons
    ]
    columns = [Column(h, style="mixed" if h == "Price" else "value") for h in ("Seller", "What", "Price", "For each")]
    return Table([*columns, Column("Charged")], rows)


def parts(result: DecisionResult, figure: FigureOf) -> Table:
    """What each offer comes to, its network's lost hours apart, and how sure it is."""
    found = _offers(result)
    rows = [
        Row(
            [
                Name(j.offer.seller),
                figure(f"decision.offers.useful_hour.{o}"),
                figure(f"decision.offers.network_lost.{o}"),
                *[figure(f"decision.offers.total.{o}")] * 2,
                figure(f"decision.offers.gap.{o}") if o != found.pick.first and found.pick.first else None,
                figure(f"decision.offers.cheapest.{o}"),
                figure(f"decision.offers.cheapest_else.{o}") if o in found.cheapest_else else None,
                figure(f"decision.offers.ready.{o}"),
            ]
        )
        for o, j in found.judged.items()
    ]
    heads = ("Seller", "Useful hour", "Its lost hours", "Whole work", "90 % range", "Over the first")
    columns = [Column(h, style="spread" if h == "90 % range" else "value") for h in heads]
    return Table([*columns, Column("Costs least in"), Column("Without the first"), Column("Ready in time")], rows)


def terms(result: DecisionResult, figure: FigureOf) -> Table:
    """The terms of the offers made to this client: what is committed, owed, paid back and refused."""
    found = _offers(result)

    def amount(name: str, offer: str) -> Number | None:
        figure_id = f"decision.offers.{name}.{offer}"
        return figure(figure_id) if figure_id in result.numbers else None

    rows = [
        Row(
            [
                Name(j.offer.seller),
                Name(f"{j.cost.rung.months} months" if j.cost.rung.months else "none"),
                *(
                    amount(name, o)
                    for name in ("bound", "beyond", "optional", "handed_over", "uptime", "credit", "cap")
                ),
                Name("; ".join(map(spoken, j.offer.refuses)) or "nothing"),
            ]
        )
        for o, j in found.judged.items()
    ]
    heads = ("Seller", "Committed", "Owed if stopped", "Beyond the horizon", "Spared extras", "Handed over after")
    more = ("Uptime", "Credit", "Credit, at most", "Refuses")
    columns = [Column(h, decimals=1 if h == "Uptime" else None) for h in (*heads, *more)]
    return Table(columns, rows)


def bids(given: Inputs, result: DecisionResult, figure: FigureOf) -> Table:
    """Each bill at the prices quoted beside the model's own."""
    names = whole_names(given.options)
    rows = [
        Row(
            [
                Name(b.offer.seller),
                Name(names[b.option]),
                figure(f"decision.bids.total.{key}"),
                figure(f"decision.total.{b.option}"),
                *[figure(f"decision.bids.gap.{key}")] * 2,
                Name(", ".join(b.missing) or "nothing"),
            ]
        )
        for key, b in result.bids.items()
    ]
    heads = ("Seller", "Option", "At its prices", "At ours", "Difference", "90 % range", "Not quoted, at our prices")
    return Table([Column(h, style="spread" if h == "90 % range" else "value") for h in heads], rows)


def bid_items(result: DecisionResult, figure: FigureOf) -> Table:
    """Every line of the bills: what the seller counts and asks, and what the model does."""
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
        for key, b in result.bids.items()
        for line in b.lines
    ]
    heads = ("Seller", "Item", "Counted", "First stage takes", "Price asked", "Price in use")
    return Table([Column(h, style="mixed" if h.startswith("Price") else "value") for h in heads], rows)
