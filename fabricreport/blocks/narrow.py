"""A figure set anew for a narrow screen: words above their rows, two columns at most, no word in the way of another.

It works on any matplotlib figure that has been laid out: nothing is plotted again.
"""

from __future__ import annotations

import math
import re
import textwrap
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations, pairwise

import numpy as np
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.backend_bases import RendererBase
from matplotlib.figure import Figure
from matplotlib.gridspec import GridSpec
from matplotlib.patches import Rectangle
from matplotlib.text import Annotation, Text
from matplotlib.transforms import Bbox

WIDTH_IN = 3.4
"""As wide as a phone's column at which letters of 8 points are 11 px high, and more."""
POINTS_PER_IN = 72
_WIDTH_PT = WIDTH_IN * POINTS_PER_IN
_MOST_LABEL, _MOST_WORDS = 0.28, 0.64
"""Shares of the width: labels beside rows that need more go above them, other words that do break into two lines."""
_LIFT = 1.35
"""Lines that a row grows by to hold its label."""
ON_PAGE = {"facecolor": "white", "edgecolor": "none", "pad": 0.5}
"""Behind words that a line would run through."""
_COLUMNS = 2
_GAP_PT, _TOUCH_PT = 4.0, 1.0
_FIGURE = re.compile(r"\W*\d[^A-Za-z]*\w{0,3}(?: \d+)?$")
"""A number, an amount or a day, which others beside it tell of."""


def grid_of(figure: Figure) -> GridSpec | None:
    """The one grid of all axes; None with anything (a colour bar, a legend or a title of the whole figure) beside it."""
    grids = {place and place.get_gridspec() for place in (axis.get_subplotspec() for axis in figure.axes)}
    grid = grids.pop() if len(grids) == 1 and not (figure.subfigs or figure.legends or figure.texts) else None
    return grid if isinstance(grid, GridSpec) else None


def narrow(figure: Figure, renderer: RendererBase, line_pt: float) -> float:
    """Make a figure that is laid out a narrow one, to be laid out again; gives the height that its drawing area wants, if any."""
    tall = 0.0
    if len(figure.axes) == 1:
        tall = _lift_labels(figure.axes[0], renderer, line_pt)
        _break_words(figure.axes[0], renderer, line_pt)
    _fewer_columns(figure, figure.axes)
    figure.set_figwidth(WIDTH_IN)
    return tall


def part(figure: Figure, renderer: RendererBase, tall: float) -> None:
    """Once it is laid out: the wanted height, fewer ticks where their words touch, and words of one line moved apart."""
    if tall:
        missing = tall - figure.axes[0].get_window_extent(renderer).height
        figure.set_figheight(figure.get_figheight() + missing / POINTS_PER_IN)
    for axis in figure.axes:
        _thin(axis.xaxis, renderer)
        _spread(axis, renderer)


def clashes(figure: Figure, renderer: RendererBase) -> int:
    """How many words run into others or over the edge."""
    boxes = [box for axis in figure.axes for box in _boxes(axis, renderer)]
    over = sum(bool(box.x0 < -_TOUCH_PT or box.x1 > figure.bbox.width + _TOUCH_PT) for box in boxes)
    return over + sum(_meet(one, other) for one, other in combinations(boxes, 2))


def _boxes(axis: Axes, renderer: RendererBase) -> Iterable[Bbox]:
    """Where the words of an axis and its legend stand."""
    named = [text for text in axis.get_children() if isinstance(text, Text)]
    words = [*named, axis.xaxis.label, axis.yaxis.label, *_ticked(axis.xaxis), *_ticked(axis.yaxis)]
    legend = axis.get_legend()
    for shown in (*(w for w in words if w.get_visible() and w.get_text().strip()), *([legend] if legend else [])):
        yield shown.get_window_extent(renderer)


def _meet(one: Bbox, other: Bbox) -> bool:
    wide = min(one.x1, other.x1) - max(one.x0, other.x0)
    tall = min(one.y1, other.y1) - max(one.y0, other.y0)
    return bool(min(wide, tall) > _TOUCH_PT)


def _ticked(axis: Axis) -> list[Text]:
    """The words at ticks that are shown."""
    axis.get_majorticklabels()  # brings the ticks up to date
    low, high = sorted(axis.get_view_interval())
    slack = (high - low) * 1e-6
    ticks = [tick for tick in axis.get_major_ticks() if low - slack <= tick.get_loc() <= high + slack]
    return [tick.label1 for tick in ticks if tick.label1.get_visible() and tick.label1.get_text()]


def _lift_labels(axis: Axes, renderer: RendererBase, line_pt: float) -> float:
    """Labels of rows go above them where they would leave too little room; rows grow by as much, marks stay as high.

    Gives the height of the area that this takes, in points.
    """
    labels = _ticked(axis.yaxis)
    places = [label.get_position()[1] for label in labels]
    rows = sorted({round(place) for place in places})
    widest = max((label.get_window_extent(renderer).width for label in labels), default=0.0)
    in_rows = len(rows) == len(labels) and np.allclose(places, np.round(places), atol=0.2)
    if widest < _MOST_LABEL * _WIDTH_PT or not in_rows:
        return 0.0
    before, unit = axis.get_ylim(), axis.get_window_extent(renderer).height / abs(np.subtract(*axis.get_ylim()))
    grown = unit + _LIFT * line_pt
    place = Rows(rows, unit / grown, line_pt / grown, up=-1 if axis.yaxis_inverted() else 1)
    _replace(axis, place)
    axis.set_ylim(*map(place, before))
    above = ((unit / line_pt) + 1) / 2 * line_pt
    for label, at in zip(labels, places, strict=True):
        axis.annotate(
            label.get_text(), (0, round(at)), xycoords=axis.get_yaxis_transform(), xytext=(0, above),
            textcoords="offset points", va="center_baseline", weight=label.get_fontweight(), color=label.get_color(),
            size=label.get_fontsize(), bbox=ON_PAGE, annotation_clip=False,
        )  # fmt: skip
    axis.set_yticks([])
    return float(grown * abs(np.subtract(*axis.get_ylim())))


@dataclass(frozen=True)
class Rows:
    """Where a height goes when rows grow: as far from its row as before, and what is above all rows a line higher."""

    rows: Sequence[int]
    shrunk: float
    line: float
    up: int

    def __call__(self, y: float) -> float:
        """The new height of `y`."""
        row = min(max(round(y), self.rows[0]), self.rows[-1])
        top = self.rows[0] if self.up < 0 else self.rows[-1]
        return row + (y - row) * self.shrunk + (self.up * self.line if (y - top) * self.up > 0.5 else 0.0)


def _replace(axis: Axes, place: Callable[[float], float]) -> None:
    """Bars, marks and words where `place` puts them; what is not in the units of the rows stays."""
    for patch in axis.patches:
        if isinstance(patch, Rectangle) and patch.get_data_transform() == axis.transData:
            low, high = place(patch.get_y()), place(patch.get_y() + patch.get_height())
            patch.set(y=low, height=high - low)
    for line in axis.lines:
        if line.get_transform() == axis.transData:
            line.set_ydata([place(float(y)) for y in np.asarray(line.get_ydata())])
    for text in axis.texts:
        if isinstance(text, Annotation) and text.xycoords == "data":
            text.xy = (text.xy[0], place(float(text.xy[1])))
        elif not isinstance(text, Annotation) and text.get_transform() == axis.transData:
            text.set_y(place(float(text.get_position()[1])))


def _break_words(axis: Axes, renderer: RendererBase, line_pt: float) -> None:
    """A long line of words in the drawing becomes two, and what is above it has the room."""
    for text in axis.texts:
        if text.get_bbox_patch() or text.get_window_extent(renderer).width < _MOST_WORDS * _WIDTH_PT:
            continue
        said = text.get_text()
        text.set_text(textwrap.fill(said, math.ceil(len(said) * 0.56)))
        if isinstance(text, Annotation):
            text.xyann = (text.xyann[0], text.xyann[1] + line_pt)


def _fewer_columns(figure: Figure, axes: Sequence[Axes]) -> None:
    """A grid of many columns has two; the figure is as many times higher."""
    grid = axes[0].get_subplotspec().get_gridspec()  # type: ignore[union-attr]
    if grid.ncols <= _COLUMNS:
        return
    rows = math.ceil(len(axes) / _COLUMNS)
    fewer = GridSpec(rows, _COLUMNS, figure=figure)
    for number, axis in enumerate(axes):
        axis.set_subplotspec(fewer[number])
        if number % _COLUMNS == 0:
            axis.tick_params(axis="y", labelleft=True)
    figure.set_figheight(figure.get_figheight() * rows / grid.nrows)


def _thin(axis: Axis, renderer: RendererBase) -> None:
    """Every second tick until their words stand apart; of names none is left out."""
    while len(labels := _ticked(axis)) > 1 and all(_FIGURE.match(label.get_text()) for label in labels):
        boxes = sorted((label.get_window_extent(renderer) for label in labels), key=lambda box: box.x0)
        if all(a.x1 + _GAP_PT <= b.x0 for a, b in pairwise(boxes)):
            return
        kept = labels[(len(labels) - 1) % 2 :: 2]
        axis.set_ticks([label.get_position()[0] for label in kept], [label.get_text() for label in kept])


def _spread(axis: Axes, renderer: RendererBase) -> None:
    """Words centred on one line, moved apart and into the figure."""
    lines: dict[float, list[Text]] = {}
    for text in axis.texts:
        centred = text.get_horizontalalignment() == "center" and text.get_transform() == axis.transData
        if centred and not isinstance(text, Annotation):
            lines.setdefault(round(float(text.get_position()[1]), 3), []).append(text)
    for words in lines.values():
        boxes = sorted(((t.get_window_extent(renderer), t) for t in words), key=lambda pair: pair[0].x0)
        ends, edge = [], 0.0
        for box, _ in boxes:
            ends.append(max(box.x1, edge + box.width))
            edge = ends[-1] + _GAP_PT
        edge = axis.figure.bbox.width
        for (box, text), end in zip(boxes[::-1], ends[::-1], strict=True):
            at = min(end, edge) - box.width / 2
            edge = at - box.width / 2 - _GAP_PT
            text.set_x(axis.transData.inverted().transform((at, 0))[0])
