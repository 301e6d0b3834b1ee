"""The chart of the risk: what GPU time is lost to."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from fabricreport.blocks import Drawing
from fabricreport.books.names import whole_names
from fabricreport.inputs import Inputs
from fabricreport.provenance import plain
from fabricreport.sections.assumed import assumed
from fabricreport.sections.tail_risk.horizon import CAUSES
from fabricreport.sections.tail_risk.result import TailResult
from fabricreport.theme import (
    INK,
    canvas,
    percent_axis,
    rounded,
    rows_of,
    svg,
    wrapped,
)

_HATCH = "////"
_NAME = 0.6  # height of an option's name over the bars, in rows


def causes_chart(given: Inputs, result: TailResult) -> Drawing:
    """Share of GPU time lost over the horizon by cause, for the pair of fabrics (or the focus alone), with ranges."""
    chart_id = "fig-tail-causes"
    names, colours = whole_names(given.options), {o.id: o.colour for o in given.options}
    grades = {c: result.numbers[f"tail_risk.lost.{c}.{result.focus}"].grade for c in CAUSES}
    hatched = {c: assumed(given, result.lost[result.focus][c]) for c in CAUSES}
    options = list(result.pair) if result.pair else [result.focus]
    causes = [c for c in CAUSES if any(np.any(plain(result.lost[o][c])) for o in options)]
    top = len(causes) - 0.5 + _NAME * len(options)
    rows: list[dict[str, Any]] = []
    with canvas(0.6 + 0.3 * len(causes)) as (figure, (axis,)):
        for k, option in enumerate(options):
            colour = colours[option]
            for row, cause in enumerate(reversed(causes)):
                mean, low, high = _mean_and_range(result.lost[option][cause])
                place = (row, k, len(options))
                _bar(axis, place, (mean, low, high), colour, hatched=hatched[cause])
                told = {"option": names[option], "cause": CAUSES[cause], "mean": mean, "p5": low, "p95": high}
                rows.append({**told, "grade": grades[cause]})
            at, name = (0.99, top - _NAME * (k + 0.5)), wrapped(names[option], 48, 1)
            axis.text(
                *at, name, transform=axis.get_yaxis_transform(), ha="right", va="center", color=colour, weight="bold"
            )
        axis.set_ylim(-0.5, top)
        axis.set_yticks(range(len(causes)), [CAUSES[c] for c in reversed(causes)])
        axis.tick_params(axis="y", length=0, labelcolor=INK)
        axis.spines["left"].set_visible(False)
        axis.set_xlim(0, None)
        percent_axis(axis, "x")
        axis.grid(axis="x")
        drawing = svg(figure, chart_id)
    return Drawing(chart_id, drawing, rows_of(pd.DataFrame(rows)))


def _mean_and_range(share: Any) -> tuple[float, float, float]:
    """Mean, P5 and P95, as they are drawn."""
    draws = plain(share)
    mean, low, high = (float(rounded(v)) for v in (draws.mean(), *np.quantile(draws, [0.05, 0.95])))
    return mean, low, high


def _bar(
    axis: Axes, place: tuple[int, int, int], at: tuple[float, float, float], colour: str, *, hatched: bool
) -> None:
    """One option's bar in the row of a cause (row, option, options), with a line over its range."""
    row, option, options = place
    mean, low, high = at
    height = 0.8 / options
    y = row + (0.5 * (options - 1) - option) * height
    hatch = _HATCH if hatched else ""
    axis.barh(y, mean, height=height * 0.9, color=colour, hatch=hatch, edgecolor="white", linewidth=0)
    axis.plot([low, high], [y, y], color=INK, linewidth=1.1)
