"""Tables of licences: the lead under each convention, and how the makers sell those of each option."""

from __future__ import annotations

from collections.abc import Mapping

from fabricreport.blocks import Column, Name, Row, Table
from fabricreport.books.names import option_names, whole_names
from fabricreport.books.options import Licence
from fabricreport.inputs import Inputs
from fabricreport.ledger import FigureOf
from fabricreport.sections.decision.result import DecisionResult
from fabricreport.sections.stance import direction
from fabricreport.vocabulary import Charge, Sold

_CHARGED: Mapping[Charge, str] = {Charge.AS_SOLD: "as sold", Charge.CHARGED: "charged", Charge.LEFT_OUT: "left out"}
_SOLD: Mapping[Sold, str] = {
    Sold.INCLUDED: "included",
    Sold.APART: "apart, listed",
    Sold.OPTIONAL: "apart, optional",
}


def corners(given: Inputs, result: DecisionResult, figure: FigureOf) -> Table:
    """The lead under each convention, and which of the two costs less."""
    names, verdict = whole_names(given.options), result.verdict
    rows = []
    for corner in result.corners:
        lead = figure(f"decision.corner.{corner.key}")
        leader = {"less": names[verdict.choice], "more": names[verdict.runner_up], "same": "neither"}[direction(lead)]
        rows.append(Row([Name(_CHARGED[corner.manager]), Name(_CHARGED[corner.system]), Name(leader), lead]))
    heads = ("Managers", "Switch systems", "Costs less", "{rival} less {choice}")
    words = {"choice": Name(names[verdict.choice]), "rival": Name(names[verdict.runner_up])}
    return Table([Column(h) for h in heads], rows, words)


def sold(given: Inputs) -> Table:
    """How the manager and the switch system of each option are sold, with the entry that says so."""
    names = option_names(given.options)
    rows = [Row([Name(names[o.id].short), _sold(o.licence), _sold(o.operating_system)]) for o in given.options]
    return Table([Column("Option"), Column("Manager"), Column("Switch system")], rows)


def _sold(licence: Licence | None) -> str:
    if licence is None:
        return "none"
    cited = f" {{cite {licence.says}}}" if licence.says else ""
    return f"{_SOLD[licence.sold]}{cited}"
