"""Tables of the body about a choice among providers."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import astuple, replace

from fabricreport.blocks import Column, Name, Row, Table
from fabricreport.blocks.phrases import Phrase
from fabricreport.books.offers.terms import offer_terms
from fabricreport.formats import NBSP
from fabricreport.models.money.offers import Standing
from fabricreport.sections.decision.changes import MOST
from fabricreport.sections.decision.monday.kinds import PAGE_ONE
from fabricreport.sections.decision.monday.tables import WORTH_HEAD, todo
from fabricreport.sections.decision.offers.judged import Judged, Open
from fabricreport.sections.decision.offers.study import OffersResult
from fabricreport.sections.decision.offers.tables import network_name, tiers, where_of
from fabricreport.spine import passes
from fabricreport.spine.choose_provider import (
    SHOWN,
    chooses_network,
    day,
    last_day,
    needs_network,
    to_ask,
    turning,
)
from fabricreport.spine.told import Told


def _found(case: Told) -> OffersResult:
    found = case.decision().offers
    assert found is not None, "asked for where there are offers"
    return found


def _currency(case: Told) -> Name:
    return Name(str(case.inputs.params.money.currency))


def _month(case: Told, judged: Judged) -> str:
    """The month of a price, and that it is out of date where no dagger at a published price says so."""
    price = case.inputs.prices.by_id(judged.price)
    unmarked = Open.OLD in judged.open and not (price.stale and _found(case).listed)
    return _whole(f"{price.date:%b %Y}, old" if unmarked else f"{price.date:%b %Y}")


def _whole(text: str) -> str:
    """The same, kept on one line."""
    return text.replace(" ", NBSP)


def _dated(case: Told, judged: dict[str, Judged]) -> Iterator[tuple[str, str, Judged, str]]:
    """Each offer with its price and its month, as a cell, and the word for the month."""
    for n, (offer, one) in enumerate(judged.items()):
        item = one.price.removeprefix("price:")
        held = f"{{decision.held.stands.{item}:bare}} or {{decision.held.asked.{item}:bare}}, held"
        spanned = case.inputs.prices.by_id(one.price).spanned
        yield offer, held if spanned else f"{{{one.price}:bare}} ({{month_{n}}})", one, f"month_{n}"


def _months(case: Told, judged: dict[str, Judged]) -> dict[str, object]:
    return {word: Name(_month(case, one)) for _, _, one, word in _dated(case, judged)}


def offers(case: Told) -> Table:
    """The cheapest offers: seller, rent, product with its network, topology and the whole work.

    Of a published price it is told whether it holds the network, of an offer what to ask first.
    """
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
                    *([_held(one)] if found.listed and networked else []),
                    *(["no" if Open.TOPOLOGY in one.open else "yes"] if networked else []),
                    case.figure(f"decision.offers.total.{offer}"),
                    *([] if found.listed else [Name(to_ask(case, one, "short"))]),
                ],
                role="winner" if taken and offer == found.pick.first else "normal",
            )
        )
    held, asked = (("In the rent?",), ()) if found.listed else ((), ("Ask first",))
    product = ("Network on", *held, "Topology") if networked else ("Product",)
    heads = (*product, "Cost", *asked)
    columns = [Column("Seller"), Column("Rent, {money}"), *(Column(h) for h in heads)]
    return Table(columns, rows, {**words, "money": _currency(case)})


def _where(case: Told, judged: Judged) -> str:
    """The product of an offer, with its network where the offers differ in it."""
    mixed = len({j.offer.fabric for j in _found(case).judged.values()}) > 1
    sold = where_of(judged.offer)
    return f"{network_name(case.inputs, judged.offer.fabric)}, {sold}" if mixed else sold


def changes(case: Told) -> Table:
    """What would change the answer: what is assumed, where it changes, how likely that is, and what settles it."""
    said = offer_terms().turns
    rows = [Row([Phrase(text) for text in astuple(said[kind])]) for kind in turning(case)]
    return Table(
        [Column(h) for h in ("What", _whole("So far"), "It changes at", "How likely", "Settled by")], rows[:MOST]
    )


def before(case: Told) -> Table:
    """What to do before signing: the lines worth most, each with the day it has to be done by."""
    rows = [Row([*row.cells[:2], row.cells[-2], row.cells[-1]]) for row in _steps(case, one_day=True)[:PAGE_ONE]]
    return Table([Column(h) for h in ("", "Do", _whole("Done by"), WORTH_HEAD)], rows)


def after(case: Told) -> Table:
    """The lines that page one has no room for, each with who does it and by when."""
    return Table([Column(h) for h in ("", "Do", "Who", "By", WORTH_HEAD)], _steps(case)[PAGE_ONE:])


def _steps(case: Told, one_day: bool = False) -> list[Row]:
    """What to do, who does it, by when (`one_day`: the day of its end alone) and what it is worth."""
    monday, reader = case.monday(), case.inputs.params.memo.to.partition(",")[0]
    rows = []
    for one, row in zip(monday.todos, todo(monday).rows, strict=True):
        who = Name("you" if one.who == reader else one.who)
        by = f"{day(one.by)}, answer {day(one.answer)}" if one.answer else day(one.by)
        by = f"draft by {by}" if one.action.contract else by
        rows.append(Row([*row.cells[:2], who, Name(day(one.answer or one.by) if one_day else by), row.cells[-1]]))
    return rows


def results(case: Told) -> Table:
    """Until when each price is good, what it comes to, and in how many outcomes it costs least."""
    found = _found(case)
    rows = [
        Row(
            [
                Name(one.offer.seller),
                Name(last_day(case, one)),
                case.figure(f"decision.offers.useful_hour.{offer}"),
                *[case.figure(f"decision.offers.total.{offer}")] * 2,
                case.figure(f"decision.offers.cheapest.{offer}"),
            ]
        )
        for offer, one in found.judged.items()
    ]
    if found.market is not None:
        rows.append(_market(case))
    columns = [*(Column(h) for h in ("Seller", _whole("Good until"), "Useful hour", "Whole work"))]
    columns.append(Column("Nine in ten", style="spread"))
    return Table([*columns, Column("Costs least in")], rows)


def _market(case: Told) -> Row:
    """The market's mean rent for the term, as a second figure: nobody offers it."""
    total = case.figure("decision.offers.market_total")
    return Row([Name("Market, mean"), None, case.figure("decision.offers.market_useful_hour"), total, total, None])


def _held(judged: Judged) -> str:
    """Whether a price holds its network."""
    if judged.offer.with_network:
        return "yes"
    return "no, beside it" if Open.EXTRA in judged.open else "not said"


def test(case: Told) -> Table:
    """What the network has to pass; of either of two where both may still be chosen."""
    tests = case.diligence()
    weighed = tests if chooses_network(case) else replace(tests, promises_of_rival=())
    return passes.table(case.inputs, case.decision(), weighed)
