"""Figures of the total cost: why the options differ, what an hour costs, where the money goes."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from fabricreport import formats
from fabricreport.blocks import Drawing
from fabricreport.books.names import whole_names
from fabricreport.inputs import Inputs
from fabricreport.provenance import plain
from fabricreport.sections.assumed import assumed
from fabricreport.sections.tco.cost import FABRIC_CAUSES, LOST_CAUSES
from fabricreport.sections.tco.gaps import cash_gaps, cash_on_scale
from fabricreport.sections.tco.result import TcoResult
from fabricreport.theme import (
    COLOURS,
    INK,
    MUTED,
    canvas,
    label_end,
    money_axis,
    rounded,
    rows_of,
    spread_labels,
    svg,
    wrapped,
)

SMALL_SHARE = 0.08
"""Parts of a waterfall below this share of the largest are drawn as one."""

GROUPS: Mapping[str, tuple[str, ...]] = {
    "servers or rent": ("rent", "servers"),
    "fabric": FABRIC_CAUSES,
    "running it": ("power_and_cooling", "space", "licences", "support", "staff_and_training"),
    "lost GPU time": (*LOST_CAUSES, "delay"),
    "resale": ("residual",),
}
_GROUP_COLOURS = ("#b9c0ca", COLOURS["accent"], "#8a6d1f", COLOURS["warn"], "#d9dde3")


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


def totals_chart(given: Inputs, result: TcoResult) -> Drawing:
    """Mean total by option, stacked in a few groups, with the P5–P95 of the total; resale is taken off at the left."""
    chart_id, names = "fig-tco-totals", whole_names(given.options)
    means = {
        o: {g: sum(float(np.mean(plain(parts[c]))) for c in causes if c in parts) for g, causes in GROUPS.items()}
        for o, parts in result.components.items()
    }
    shown = [g for g in GROUPS if any(abs(m[g]) > 0 for m in means.values())]
    with canvas(0.75 + 0.42 * len(means)) as (figure, (axis,)):
        for row, option in enumerate(result.order):
            at = 0.0
            for group in shown:
                value = float(rounded(means[option][group]))
                left = 0.0 if value < 0 else at
                colour = _GROUP_COLOURS[list(GROUPS).index(group)]
                axis.barh(row, value, left=left, height=0.5, color=colour, edgecolor="white")
                if row == 0:
                    axis.annotate(
                        group, (left + value / 2, row), xytext=(0, 14 + 9 * (shown.index(group) % 2)), textcoords="offset points", ha="center",
                        color=MUTED, fontsize=7,
                    )  # fmt: skip
                at += max(value, 0.0)
            total = plain(result.totals[option])
            p5, p95 = (float(rounded(v)) for v in np.percentile(total, [5, 95]))
            axis.plot([p5, p95], [row + 0.36] * 2, color=INK, linewidth=1.6, solid_capstyle="butt")
            axis.plot([float(rounded(np.mean(total)))], [row + 0.36], "o", color=INK, markersize=3.5)
        axis.axvline(0, color=INK, linewidth=1)
        axis.set_yticks(range(len(result.order)), [wrapped(names[o], 24, 3) for o in result.order])
        axis.set_ylim(len(result.order) - 0.3, -0.95)
        axis.tick_params(axis="y", length=0, labelcolor=INK)
        axis.spines["left"].set_visible(False)
        money_axis(axis, "x", 1.0, given.params.money.currency)
        axis.grid(axis="x")
        drawing = svg(figure, chart_id)
    frame = pd.DataFrame([{"option": o, **means[o]} for o in result.order])
    return Drawing(chart_id, drawing, rows_of(frame))


def hours_chart(
    given: Inputs, result: TcoResult, chart_id: str = "fig-tco-hours", short: Mapping[str, str] | None = None
) -> Drawing:
    """What a useful GPU-hour costs by option when renting: the price, and what lost time adds to it; `short`: names."""
    currency = given.params.money.currency
    names, colours = short or whole_names(given.options), colours_of(given)
    price = float(rounded(np.mean(plain(result.common.server.rent_per_gpu_hour))))
    symbol = formats.SYMBOLS.get(currency, currency + " ")
    rows = []
    with canvas(0.65 + 0.42 * len(result.order)) as (figure, (axis,)):
        for row, option in enumerate(result.order):
            draws = plain(result.useful_hour[option])
            mean = float(rounded(np.mean(draws)))
            p5, p95 = (float(rounded(v)) for v in np.percentile(draws, [5, 95]))
            hue = colours[option]
            axis.barh(row, price, height=0.5, color=hue)
            axis.barh(row, mean - price, left=price, height=0.5, color="white", edgecolor=hue, hatch="////")
            axis.plot([p5, p95], [row + 0.36] * 2, color=INK, linewidth=1.6, solid_capstyle="butt")
            axis.annotate(
                formats.money(mean, 3, symbol), (max(mean, p95), row), xytext=(5, 0), textcoords="offset points",
                va="center", color=INK,
            )  # fmt: skip
            if row == 0:
                axis.annotate("rent", (price / 2, row), va="center", ha="center", color="white", weight="bold")
            rows.append((option, price, mean - price, p5, p95))
        axis.set_yticks(range(len(result.order)), [wrapped(names[o], 26, 3) for o in result.order])
        axis.set_ylim(len(result.order) - 0.35, -0.55)
        axis.tick_params(axis="y", length=0, labelcolor=INK)
        axis.spines["left"].set_visible(False)
        axis.set_xlim(0, max(r[4] for r in rows) * 1.12)
        money_axis(axis, "x", 1.0, currency)
        drawing = svg(figure, chart_id)
    frame = pd.DataFrame(rows, columns=["option", "rent", "lost_time", "p5", "p95"])
    return Drawing(chart_id, drawing, rows_of(frame))


def cash_chart(given: Inputs, result: TcoResult) -> Drawing:
    """Cash paid so far, each option less the choice, month by month."""
    chart_id = "fig-tco-cash"
    names, colours = whole_names(given.options), colours_of(given)
    if result.ownership is None:
        raise ValueError("a client that rents has no cash flows of its own to draw")
    months = np.arange(result.common.months + 1)
    apart = cash_gaps(result.ownership, result.choice, result.order)
    every = {o: rounded(gap) for o, gap in apart.items()}
    gaps = {o: every[o] for o in cash_on_scale(apart, result.rival)}
    with canvas(2.4) as (figure, (axis,)):
        ends = {}
        for option, gap in gaps.items():
            hue = colours[option]
            axis.step(months, gap, where="post", color=hue, linestyle="-")
            ends[option] = (float(gap[-2]), hue)
        axis.plot([0, months[-1]], [0, 0], color=INK, linewidth=1)
        name_ends(axis, float(months[-1]), ends, names)
        axis.set_xlim(0, months[-1])
        axis.set_xticks([m for m in months if m % 12 == 0])
        axis.set_xlabel("month")
        money_axis(axis, "y", 1.0, given.params.money.currency)
        axis.grid(axis="y")
        drawing = svg(figure, chart_id)
    frame = pd.DataFrame({"month": months, **every})
    return Drawing(chart_id, drawing, rows_of(frame))


def name_ends(axis: Axes, x: float, ends: Mapping[str, tuple[float, str]], names: Mapping[str, str]) -> None:
    """Names beside the last points (y, colour), moved apart until none covers another."""
    low, high = axis.get_ylim()
    order = list(ends)
    for option, y in zip(order, spread_labels([ends[o][0] for o in order], (high - low) * 0.2), strict=True):
        label_end(axis, x, y, wrapped(names[option], 20, 3), ends[option][1])
