"""Figures of the diligence section: questions by worth, what a shortfall costs, bandwidth by number of nodes."""

from __future__ import annotations

import textwrap
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from fabricreport.blocks import Drawing
from fabricreport.inputs import Inputs
from fabricreport.provenance import plain
from fabricreport.sections.diligence.result import DiligenceResult
from fabricreport.sections.diligence.study import nodes_of
from fabricreport.theme import (
    COLOURS,
    INK,
    MUTED,
    canvas,
    money_axis,
    rounded,
    rows_of,
    svg,
)

SHOWN = 7
_STEPS = 31


def questions_chart(given: Inputs, result: DiligenceResult) -> Drawing:
    """How far each answer moves the mean difference between the tested option and its rival, in the order of the list.

    Of a long list the widest ranges are shown.
    """
    chart_id = "fig-diligence-questions"
    shown = sorted(result.priced, key=lambda q: -q.difference.width if q.difference else 0.0)[:SHOWN]
    rows = [(q.question, q.difference) for q in result.priced if q.difference and q in shown]
    mean = float(plain(result.difference).mean())
    with canvas(0.6 + 0.22 * max(len(rows), 3)) as (figure, (axis,)):
        for at, (_, swing) in enumerate(reversed(rows)):
            ends = sorted(float(rounded(v)) for v in (swing.at_low, swing.at_high))
            turns = ends[0] < 0 < ends[1]
            colour = COLOURS["warn"] if turns else COLOURS["accent"]
            axis.plot(ends, [at, at], color=colour, linewidth=7, solid_capstyle="butt")
            if turns:
                axis.annotate(
                    "could reverse it", (ends[1], at), xytext=(4, 0), textcoords="offset points", va="center",
                    color=colour,
                )  # fmt: skip
        axis.axvline(mean, color=MUTED, linewidth=0.8, linestyle=(0, (4, 3)))
        axis.axvline(0, color=INK, linewidth=1.1)
        axis.set_yticks(range(len(rows)), [textwrap.shorten(q.title, 46, placeholder=" …") for q, _ in reversed(rows)])
        axis.tick_params(axis="y", length=0, labelcolor=INK)
        axis.spines["left"].set_visible(False)
        axis.set_ylim(-0.6, len(rows) - 0.4)
        axis.margins(x=0.14)
        money_axis(axis, "x", abs(mean), given.params.money.currency)
        axis.grid(axis="x")
        drawing = svg(figure, chart_id)
    frame = pd.DataFrame(
        {
            "question": [q.id for q, _ in rows],
            "difference_at_low": [s.at_low for _, s in rows],
            "difference_at_high": [s.at_high for _, s in rows],
        }
    )
    return Drawing(chart_id, drawing, rows_of(frame))


def curve_chart(given: Inputs, result: DiligenceResult) -> Drawing:
    """Modelled busbw of the tested option from two nodes upwards, with the floors of the acceptance test."""
    chart_id = "fig-diligence-curve"
    nodes = np.array([p.nodes for p in result.curve], dtype=float)
    low, mid, high = (rounded([getattr(p, k) for p in result.curve]) for k in ("p5", "p50", "p95"))
    colour = result.option.colour
    with canvas(2.5) as (figure, (axis,)):
        axis.fill_between(nodes, low, high, color=colour, alpha=0.18, linewidth=0)
        axis.plot(nodes, mid, color=colour, marker="o", markersize=4)
        axis.annotate(
            "two nodes: the best case" if result.flatters else "two nodes",
            (nodes[0], mid[0]),
            xytext=(9, 3),
            textcoords="offset points",
            color=INK,
        )
        axis.annotate(
            "median, 90 % range",
            (nodes[-1], mid[-1]),
            xytext=(-4, 7),
            textcoords="offset points",
            ha="right",
            color=colour,
        )
        _floors(axis, result, nodes_of(given))
        axis.set_xscale("log", base=2)
        axis.set_xticks(nodes, [f"{int(n):,}" for n in nodes], rotation=45 if nodes.size > 9 else 0)
        axis.set_xticks([], minor=True)
        axis.set_ylim(0, float(high.max()) * 1.05)
        axis.set_xlabel("nodes (log scale)")
        axis.set_ylabel("AllReduce busbw, GB/s")
        axis.grid(axis="y")
        drawing = svg(figure, chart_id)
    frame = pd.DataFrame({"nodes": nodes, "busbw_p5": low, "busbw_p50": mid, "busbw_p95": high})
    return Drawing(chart_id, drawing, rows_of(frame))


def _floors(axis: Axes, result: DiligenceResult, nodes_now: int) -> None:
    """The floor at each size planned that spans several nodes, as short bars."""
    if not result.floors:
        return
    gpus_per_node = min(result.floors) / nodes_now
    marks = [(gpus / gpus_per_node, float(rounded(floor.value))) for gpus, floor in result.floors.items()]
    axis.plot(
        [n for n, _ in marks], [f for _, f in marks], "_", color=COLOURS["warn"], markersize=16, markeredgewidth=2
    )
    axis.annotate(
        "floor to pass", marks[-1], xytext=(0, -12), textcoords="offset points", ha="right", color=COLOURS["warn"]
    )


def shortfall_chart(given: Inputs, result: DiligenceResult) -> Drawing:
    """What lost bandwidth and lost weeks cost, with the lead that the tested option has to lose."""
    chart_id = "fig-diligence-shortfall"
    prices = {p.id: p.price for p in result.promises if p.price}
    lead, currency = float(plain(result.difference).mean()), given.params.money.currency
    panels = (
        ("busbw", np.linspace(0, 30, _STEPS), "percent of busbw below what the cost assumes"),
        ("weeks", np.linspace(0, 12, _STEPS), f"{prices['weeks'].unit[4:]}s later than the cost assumes"),
    )
    colour = result.option.colour
    found: dict[str, Any] = {}
    with canvas(2.4, columns=2, share_y=True) as (figure, axes):
        for axis, (kind, short, label) in zip(axes, panels, strict=True):
            price = prices[kind]
            spread = price.spread
            low, mid, high = (spread.p5, price.value, spread.p95) if spread else (price.value,) * 3
            axis.fill_between(short, rounded(short * low), rounded(short * high), color=colour, alpha=0.18, linewidth=0)
            axis.plot(short, rounded(short * mid), color=colour)
            if lead > 0:
                axis.axhline(lead, color=INK, linewidth=1, linestyle=(0, (4, 3)))
            axis.set_xlabel(label)
            axis.set_xlim(0, float(short[-1]))
            axis.grid(axis="y")
            found |= {f"{kind}_short": short, f"{kind}_cost": short * mid}
        if lead > 0:
            axes[1].annotate(
                "the option's mean saving", (12, lead), xytext=(-2, -4), textcoords="offset points", ha="right", va="top",
                color=INK,
            )  # fmt: skip
        axes[0].set_ylim(0, None)
        money_axis(axes[0], "y", lead, currency)
        axes[0].set_ylabel(f"cost to the client, {currency}")
        drawing = svg(figure, chart_id)
    return Drawing(chart_id, drawing, rows_of(pd.DataFrame(found)))
