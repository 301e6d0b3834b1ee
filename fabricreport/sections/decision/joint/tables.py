"""Tables of the joint study."""

from __future__ import annotations

from collections.abc import Sequence

from fabricreport.blocks import Column, Name, Row, Table
from fabricreport.books.names import input_names, whole_names
from fabricreport.inputs import Inputs
from fabricreport.ledger import FigureOf
from fabricreport.sections.decision.joint.result import JointResult, Moved


def share_cell(found: JointResult, option: str) -> str | None:
    """How often an option is the cheapest, with the sampling error; nothing for one that may not be taken."""
    if option not in found.shares:
        return None
    if not found.errors[option]:
        return f"{{decision.cheapest.{option}}}"
    return f"{{decision.cheapest.{option}}} ± {{decision.joint.error.{option}}}"


def bounds(given: Inputs, found: JointResult, figure: FigureOf) -> Table:
    """The nearest pair, and the conditions of the region, each with the value in use beside it."""
    rows = []
    if found.flip:
        rows += _group(given, figure, "Nearest pair: the money is level at", "level", found.flip.pair)
    if found.region:
        rows += _group(given, figure, "Region: all of these at once", "bound", found.region.conditions)
    return Table([Column("Input"), Column("In use", style="mixed"), Column("Turned", style="mixed")], rows)


def _group(given: Inputs, figure: FigureOf, head: str, name: str, moved: Sequence[Moved]) -> list[Row]:
    rows = [Row([head, "", ""], role="group")]
    return rows + [
        Row(
            [
                Name(input_names(given, m.input_id).row),
                figure(f"decision.joint.in_use.{m.key}"),
                f"{m.side} {{decision.joint.{name}.{m.key}}}",
            ]
        )
        for m in moved
    ]


def regrets(given: Inputs, found: JointResult, figure: FigureOf) -> Table:
    """What would be regretted of each option that may be taken, the least first."""
    names = whole_names(given.options)
    rows = [
        Row([names[o], figure(f"decision.joint.regret.{o}"), figure(f"decision.joint.regret_p95.{o}")])
        for o in sorted(found.shares, key=lambda o: found.regrets.mean[o])
    ]
    return Table(
        [Column(h, style="mixed" if n else "value") for n, h in enumerate(("Taken", "Regret, mean", "P95"))], rows
    )
