"""Figures of the decision: the difference in money, what moves it, and the four axes."""

from __future__ import annotations

import numpy as np
import pandas as pd

from fabricreport.blocks import Drawing
from fabricreport.books.names import whole_names
from fabricreport.inputs import Inputs
from fabricreport.provenance import plain
from fabricreport.sections.decision.result import DecisionResult
from fabricreport.theme import (
    INK,
    canvas,
    money_axis,
    pair,
    rounded,
    rows_of,
    svg,
    wrapped,
)

BINS = 48


def difference_chart(given: Inputs, result: DecisionResult) -> Drawing:
    """How the difference between the advised option and its runner-up is spread over the draws."""
    chart_id = "fig-decision-difference"
    verdict, currency = result.verdict, given.params.money.currency
    names, inks = whole_names(given.options), pair(verdict.choice, verdict.runner_up)
    values = plain(result.difference)
    low, high = np.quantile(values, [0.002, 0.998])
    counts, edges = np.histogram(np.clip(values, low, high), bins=BINS)
    share, edges = rounded(counts / values.size), rounded(edges)
    centres = (edges[:-1] + edges[1:]) / 2
    side = {True: inks[verdict.choice], False: inks[verdict.runner_up]}
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
        for ahead, x, align in ((True, 0.98, "right"), (False, 0.02, "left")):
            winner = verdict.choice if ahead else verdict.runner_up
            text = wrapped(f"{names[winner]} costs less", 26, 3)
            axis.text(x, 0.99, text, transform=axis.transAxes, ha=align, va="top", color=side[ahead], weight="bold")
        axis.set_ylim(0, top * 1.55)
        axis.set_yticks([])
        axis.spines["left"].set_visible(False)
        money_axis(axis, currency)
        axis.set_xlabel(f"difference of total costs, {currency}, present value")
        drawing = svg(figure, chart_id)
    frame = pd.DataFrame({"bin_low": edges[:-1], "bin_high": edges[1:], "share_of_draws": share})
    return Drawing(chart_id, drawing, rows_of(frame))
