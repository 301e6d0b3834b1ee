"""Figures of the latency section's annex: the sources side by side, gap maps, overlap, the model beside measurements."""

from __future__ import annotations

import textwrap
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.colors import LinearSegmentedColormap

from fabricreport import formats
from fabricreport.as_run import SHARE
from fabricreport.blocks import Drawing
from fabricreport.books.families import families
from fabricreport.inputs import Inputs
from fabricreport.provenance import plain
from fabricreport.sections.latency.figure_context import THRESHOLD
from fabricreport.sections.latency.findings import TRAFFIC
from fabricreport.sections.latency.inputs import STEP
from fabricreport.sections.latency.measured import ClientLog
from fabricreport.sections.latency.result import LatencyResult
from fabricreport.theme import COLOURS, INK, MUTED, canvas, label_end, percent_axis, rounded, rows_of, svg
from fabricreport.validation.collectives import packaged_tables

_HEAT = LinearSegmentedColormap.from_list("gap", ["#f6f7f9", "#f3c9a8", "#c2500a", "#7a2f04"])


def sources_chart(given: Inputs) -> Drawing:
    """Every source's position on the contested quantities, with its grade; the prior's range below."""
    chart_id = "fig-latency-sources"
    quantities = [given.contested(quantity.removeprefix("contested:")) for quantity in (STEP, SHARE)]
    tallest = max(len(q.entries) for q in quantities) + 1
    records = []
    with canvas(0.7 + 0.34 * tallest, columns=len(quantities)) as (figure, axes):
        for axis, quantity in zip(axes, quantities, strict=True):
            rows = [p for p in quantity.entries if np.isfinite(p.mid)]
            labels = []
            for row, position in enumerate(reversed(rows), start=1):
                colour = COLOURS["accent"] if position.admissible else MUTED
                axis.plot([position.low, position.high], [row, row], color=colour, linewidth=2.2)
                measured = position.grade in ("measured", "published")
                axis.plot([position.mid], [row], "o", color=colour, markerfacecolor=colour if measured else "white")
                labels.append(textwrap.shorten(position.publisher, 24, placeholder=" …"))
                records.append(
                    (quantity.id, position.publisher, position.grade, position.low, position.mid, position.high)
                )
            ends = [quantity.prior_low, quantity.prior_high]
            axis.plot(ends, [0, 0], color=INK, linewidth=3.2, solid_capstyle="butt")
            axis.plot([quantity.prior_mid], [0], "D", color=INK, markersize=5)
            records.append((quantity.id, "prior used here", "", ends[0], quantity.prior_mid, ends[1]))
            axis.set_yticks(range(len(rows) + 1), ["used here", *labels])
            axis.tick_params(axis="y", length=0, labelcolor=INK)
            axis.spines["left"].set_visible(False)
            axis.grid(axis="x")
            axis.set_xlabel(
                {"us": "µs per inter-node step", "x": "bandwidth, RoCEv2 ÷ InfiniBand"}.get(quantity.unit, "")
            )
        drawing = svg(figure, chart_id)
    frame = pd.DataFrame(records, columns=["quantity", "publisher", "grade", "low", "middle", "high"])
    return Drawing(chart_id, drawing, rows_of(frame))


def map_chart(result: LatencyResult) -> Drawing:
    """Gap of an AllReduce by cluster and message size: the library's choice beside a flat ring."""
    chart_id = "fig-latency-map"
    records = []
    with canvas(3.1, columns=2, share_y=True) as (figure, axes):
        for axis, (name, label) in zip(axes, (("auto", "library’s choice"), ("ring", "flat ring")), strict=True):
            found = result.gap.maps[name]
            values = rounded(plain(found.penalty).T)
            axis.imshow(values, aspect="auto", origin="lower", cmap=_HEAT, vmin=0, vmax=0.4)
            for y in range(values.shape[0]):
                for x in range(values.shape[1]):
                    share = float(values[y, x])
                    text = f"{share * 100:.0f}" if share >= 0.095 else f"{share * 100:.1f}"
                    axis.text(x, y, text, ha="center", va="center", fontsize=6, color="white" if share > 0.2 else INK)
                    records.append((label, found.gpus[x], found.size_bytes[y], share))
            axis.set_xticks(range(len(found.gpus)), [_short(n) for n in found.gpus])
            axis.set_yticks(range(len(found.size_bytes)), [_bytes(b) for b in found.size_bytes])
            axis.tick_params(length=0)
            axis.set_xlabel(f"GPUs, {label}")
            for spine in axis.spines.values():
                spine.set_visible(False)
        drawing = svg(figure, chart_id)
    frame = pd.DataFrame(records, columns=["algorithm", "gpus", "size_bytes", "gap"])
    return Drawing(chart_id, drawing, rows_of(frame))


def overlap_chart(given: Inputs, result: LatencyResult) -> Drawing:
    """The step's gap against how much traffic compute hides."""
    chart_id = "fig-latency-overlap"
    threshold = given.central(THRESHOLD)
    traffic = TRAFFIC["experts" if result.experts else "data"]
    sweep = result.gap.by_overlap
    low, middle, high = rounded(np.quantile(plain(sweep.gap), (0.05, 0.5, 0.95), axis=0))
    with canvas(2.2) as (figure, (axis,)):
        colour = result.pair[1].colour
        axis.fill_between(sweep.at, low, high, color=colour, alpha=0.15, linewidth=0)
        axis.plot(sweep.at, middle, color=colour, marker="o", markersize=3)
        label_end(axis, sweep.at[-1], float(middle[-1]), "median", colour, dy=8)
        axis.axhline(threshold, color=MUTED, linewidth=0.9, linestyle="--")
        axis.axhline(0, color=INK, linewidth=0.8)
        percent_axis(axis, "x")
        percent_axis(axis, "y")
        axis.set_xlabel(f"share of compute behind which {traffic} can run")
        drawing = svg(figure, chart_id)
    frame = pd.DataFrame({"overlap": sweep.at, "p5": low, "p50": middle, "p95": high})
    return Drawing(chart_id, drawing, rows_of(frame))


def model_chart() -> Drawing:
    """Measured AllReduce times over the model's, by size: what set the model, and what it never saw."""
    chart_id = "fig-latency-model"
    records = []
    with canvas(2.6, columns=2, share_y=True) as (figure, axes):
        for axis, held_out in zip(axes, (False, True), strict=True):
            for table in (t for t in packaged_tables() if t.held_out == held_out):
                ours = rounded(plain(table.modelled_us()))
                family = table.fabric.split("-")[0]
                colour = families()[family].colour if family in families() else COLOURS["other"]
                style: dict[str, Any] = {"color": colour, "markersize": 3, "linestyle": "none"}
                axis.plot(table.size_bytes, rounded(table.time_us), "o", alpha=0.75, **style)
                order = np.argsort(table.size_bytes)
                axis.plot(table.size_bytes[order], ours[order], color=colour, linewidth=0.8, alpha=0.7)
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
        drawing = svg(figure, chart_id)
    frame = pd.DataFrame(records, columns=["table", "held_out", "size_bytes", "measured_us", "modelled_us"])
    return Drawing(chart_id, drawing, rows_of(frame))


def client_chart(log: ClientLog) -> Drawing:
    """The client's rows beside the model before and after recalibration."""
    chart_id = "fig-latency-client"
    with canvas(2.3) as (figure, (axis,)):
        order = np.argsort(log.size_bytes)
        sizes, measured = log.size_bytes[order], rounded(log.time_us)[order]
        before, after = (rounded(plain(v))[order] for v in (log.before_us, log.after_us))
        for values, colour, style in ((before, MUTED, "--"), (after, COLOURS["accent"], "-")):
            axis.plot(sizes, values / measured, style, color=colour)
        ends = ((before, "model before", MUTED), (after, "model after", COLOURS["accent"]))
        for k, (values, label, colour) in enumerate(ends):
            label_end(axis, float(sizes[-1]), float((values / measured)[-1]), label, colour, dy=5 if k == 0 else -5)
        axis.axhline(1, color=INK, linewidth=0.9)
        axis.set_xscale("log", base=2)
        axis.set_xticks(
            [sizes[0], sizes[len(sizes) // 2], sizes[-1]],
            [_bytes(b) for b in (sizes[0], sizes[len(sizes) // 2], sizes[-1])],
        )
        axis.minorticks_off()
        axis.set_ylabel("modelled ÷ measured")
        drawing = svg(figure, chart_id)
    frame = pd.DataFrame({"size_bytes": sizes, "measured_us": measured, "before_us": before, "after_us": after})
    return Drawing(chart_id, drawing, rows_of(frame))


def _bytes(size: float) -> str:
    for power, unit in ((30, "GiB"), (20, "MiB"), (10, "KiB")):
        if size >= 2.0**power:
            return f"{formats.plain_number(size / 2.0**power, 3)} {unit}"
    return f"{size:.0f} B"


def _short(count: float) -> str:
    return f"{count / 1024:.0f}k" if count >= 1024 else f"{count:.0f}"
