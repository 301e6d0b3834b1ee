"""How the makers sell managers and switch systems."""

from __future__ import annotations

from collections.abc import Mapping

from fabricreport.blocks import Column, Name, Row, Table
from fabricreport.books.names import option_names
from fabricreport.books.options import Licence
from fabricreport.inputs import Inputs
from fabricreport.sections.decision.result import DecisionResult
from fabricreport.vocabulary import Sold

_SOLD: Mapping[Sold, str] = {
    Sold.INCLUDED: "included",
    Sold.APART: "apart, listed",
    Sold.OPTIONAL: "apart, optional",
}


def sold(given: Inputs, result: DecisionResult) -> Table | None:
    """How the manager and the switch system of each option are sold, with the entry that says so; None where no buyer
    compares two."""
    if not result.corners or result.in_nodes:
        return None
    names = option_names(given.options)
    rows = [Row([Name(names[o.id].short), _sold(o.licence), _sold(o.operating_system)]) for o in given.options]
    return Table([Column("Option"), Column("Manager"), Column("Switch system")], rows)


def _sold(licence: Licence | None) -> str:
    if licence is None:
        return "none"
    cited = f" {{cite {licence.says}}}" if licence.says else ""
    return f"{_SOLD[licence.sold]}{cited}"
