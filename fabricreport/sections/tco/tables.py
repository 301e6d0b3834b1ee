"""Tables of the total cost: its causes, the parts of each network, what a percentage is a share of."""

from __future__ import annotations

from fabricreport.blocks import Column, Name, Row, Table
from fabricreport.books.names import option_names, whole_names
from fabricreport.inputs.inputs import Inputs
from fabricreport.sections.tco.cost import TIME_CAUSES
from fabricreport.sections.tco.figures import BASES, CostFigures
from fabricreport.sections.tco.result import TcoResult

_PARTS = (
    ("Switches", "switches", "switches", "switch"),
    ("Transceivers, with cables", "transceivers", "optics_and_cables", ""),
    ("Adapters", "nics", "adapters", "nic"),
    ("Links between sites", "", "site_links", ""),
    ("Spares, installation, network manager", "", "spares_and_installation", ""),
)
"""Rows of the parts list: what stands at the left, the pieces counted, their cause in the bill, the piece with one price."""


def causes(given: Inputs, result: TcoResult) -> Table:
    """Every cause of every option's total, what is paid first and lost time after it, one column to an option; none that costs
    nothing on any."""
    heads, number = option_names(given.options), result.numbers
    found = {c: [number[f"tco.{c}.{o}"] for o in result.order] for c in result.labels}
    rows = []
    for sort, words, timed in (("cash", "Cash", False), ("time", "Time lost, at its value", True)):
        of_sort = {c: amounts for c, amounts in found.items() if (c in TIME_CAUSES) == timed}
        rows += [Row([result.labels[c], *n]) for c, n in of_sort.items() if any(one.value for one in n)]
        rows.append(Row([words, *(number[f"tco.{sort}.{o}"] for o in result.order)], role="total"))
    rows.append(Row(["Total cost", *(number[f"tco.total.{o}"] for o in result.order)], role="total"))
    return Table([Column("Cause"), *(Column(Name(heads[o].short)) for o in result.order)], rows)


def materials(given: Inputs, result: TcoResult) -> Table | None:
    """What each option's network is built of at full size, and what that costs; None where it is rented."""
    if not CostFigures(given, result).owns:
        return None
    names, number = whole_names(given.options), result.numbers
    pieces = {o.id: o.pieces for o in given.options}
    rows = []
    for option in result.order:
        rows.append(Row([Name(names[option]), "", "", ""], role="group"))
        for label, counted, cause, piece in _PARTS:
            if f"tco.bill.{cause}.{option}" not in number:
                continue  # no site is joined to another
            count = number[f"tco.count.{counted}.{option}"] if counted else None
            price = given.figure(pieces[option][piece].price) if piece else None
            rows.append(Row([label, count, price, number[f"tco.bill.{cause}.{option}"]]))
        rows.append(Row(["Network to buy", None, None, number[f"tco.fabric_capex.{option}"]], role="total"))
    return Table([Column("Part"), Column("Count"), Column("Unit price", style="mixed"), Column("Amount")], rows)


def bases(given: Inputs, result: TcoResult) -> Table | None:
    """Each other fabric with RDMA against InfiniBand as a share of each base, both ways round; None where an owner does not
    compare both."""
    if not CostFigures(given, result).both_families:
        return None
    names, number = whole_names(given.options), result.numbers
    rows = []
    for option in CostFigures(given, result).roces:
        rows.append(Row([Name(names[option]), "", ""], role="group"))
        rows += [
            Row([words, *(number[f"tco.{sort}.{base}.{option}"] for sort in ("discount", "premium"))])
            for base, words in BASES.items()
        ]
    heads = ("Discount on InfiniBand’s", "Premium on the other’s")
    return Table([Column("Base"), *(Column(head, decimals=1) for head in heads)], rows)
