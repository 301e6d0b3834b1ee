"""The chart of the latency section: what the gap between the fabrics costs, by the size of a job."""

from __future__ import annotations

import numpy as np
import pandas as pd
import seaborn as sns

from fabricreport.base.provenance import plain
from fabricreport.blocks import Drawing
from fabricreport.blocks.theme import (
    INK,
    MUTED,
    THIRD,
    canvas,
    drawn,
    label_end,
    percent_axis,
    rounded,
    spread_labels,
)
from fabricreport.inputs.inputs import Inputs
from fabricreport.sections.client import largest_job
from fabricreport.sections.latency.figures import THRESHOLD
from fabricreport.sections.latency.result import LatencyResult

QUANTILES = (0.05, 0.5, 0.95)


def scale_chart(given: Inputs, result: LatencyResult) -> Drawing | None:
    """Extra time of the pair's second option against cluster size: a large AllReduce on a tree and on a flat ring, and the
    client's step; None where the client plans one size only."""
    if len(result.gap.sizes) == 1:
        return None
    chart_id = "fig-latency-scale"
    threshold, gpus = given.central(THRESHOLD), largest_job(given, int(given.params.cluster.gpus))
    gap = result.gap
    lines = (
        ("AllReduce, flat ring", gap.ring, MUTED, ":"),
        ("AllReduce, the library’s choice", gap.tree, MUTED, "-"),
        ("your step, all traffic", gap.step_by_size, THIRD, "-"),
    )
    records = []
    with canvas(2.0) as (figure, (axis,)):
        ends = []
        for label, sweep, colour, line in lines:
            sampled = pd.DataFrame(rounded(plain(sweep.gap)), columns=list(sweep.at)).melt(
                var_name="gpus", value_name="gap"
            )
            sns.lineplot(
                sampled, x="gpus", y="gap", estimator="median", errorbar=("pi", 90), color=colour, linestyle=line, marker="o",
                markersize=3, markeredgewidth=0, err_kws={"alpha": 0.13, "linewidth": 0}, ax=axis,
            )  # fmt: skip
            low, middle, high = rounded(np.quantile(plain(sweep.gap), QUANTILES, axis=0))
            for edge in (low, high):  # a band of a light grey has none of its own
                axis.plot(sweep.at, edge, color=colour, linewidth=0.5)
            ends.append((label, float(middle[-1]), float(sweep.at[-1]), colour))
            records += [(label, n, *v) for n, v in zip(sweep.at, zip(low, middle, high, strict=True), strict=True)]
        top, bottom = max(r[4] for r in records), min(0.0, *(r[2] for r in records))
        placed = spread_labels([e[1] for e in ends], (top - bottom) * 0.11)
        for (label, _, x, colour), y in zip(ends, placed, strict=True):
            label_end(axis, x, y, label, colour, dx=7)
        both = bottom < -threshold
        for level in (threshold, -threshold)[: 1 + both]:
            axis.axhline(level, color=MUTED, linewidth=0.9, linestyle="--")
        axis.annotate(
            "matters beyond these lines" if both else "matters above this line",
            (gap.sizes[0], threshold),
            xytext=(0, 3),
            textcoords="offset points",
            color=MUTED,
            va="bottom",
        )
        axis.axvline(gpus, color=INK, linewidth=0.9)
        axis.annotate(
            "you", (gpus, top), xytext=(4, -2), textcoords="offset points", color=INK, weight="bold", va="top"
        )
        axis.set_xscale("log", base=2)
        axis.set_xticks(gap.sizes, [f"{n:,}" for n in gap.sizes], rotation=0)
        axis.minorticks_off()
        axis.set_xlim(gap.sizes[0] * 0.9, gap.sizes[-1] * 1.05)
        axis.set(xlabel="GPUs in one job (logarithmic)", ylabel=None)
        percent_axis(axis, "y")
    frame = pd.DataFrame(records, columns=["line", "gpus", "p5", "p50", "p95"])
    return drawn(figure, chart_id, data=frame)
