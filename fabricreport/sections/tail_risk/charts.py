"""Figures of the risk section: how late, lost to what, and what moves it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter

from fabricreport import formats
from fabricreport.blocks import Chart, Name
from fabricreport.durations import HOURS_PER_DAY
from fabricreport.models.audit.disagreement import Contested
from fabricreport.models.risk.answers import exceedance
from fabricreport.provenance import plain
from fabricreport.sections.tail_risk.horizon import CAUSES
from fabricreport.sections.tail_risk.result import TailResult
from fabricreport.sections.tail_risk.sensitivity import WORKERS, maxima_of
from fabricreport.theme import (
    COLOURS,
    FONT_PT,
    INK,
    canvas,
    colour_of,
    label_end,
    percent_axis,
    rounded,
    rows_of,
    spread_labels,
    svg,
    wrapped,
)

_POINTS = 120
_HATCH = "////"
_KEY_WIDTH = 82  # characters in a row of names
_CHARACTER = 0.0112  # width of a bold character over that of the figure


def groups_of(result: TailResult, names: Mapping[str, str]) -> list[tuple[str, str]]:
    """(option, label) of the options whose draws differ; options nobody tells apart share one label."""
    found: list[tuple[str, list[str]]] = []
    for option, outcome in result.outcomes.items():
        for first, members in found:
            same = np.array_equal(plain(outcome.run_days), plain(result.outcomes[first].run_days))
            if same and np.array_equal(plain(result.bring_up_weeks[option]), plain(result.bring_up_weeks[first])):
                members.append(option)
                break
        else:
            found.append((option, [option]))
    return [(first, _label(result, names, members)) for first, members in found]


def _label(result: TailResult, names: Mapping[str, str], members: Sequence[str]) -> str:
    if len(members) == 1:
        return wrapped(names[members[0]], 36)
    family = {result.subjects[o].option.family for o in members}
    return {"rocev2": "RoCEv2, every switch", "infiniband": "InfiniBand, every switch"}.get(
        family.pop() if len(family) == 1 else "", wrapped(names[members[0]] + " and alike", 36)
    )


def exceedance_chart(
    result: TailResult, names: Mapping[str, str], families: Mapping[str, str], *, title: str, short: bool
) -> Chart:
    """P(longer than x): weeks until the fabric is stable, and the time a run takes beyond its plan, by option."""
    chart_id = "fig-tail-exceedance"
    by = HOURS_PER_DAY if short else 1.0
    unit = "hours" if short else "days"
    panels = (
        ("weeks until the fabric is stable", result.weeks_allowed, "allowed", lambda o: plain(result.bring_up_weeks[o])),
        (f"{unit} a run takes beyond its plan", by * (result.deadline_days - result.planned_days), "slack",
         lambda o: by * plain(result.outcomes[o].late_days)),
    )  # fmt: skip
    rows: list[dict[str, Any]] = []
    with canvas(2.45, columns=2, share_y=True) as (figure, axes):
        for axis, (label, limit, word, draws) in zip(axes, panels, strict=True):
            rows += _exceedance_panel(axis, result, names, families, draws, label)
            axis.axvline(limit, color=INK, linewidth=1, linestyle=(0, (4, 2)))
            right = max(limit * 1.15, axis.get_xlim()[1])
            axis.set_xlim(0, right)
            beside = 3 if limit < 0.6 * right else -3
            axis.annotate(
                word, (limit, 0.93), xytext=(beside, 0), textcoords="offset points", color=INK, va="center",
                ha="left" if beside > 0 else "right",
            )  # fmt: skip
            axis.set_xlabel(label)
        percent_axis(axes[0], "y")
        _key(figure, result, names, families)
        drawing = svg(figure, chart_id)
    focus = result.focus
    return Chart(
        chart_id,
        title,
        "Share of draws above each value; left: weeks to stable, right: the run's delay; same luck for every option",
        f"Two exceedance curves by option. {{tail_risk.not_ready.{focus}}} of draws of {{focus}} need longer than "
        f"{{param:organisation.time_to_production_weeks}}, and {{tail_risk.late.{focus}}} of its runs end after {{tail_risk.deadline}}.",
        drawing,
        rows_of(pd.DataFrame(rows)),
        values={"focus": Name(names[focus])},
    )


def _exceedance_panel(
    axis: Axes, result: TailResult, names: Mapping[str, str], families: Mapping[str, str], draws: Any, label: str
) -> list[dict[str, Any]]:
    rows = []
    right = 0.0
    for option, name in groups_of(result, names):
        curve = exceedance(draws(option))
        pick = np.unique(np.linspace(0, len(curve.values) - 1, _POINTS).astype(int))
        x, y = rounded(curve.values[pick]), rounded(curve.probability[pick], 4)
        axis.step(np.r_[0.0, x], np.r_[1.0, y], where="post", color=colour_of(option, families[option]))
        right = max(right, float(np.quantile(plain(draws(option)), 0.995)))
        rows += [{"option": name, "measure": label, "value": a, "share_above": b} for a, b in zip(x, y, strict=True)]
    axis.set_xlim(0, right or 1.0)  # without a fabric nothing is ever late
    axis.set_ylim(0, 1)
    axis.xaxis.set_major_formatter(FuncFormatter(lambda v, _: formats.plain_number(v)))
    axis.grid(axis="y")
    return rows


def _key(figure: Figure, result: TailResult, names: Mapping[str, str], families: Mapping[str, str]) -> None:
    """The options' names over both panels, in their curves' colours, from the curve on the left to that on the right."""
    order = sorted(groups_of(result, names), key=lambda g: float(np.median(plain(result.bring_up_weeks[g[0]]))))
    rows: list[list[tuple[str, str]]] = [[]]
    for option, name in order:
        if sum(len(n) + 3 for _, n in rows[-1]) + len(name) > _KEY_WIDTH:
            rows.append([])
        rows[-1].append((option, name))
    figure.suptitle("\n".join(" " for _ in rows), fontsize=FONT_PT)  # keeps room for the key
    for k, row in enumerate(rows):
        x = 0.075
        for option, name in row:
            figure.text(
                x, 0.985 - 0.07 * k, name, ha="left", va="top", color=colour_of(option, families[option]), weight="bold"
            )
            x += _CHARACTER * (len(name) + 3)


def causes_chart(
    result: TailResult, names: Mapping[str, str], families: Mapping[str, str], grades: Mapping[str, str], *, title: str
) -> Chart:
    """Share of GPU time lost over the horizon by cause, for the pair of fabrics (or the focus alone), with ranges."""
    chart_id = "fig-tail-causes"
    options = list(result.pair) if result.pair else [result.focus]
    causes = [c for c in CAUSES if any(np.any(plain(result.lost[o][c])) for o in options)]
    height = 0.8 / len(options)
    rows = []
    with canvas(0.6 + 0.3 * len(causes)) as (figure, (axis,)):
        for k, option in enumerate(options):
            for row, cause in enumerate(reversed(causes)):
                draws = plain(result.lost[option][cause])
                mean, low, high = (float(rounded(v)) for v in (draws.mean(), *np.quantile(draws, [0.05, 0.95])))
                y = row + (0.5 * (len(options) - 1) - k) * height
                hatch = _HATCH if grades[cause] == "assumption" else ""
                colour = colour_of(option, families[option])
                axis.barh(y, mean, height=height * 0.9, color=colour, hatch=hatch, edgecolor="white", linewidth=0)
                axis.plot([low, high], [y, y], color=INK, linewidth=1.1)
                rows.append({"option": names[option], "cause": CAUSES[cause], "mean": mean, "p5": low, "p95": high,
                             "grade": grades[cause]})  # fmt: skip
        for k, option in enumerate(options):
            axis.text(0.99, 0.80 + 0.10 * (len(options) - 1 - k), wrapped(names[option], 48, 1), transform=axis.transAxes, ha="right",
                      va="bottom", color=colour_of(option, families[option]), weight="bold")  # fmt: skip
        axis.set_yticks(range(len(causes)), [CAUSES[c] for c in reversed(causes)])
        axis.tick_params(axis="y", length=0, labelcolor=INK)
        axis.spines["left"].set_visible(False)
        axis.set_xlim(0, None)
        percent_axis(axis, "x")
        axis.grid(axis="x")
        drawing = svg(figure, chart_id)
    o = result.focus
    worst = max(causes, key=lambda c: float(plain(result.lost[o][c]).mean()))
    return Chart(
        chart_id,
        title,
        "Mean share of GPU time lost over {param:money.horizon_months}, line P5–P95; hatched: rests on an assumption",
        f"Bars of lost GPU time by cause. The largest on {{focus}} is “{CAUSES[worst][0].lower()}{CAUSES[worst][1:]}” with "
        f"{{tail_risk.lost.{worst}.{o}:range}}; all causes together come to {{tail_risk.lost.{o}:range}}.",
        drawing,
        rows_of(pd.DataFrame(rows)),
        values={"focus": Name(names[o])},
    )


def maxima_chart(gpus: int, *, title: str) -> Chart:
    """How far the slowest worker lies beyond the mean one as their number grows, for shared shocks of several sizes."""
    chart_id = "fig-tail-maxima"
    found = maxima_of()
    shades = dict(zip(found, ("#0b66a8", "#4a87b8", "#7d8fa3", "#a5adb8"), strict=True))
    rows = []
    with canvas(2.4) as (figure, (axis,)):
        ends = spread_labels([float(v[-1]) for v in found.values()], 0.3)
        for (rho, values), y_label in zip(found.items(), ends, strict=True):
            y = rounded(values)
            axis.plot(WORKERS, y, color=shades[rho], marker="o", markersize=3)
            label_end(axis, WORKERS[-1], y_label, f"correlation {rho:g}", INK)
            rows += [
                {"correlation": rho, "workers": n, "standard_deviations": v} for n, v in zip(WORKERS, y, strict=True)
            ]
        axis.set_xscale("log", base=2)
        axis.xaxis.set_major_formatter(FuncFormatter(lambda v, _: f"{v:,.0f}"))
        axis.set_xticks(WORKERS)
        axis.minorticks_off()
        axis.axvline(gpus, color=INK, linewidth=1, linestyle=(0, (4, 2)))
        axis.text(gpus, 1.02, "this cluster", color=INK, ha="center", transform=axis.get_xaxis_transform())
        axis.set_ylim(0, None)
        axis.set_xlabel("workers that wait for each other (logarithmic scale)")
        axis.set_ylabel("standard deviations")
        axis.grid(axis="y")
        drawing = svg(figure, chart_id)
    return Chart(
        chart_id,
        title,
        "Mean of the slowest worker above the mean worker, in standard deviations of one worker; normal law",
        "Lines that rise with the logarithm of the number of workers. At {param:cluster.gpus} the slowest lies "
        "{tail_risk.maximum.0_0} out if workers are independent and {tail_risk.maximum.0_9} if most of the noise is shared.",
        drawing,
        rows_of(pd.DataFrame(rows)),
    )


def optics_chart(quantity: Contested, *, title: str, values: Mapping[str, object]) -> Chart:
    """What each source says on the yearly failure rate of optics, on a logarithmic scale."""
    chart_id = "fig-tail-optics"
    entries = sorted(quantity.entries, key=lambda e: e.mid)
    rows = []
    with canvas(0.75 + 0.42 * len(entries)) as (figure, (axis,)):
        for row, entry in enumerate(entries):
            low, mid, high = (float(rounded(v)) for v in (entry.low, entry.mid, entry.high))
            hollow = entry.grade in ("assumption", "estimate", "secondary")
            axis.plot([low, high], [row, row], color=COLOURS["accent"], linewidth=2)
            axis.plot(
                [mid], [row], "o", color=COLOURS["accent"], markersize=7, markerfacecolor="white" if hollow else None
            )
            axis.annotate(
                formats.percent(mid, 2), (high, row), xytext=(8, 0), textcoords="offset points", va="center", color=INK
            )
            rows.append({"source": entry.id, "publisher": entry.publisher, "base": entry.base, "low": low, "mid": mid,
                         "high": high, "grade": entry.grade})  # fmt: skip
        axis.set_yticks(range(len(entries)), [_short(e.publisher, e.base) for e in entries])
        axis.tick_params(axis="y", length=0, labelcolor=INK)
        axis.spines["left"].set_visible(False)
        axis.set_ylim(-0.5, len(entries) - 0.5)
        axis.set_xscale("log")
        axis.set_xlim(min(e.low for e in entries) / 1.5, max(e.high for e in entries) * 2.2)
        percent_axis(axis, "x")
        axis.minorticks_off()
        axis.set_xlabel("failures per year and piece (logarithmic scale)")
        drawing = svg(figure, chart_id)
    return Chart(
        chart_id,
        title,
        "Yearly failure rate by source and what it counts, logarithmic; hollow: second-hand or worked out",
        "Dots by source: from {lowest} to {highest} a year, a factor of {factor} between sources that count different things.",
        drawing,
        rows_of(pd.DataFrame(rows)),
        values=values,
    )


def _short(publisher: str, base: str) -> str:
    """A source's label in two lines: who says it, and of what."""
    words = base.partition(",")[0].partition(" (")[0]
    return f"{wrapped(publisher, 36, 1)}\n{wrapped(words, 36, 1)}"


def interval_chart(result: TailResult, *, title: str) -> Chart:
    """Share of the run that trains, against the time between checkpoints, with Daly's optimum and its range."""
    chart_id = "fig-tail-interval"
    points = result.sensitivity.intervals
    minutes = rounded([p.value / 60.0 for p in points])
    trains = rounded([float(np.asarray(p.effective_share)) for p in points])
    best = plain(result.sensitivity.best_interval_s) / 60.0
    low, mid, high = (float(rounded(v)) for v in np.quantile(best, [0.05, 0.5, 0.95]))
    with canvas(2.2) as (figure, (axis,)):
        axis.axvspan(low, high, color=COLOURS["accent"], alpha=0.12, linewidth=0)
        axis.axvline(mid, color=COLOURS["accent"], linewidth=1)
        axis.text(mid, 1.02, "Daly’s optimum, P5–P95 shaded", color=COLOURS["accent"], ha="center",
                  transform=axis.get_xaxis_transform())  # fmt: skip
        axis.plot(minutes, trains, color=INK, marker="o", markersize=4)
        axis.set_xscale("log")
        axis.set_xticks(minutes, [formats.plain_number(m, 2) for m in minutes])
        axis.minorticks_off()
        axis.set_ylim(float(trains.min()) - 0.01, float(trains.max()) + 0.01)
        percent_axis(axis, "y")
        axis.set_xlabel("minutes between checkpoints (logarithmic scale)")
        axis.grid(axis="y")
        drawing = svg(figure, chart_id)
    frame = pd.DataFrame({"minutes": minutes, "share_training": trains})
    return Chart(
        chart_id,
        title,
        "Mean share of a run that trains, by fixed time between checkpoints; the vertical axis does not start at zero",
        f"A flat-topped curve: the best time between checkpoints is {{tail_risk.interval.{result.focus}:range}}; "
        "half or twice that costs little, far shorter or longer costs more.",
        drawing,
        rows_of(frame),
    )
