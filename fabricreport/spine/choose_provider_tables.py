"""Tables of the body about a choice among providers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from fabricreport.blocks import Column, Name, Row, Table
from fabricreport.blocks.phrases import Phrase
from fabricreport.books.offers.terms import first_question, spoken
from fabricreport.findings import Named
from fabricreport.formats import NBSP, listed
from fabricreport.models.money.offers import Standing
from fabricreport.sections.decision.monday.dates import due
from fabricreport.sections.decision.monday.kinds import Kind, actions
from fabricreport.sections.decision.monday.tables import UNPRICED, todo
from fabricreport.sections.decision.offers.judged import Judged, Open
from fabricreport.sections.decision.offers.study import OffersResult
from fabricreport.sections.decision.offers.tables import asking, network_name, tiers, where_of
from fabricreport.sections.diligence.tables import acceptance, acceptance_of_both
from fabricreport.sections.short_names import spoken_names
from fabricreport.spine.choose_provider import SHOWN, TURNS, day, needs_network, turning
from fabricreport.spine.told import Told

BEFORE = 5
"""Most lines of what to do before signing."""
_TESTED = ("busbw", "weeks", "interruptions")
_PARTS = ("do", "now", "turns", "odds", "settled")


def _found(case: Told) -> OffersResult:
    found = case.decision().offers
    assert found is not None, "asked for where there are offers"
    return found


def _currency(case: Told) -> Name:
    return Name(str(case.inputs.params.money.currency))


def _month(case: Told, judged: Judged) -> str:
    """The month of a price, and that it is out of date."""
    month = f"{case.inputs.prices.by_id(judged.price).date:%b %Y}"
    return _whole(f"{month}, old" if Open.OLD in judged.open else month)


def _whole(text: str) -> str:
    """The same, kept on one line."""
    return text.replace(" ", NBSP)


def _dated(case: Told, judged: dict[str, Judged]) -> Iterator[tuple[str, str, Judged, str]]:
    """Each offer with its price and its month, as a cell, and the word for the month."""
    for n, (offer, one) in enumerate(judged.items()):
        yield offer, f"{{{one.price}:bare}} ({{month_{n}}})", one, f"month_{n}"


def _months(case: Told, judged: dict[str, Judged]) -> dict[str, object]:
    return {word: Name(_month(case, one)) for _, _, one, word in _dated(case, judged)}


def _asked(case: Told, judged: Judged, form: str) -> Name:
    """What to ask a seller first; of a client without a network nothing about it, and what it refuses before all."""
    if judged.offer.id in _found(case).pick.late:
        return Name("Can it be handed over sooner?" if form == "question" else "Sooner?")
    if judged.refused:
        return Name(f"Refuses: {listed(map(spoken, judged.refused))}")
    what, old = asking(judged), Open.OLD in judged.open
    if not needs_network(case):
        what = ("renew" if old else "nothing") if judged.offer.contractual else "old" if old else "listed"
    return Name(first_question(what, form))


def offers(case: Told) -> Table:
    """The cheapest offers: seller, rent, product with its network, topology, the whole work, and what to ask first."""
    found, networked = _found(case), needs_network(case)
    taken = found.pick.standing == Standing.TAKE
    judged = dict(list(found.judged.items())[:SHOWN])
    words = _months(case, judged)
    rows = []
    for n, (offer, price, one, _) in enumerate(_dated(case, judged)):
        words[f"where_{n}"] = Name(_where(case, one))
        rows.append(
            Row(
                [
                    Name(one.offer.seller),
                    price,
                    f"{{where_{n}}}{tiers(one.offer)}",
                    *(["no" if Open.TOPOLOGY in one.open else "yes"] if networked else []),
                    case.figure(f"decision.offers.total.{offer}"),
                    _asked(case, one, "short"),
                ],
                role="winner" if taken and offer == found.pick.first else "normal",
            )
        )
    product = ("Network on", "Topology") if networked else ("Product",)
    heads = (*product, "Cost", "Ask first")
    columns = [Column("Seller"), Column("Rent, {money}"), *(Column(h) for h in heads)]
    return Table(columns, rows, {**words, "money": _currency(case)})


def _where(case: Told, judged: Judged) -> str:
    """The product of an offer, with its network where the offers differ in it."""
    mixed = len({j.offer.fabric for j in _found(case).judged.values()}) > 1
    sold = where_of(judged.offer)
    return f"{network_name(case.inputs, judged.offer.fabric)}, {sold}" if mixed else sold


def changes(case: Told) -> Table:
    """What would change the answer: what is assumed, where it turns, how likely that is, and what settles it."""
    found = turning(case)
    rows = [
        Row([Phrase(f"turns-{kind}", part, turn) for part in _PARTS])
        for kind in TURNS
        if (turn := found[kind]) is not None
    ]
    return Table([Column(h) for h in ("What", _whole("We assume"), "It turns at", "How likely", "Settled by")], rows)


def before(case: Told) -> Table:
    """What to do before signing: the lines worth most, each with who does it and by when."""
    monday, reader = case.monday(), case.inputs.params.memo.to.partition(",")[0]
    rows, joined = [], needs_network(case)
    if not joined:
        term, days = Named("term", "term"), actions()[Kind.RENTS].days
        when = Name(day(due(case.inputs.as_of, days, monday.last)))
        rows.append(Row([Phrase("term", "do", term), "you", when, UNPRICED]))
    for one, row in list(zip(monday.todos, todo(monday).rows, strict=True))[:BEFORE]:
        if one.action.network and not joined:
            continue
        who = Name("you" if one.who == reader else one.who)
        by = f"{day(one.by)}, answer {day(one.answer)}" if one.answer else day(one.by)
        rows.append(Row([row.cells[1], who, Name(by), row.cells[-1]]))
    return Table([Column(h) for h in ("Do", _whole("Done by"), "When", "Worth")], rows)


def results(case: Told) -> Table:
    """What each offer comes to by the useful hour, and in how many outcomes it costs least."""
    found = _found(case)
    rows = [
        Row(
            [
                Name(one.offer.seller),
                case.figure(f"decision.offers.useful_hour.{offer}"),
                *[case.figure(f"decision.offers.total.{offer}")] * 2,
                case.figure(f"decision.offers.cheapest.{offer}"),
                case.figure(f"decision.offers.cheapest_else.{offer}") if offer in found.cheapest_else else None,
            ]
        )
        for offer, one in found.judged.items()
    ]
    columns = [Column("Seller"), Column("Useful hour"), Column("Whole work"), Column("Nine in ten", style="spread")]
    return Table([*columns, Column("Costs least in"), Column("Without the first")], rows)


def networks(case: Told) -> Table:
    """What each offer says of its network: which, where it is sold, whether the price holds it, and its topology."""
    rows = [
        Row(
            [
                Name(one.offer.seller),
                Name(network_name(case.inputs, one.offer.fabric)),
                Name(one.offer.product or "not named"),
                _held(one),
                Name("not documented" if Open.TOPOLOGY in one.open else one.offer.topology),
            ]
        )
        for one in _found(case).judged.values()
    ]
    return Table([Column(h) for h in ("Seller", "Network", "Sold on", "In the price", "Topology")], rows)


def _held(judged: Judged) -> str:
    """Whether a price holds its network."""
    if judged.offer.with_network:
        return "yes"
    return "no, beside it" if Open.EXTRA in judged.open else "not said"


def nodes(case: Told) -> Table:
    """The same work across nodes and within single ones."""
    numbers = case.decision().numbers

    def line(what: str, *ids: str) -> Row | None:
        return Row([what, *(case.figure(i) for i in ids)]) if all(i in numbers for i in ids) else None

    rows = (
        line("One run", "decision.courses.run_days", "decision.courses.single_days"),
        line("Rent at which both cost the same", "decision.courses.rent_hour", "decision.courses.single_rent"),
    )
    columns = [Column(""), Column("Across servers", style="mixed"), Column("On one server", style="mixed")]
    return Table(columns, [row for row in rows if row])


def prices(case: Told) -> Table:
    """Every price, what sort it is, its date, until when it was good, and what would confirm it."""
    judged = dict(_found(case).judged)
    words = _months(case, judged)
    rows = []
    for _, price, one, _ in _dated(case, judged):
        expiry = case.inputs.prices.by_id(one.price).expiry
        asked = _asked(case, one, "question")
        rows.append(
            Row(
                [
                    Name(one.offer.seller),
                    price,
                    Name(_whole(str(one.offer.kind))),
                    Name(_whole(f"{expiry:%-d %b %Y}")),
                    asked,
                ]
            )
        )
    heads = ("Kind", "Good until", "What would confirm it")
    columns = [Column("Seller"), Column("Price, {money}"), *(Column(h) for h in heads)]
    return Table(columns, rows, {**words, "money": _currency(case)})


def test(case: Told) -> Table:
    """What the network has to pass that a client can see for itself: bandwidth, days until it runs stably, interruptions."""
    result = case.diligence()
    both = bool(result.promises_of_rival)
    whole = acceptance_of_both(case.inputs, result) if both else acceptance(result)
    kept = [row for promise, row in zip(result.promises, whole.rows, strict=True) if promise.id in _TESTED]
    short = names(case)
    pair = [short[o.id] for o in (result.option, result.rival)]
    heads = [Name(f"{head}, {name}") for head in ("Pass", "Shortfall") for name in pair]
    columns = [whole.columns[0], *(Column(head, style="mixed") for head in heads)] if both else whole.columns
    return Table(columns, kept, whole.values)


def names(case: Told) -> Mapping[str, str]:
    """What the body calls the options."""
    verdict = case.decision().verdict
    return spoken_names(case.inputs.options, verdict.choice, verdict.runner_up)
