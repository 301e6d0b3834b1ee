"""The picture of what of an owned fabric is bought when."""

from __future__ import annotations

import pandas as pd
from matplotlib.axes import Axes

from fabricreport.blocks import Drawing
from fabricreport.books.names import whole_names
from fabricreport.inputs import Inputs
from fabricreport.provenance import mean_of
from fabricreport.sections.tco.charts import colours_of
from fabricreport.sections.tco.cost import CAUSES
from fabricreport.sections.tco.result import Ownership, TcoResult
from fabricreport.theme import (
    INK,
    canvas,
    money_axis,
    rounded,
    rows_of,
    svg,
    wrapped,
)


def stages_chart(given: Inputs, result: TcoResult, chart_id: str = "fig-tco-stages") -> Drawing:
    """What of the fabric is bought at each stage, for the choice and its rival."""
    names, colours = whole_names(given.options), colours_of(given)
    owned = _owned(result)
    pair = (result.choice, result.rival)
    rows: list[tuple[str, int, str, float]] = []
    with canvas(2.3, columns=2, share_y=True) as (figure, axes):
        for axis, option in zip(axes, pair, strict=True):
            _stage_bars(axis, option, owned, rows, colours[option])
            axis.set_title(wrapped(names[option], 32), color=colours[option], fontsize=8.5, weight="bold")
            money_axis(axis, "y", 1.0, given.params.money.currency)
        axes[0].set_ylim(0, axes[0].get_ylim()[1] * 1.18)
        drawing = svg(figure, chart_id)
    frame = pd.DataFrame(rows, columns=["option", "month", "cause", "mean_cost"])
    return Drawing(chart_id, drawing, rows_of(frame))


def _stage_bars(axis: Axes, option: str, owned: Ownership, rows: list[tuple[str, int, str, float]], hue: str) -> None:
    before = 0
    builds = owned.builds[option]
    for i, (build, bought) in enumerate(zip(builds, owned.bought[option], strict=True)):
        at = 0.0
        for shade, cause in zip((1.0, 0.62, 0.36, 0.16, 0.08), bought, strict=False):
            value = float(rounded(mean_of(bought[cause])))
            axis.bar(i, value, bottom=at, width=0.62, color=hue, alpha=shade, edgecolor="white")
            at += value
            rows.append((option, build.month, CAUSES[cause], value))
        axis.annotate(
            f"{build.bom.switches - before:,}",
            (i, at),
            xytext=(0, 3),
            textcoords="offset points",
            ha="center",
            color=INK,
        )
        before = build.bom.switches
    axis.set_xticks(range(len(builds)), [f"month {b.month}\n{b.gpus:,} GPUs" for b in builds], fontsize=7.5)
    axis.tick_params(axis="x", length=0)


def _owned(result: TcoResult) -> Ownership:
    if result.ownership is None:
        raise ValueError("a client that rents has no fabric of its own to draw")
    return result.ownership
