"""The picture of why two options differ in total cost."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from fabricreport import formats
from fabricreport.blocks import Drawing
from fabricreport.inputs import Inputs
from fabricreport.marks import assumed
from fabricreport.provenance import inputs_of, plain
from fabricreport.sections.tco.cost import TIME_CAUSES
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
    """The mean difference between rival and choice, cause by cause, what is paid before lost time: each group adds up to the bar
    below it, and both to the last one."""
    chart_id, currency, colours = "fig-tco-waterfall", given.params.money.currency, colours_of(given)
    rows = _parts(given, result)
    mean = float(rounded(np.mean(plain(result.difference.draws))))
    p5, p95 = (float(rounded(v)) for v in np.percentile(plain(result.difference.draws), [5, 95]))
    hues = {
        True: colours[result.choice],
        False: colours[result.rival],
    }
    with canvas(0.6 + 0.175 * (len(rows) + 2)) as (figure, (axis,)):
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
    rows: list[_Bar],
    mean: float,
    reach: tuple[float, float],
    hues: Mapping[bool, str],
    symbol: str,
) -> None:
    """The bars of a waterfall from the first cause down to all causes, with the P5–P95 (`reach`) of the whole."""
    at = 0.0
    for row, bar in enumerate(rows):
        left = at - bar.value if bar.is_sum else at
        axis.barh(
            row,
            bar.value,
            left=left,
            height=0.3 if bar.is_sum else 0.66,
            color=INK if bar.is_sum else hues[bar.value > 0],
            hatch="////" if bar.assumed else "",
            edgecolor="white",
        )
        axis.plot([left + bar.value] * 2, [row, row + 1], color=MUTED, linewidth=0.6)
        _value(axis, max(left, left + bar.value), row, formats.money(bar.value, 3, symbol))
        at = left + bar.value
    last = len(rows)
    axis.barh(last, mean, height=0.66, color=INK)
    axis.plot(list(reach), [last + 1] * 2, color=INK, linewidth=1.6, solid_capstyle="butt")
    _value(axis, max(0.0, mean), last, formats.money(mean, 3, symbol))
    axis.axvline(0, color=INK, linewidth=1)
    axis.set_yticks(range(last + 2), [*(bar.label for bar in rows), "Cash and time", "90 % range of both"])
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


@dataclass(frozen=True)
class _Bar:
    """A bar of the waterfall: its mean, whether it rests on an assumption, and whether it sums up those above it."""

    label: str
    value: float
    assumed: bool = False
    is_sum: bool = False


def _parts(given: Inputs, result: TcoResult) -> list[_Bar]:
    """The bars in the order of the bill, what is paid and then time, the smallest of each merged, the sum below each."""
    means = {c: float(rounded(np.mean(plain(v)))) for c, v in result.difference.parts.items()}
    floor = SMALL_SHARE * max(map(abs, means.values()))
    bars: list[_Bar] = []
    for timed, sort, words in ((False, "cash", "Cash"), (True, "GPU time", "GPU time")):
        group = {c: value for c, value in means.items() if (c in TIME_CAUSES) == timed}
        shown = [
            _Bar(
                result.labels[c],
                value,
                assumed(given, result.difference.parts[c], inputs_of(result.difference.parts[c])),
            )
            for c, value in group.items()
            if abs(value) > floor
        ]
        rest = sum(value for value in group.values() if abs(value) <= floor)
        bars += [*shown, *([_Bar(f"All other {sort}", rest)] if rest else [])]
        bars.append(_Bar(words, sum(group.values()), is_sum=True))
    return bars
