"""Tables of the total cost: options, causes, the bill piece by piece, other sizes, stages, the card."""

from __future__ import annotations

from collections.abc import Iterable

from fabricreport.blocks import Column, Name, Row, Table
from fabricreport.books.names import option_names, whole_names
from fabricreport.inputs import Inputs
from fabricreport.ledger import Number
from fabricreport.sections.stance import Stance
from fabricreport.sections.tco.cost import FABRIC_CAUSES
from fabricreport.sections.tco.fabric_figures import BASES
from fabricreport.sections.tco.figure_context import SPINE, CostFigures
from fabricreport.sections.tco.findings import switch_of
from fabricreport.sections.tco.result import TcoResult

_PIECES = {
    "leaf": "Leaf switches",
    "spine": "Spine switches",
    "core": "Core switches",
    "nics": "Adapters",
    "transceivers": "Transceivers",
    "copper": "Copper cables",
    "cables": "Cables pulled",
    "tiers": "Tiers of switches",
}
_WATTS = {"switches": "Switches", "optics": "Optics", "adapters": "Adapters"}


def options(given: Inputs, result: TcoResult) -> Table:
    """An owner's options, the cheapest first: what the fabric costs to buy, what is lost, the total."""
    names, number = whole_names(given.options), result.numbers
    advised = "normal" if result.stance == Stance.OPEN else "winner"
    rows = [
        Row(
            [
                Name(names[o]),
                number[f"tco.fabric_capex.{o}"],
                number[f"tco.lost.{o}"],
                *[number[f"tco.total.{o}"]] * 2,
                number[f"tco.usd_per_useful_gpu_hour.{o}"],
            ],
            role=advised if o == result.choice else "normal",
        )
        for o in result.order
    ]
    heads = ("Option", "Network to buy", "Lost GPU time", "Total cost", "90 % range", "Useful GPU-hour")
    return Table([Column(h, style="spread" if h == "90 % range" else "value") for h in heads], rows)


def _by_option(
    given: Inputs, result: TcoResult, first: str, rows: Iterable[tuple[str, str]], total: tuple[str, str] | None = None
) -> Table:
    """One column to an option. `rows`: what stands at the left, and the figure's id less the option; so is `total`."""
    heads, number = option_names(given.options), result.numbers

    def cells(label: str, figure_id: str) -> list[Number | str | None]:
        return [label, *(number[f"{figure_id}.{o}"] for o in result.order)]

    last = [Row(cells(*total), role="total")] if total else []
    columns = [Column(first), *(Column(Name(heads[o].short)) for o in result.order)]
    return Table(columns, [*(Row(cells(*row)) for row in rows), *last])


def causes(given: Inputs, result: TcoResult) -> Table:
    """Every cause of every option's total."""
    rows = ((label, f"tco.{cause}") for cause, label in result.labels.items())
    return _by_option(given, result, "Cause", rows, ("Total cost", "tco.total"))


def differences(given: Inputs, result: TcoResult) -> Table:
    """Each option against the choice."""
    names, number = whole_names(given.options), result.numbers
    rows = [
        Row([Name(names[o]), *[number[f"tco.difference_to_choice.{o}"]] * 2, number[f"tco.probability_dearer.{o}"]])
        for o in result.order
        if o != result.choice
    ]
    return Table(
        [Column("Option"), Column("Costs more by"), Column("90 % range", style="spread"), Column("Costs more in")], rows
    )


def materials(given: Inputs, result: TcoResult) -> Table:
    """The pieces of each option at the last stage; pieces that no option has are left out."""
    held = [p for p in _PIECES if any(result.numbers[f"tco.count.{p}.{o}"].value for o in result.order)]
    return _by_option(given, result, "Piece", ((_PIECES[p], f"tco.count.{p}") for p in held))


def priced(given: Inputs, result: TcoResult) -> Table:
    """The fabric's price in its four causes."""
    rows = ((result.labels[cause], f"tco.bill.{cause}") for cause in FABRIC_CAUSES)
    return _by_option(given, result, "Part", rows, ("Network to buy", "tco.fabric_capex"))


def watts(given: Inputs, result: TcoResult) -> Table:
    """What each fabric draws, part by part."""
    rows = ((label, f"tco.watts.{group}") for group, label in _WATTS.items())
    drawn = _by_option(given, result, "Part", rows, ("The fabric", "tco.watts.total"))
    return Table([drawn.columns[0], *(Column(c.label, style="mixed") for c in drawn.columns[1:])], drawn.rows)


def list_prices(given: Inputs, result: TcoResult) -> Table:
    """A bill at single list prices for each switch that an option may be built of."""
    number = result.numbers
    rows = [
        Row(
            [
                Name(switch_of(bill)),
                number[f"tco.list.count.{key}"],
                *(number[f"tco.list.{what}.{key}"] for what in ("each", "switches", "optics", "total")),
                number[f"tco.list.against_first.{key}"],
            ]
        )
        for key, bill in CostFigures(given, result).list_rows.items()
    ]
    heads = ("Switch priced", "Switches", "Each", "All switches", "Optics", "Total", "Against first")
    return Table([Column(h, style="mixed" if h == "Each" else "value") for h in heads], rows)


def bases(given: Inputs, result: TcoResult) -> Table:
    """Each other fabric with RDMA against InfiniBand as a share of each base, both ways round."""
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


def sizes(given: Inputs, result: TcoResult) -> Table:
    """Price of the fabric per GPU at a few sizes; None where an option cannot be built."""
    assert result.ownership is not None, "asked for where the fabric is owned"
    heads, number = option_names(given.options), result.numbers
    rows = [
        Row([number[f"tco.sweep.size.{n}"], *(number.get(f"tco.sweep.fabric.{n}.{o}") for o in result.order)])
        for n in result.ownership.sweep.shown
    ]
    return Table([Column("Size"), *(Column(Name(heads[o].short)) for o in result.order)], rows)


def stages(given: Inputs, result: TcoResult) -> Table:
    """Switches bought at each stage, and those that stand ahead of need, for the choice and its rival."""
    assert result.ownership is not None, "asked for where the fabric is owned"
    heads, number, pair = option_names(given.options), result.numbers, (result.choice, result.rival)
    rows = [
        Row(
            [
                number[f"tco.stage.month.{n}.{result.choice}"],
                number[f"tco.stage.gpus.{n}.{result.choice}"],
                *(number[f"tco.stage.{what}.{n}.{o}"] for o in pair for what in ("bought", "overbuilt")),
            ]
        )
        for n in range(len(result.ownership.builds[result.choice]))
    ]
    bought = [column for o in pair for column in (Column(Name(f"{heads[o].short}: bought")), Column("ahead of need"))]
    return Table([Column("Month"), Column("Size"), *bought], rows)


def card(given: Inputs, result: TcoResult) -> Table:
    """Spines of each reference design, published and ours."""
    rows = [
        Row(
            [
                Name(row.case.removesuffix(SPINE)),
                *(result.numbers[f"tco.card.{side}.{n}"] for side in ("published", "ours")),
            ]
        )
        for n, row in enumerate(CostFigures(given, result).spines)
    ]
    return Table([Column("Reference design"), Column("Published"), Column("Ours")], rows)
