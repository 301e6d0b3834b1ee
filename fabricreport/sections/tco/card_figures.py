"""The figures of the bill's validation card: published counts of reference designs beside ours."""

from __future__ import annotations

from collections.abc import Mapping

from fabricreport.figures import Index
from fabricreport.sections.tco.figure_context import CostFigures, EachSpec, Spec


def _spines(side: str, rule: str) -> EachSpec:
    """Spines of a reference design: a field of the card's row."""
    return EachSpec(
        f"tco.card.{side}[design]",
        "count",
        label=f"Spines, {side}",
        rule=rule,
        value=lambda at, row: getattr(at.spines[int(row)], side),
        counted=True,
    )


CARD_SPECS = (
    Spec(
        "tco.card.rows",
        "count",
        label="Published counts tried",
        rule="rows of the card",
        value=lambda at: float(len(at.card.rows)),
        counted=True,
        when=lambda at: at.owns,
    ),
    Spec(
        "tco.card.exact",
        "share",
        label="Counts of reference designs reproduced exactly",
        rule="rows with no error ÷ all rows of the card",
        value=lambda at: at.card.summary["share of counts reproduced exactly"],
        counted=True,
        when=lambda at: at.owns,
    ),
    Spec(
        "tco.card.plain",
        "share",
        label="Spine counts that counting ports alone would get right",
        rule="rows with no error ÷ all rows",
        value=lambda at: at.card.baselines["share of spine counts reproduced by plain port counting"],
        counted=True,
        when=lambda at: at.owns,
    ),
    _spines("published", "as published"),
    _spines("ours", "equal-bundle rule"),
)
"""Every figure of the card; only an owner's memo prints it."""
CARD_INDEXES: Mapping[str, Index[CostFigures]] = {
    "design": Index(lambda at: map(str, range(len(at.spines)))),
}
"""The index of their patterns."""
