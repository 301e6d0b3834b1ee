"""The chart of the joint study: how often each option is the cheapest as the value of a GPU-hour goes over a range."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from fabricreport import formats
from fabricreport.blocks import Drawing
from fabricreport.inputs import Inputs
from fabricreport.sections.decision.joint.result import JointResult
from fabricreport.theme import (
    INK,
    MUTED,
    canvas,
    label_end,
    percent_axis,
    rounded,
    rows_of,
    svg,
    wrapped,
)

_SEEN = 0.02
"""An option that is nowhere the cheapest in more draws has no line of its own."""
_LABEL = 0.17
"""Height of a label of two lines, as a share of the axis."""
_DASHES = ("-", (0, (5, 2)), (0, (1, 1.5)), (0, (5, 2, 1, 2)), (0, (3, 1, 1, 1, 1, 1)))


def _stacked(ends: Sequence[float]) -> list[float]:
    """Heights of labels, each beside its line's end or as far above the label below it as it must be."""
    placed: dict[int, float] = {}
    least = 0.02
    for n in sorted(range(len(ends)), key=lambda n: ends[n]):
        placed[n] = max(ends[n], least)
        least = placed[n] + _LABEL
    return [placed[n] for n in range(len(ends))]


def acceptability_chart(given: Inputs, found: JointResult) -> Drawing:
    """Share of draws in which each option is the cheapest, against the value of a GPU-hour; the one in use is marked."""
    chart_id, hours = "fig-decision-hours", found.hours
    assert hours is not None, "asked for where an hour has a value"
    options = {o.id: o for o in given.options}
    x, shares = rounded(hours.curve.values), rounded(hours.curve.shares)
    seen = [n for n in range(len(found.contestants)) if shares[:, n].max() > _SEEN]
    with canvas(2.4) as (figure, (axis,)):
        axis.set_xscale("log")
        ends = _stacked([float(shares[-1, n]) for n in seen])
        for dash, n, end in zip(_DASHES * len(seen), seen, ends, strict=False):
            option = options[found.contestants[n]]
            axis.plot(x, shares[:, n], color=option.colour, linestyle=dash)
            label_end(axis, float(x[-1]), end, wrapped(option.name, 22, 2), option.colour)
        axis.axvline(float(rounded(hours.in_use)), color=MUTED, linewidth=0.9)
        axis.annotate(
            "in use",
            (float(rounded(hours.in_use)), 1.0),
            xytext=(3, -2),
            textcoords="offset points",
            va="top",
            color=MUTED,
        )
        if hours.crossing:
            axis.axvline(float(rounded(hours.crossing.value)), color=INK, linewidth=0.9, linestyle=(0, (4, 3)))
        ticks = [float(rounded(hours.in_use * factor)) for factor in (0.25, 0.5, 1, 2, 4)]
        axis.set_xticks(ticks, [formats.money(t, 3) for t in ticks])
        axis.set_xticks([], minor=True)
        axis.set_xlim(float(x[0]), float(x[-1]))
        axis.set_ylim(0, 1)
        percent_axis(axis, "y")
        axis.set_xlabel("value of a lost GPU-hour, USD (log scale)")
        axis.grid(axis="y")
        drawing = svg(figure, chart_id)
    frame = pd.DataFrame(
        {"gpu_hour_value_usd": x, **{found.contestants[n]: shares[:, n] for n in range(shares.shape[1])}}
    )
    return Drawing(chart_id, drawing, rows_of(frame))
