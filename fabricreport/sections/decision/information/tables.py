"""Tables of what could be found out: groups of inputs, and tests."""

from __future__ import annotations

from fabricreport.blocks import Column, Name, Row, Table
from fabricreport.books.names import names_of
from fabricreport.ledger import FigureOf, Number
from fabricreport.sections.decision.information.study import Information
from fabricreport.sections.decision.result import DecisionResult

BELOW = "below noise"


def information(result: DecisionResult, figure: FigureOf) -> Table:
    """Each group of inputs: what knowing it is worth, what settles it, and when."""
    rows = [
        Row(
            [
                Name(names_of(w.group.name).row),
                *_worth(figure, "worth", "error", w.group.id, below=w.estimate.below_noise),
                Name("; ".join(what for whats in w.settled.values() for what in whats)),
                Name("; ".join(w.settled)),
            ]
        )
        for w in _found(result).groups
    ]
    heads = [Column("Known alone"), *_mixed("Worth", "±"), Column("Settled by"), Column("When")]
    return Table(heads, rows)


def tests(result: DecisionResult, figure: FigureOf) -> Table:
    """Each test: what it is worth, what it costs, and what is left."""
    rows = [
        Row(
            [
                Name(t.probe.name),
                *_worth(figure, "shows", "shows_error", t.probe.id, below=t.estimate.below_noise),
                figure(f"decision.information.costs.{t.probe.id}"),
                figure(f"decision.information.net.{t.probe.id}"),
            ]
        )
        for t in _found(result).tests
    ]
    return Table([Column("Test"), *_mixed("Worth", "±", "Costs", "Worth less cost")], rows)


def _mixed(*heads: str) -> list[Column]:
    return [Column(head, style="mixed") for head in heads]


def _worth(figure: FigureOf, worth: str, error: str, key: str, *, below: bool) -> tuple[Number | str, Number | None]:
    """A worth and its standard error, or that it is not told from nothing."""
    if below:
        return BELOW, None
    return figure(f"decision.information.{worth}.{key}"), figure(f"decision.information.{error}.{key}")


def _found(result: DecisionResult) -> Information:
    assert result.information is not None, "asked for where there is a choice"
    return result.information
