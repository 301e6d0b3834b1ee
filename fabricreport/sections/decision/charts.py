"""Figures of the decision: the difference in money, what moves it, and the four axes."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from fabricreport import formats
from fabricreport.blocks import Drawing
from fabricreport.books.names import input_names, side_colour, side_names, whole_names
from fabricreport.inputs import Inputs
from fabricreport.models.judgement.framework import FrameworkResult
from fabricreport.provenance import mean_of, plain
from fabricreport.sections.decision.result import DecisionResult
from fabricreport.theme import (
    COLOURS,
    GRID,
    INK,
    MUTED,
    canvas,
    money_axis,
    rounded,
    rows_of,
    svg,
    wrapped,
)
from fabricreport.vocabulary import LEANS

BINS = 48
LOW_END, HIGH_END = MUTED, COLOURS["other"]
"""Inks of the two ends of an input's range: no fabric's colours, for they stand for no fabric."""


def difference_chart(given: Inputs, result: DecisionResult) -> Drawing:
    """How the difference between the advised option and its runner-up is spread over the draws."""
    chart_id = "fig-decision-difference"
    verdict, currency = result.verdict, given.params.money.currency
    names, colours = whole_names(given.options), {o.id: o.colour for o in given.options}
    values = plain(result.difference)
    low, high = np.quantile(values, [0.002, 0.998])
    counts, edges = np.histogram(np.clip(values, low, high), bins=BINS)
    share, edges = rounded(counts / values.size), rounded(edges)
    centres = (edges[:-1] + edges[1:]) / 2
    side = {
        True: colours[verdict.choice],
        False: colours[verdict.runner_up],
    }
    with canvas(2.3) as (figure, (axis,)):
        axis.bar(centres, share, width=np.diff(edges) * 0.92, color=[side[bool(c > 0)] for c in centres])
        axis.axvline(0, ymax=0.66, color=INK, linewidth=1)
        p5, mean, p95 = rounded([*np.quantile(values, [0.05]), values.mean(), *np.quantile(values, [0.95])])
        top = float(share.max())
        axis.plot([p5, p95], [top * 1.1] * 2, color=INK, linewidth=2, solid_capstyle="butt")
        axis.plot([mean], [top * 1.1], "o", color=INK, markersize=5)
        axis.annotate(
            "mean and 90 % range", (p95, top * 1.1), xytext=(5, 0), textcoords="offset points", va="center", color=INK
        )
        for ahead, x, align in ((True, 0.995, "right"), (False, 0.005, "left")):
            winner = verdict.choice if ahead else verdict.runner_up
            text = wrapped(f"{names[winner]} costs less", 26, 3)
            axis.text(x, 0.99, text, transform=axis.transAxes, ha=align, va="top", color=side[ahead], weight="bold")
        axis.set_ylim(0, top * 1.55)
        axis.set_yticks([])
        axis.spines["left"].set_visible(False)
        money_axis(axis, "x", float(np.abs(values).max()), currency)
        axis.set_xlabel(f"difference of total costs, {currency}, present value")
        drawing = svg(figure, chart_id)
    frame = pd.DataFrame({"bin_low": edges[:-1], "bin_high": edges[1:], "share_of_draws": share})
    return Drawing(chart_id, drawing, rows_of(frame))


def _label(text: str) -> str:
    """An input's description on at most two lines."""
    return wrapped(text, 44)


def swings_chart(given: Inputs, result: DecisionResult, *, count: int = 6) -> Drawing:
    """The inputs that move the mean difference most: its value at the low and at the high end of each."""
    chart_id = "fig-decision-swings"
    swings = result.swings[:count]
    grades = {s.input_id: given.record(s.input_id)["grade"] for s in swings}
    mean = mean_of(result.difference)
    with canvas(0.55 + 0.36 * max(len(swings), 2)) as (figure, (axis,)):
        for row, swing in enumerate(reversed(swings)):
            low, high = (float(rounded(v)) for v in (swing.at_low, swing.at_high))
            hatch = "////" if grades[swing.input_id] == "assumption" else ""
            axis.barh(row, low - mean, left=mean, height=0.56, color=LOW_END, hatch=hatch, edgecolor="white")
            axis.barh(row, high - mean, left=mean, height=0.56, color=HIGH_END, hatch=hatch, edgecolor="white")
            for value, word, other in ((low, "low", high), (high, "high", low)):
                right = value > other
                axis.annotate(
                    word,
                    (value, row),
                    xytext=(3 if right else -3, 0),
                    textcoords="offset points",
                    ha="left" if right else "right",
                    va="center",
                    color=MUTED,
                )
        axis.axvline(mean, color=MUTED, linewidth=0.8)
        axis.axvline(0, color=INK, linewidth=1.1)
        axis.set_yticks(range(len(swings)), [_label(input_names(given, s.input_id).row) for s in reversed(swings)])
        axis.tick_params(axis="y", length=0, labelcolor=INK)
        axis.spines["left"].set_visible(False)
        axis.margins(x=0.12)
        money_axis(axis, "x", abs(mean), given.params.money.currency)
        axis.grid(axis="x")
        drawing = svg(figure, chart_id)
    frame = pd.DataFrame(
        {
            "input": [s.input_id for s in swings],
            "grade": [grades[s.input_id] for s in swings],
            "difference_at_low": [s.at_low for s in swings],
            "difference_at_high": [s.at_high for s in swings],
        }
    )
    return Drawing(chart_id, drawing, rows_of(frame))


def axes_chart(given: Inputs, framework: FrameworkResult) -> Drawing:
    """Where each of the four axes leans, with its weight."""
    chart_id = "fig-decision-axes"
    axes = list(framework.axes)
    right, left = (side_names(given.options, side).phrase for side in LEANS)
    ahead, behind = (side_colour(given.options, side) for side in LEANS)
    with canvas(0.75 + 0.38 * (len(axes) + 1)) as (figure, (axis,)):
        rows: Sequence[tuple[str, float, float]] = [(a.title, a.lean, a.weight) for a in axes]
        rows = [*rows, ("All four, weighted", framework.total, 1.0)]
        for row, (_, lean, _weight) in enumerate(reversed(rows)):
            colour = ahead if lean > 0 else behind if lean < 0 else MUTED
            axis.plot([0, lean], [row, row], color=colour, linewidth=4, solid_capstyle="butt")
            marker = "D" if row == 0 else "o"
            axis.plot([lean], [row], marker, color=colour, markersize=8)
            text = formats.fixed(round(lean, 2), 2) if lean < 0 else f"+{formats.fixed(round(lean, 2), 2)}"
            axis.annotate(
                text if lean else "0", (lean, row), xytext=(0, 8), textcoords="offset points", ha="center", color=INK
            )
        axis.axvline(0, color=INK, linewidth=1)
        axis.axhline(0.5, color=GRID, linewidth=0.8)
        axis.set_xlim(-1.08, 1.08)
        axis.set_ylim(-0.5, len(rows) - 0.3)
        labels = [f"{t} ({w:.0%})" if i < len(axes) else t for i, (t, _, w) in enumerate(rows)]
        axis.set_yticks(range(len(rows)), list(reversed(labels)))
        axis.tick_params(axis="y", length=0, labelcolor=INK)
        axis.spines["left"].set_visible(False)
        axis.set_xticks([-1, -0.5, 0, 0.5, 1], [left, "", "no lean", "", right])
        drawing = svg(figure, chart_id)
    frame = pd.DataFrame({"axis": [r[0] for r in rows], "lean": [r[1] for r in rows], "weight": [r[2] for r in rows]})
    return Drawing(chart_id, drawing, rows_of(frame))
