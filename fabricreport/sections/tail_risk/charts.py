"""Charts of the risk: how late, lost to what, and what moves it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import cycle
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import FuncFormatter

from fabricreport import formats
from fabricreport.blocks import Drawing
from fabricreport.books.names import family_names, whole_names
from fabricreport.durations import HOURS_PER_DAY
from fabricreport.findings import OptionName
from fabricreport.inputs import Inputs
from fabricreport.models.risk.answers import exceedance
from fabricreport.provenance import plain
from fabricreport.sections.assumed import assumed
from fabricreport.sections.client import largest_job
from fabricreport.sections.tail_risk.figure_context import in_hours
from fabricreport.sections.tail_risk.horizon import CAUSES
from fabricreport.sections.tail_risk.result import TailResult
from fabricreport.sections.tail_risk.sensitivity import WORKERS, maxima_of
from fabricreport.theme import (
    COLOURS,
    FONT_PT,
    INK,
    canvas,
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
_SAMPLE = 4  # characters that a curve's dash takes before its name
_DASHES: tuple[Any, ...] = ("-", (0, (5, 2)), (0, (1, 1.5)), (0, (5, 2, 1, 2)), (0, (3, 1, 1, 1, 1, 1)))
_NAME = 0.6  # height of an option's name over the bars, in rows
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
    families = {family_names(result.subjects[o].option.family).phrase for o in members}
    family = families.pop() if len(families) == 1 else ""
    return f"{family}, every switch" if family else wrapped(names[members[0]] + " and alike", 36)


def exceedance_chart(given: Inputs, result: TailResult) -> Drawing:
    """P(longer than x): weeks until the fabric is stable, and the time a run takes beyond its plan, by option."""
    chart_id = "fig-tail-exceedance"
    names, colours = _names_and_colours(given)
    short = in_hours(result.planned_days)
    by, unit = (HOURS_PER_DAY, "hours") if short else (1.0, "days")
    weeks = {o: plain(draws) for o, draws in result.bring_up_weeks.items()}
    late = {o: by * plain(outcome.late_days) for o, outcome in result.outcomes.items()}
    panels = (
        ("weeks until the network runs stably", result.weeks_allowed, "allowed", weeks),
        (
            f"{unit} a run takes beyond its plan",
            by * (result.deadline_days - result.planned_days),
            "late from here",
            late,
        ),
    )
    rows: list[dict[str, Any]] = []
    with canvas(2.45, columns=2, share_y=True) as (figure, axes):
        for axis, (label, limit, word, draws) in zip(axes, panels, strict=True):
            rows += _exceedance_panel(axis, result, names, colours, draws, label)
            _limit(axis, limit, word)
            axis.set_xlabel(label)
        percent_axis(axes[0], "y")
        _key(figure, result, names, colours)
        drawing = svg(figure, chart_id)
    return Drawing(chart_id, drawing, rows_of(pd.DataFrame(rows)))


def _names_and_colours(given: Inputs) -> tuple[dict[str, OptionName], dict[str, str]]:
    return whole_names(given.options), {o.id: o.colour for o in given.options}


def _limit(axis: Axes, limit: float, word: str) -> None:
    """A dashed line where a value becomes too large, with its word beside it."""
    axis.axvline(limit, color=INK, linewidth=1, linestyle=(0, (4, 2)))
    right = max(limit * 1.15, axis.get_xlim()[1])
    axis.set_xlim(0, right)
    beside, align = (3, "left") if limit < 0.6 * right else (-3, "right")
    axis.annotate(word, (limit, 0.93), xytext=(beside, 0), textcoords="offset points", color=INK, va="center", ha=align)


def _exceedance_panel(
    axis: Axes,
    result: TailResult,
    names: Mapping[str, str],
    colours: Mapping[str, str],
    draws: Mapping[str, Any],
    label: str,
) -> list[dict[str, Any]]:
    rows = []
    right = 0.0
    for dash, (option, name) in zip(cycle(_DASHES), groups_of(result, names), strict=False):
        curve = exceedance(draws[option])
        pick = np.unique(np.linspace(0, len(curve.values) - 1, _POINTS).astype(int))
        x, y = rounded(curve.values[pick]), rounded(curve.probability[pick], 4)
        axis.step(np.r_[0.0, x], np.r_[1.0, y], where="post", color=colours[option], linestyle=dash)
        right = max(right, float(np.quantile(draws[option], 0.995)))
        rows += [{"option": name, "measure": label, "value": a, "share_above": b} for a, b in zip(x, y, strict=True)]
    axis.set_xlim(0, right or 1.0)  # without a fabric nothing is ever late
    axis.set_ylim(0, 1)
    axis.xaxis.set_major_formatter(FuncFormatter(lambda v, _: formats.plain_number(v)))
    axis.grid(axis="y")
    return rows


def _key(figure: Figure, result: TailResult, names: Mapping[str, str], colours: Mapping[str, str]) -> None:
    """The options' names over both panels, each after its curve's dash, from the curve on the left to that on the right."""
    dashes = {option: dash for dash, (option, _) in zip(cycle(_DASHES), groups_of(result, names), strict=False)}
    order = sorted(groups_of(result, names), key=lambda g: float(np.median(plain(result.bring_up_weeks[g[0]]))))
    rows: list[list[tuple[str, str]]] = [[]]
    for option, name in order:
        if sum(len(n) + 3 + _SAMPLE for _, n in rows[-1]) + len(name) + _SAMPLE > _KEY_WIDTH:
            rows.append([])
        rows[-1].append((option, name))
    figure.suptitle("\n".join(" " for _ in rows), fontsize=FONT_PT)  # keeps room for the key
    for k, row in enumerate(rows):
        x = 0.075
        for option, name in row:
            ends, height = (x, x + _CHARACTER * (_SAMPLE - 1)), 0.985 - 0.07 * k - 0.022
            dash = Line2D(ends, (height, height), color=colours[option], linestyle=dashes[option], linewidth=1.5)
            dash.set_transform(figure.transFigure)
            figure.add_artist(dash)
            x += _CHARACTER * _SAMPLE
            figure.text(x, 0.985 - 0.07 * k, name, ha="left", va="top", color=colours[option], weight="bold")
            x += _CHARACTER * (len(name) + 3)


def causes_chart(given: Inputs, result: TailResult) -> Drawing:
    """Share of GPU time lost over the horizon by cause, for the pair of fabrics (or the focus alone), with ranges."""
    chart_id = "fig-tail-causes"
    names, colours = _names_and_colours(given)
    grades = {c: result.numbers[f"tail_risk.lost.{c}.{result.focus}"].grade for c in CAUSES}
    hatched = {c: assumed(given, result.lost[result.focus][c]) for c in CAUSES}
    options = list(result.pair) if result.pair else [result.focus]
    causes = [c for c in CAUSES if any(np.any(plain(result.lost[o][c])) for o in options)]
    top = len(causes) - 0.5 + _NAME * len(options)
    rows: list[dict[str, Any]] = []
    with canvas(0.6 + 0.3 * len(causes)) as (figure, (axis,)):
        for k, option in enumerate(options):
            colour = colours[option]
            for row, cause in enumerate(reversed(causes)):
                mean, low, high = _mean_and_range(result.lost[option][cause])
                place = (row, k, len(options))
                _bar(axis, place, (mean, low, high), colour, hatched=hatched[cause])
                told = {"option": names[option], "cause": CAUSES[cause], "mean": mean, "p5": low, "p95": high}
                rows.append({**told, "grade": grades[cause]})
            at, name = (0.99, top - _NAME * (k + 0.5)), wrapped(names[option], 48, 1)
            axis.text(
                *at, name, transform=axis.get_yaxis_transform(), ha="right", va="center", color=colour, weight="bold"
            )
        axis.set_ylim(-0.5, top)
        axis.set_yticks(range(len(causes)), [CAUSES[c] for c in reversed(causes)])
        axis.tick_params(axis="y", length=0, labelcolor=INK)
        axis.spines["left"].set_visible(False)
        axis.set_xlim(0, None)
        percent_axis(axis, "x")
        axis.grid(axis="x")
        drawing = svg(figure, chart_id)
    return Drawing(chart_id, drawing, rows_of(pd.DataFrame(rows)))


def _mean_and_range(share: Any) -> tuple[float, float, float]:
    """Mean, P5 and P95, as they are drawn."""
    draws = plain(share)
    mean, low, high = (float(rounded(v)) for v in (draws.mean(), *np.quantile(draws, [0.05, 0.95])))
    return mean, low, high


def _bar(
    axis: Axes, place: tuple[int, int, int], at: tuple[float, float, float], colour: str, *, hatched: bool
) -> None:
    """One option's bar in the row of a cause (row, option, options), with a line over its range."""
    row, option, options = place
    mean, low, high = at
    height = 0.8 / options
    y = row + (0.5 * (options - 1) - option) * height
    hatch = _HATCH if hatched else ""
    axis.barh(y, mean, height=height * 0.9, color=colour, hatch=hatch, edgecolor="white", linewidth=0)
    axis.plot([low, high], [y, y], color=INK, linewidth=1.1)


def maxima_chart(given: Inputs) -> Drawing:
    """How far the slowest worker lies beyond the mean one as their number grows, for shared shocks of several sizes."""
    chart_id, gpus = "fig-tail-maxima", largest_job(given, int(given.params.cluster.gpus))
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
    return Drawing(chart_id, drawing, rows_of(pd.DataFrame(rows)))


def optics_chart(given: Inputs) -> Drawing:
    """What each source says on the yearly failure rate of optics, on a logarithmic scale."""
    chart_id = "fig-tail-optics"
    entries = sorted(given.contested("optics-afr").entries, key=lambda e: e.mid)
    rows: list[dict[str, Any]] = []
    accent = COLOURS["accent"]
    with canvas(0.75 + 0.42 * len(entries)) as (figure, (axis,)):
        for row, entry in enumerate(entries):
            low, mid, high = (float(rounded(v)) for v in (entry.low, entry.mid, entry.high))
            face = "white" if entry.grade in ("assumption", "estimate", "secondary") else None
            axis.plot([low, high], [row, row], color=accent, linewidth=2)
            axis.plot([mid], [row], "o", color=accent, markersize=7, markerfacecolor=face)
            axis.annotate(
                formats.percent(mid, 2), (high, row), xytext=(8, 0), textcoords="offset points", va="center", color=INK
            )
            told = {"source": entry.id, "publisher": entry.publisher, "base": entry.base}
            rows.append({**told, "low": low, "mid": mid, "high": high, "grade": entry.grade})
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
    return Drawing(chart_id, drawing, rows_of(pd.DataFrame(rows)))


def _short(publisher: str, base: str) -> str:
    """A source's label in two lines: who says it, and of what."""
    words = base.partition(",")[0].partition(" (")[0]
    return f"{wrapped(publisher, 36, 1)}\n{wrapped(words, 36, 1)}"


def interval_chart(result: TailResult) -> Drawing:
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
        words, above = "Daly’s optimum, 90 % range shaded", axis.get_xaxis_transform()
        axis.text(mid, 1.02, words, color=COLOURS["accent"], ha="center", transform=above)
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
    return Drawing(chart_id, drawing, rows_of(frame))
