"""Tables of the evidence annex: the prices behind the advice, and what experts judged."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from fabricreport.blocks import Column, Name, Row, Table
from fabricreport.books.names import item_names
from fabricreport.inputs.inputs import Inputs
from fabricreport.ledger.numbers import FigureOf, Number
from fabricreport.sections.evidence.figures import QUANTILES, judgement, persons
from fabricreport.sections.evidence.result import EvidenceResult

EVERY = "all options"
"""What a price is used for that none of the options compared names."""
OFFER = "that seller’s price"
"""What a price is used for that one offer alone rests on."""


def prices(given: Inputs, result: EvidenceResult, figure: FigureOf) -> Table:
    """The prices behind the advice, the ones past their shelf life first."""
    rows = [
        Row(
            [
                Name(item_names(p.item).row),
                figure(p.id),
                Name(p.date.isoformat()),
                figure(f"evidence.age.{p.item}"),
                f"**past:** {p.expiry.isoformat()}" if p.stale else Name(p.expiry.isoformat()),
                f"{p.grade} {{cite {p.id}}}",
                Name(OFFER) if p.id in result.offered else used_for(given, p.id),
            ]
        )
        for p in result.prices
    ]
    heads = ("Item", "Price", "Date", "Age", "Good until", "Grade", "Used for")
    columns = [Column(h, "mixed" if h == "Price" else "value", 0 if h == "Age" else None) for h in heads]
    return Table(columns, rows)


def used_for(given: Inputs, price_id: str) -> Name:
    """The options whose bill names a price, or one that this exchange rate converts; all of them where none does, or each."""
    named = [
        option.name
        for option in given.options
        if price_id in option.references or any(price_id in given.rate_of(ref).inputs for ref in option.references)
    ]
    return Name(EVERY if len(named) in (0, len(given.options)) else ", ".join(named))


def elicited(given: Inputs, result: EvidenceResult) -> Table | None:
    """What each expert stated, and each range that it makes beside ours; None where nobody was asked."""
    rows, found = [], given.elicited
    if not found:
        return None
    who = {key: Name(f"{expert.expert}, {expert.role}, {expert.date}") for key, (expert, _) in persons(given).items()}
    for question in found.asked.questions.values():
        if question.id in found.pooled:
            rows.append(Row([Name(question.short), "", "", "", ""], role="group"))
            rows += _stated(given, result, who, question.id)
    for entry in found.figures():
        rows.append(Row([Name(given.evidence[entry].what), "", "", "", ""], role="group"))
        rows += _compared(result, entry, several=len(found.experts) > 1)
    heads = ("Quantity", "P5", "P50", "P95", "Weight")
    return Table([Column(h, style="value" if h == "Quantity" else "mixed") for h in heads], rows)


def _stated(given: Inputs, result: EvidenceResult, who: Mapping[str, Name], asked: str) -> Iterator[Row]:
    for key, name in who.items():
        if judgement(given, key, asked) is not None:
            said = [result.numbers[f"evidence.expert.{key}.said.{asked}.{quantile}"] for quantile in QUANTILES]
            yield Row([name, *said, result.numbers[f"evidence.expert.{key}.weight"]])


def _compared(result: EvidenceResult, entry: str, *, several: bool) -> Iterator[Row]:
    """The range that this memo assumed, the one in use, and the one with equal weights."""

    def ends(whose: str) -> list[Number | None]:
        return [*(result.numbers[f"evidence.elicited.{entry}.{whose}.{name}"] for name in QUANTILES), None]

    yield Row(["This memo’s assumption", *ends("library")])
    yield Row(["In use, by calibration" if several else "In use", *ends("pooled")], role="winner")
    if several:
        yield Row(["With equal weights", *ends("equal")])
