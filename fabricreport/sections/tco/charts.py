"""The picture of why two options differ in total cost."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from fabricreport import formats
from fabricreport.blocks import Drawing
from fabricreport.inputs import Inputs
from fabricreport.provenance import plain
from fabricreport.sections.assumed import assumed
from fabricreport.sections.tco.result import TcoResult
from fabricreport.theme import (
    INK,
    MUTED,
    canvas,
    money_axis,
    rounded,
    rows_of,
    svg,
)

SMALL_SHARE = 0.08
"""Parts of a waterfall below this share of the largest are drawn as one."""


def colours_of(given: Inputs) -> dict[str, str]:
    """Families of the options by id."""
    return {o.id: o.colour for o in given.options}


def waterfall_chart(given: Inputs, result: TcoResult) -> Drawing:
    """The mean difference between rival and choice, cause by cause: the bars add up to the last one."""
    chart_id, currency, colours = "fig-tco-waterfall", given.params.money.currency, colours_of(given)
    rows = _parts(given, result)
    mean = float(rounded(np.mean(plain(result.difference.draws))))
    p5, p95 = (float(rounded(v)) for v in np.percentile(plain(result.difference.draws), [5, 95]))
    hues = {
        True: colours[result.choice],
        False: colours[result.rival],
    }
    with canvas(0.6 + 0.195 * (len(rows) + 2)) as (figure, (axis,)):
        _draw_waterfall(axis, rows, mean, (p5, p95), hues, formats.SYMBOLS.get(currency, currency + " "))
        money_axis(axis, "x", abs(mean), currency)
        drawing = svg(figure, chart_id)
    frame = pd.DataFrame(
        [(result.labels[c], float(np.mean(plain(v)))) for c, v in result.difference.parts.items()] + [("all", mean)],
        columns=["cause", "mean_difference"],
    )
    return Drawing(chart_id, drawing, rows_of(frame))


def _draw_waterfall(
    axis: Axes,
    rows: list[tuple[str, float, bool]],
    mean: float,
    reach: tuple[float, float],
    hues: Mapping[bool, str],
    symbol: str,
) -> None:
    """The bars of a waterfall from the first cause down to all causes, with the P5–P95 (`reach`) of the whole."""
    at = 0.0
    for row, (_, value, ours) in enumerate(rows):
        axis.barh(
            row,
            value,
            left=at,
            height=0.66,
            color=hues[value > 0],
            hatch="////" if ours else "",
            edgecolor="white",
        )
        axis.plot([at + value] * 2, [row, row + 1], color=MUTED, linewidth=0.6)
        _value(axis, max(at, at + value), row, formats.money(value, 3, symbol))
        at += value
    last = len(rows)
    axis.barh(last, mean, height=0.66, color=INK)
    axis.plot(list(reach), [last + 1] * 2, color=INK, linewidth=1.6, solid_capstyle="butt")
    _value(axis, max(0.0, mean), last, formats.money(mean, 3, symbol))
    axis.axvline(0, color=INK, linewidth=1)
    axis.set_yticks(range(last + 2), [*(r[0] for r in rows), "All causes", "90 % range of all causes"])
    axis.set_ylim(last + 1.5, -0.6)
    axis.tick_params(axis="y", length=0, labelcolor=INK)
    axis.spines["left"].set_visible(False)
    axis.margins(x=0.12)


def _value(axis: Axes, x: float, row: float, text: str) -> None:
    """An amount beside its bar, on white, so that no line runs through it."""
    axis.annotate(
        text, (x, row), xytext=(3, 0), textcoords="offset points", va="center", ha="left", color=INK, fontsize=7.5,
        bbox={"facecolor": "white", "edgecolor": "none", "pad": 0.4},
    )  # fmt: skip


def _parts(given: Inputs, result: TcoResult) -> list[tuple[str, float, bool]]:
    """(label, mean, rests on an assumption) of the waterfall, in the order of the bill, the smallest merged."""
    means = {c: float(rounded(np.mean(plain(v)))) for c, v in result.difference.parts.items()}
    floor = SMALL_SHARE * max(map(abs, means.values()))
    shown = [
        (result.labels[c], value, assumed(given, result.difference.parts[c]))
        for c, value in means.items()
        if abs(value) > floor
    ]
    rest = sum(value for value in means.values() if abs(value) <= floor)
    return [*shown, ("All other causes", rest, False)] if rest else shown
