"""Figures of an owned fabric: how its cost scales, and what is bought when."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from fabricreport.blocks import Drawing
from fabricreport.books.names import whole_names
from fabricreport.inputs import Inputs
from fabricreport.models.money.staffing import MID_GPUS, SMALL_GPUS
from fabricreport.provenance import plain
from fabricreport.sections.tco.charts import colours_of, name_ends
from fabricreport.sections.tco.cost import CAUSES, FABRIC_CAUSES
from fabricreport.sections.tco.gaps import hour_gaps, on_scale
from fabricreport.sections.tco.result import Ownership, TcoResult
from fabricreport.theme import (
    GRID,
    INK,
    MUTED,
    canvas,
    money_axis,
    percentiles,
    rounded,
    rows_of,
    svg,
    wrapped,
)


def hour_sweep_chart(given: Inputs, result: TcoResult) -> Drawing:
    """Cost of a useful GPU-hour over sizes, each option less the choice."""
    chart_id = "fig-tco-sweep"
    names, colours = whole_names(given.options), colours_of(given)
    owned = _owned(result)
    sweep = owned.sweep
    gaps = hour_gaps(owned, result.choice, result.order)
    shown = on_scale(gaps, keep=result.rival)
    with canvas(2.25) as (figure, (axis,)):
        ends = _bands(axis, sweep.gpus, {o: gaps[o] for o in shown}, colours)
        axis.axhline(0, color=colours[result.choice], linewidth=1.7)
        ends[result.choice] = (0.0, colours[result.choice])
        _size_axis(axis, sweep.gpus, result)
        name_ends(axis, sweep.gpus[-1], ends, names)
        money_axis(axis, "y", 1.0, given.params.money.currency)
        axis.set_xlabel("GPUs (log scale)")
        drawing = svg(figure, chart_id)
    frame = pd.DataFrame(
        [
            (o, n, np.mean(gaps[o][i]), *np.percentile(gaps[o][i], [5, 95]))
            for o in gaps
            for i, n in enumerate(sweep.gpus)
        ],
        columns=["option", "gpus", "mean", "p5", "p95"],
    )
    return Drawing(chart_id, drawing, rows_of(frame))


def fabric_sweep_chart(given: Inputs, result: TcoResult, chart_id: str = "fig-tco-fabric-sweep") -> Drawing:
    """Capital of the fabric per GPU over sizes; it jumps where a tier of switches is added."""
    names, colours = whole_names(given.options), colours_of(given)
    sweep = _owned(result).sweep
    values = {o: plain(sweep.fabric_per_gpu[o]) for o in result.order}
    with canvas(2.6) as (figure, (axis,)):
        ends = _bands(axis, sweep.gpus, values, colours)
        _size_axis(axis, sweep.gpus, result)
        axis.set_ylim(bottom=0)
        name_ends(axis, sweep.gpus[-1], ends, names)
        money_axis(axis, "y", 1.0, given.params.money.currency)
        axis.set_xlabel("GPUs (log scale)")
        drawing = svg(figure, chart_id)
    frame = pd.DataFrame(
        [
            (o, n, np.mean(values[o][i]), *np.percentile(values[o][i], [5, 95]))
            for o in values
            for i, n in enumerate(sweep.gpus)
        ],
        columns=["option", "gpus", "mean", "p5", "p95"],
    )
    return Drawing(chart_id, drawing, rows_of(frame))


def stages_chart(given: Inputs, result: TcoResult, chart_id: str = "fig-tco-stages") -> Drawing:
    """What of the fabric is bought at each stage, for the choice and its rival."""
    names, colours = whole_names(given.options), colours_of(given)
    owned = _owned(result)
    pair = (result.choice, result.rival)
    rows: list[tuple[str, int, str, float]] = []
    with canvas(2.3, columns=2, share_y=True) as (figure, axes):
        for axis, option in zip(axes, pair, strict=True):
            _stage_bars(axis, option, owned, rows, colours[option])
            axis.set_title(wrapped(names[option], 32), color=colours[option], fontsize=8.5, weight="bold")
            money_axis(axis, "y", 1.0, given.params.money.currency)
        axes[0].set_ylim(0, axes[0].get_ylim()[1] * 1.18)
        drawing = svg(figure, chart_id)
    frame = pd.DataFrame(rows, columns=["option", "month", "cause", "mean_cost"])
    return Drawing(chart_id, drawing, rows_of(frame))


def _stage_bars(axis: Axes, option: str, owned: Ownership, rows: list[tuple[str, int, str, float]], hue: str) -> None:
    before = 0
    builds = owned.builds[option]
    for i, (build, bought) in enumerate(zip(builds, owned.bought[option], strict=True)):
        at = 0.0
        for shade, cause in zip((1.0, 0.62, 0.36, 0.16), FABRIC_CAUSES, strict=True):
            value = float(rounded(bought[cause]))
            axis.bar(i, value, bottom=at, width=0.62, color=hue, alpha=shade, edgecolor="white")
            at += value
            rows.append((option, build.month, CAUSES[cause], value))
        axis.annotate(
            f"{build.bom.switches - before:,}",
            (i, at),
            xytext=(0, 3),
            textcoords="offset points",
            ha="center",
            color=INK,
        )
        before = build.bom.switches
    axis.set_xticks(range(len(builds)), [f"month {b.month}\n{b.gpus:,} GPUs" for b in builds], fontsize=7.5)
    axis.tick_params(axis="x", length=0)


def _owned(result: TcoResult) -> Ownership:
    if result.ownership is None:
        raise ValueError("a client that rents has no fabric of its own to draw")
    return result.ownership


def _bands(
    axis: Axes, sizes: tuple[int, ...], values: Mapping[str, Any], colours: Mapping[str, str]
) -> dict[str, tuple[float, str]]:
    """Means and P5–P95 bands; returns each option's last mean and colour."""
    ends = {}
    for option, draws in values.items():
        hue = colours[option]
        low, high = (rounded(v) for v in percentiles(draws, [5, 95]))
        middle = rounded(np.mean(draws, axis=1))
        known = np.flatnonzero(np.isfinite(middle))
        if not known.size:
            continue
        axis.fill_between(sizes, low, high, color=hue, alpha=0.14, linewidth=0)
        axis.plot(sizes, middle, color=hue)
        ends[option] = (float(middle[known[-1]]), hue)
    return ends


def _size_axis(axis: Axes, sizes: tuple[int, ...], result: TcoResult) -> None:
    """Log axis of sizes, tier boundaries, and where the client stands."""
    axis.set_xscale("log")
    ticks = [2**p for p in (4, 7, 10, 13)] + [sizes[-1]]
    axis.set_xticks(ticks, [f"{t:,}" for t in ticks])
    axis.minorticks_off()
    axis.set_xlim(sizes[0], sizes[-1])
    for edge in (SMALL_GPUS, MID_GPUS):
        axis.axvline(edge, color=GRID, linewidth=1, zorder=0)
    top = axis.get_xaxis_transform()
    stages = result.common.stages
    for month, gpus in stages:
        axis.plot([gpus], [1.0], "v", color=INK, markersize=6, transform=top, clip_on=False, zorder=5)
        if (month, gpus) in (stages[0], stages[-1]):
            axis.annotate(
                "now" if month == 0 else f"month {month}", (gpus, 1.0), xycoords=top, xytext=(0, 6),
                textcoords="offset points", ha="center", color=MUTED, fontsize=7.5, annotation_clip=False,
            )  # fmt: skip
