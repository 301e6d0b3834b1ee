"""Tables of a delivery: the tests judged, the credit, and every test at every stage."""

from __future__ import annotations

from collections.abc import Iterable

from fabricreport.blocks import Column, Name, Row, Table
from fabricreport.blocks.tables import Cell
from fabricreport.blocks.template import PhraseCell
from fabricreport.delivery.facts import reason_in_short
from fabricreport.delivery.figures import Figures
from fabricreport.delivery.judgement import RATIO, Judged
from fabricreport.delivery.study import Acceptance
from fabricreport.ledger.numbers import Number

_RUNS = "{found}\N{NO-BREAK SPACE}of\N{NO-BREAK SPACE}{wanted}"
_LEAST, _MOST, _EXACT = "≥\N{NO-BREAK SPACE}{asked}", "≤\N{NO-BREAK SPACE}{asked}", "{asked}"


def tests(found: Acceptance) -> Table:
    """One line for each test, failures first."""
    return _table(found, found.worst_by_test())


def every_threshold(found: Acceptance) -> Table:
    """Every threshold of every test at every stage, as the plan runs them."""
    return _table(found, found.points)


def credit(found: Acceptance) -> Table:
    """What each failed test is worth, and whether it counts; no rows where no credit is due."""
    figures = Figures(found)
    rows = [
        Row(
            [
                Name(credit.judged.test.id),
                figures.shortfall(credit),
                credit.judged.test.price,
                figures.amount(credit),
                "yes" if credit.counts else "no, the same loss",
            ]
        )
        for credit in found.credits
    ]
    total = [Row([Name("In all"), None, None, figures.credit, ""], role="total")] if rows else []
    heads = (Column("Test"), Column("Shortfall", style="mixed"), Column("Price", style="mixed"))
    return Table([*heads, Column("Credit"), Column("Counts")], [*rows, *total])


def _table(found: Acceptance, judged: Iterable[Judged]) -> Table:
    figures = Figures(found)
    heads = ("Test", "Verdict", "On", "At", "Asked for", "Measured", "Runs", "Because")
    rows = [Row(_cells(figures, one)) for one in judged]
    return Table([Column(head) for head in heads], rows)


def _cells(figures: Figures, one: Judged) -> list[Cell]:
    asked = figures.asked(one)
    bar = _EXACT if one.test.unit == RATIO else _LEAST if one.test.at_least else _MOST
    said = [
        _number(figures.count(one, "gpus")),
        _number(figures.size(one)),
        PhraseCell(bar, {"asked": asked}),
        _number(figures.measured(one)),
        PhraseCell(_RUNS, {"found": figures.count(one, "runs"), "wanted": figures.count(one, "wanted")}),
        reason_in_short(figures, one),
    ]
    return [Name(one.test.id), str(one.verdict), *said]


def _number(number: Number | None) -> PhraseCell | None:
    """A number with its unit, in a column of several units that is set left."""
    return None if number is None else PhraseCell("{it}", {"it": number})
