"""The pictures of the cost: why two options differ, and what of an owned fabric is paid when."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import seaborn as sns
from matplotlib.axes import Axes

from fabricreport.base import formats
from fabricreport.base.provenance import Traced, inputs_of, mean_of, plain
from fabricreport.blocks import Drawing
from fabricreport.blocks.theme import (
    INK,
    amounts,
    drawn,
    label_end,
    open_or_filled,
    pair,
    rounded,
    row_canvas,
    wrapped,
)
from fabricreport.books.names import option_names
from fabricreport.inputs.inputs import Inputs
from fabricreport.ledger.numbers import assumed
from fabricreport.sections.client import time_lost
from fabricreport.sections.tco.cost import TIME_CAUSES
from fabricreport.sections.tco.result import Ownership, TcoResult

SMALL_SHARE = 0.08
"""Causes below this share of the largest are drawn as one for cash and one for GPU time."""
MOST = 5
"""Most causes with a bar of their own."""
_BAR, _SUM = 0.66, 0.42
_ROOM = 0.22
"""Of the width, on either side of the bars, for the amounts beside them."""


@dataclass(frozen=True)
class _Bar:
    """A bar: its mean, whether it rests on an assumption, and whether it sums up others."""

    label: str
    value: float
    assumed: bool = False
    is_sum: bool = False


def causes_chart(given: Inputs, result: TcoResult) -> Drawing:
    """What the rival costs more than the choice on average, cause by cause: cash and GPU time each with its sum, then both with
    the range that holds nine outcomes in ten. What assumptions carry is open."""
    chart_id, told = "fig-tco-waterfall", amounts(given.params.money.currency)
    bars = list(_bars(given, result))
    reach = tuple(float(v) for v in rounded(np.percentile(plain(result.difference.draws), [5, 95])))
    names, colours = option_names(given.options, result.choice, result.rival), pair(result.choice, result.rival)
    side = {True: result.rival, False: result.choice}
    with row_canvas([*(bar.label for bar in bars), "Nine times in ten"], head=1) as (figure, axis):
        places = axis.get_ylim()
        sns.barplot(x=[bar.value for bar in bars], y=list(range(len(bars))), orient="y", width=_BAR, ax=axis)
        axis.set(ylim=places, xlabel=None, ylabel=None)
        for row, (bar, patch) in enumerate(zip(bars, axis.patches, strict=True)):
            colour = INK if bar.is_sum else colours[side[bar.value > 0]]
            patch.set(**open_or_filled(colour, filled=not bar.assumed))
            if bar.is_sum:
                patch.set(y=row - _SUM / 2, height=_SUM)
            _amount(axis, bar.value, row, told(abs(bar.value)))
            axis.get_yticklabels()[row].set_fontweight("bold" if bar.is_sum else "normal")
        _widen(axis, [*(bar.value for bar in bars), *reach])
        _reach(axis, len(bars), reach, given.params.money.currency)
        for dx, align, option in ((-6, "right", result.choice), (6, "left", result.rival)):
            axis.annotate(
                f"{wrapped(names[option].row, 26, 1)} costs more", (0, 1), xytext=(dx, 0), ha=align, va="top",
                xycoords=axis.get_xaxis_transform(), textcoords="offset points", color=colours[option], weight="bold",
            )  # fmt: skip
        axis.axvline(0, ymax=1 - 1 / (len(bars) + 2), color=INK, linewidth=0.9)
    frame = pd.DataFrame(bars)
    frame.loc[len(bars) - 1, ["p5", "p95"]] = reach
    return drawn(figure, chart_id, data=frame)


def _amount(axis: Axes, x: float, row: float, text: str) -> None:
    """An amount beyond the end of its bar; the side that it stands on says which option it is of."""
    label_end(axis, x, row, text, dx=4 if x >= 0 else -4)


def _widen(axis: Axes, values: list[float]) -> None:
    """Limits that show all bars and the range with room for their amounts, and some of either side."""
    low, high = min(0.0, *values), max(0.0, *values)
    room = (high - low or 1.0) * _ROOM
    axis.set_xlim(low - room, high + room)


def _reach(axis: Axes, row: float, reach: tuple[float, ...], currency: str) -> None:
    """The range of the whole with its ends' amounts as prose writes them."""
    ends = formats.Ends(reach[0], reach[-1], "usd", 3, currency).written
    for at, told, dx in zip(reach, ends, (-5, 5), strict=True):
        axis.plot([at], [row], "|", color=INK, markersize=4)
        label_end(axis, at, row, told.removeprefix(formats.MINUS), dx=dx)
    axis.plot(reach, [row] * 2, color=INK, linewidth=1.6, solid_capstyle="butt")


def _bars(given: Inputs, result: TcoResult) -> Iterator[_Bar]:
    """Cash, then GPU time: the causes by size, the smallest of each merged, their sum below; at last both."""
    parts = {cause: value for cause, value in result.difference.parts.items() if np.any(plain(value))}
    means = {cause: float(rounded(np.mean(plain(value)))) for cause, value in parts.items()}
    sizes = sorted(map(abs, means.values()), reverse=True)
    floor = max([SMALL_SHARE * max(sizes, default=0.0), *sizes[MOST : MOST + 1]])
    for timed, sort in ((False, "cash"), (True, time_lost(given))):
        group = sorted((c for c in means if (c in TIME_CAUSES) == timed), key=lambda c: -abs(means[c]))
        large, small = [c for c in group if abs(means[c]) > floor], [c for c in group if abs(means[c]) <= floor]
        yield from (_Bar(result.labels[c], means[c], assumed(given, parts[c], inputs_of(parts[c]))) for c in large)
        if large and any(means[c] for c in small):
            yield _sum(given, f"All other {sort}", [parts[c] for c in small], is_sum=False)
        yield _sum(given, sort[0].upper() + sort[1:], [parts[c] for c in group])
    yield _sum(given, time_lost(given, "Cash"), [result.difference.draws])


def _sum(given: Inputs, label: str, parts: list[Any], *, is_sum: bool = True) -> _Bar:
    """A bar of several causes together."""
    whole = sum(parts, start=Traced(0.0))
    return _Bar(label, float(rounded(np.mean(plain(whole)))), assumed(given, whole, inputs_of(whole)), is_sum)


_BARS = 0.84


def stages_chart(given: Inputs, result: TcoResult, chart_id: str = "fig-tco-stages") -> Drawing:
    """What the network costs at each stage on the choice and on its rival; both are named at the first stage."""
    frame = _stages(_owned(result), result.choice, result.rival)
    told, names = amounts(given.params.money.currency), option_names(given.options, result.choice, result.rival)
    inks = pair(result.choice, result.rival)
    stages = list(dict.fromkeys(frame.stage))
    options = list(dict.fromkeys(frame.option))
    with row_canvas(stages, lines=len(options)) as (figure, axis):
        sns.barplot(
            frame, x="mean_cost", y="stage", hue="option", order=stages, hue_order=options, palette=inks,
            saturation=1, width=_BARS, legend=False, ax=axis,
        )  # fmt: skip
        for option, bars in zip(options, axis.containers, strict=True):
            for bar in bars:
                named = wrapped(names[option].row, 26, 1) if bar is bars[0] else ""
                amount = told(bar.get_width())
                label_end(axis, bar.get_width(), bar.get_y() + bar.get_height() / 2, f"{amount}  {named}", inks[option])
        axis.set(xlabel=None, ylabel=None)
    return drawn(figure, chart_id, data=frame)


def _stages(owned: Ownership, choice: str, rival: str) -> pd.DataFrame:
    """A row to each stage and option: what it adds to the network costs on the mean."""
    rows = []
    for option in dict.fromkeys((choice, rival)):
        for build, bought in zip(owned.builds[option], owned.bought[option], strict=True):
            stage = f"{f'Month {build.month}' if build.month else 'Start'}: {build.gpus:,} GPUs"
            rows.append((option, stage, build.month, build.gpus, float(rounded(sum(map(mean_of, bought.values()))))))
    return pd.DataFrame(rows, columns=["option", "stage", "month", "gpus", "mean_cost"])


def _owned(result: TcoResult) -> Ownership:
    if result.ownership is None:
        raise ValueError("a client that rents has no fabric of its own to draw")
    return result.ownership
