"""Figures of the evidence section: claims by verdict, the sources' positions side by side, the market over time."""

from __future__ import annotations

import textwrap
from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import date
from typing import Any

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.ticker import FuncFormatter, NullFormatter

from fabricreport import formats
from fabricreport.blocks import Drawing
from fabricreport.books.claims import VERDICTS
from fabricreport.books.families import families
from fabricreport.evidence import read_yaml
from fabricreport.inputs import Inputs
from fabricreport.models.audit.disagreement import Position
from fabricreport.sections.evidence.context import Disagreement
from fabricreport.sections.evidence.result import EvidenceResult
from fabricreport.theme import COLOURS, GRID, INK, MUTED, canvas, percent_axis, rounded, rows_of, svg
from fabricreport.vocabulary import Side

BASE_CHARS, LABEL_CHARS = 47, 30
ROW_IN, LINE_IN = 0.145, 0.135
CROWDED_YEARS = 0.4
VERDICT_COLOURS = {"reproduces": INK, "contradicted": COLOURS["warn"]}


def claims_chart(result: EvidenceResult) -> Drawing:
    """How many of each article's claims came to each verdict: one small panel to a verdict."""
    chart_id = "fig-evidence-verdicts"
    ids, articles = list(result.articles)[::-1], list(result.articles.values())[::-1]
    counts = {v: [sum(c.verdict == v and c.kind != "check" for c in result.of(i)) for i in ids] for v in VERDICTS}
    most = max(max(c) for c in counts.values())
    with canvas(1.75, columns=len(VERDICTS), share_y=True) as (figure, axes):
        for axis, verdict in zip(axes, VERDICTS, strict=True):
            axis.barh(range(len(articles)), counts[verdict], height=0.62, color=VERDICT_COLOURS.get(verdict, MUTED))
            for row, number in enumerate(counts[verdict]):
                axis.annotate(str(number), (number, row), xytext=(3, 0), textcoords="offset points", va="center")
            axis.set_title(textwrap.fill(verdict, 12), fontsize=8, loc="left", color=INK)
            axis.set_xlim(0, most * 1.25)
            axis.set_xticks([])
            axis.spines["bottom"].set_visible(False)
            axis.tick_params(axis="y", length=0, labelcolor=INK)
        axes[0].set_yticks(range(len(articles)), [textwrap.shorten(a.publisher, 26, placeholder="") for a in articles])
        drawing = svg(figure, chart_id)
    frame = pd.DataFrame({"article": [a.publisher for a in articles], **counts}).iloc[::-1]
    return Drawing(chart_id, drawing, rows_of(frame))


def contested_charts(result: EvidenceResult) -> Mapping[str, Drawing]:
    """A chart of each contested quantity that bears on the case, by its id."""
    return {item.id: contested_chart(item) for item in result.bearing}


def charts_of_one_publisher(result: EvidenceResult) -> Mapping[str, Drawing]:
    """A chart of each quantity that bears on the case and has one publisher, by its id."""
    return {item.id: contested_chart(item) for item in result.of_one_publisher}


def contested_chart(item: Disagreement) -> Drawing:
    """Every source's statement on one quantity, with the base it uses and the band of the prior."""
    chart_id = f"fig-contested-{item.id}"
    positions, quantity = list(reversed(item.stated)), item.quantity
    alone = len({p.publisher for p in positions}) == 1
    labels, bases = _labels(positions), [_base(p, last_clause=alone) for p in positions]
    heights = [max(label.count("\n"), base.count("\n")) + 1 for label, base in zip(labels, bases, strict=True)]
    places, top = _places(heights)
    with canvas(0.62 + top) as (figure, (axis,)):
        low, middle, high = rounded([quantity.prior_low, quantity.prior_mid, quantity.prior_high])
        axis.axvspan(low, high, color=GRID, alpha=0.75, linewidth=0)
        axis.axvline(middle, color=MUTED, linewidth=0.9, linestyle=(0, (4, 3)))
        for place, position in zip(places, positions, strict=True):
            _draw(axis, place, position)
        if item.wide:
            axis.set_xscale("log")
            axis.xaxis.set_minor_formatter(NullFormatter())
        axis.set_ylim(0, top)
        axis.set_yticks(places, labels)
        axis.tick_params(axis="y", length=0, labelcolor=INK, labelsize=8)
        axis.spines["left"].set_visible(False)
        axis.xaxis.set_major_formatter(_ticks(item.unit, percent=item.unit == "share"))
        axis.locator_params(axis="x", nbins=4) if not item.wide else None
        for place, base in zip(places, bases, strict=True):
            axis.text(1.03, place, base, transform=axis.get_yaxis_transform(), va="center", color=MUTED, fontsize=7.5)
        axis.annotate(
            "prior", (middle, top), xytext=(0, 2), textcoords="offset points", ha="center", color=MUTED, fontsize=7.5
        )
        drawing = svg(figure, chart_id)
    return Drawing(chart_id, drawing, rows_of(_frame(item)))


def market_points(given: Inputs) -> list[dict[str, Any]]:
    """InfiniBand's share by quarter; where the source states Ethernet's, what that leaves, bounded the other way."""
    turned = {"at-most": "at-least", "at-least": "at-most"}
    return [
        {**p, "evidence": p["share"], "share": given.central(p["share"])}
        if "share" in p
        else {**p, "evidence": p["ethernet"], "share": 1 - given.central(p["ethernet"]), "bound": turned[p["bound"]]}
        for p in read_yaml("context")["market_share"]
    ]


def market_chart(given: Inputs) -> Drawing:
    """InfiniBand's share over time; every figure is a bound, so arrows say which way the truth lies."""
    chart_id, points = "fig-evidence-market", market_points(given)
    days = [date.fromisoformat(f"{p['quarter']}-15") for p in points]
    x = [d.year + d.month / 12 for d in days]
    colour = families()[Side.INFINIBAND].colour
    with canvas(1.8) as (figure, (axis,)):
        for n, (place, point) in enumerate(zip(x, points, strict=True)):
            share, down = float(rounded(point["share"])), point["bound"] == "at-most"
            axis.annotate(
                "",
                (place, share + (-0.13 if down else 0.13)),
                xytext=(place, share),
                arrowprops={"arrowstyle": "->", "color": colour, "linewidth": 1.3},
            )
            axis.plot([place - 0.035, place + 0.035], [share, share], color=colour, linewidth=2.4)
            words = f"{point['period']}\n{'at most' if down else 'at least'} {formats.percent(share)}"
            falls = n + 1 < len(points) and points[n + 1]["share"] < point["share"]
            above, clear = down and falls, -19 if down else -5
            axis.annotate(
                words, (place, share), xytext=(0, 5 if above else clear), textcoords="offset points",
                ha=_beside(x, points, n), va="bottom" if above else "top", color=INK, fontsize=7.5,
            )  # fmt: skip
        axis.set_ylim(0, 1.02)
        axis.set_xlim(min(x) - 0.2, max(x) + 0.22)
        percent_axis(axis, "y")
        years = sorted({d.year for d in days} | {max(d.year for d in days) + 1})
        axis.set_xticks([y for y in years if min(x) - 0.2 <= y <= max(x) + 0.22])
        axis.xaxis.set_major_formatter(FuncFormatter(lambda v, _: f"{v:.0f}"))
        drawing = svg(figure, chart_id)
    frame = pd.DataFrame([{k: p[k] for k in ("period", "share", "bound", "evidence")} for p in points])
    return Drawing(chart_id, drawing, rows_of(frame))


def _beside(x: Sequence[float], points: Sequence[Mapping[str, Any]], n: int) -> str:
    """Which way a label leans when a neighbour of the same height is too near to centre both."""

    def crowded(m: int) -> bool:
        return 0 <= m < len(x) and abs(x[m] - x[n]) < CROWDED_YEARS and points[m]["share"] == points[n]["share"]

    return "right" if crowded(n + 1) else "left" if crowded(n - 1) else "center"


def _draw(axis: Axes, place: float, position: Position) -> None:
    hollow = not position.admissible
    face = "white" if hollow else INK
    low, middle, high = rounded([position.low, position.mid, position.high])
    if high > low:
        axis.plot([low, high], [place, place], color=INK, linewidth=1.1 if hollow else 2.6, solid_capstyle="butt")
    marker = "o" if position.grade != "measured" else "D"
    axis.plot([middle], [place], marker, color=INK, markerfacecolor=face, markersize=5, clip_on=False, zorder=3)


def _places(heights: Sequence[int]) -> tuple[list[float], float]:
    """Centres of rows whose heights follow their lines of text, from the bottom, and the total height in inches."""
    places, at = [], 0.05
    for lines in heights:
        height = ROW_IN + (lines - 1) * LINE_IN + 0.05
        places.append(at + height / 2)
        at += height
    return places, at + 0.05


def _labels(positions: Sequence[Position]) -> list[str]:
    """The publisher of each position; where one gives several figures, with what tells them apart."""
    several = Counter(p.publisher for p in positions)
    found = []
    for position in positions:
        publisher = position.publisher or "This memo, assumed"
        label = textwrap.shorten(publisher, LABEL_CHARS, placeholder=" …")
        if several[position.publisher] > 1:
            siblings = [p.what for p in positions if p.publisher == position.publisher]
            shared = _shared_start(siblings)
            own = position.what.removeprefix(shared).lstrip(", ") if shared else position.what
            detail = textwrap.shorten(own, LABEL_CHARS + 12, placeholder=" …")
            label = detail if len(several) == 1 else f"{label}\n{detail}"
        found.append(label)
    return found


def _shared_start(texts: Sequence[str]) -> str:
    """The words before the last comma that all texts begin with, or nothing."""
    parts = [text.split(", ") for text in texts]
    shared = []
    for step in zip(*parts, strict=False):
        if len(set(step)) > 1:
            break
        shared.append(step[0])
    return ", ".join(shared)


def _base(position: Position, *, last_clause: bool) -> str:
    """The base in two lines at most; of one publisher's figures only the clause that differs."""
    text = position.base or "base not given"
    if last_clause:
        text = text.rpartition("; ")[2]
    if position.set_aside:
        text = f"kept out: {position.set_aside}"
    if len(lines := textwrap.wrap(text, BASE_CHARS)) <= 2:
        return "\n".join(lines)
    # Too long for two lines: its last clause is what tells it from its neighbours.
    head, _, tail = text.rpartition("; ")
    if not head:
        head, tail = lines[0], " ".join(lines[1:])
    return "\n".join(textwrap.shorten(part, BASE_CHARS, placeholder=" …") for part in (head, tail))


def _ticks(unit: str, *, percent: bool) -> FuncFormatter:
    if percent:
        return FuncFormatter(lambda v, _: formats.percent(v, 3) if v else "0")
    return FuncFormatter(lambda v, _: formats.write(v, unit, 4))


def _frame(item: Disagreement) -> pd.DataFrame:
    kept = ("id", "publisher", "date", "grade", "low", "mid", "high", "base", "converted", "set_aside")
    return pd.DataFrame([{name: getattr(p, name) for name in kept} for p in item.stated])
