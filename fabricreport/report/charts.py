"""The pictures of the evidence report."""

from __future__ import annotations

import math
import textwrap
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.ticker import FuncFormatter, MaxNLocator, NullFormatter, NullLocator

from fabricreport.base import formats
from fabricreport.base.provenance import plain
from fabricreport.base.vocabulary import LEANS
from fabricreport.blocks import Drawing
from fabricreport.blocks.theme import (
    FIRST,
    GRID,
    INK,
    MUTED,
    SECOND,
    SMALL_PT,
    THIRD,
    canvas,
    drawn,
    label_end,
    rounded,
    spread_labels,
)
from fabricreport.books.equipment import families
from fabricreport.books.publications import VERDICTS
from fabricreport.report.figures import WORKERS, maxima
from fabricreport.report.report import Report
from fabricreport.sections.evidence.result import Disagreement
from fabricreport.validation.network import packaged_tables

VERDICT_COLOURS = {"reproduces": INK, "contradicted": SECOND}
_MARKS: dict[str, tuple[str, str]] = dict(zip(LEANS, (("o", FIRST), ("s", SECOND)), strict=True))
PANELS = 5
_TITLE_CHARS = 19


def claims_chart(case: Report) -> Drawing:
    """How many of each article's claims came to each verdict: one small panel to a verdict."""
    chart_id, found = "fig-report-claims", case.found
    ids, articles = list(found.articles)[::-1], list(found.articles.values())[::-1]
    counts = {v: [sum(c.verdict == v and c.source == i for c in found.audited) for i in ids] for v in VERDICTS}
    most = max(max(c) for c in counts.values())
    with canvas(1.75, columns=len(VERDICTS), share_y=True) as (figure, axes):
        for axis, verdict in zip(axes, VERDICTS, strict=True):
            axis.barh(range(len(articles)), counts[verdict], height=0.62, color=VERDICT_COLOURS.get(verdict, MUTED))
            for row, number in enumerate(counts[verdict]):
                axis.annotate(str(number), (number, row), xytext=(3, 0), textcoords="offset points", va="center")
            axis.set_title(textwrap.fill(verdict, 10, break_long_words=False), fontsize=SMALL_PT, loc="left", color=INK)
            axis.set_xlim(0, most * 1.25)
            axis.set_xticks([])
            axis.spines["bottom"].set_visible(False)
            axis.tick_params(axis="y", length=0, labelcolor=INK)
        axes[0].set_yticks(range(len(articles)), [textwrap.shorten(a.publisher, 26, placeholder="") for a in articles])
    frame = pd.DataFrame({"article": [a.publisher for a in articles], **counts}).iloc[::-1]
    return drawn(figure, chart_id, data=frame)


def contested_chart(case: Report) -> Drawing:
    """Every contested quantity in a panel of its own: each statement, and the band that the models draw from."""
    chart_id, items = "fig-report-contested", list(case.found.contested.values())
    rows = math.ceil(len(items) / PANELS)
    with canvas(1.55 * rows) as (figure, _):
        figure.clear()
        axes = list(figure.subplots(rows, PANELS, squeeze=False).flat)
        for axis, item in zip(axes, items, strict=False):
            _panel(axis, item)
        for axis in axes[len(items) :]:
            axis.set_axis_off()
    kept = ("id", "publisher", "date", "grade", "low", "mid", "high", "base", "converted", "set_aside")
    records = [{"quantity": d.id, **{name: getattr(p, name) for name in kept}} for d in items for p in d.stated]
    return drawn(figure, chart_id, data=pd.DataFrame(records))


def _panel(axis: Axes, item: Disagreement) -> None:
    quantity, positions = item.quantity, list(reversed(item.stated))
    low, middle, high = rounded([quantity.prior_low, quantity.prior_mid, quantity.prior_high])
    axis.axvspan(low, high, color=GRID, alpha=0.75, linewidth=0)
    axis.axvline(middle, color=MUTED, linewidth=0.8, linestyle=(0, (4, 3)))
    for row, position in enumerate(positions):
        ends = rounded([position.low, position.mid, position.high])
        face = INK if position.admissible else "white"
        axis.plot([ends[0], ends[2]], [row, row], color=INK, linewidth=1.6 if position.admissible else 0.9)
        axis.plot([ends[1]], [row], "o", color=INK, markerfacecolor=face, markersize=3.6, clip_on=False, zorder=3)
    if item.wide:
        axis.set_xscale("log")
        axis.xaxis.set_minor_formatter(NullFormatter())
        axis.xaxis.set_minor_locator(NullLocator())
    else:
        axis.xaxis.set_major_locator(MaxNLocator(2))
    axis.set_ylim(-0.8, len(positions) - 0.2)
    axis.set_yticks([])
    axis.spines["left"].set_visible(False)
    axis.tick_params(axis="x", labelsize=SMALL_PT)
    scale = formats.column_scale(item.unit, max(p.high for p in positions))
    axis.xaxis.set_major_formatter(FuncFormatter(lambda v, _: formats.plain_number(v / scale.by)))
    title = f"{item.short}, {scale.head}" if scale.head else item.short
    axis.set_title(textwrap.fill(title, _TITLE_CHARS), fontsize=SMALL_PT, loc="left", color=INK)


def slowest_chart() -> Drawing:
    """How far the slowest worker lies beyond the mean one as their number grows, for shared shocks of several sizes."""
    chart_id, found = "fig-report-slowest", maxima()
    shades = dict(zip(found, (INK, FIRST, SECOND, THIRD), strict=True))
    rows: list[dict[str, Any]] = []
    with canvas(2.1) as (figure, (axis,)):
        ends = spread_labels([float(v[-1]) for v in found.values()], 0.35)
        for (rho, values), y_label in zip(found.items(), ends, strict=True):
            y = rounded(values)
            axis.plot(WORKERS, y, color=shades[rho], marker="o", markersize=3)
            label_end(axis, WORKERS[-1], y_label, f"correlation {rho:g}", shades[rho])
            rows += [
                {"correlation": rho, "workers": n, "standard_deviations": v} for n, v in zip(WORKERS, y, strict=True)
            ]
        axis.set_xscale("log", base=2)
        axis.xaxis.set_major_formatter(FuncFormatter(lambda v, _: f"{v:,.0f}"))
        axis.set_xticks(WORKERS[::2])
        axis.minorticks_off()
        axis.set_ylim(0, None)
        axis.set_xlabel("workers that wait for each other (logarithmic scale)")
        axis.set_ylabel("standard deviations")
        axis.grid(axis="y")
    return drawn(figure, chart_id, data=pd.DataFrame(rows))


def model_chart() -> Drawing:
    """Measured AllReduce times beside the model's, by size: what set the model, and what it never saw."""
    chart_id = "fig-report-model"
    records = []
    with canvas(2.4, columns=2, share_y=True) as (figure, axes):
        for axis, held_out in zip(axes, (False, True), strict=True):
            for table in (t for t in packaged_tables() if t.held_out == held_out):
                ours = rounded(plain(table.modelled_us()))
                family = table.fabric.split("-")[0] if table.fabric_stated else ""
                side = families()[family].side if family in families() else ""
                mark, colour = _MARKS.get(side, ("^", THIRD))
                axis.plot(table.size_bytes, rounded(table.time_us), mark, color=colour, markersize=3)
                order = np.argsort(table.size_bytes)
                axis.plot(table.size_bytes[order], ours[order], color=colour, linewidth=0.8)
                records += [
                    (table.case, held_out, s, m, o)
                    for s, m, o in zip(table.size_bytes, table.time_us, ours, strict=True)
                ]
            axis.set_xscale("log", base=2)
            axis.set_yscale("log")
            axis.set_xticks([2.0**k for k in (4, 12, 20, 30)], ["16 B", "4 KiB", "1 MiB", "1 GiB"])
            axis.set_yticks([10.0**k for k in range(2, 6)], [f"{10**k:,}" for k in range(2, 6)])
            axis.minorticks_off()
            axis.set_xlabel("held out" if held_out else "fitted")
        axes[0].set_ylabel("time, µs (logarithmic)")
    frame = pd.DataFrame(records, columns=["table", "held_out", "size_bytes", "measured_us", "modelled_us"])
    return drawn(figure, chart_id, data=frame)
