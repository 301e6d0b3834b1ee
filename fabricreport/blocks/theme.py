"""The house style: one look and one face for every chart, one colour for the same thing in the whole memo, in as few bytes as the eye needs.

Colours differ in grey and for the colour-blind, and stand at 3:1 or better on the page.
Titles and captions are text of the document, not of the picture; series are labelled directly, without a legend.
All inks are named in the memo's style sheet too, which has others in dark mode.
"""

from __future__ import annotations

import io
import re
import textwrap
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import date
from functools import cache
from typing import Any

import matplotlib as mpl
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.backends.backend_svg import RendererSVG
from matplotlib.figure import Figure
from matplotlib.layout_engine import ConstrainedLayoutEngine

from fabricreport.base import formats
from fabricreport.base.project import FONTS
from fabricreport.blocks import Drawing, narrow
from fabricreport.blocks.narrow import ON_PAGE, POINTS_PER_IN

_COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)
_METADATA = re.compile(r"<metadata>.*?</metadata>", re.DOTALL)
_BETWEEN_TAGS = re.compile(r">\s+<")
_NUMBER = re.compile(r"-?\d+\.\d+(?:e-?\d+)?")
_PATH = re.compile(r'(\s(?:d|points)=")([^"]*)(")')
_PLACE = re.compile(r'(\s(?:x|y|width|height|x1|y1|x2|y2|cx|cy)=")(-?\d+\.\d+)(")')
_MOVED = re.compile(r"(translate\()([^)]*)(\))")
_LETTER = re.compile(r'(<use xlink:href="#[^"]+") transform="translate\((-?[\d.]+) 0\)"/>')
_EMPTY = re.compile(r"<defs\s*/>|<defs>\s*</defs>")
DIGITS = 2
"""Decimals of a coordinate in points: a hundredth is a quarter of a device dot at 7,200 dots per inch."""


def slim(text: str) -> str:
    """The SVG with short coordinates, no comments and no space between tags; the memo shortens ids (`memo.svg`)."""
    text = _COMMENT.sub("", _METADATA.sub("", text))
    text = _BETWEEN_TAGS.sub("><", text)
    text = _EMPTY.sub("", text)
    # A letter's place is in thousandths of its size: whole numbers are fine enough.
    text = _LETTER.sub(lambda m: f'{m[1]} x="{round(float(m[2]))}"/>', text)
    text = _PATH.sub(lambda m: m[1] + _path(m[2]) + m[3], text)
    text = _PLACE.sub(lambda m: m[1] + _short(m[2]) + m[3], text)
    return _MOVED.sub(lambda m: m[1] + _NUMBER.sub(lambda n: _short(n[0]), m[2]) + m[3], text)


def _path(data: str) -> str:
    """Path data without needless spaces, its coordinates short."""
    data = _NUMBER.sub(lambda m: _short(m[0]), data)
    return re.sub(r"\s*([A-Za-z])\s*", r"\1", re.sub(r"\s+", " ", data)).strip()


def _short(number: str) -> str:
    text = f"{float(number):.{DIGITS}f}".rstrip("0").rstrip(".")
    return "0" if text == "-0" else text


INK, MUTED, GRID = "#1f2430", "#5b6472", "#d9dde3"
FIRST, SECOND, THIRD = "#0b4f8a", "#b84c00", "#32a17f"
"""Inks of series, the option advised before its rival; each is half as light again as the one before it, or more."""
WIDTH_IN = 6.5
ROW_IN = 0.178
"""Height of a row with words beside it: 4.5 mm."""
RISE = 0.1
"""Of a row: words stand so much higher than their marks, for most letters have nothing below the line."""
OUTLINE_PT = 1.1
FONT_PT = 9.0
SMALL_PT = 8.0
"""The least size of a letter: a chart is printed as large as it is drawn."""
FACE, BESIDE = "Libertinus Serif", "DejaVu Sans"
"""The face of the memo, and the one that stands in for letters that it lacks."""
_PAD_PT = 3.0
_DOTS_PER_IN = 100
"""Of a heat map's picture within a drawing."""
PLOT_DIGITS = 6
"""Plotted values are rounded to this many significant digits, so that a picture is the same on every CPU."""

_NO_METADATA = {"Date": None, "Creator": None, "Format": None, "Type": None}
_RC: dict[str, Any] = {
    "svg.fonttype": "path",
    "text.parse_math": False,
    "font.family": [FACE, BESIDE],
    "font.size": FONT_PT,
    "axes.labelsize": FONT_PT,
    "xtick.labelsize": FONT_PT,
    "ytick.labelsize": FONT_PT,
    "text.color": INK,
    "axes.labelcolor": MUTED,
    "xtick.color": MUTED,
    "ytick.color": MUTED,
    "axes.edgecolor": MUTED,
    "axes.linewidth": 0.7,
    "axes.axisbelow": True,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "patch.edgecolor": "white",
    "patch.force_edgecolor": True,
    "grid.color": GRID,
    "grid.linewidth": 0.6,
    "lines.linewidth": 1.7,
    "lines.solid_capstyle": "round",
    "hatch.linewidth": 0.6,
    "figure.facecolor": "none",
    "axes.facecolor": "none",
    "savefig.facecolor": "none",
}


def _look(more: Any = None) -> Any:
    """The house style's settings for the length of a `with`."""
    _know_face()
    settings: Any = {**_RC, **(more or {})}
    return mpl.rc_context(settings)


@cache
def _know_face() -> None:
    """Tell matplotlib of the face, once."""
    from matplotlib.font_manager import fontManager

    for cut in sorted(FONTS.glob("*.otf")):
        fontManager.addfont(cut)


@contextmanager
def canvas(
    height_in: float = 2.7, *, columns: int = 1, width_in: float = WIDTH_IN, share_y: bool = False
) -> Iterator[tuple[Figure, list[Axes]]]:
    """A figure in the house style with `columns` axes side by side; draw inside the context."""
    with _look():
        figure = Figure(figsize=(width_in, height_in), layout="constrained", dpi=POINTS_PER_IN)
        yield figure, list(figure.subplots(1, columns, sharey=share_y, squeeze=False)[0])


def svg(figure: Figure, chart_id: str) -> str:
    """The drawing as an SVG fragment: no XML head, no dates, ids salted with the chart's own id, same bytes every time."""
    with _look({"svg.hashsalt": chart_id}):
        text = _rendered(figure)
    return slim(text[text.index("<svg") :]).rstrip() + "\n"


def _rendered(figure: Figure) -> str:
    """The figure as an SVG file."""
    buffer = io.StringIO()
    if _is_row(figure):
        _draw_row(figure, buffer)
    else:
        figure.savefig(buffer, format="svg", metadata=_NO_METADATA)
    return buffer.getvalue()


def _is_row(figure: Figure) -> bool:
    """True of axes side by side as `canvas` makes them, with nothing (a colour bar, a title over all) beside them."""
    grid = narrow.grid_of(figure)
    ours = isinstance(figure.get_layout_engine(), ConstrainedLayoutEngine) and figure.get_dpi() == POINTS_PER_IN
    return ours and grid is not None and grid.get_geometry() == (1, len(figure.axes))


def _draw_row(figure: Figure, to: io.StringIO) -> None:
    """Lay out and draw with one renderer, each once.

    `savefig` measures every text in two passes of the layout, draws the figure for nothing and then draws it: half the
    time of a memo's cells went there.
    """
    renderer = _renderer(figure, to)
    if not _lay_out_row(figure.axes, *_size(figure), renderer):
        warnings.warn("the labels leave no room for the drawing", stacklevel=2)
    figure.set_layout_engine("none")
    figure.draw(renderer)
    renderer.finalize()  # type: ignore[no-untyped-call]


def _size(figure: Figure) -> tuple[float, float]:
    """Its width and height in points."""
    width_in, height_in = figure.get_size_inches()
    return float(width_in * POINTS_PER_IN), float(height_in * POINTS_PER_IN)


def _renderer(figure: Figure, to: io.StringIO) -> RendererSVG:
    """What measures and draws the figure."""
    return RendererSVG(*_size(figure), to, image_dpi=_DOTS_PER_IN, metadata=_NO_METADATA)  # type: ignore[no-untyped-call]


def _lay_out_row(axes: Sequence[Axes], width: float, height: float, renderer: RendererSVG) -> bool:
    """Widen or narrow the axes until what belongs to them just fits into the figure, if it can; their areas are equally large.

    Words hang on points of the area: where it grows they need less room than was measured, where it shrinks more, and are
    measured again.
    """
    for _ in range(2):
        room = axes[0].get_window_extent(renderer).width
        margins = [_margins(axis, renderer) for axis in axes]
        left, low, right, high = ([side + _PAD_PT for side in sides] for sides in zip(*margins, strict=True))
        each = (width - sum(left) - sum(right)) / len(axes)
        tall = height - max(low) - max(high)
        if each <= 0 or tall <= 0:
            return False
        at = 0.0
        for axis, before, after in zip(axes, left, right, strict=True):
            axis.set_position(((at + before) / width, max(low) / height, each / width, tall / height))
            at += before + each + after
        if each >= room:
            break
    return True


def _margins(axis: Axes, renderer: RendererSVG) -> tuple[float, float, float, float]:
    """How far labels reach beyond the drawing area: left, low, right, high, in points."""
    inner = axis.get_window_extent(renderer)
    outer = axis.get_tightbbox(renderer, for_layout_only=True) or inner
    return inner.x0 - outer.x0, inner.y0 - outer.y0, outer.x1 - inner.x1, outer.y1 - inner.y1


def drawn(figure: Figure, chart_id: str, *, data: pd.DataFrame, **values: object) -> Drawing:
    """Any matplotlib or seaborn figure as a drawing for a `%%chart` cell, with what it plots.

    `values` are words that the cell's texts may use. The figure is closed, so that a notebook does not show it a second
    time.
    """
    import matplotlib.pyplot as plt

    made = Drawing(chart_id, svg(figure, chart_id), rows_of(data), values, narrow_svg(figure, chart_id))
    plt.close(figure)
    return made


def narrow_svg(figure: Figure, chart_id: str) -> str:
    """The figure, drawn already, again for a narrow screen; empty where words leave it no room or would run into each other.

    The figure is not to be used afterwards.
    """
    if narrow.grid_of(figure) is None:
        return ""
    with _look():
        renderer = _renderer(figure, io.StringIO())
        tall = narrow.narrow(figure, renderer, ROW_IN * POINTS_PER_IN)
        figure.set_layout_engine("constrained")
        row = _is_row(figure)

        def fits() -> bool:
            if row:
                return _lay_out_row(figure.axes, *_size(figure), renderer)
            figure.draw_without_rendering()
            return True

        if not fits():
            return ""
        narrow.part(figure, renderer, tall)
        if not fits() or narrow.clashes(figure, renderer):
            return ""
    return svg(figure, f"{chart_id}-narrow")


def rounded(values: Any, digits: int = PLOT_DIGITS) -> np.ndarray[Any, np.dtype[np.float64]]:
    """Values rounded to `digits` significant digits, element by element."""
    array = np.asarray(values, dtype=float)
    with np.errstate(divide="ignore", invalid="ignore"):
        exponent = np.where(array == 0, 0, np.floor(np.log10(np.abs(array))))
    factor = 10.0 ** (digits - 1 - exponent)
    return np.asarray(np.where(np.isfinite(array), np.round(array * factor) / factor, array))


def rows_of(frame: pd.DataFrame) -> tuple[tuple[str, ...], ...]:
    """A data frame as rows of text for the chart's CSV, the header first; numbers rounded as they were plotted."""

    def cell(value: Any) -> str:
        if isinstance(value, bool | np.bool_):
            return str(bool(value)).lower()
        if isinstance(value, int | float | np.number):
            return f"{formats.significant(float(value), PLOT_DIGITS):.10g}" if np.isfinite(value) else ""
        return str(value)

    body = (tuple(cell(v) for v in row) for row in frame.itertuples(index=False, name=None))
    return (tuple(str(c) for c in frame.columns), *body)


def wrapped(text: str, width: int, lines: int = 2) -> str:
    """A label on a few short lines, whatever a person typed: too wide a label leaves no room for the drawing."""
    found = textwrap.wrap(text, width)
    if len(found) > lines:
        found = [*found[: lines - 1], f"{found[lines - 1][: width - 2].rstrip()} …"]
    return "\n".join(found)


def label_end(axis: Axes, x: float, y: float, text: str, colour: str = INK, *, dx: float = 4) -> None:
    """Write a series' name beside its last point, in its colour if words can be read in it: to the right of it, or to the left where `dx` is below zero."""
    axis.annotate(
        text,
        (x, y),
        xytext=(dx, RISE * ROW_IN * POINTS_PER_IN),
        textcoords="offset points",
        color=INK if colour == THIRD else colour,
        va="center_baseline",
        ha="right" if dx < 0 else "left",
        bbox=ON_PAGE,
        annotation_clip=False,
    )


@contextmanager
def row_canvas(
    labels: Sequence[str], *, head: int = 0, foot: bool = False, lines: int = 1
) -> Iterator[tuple[Figure, Axes]]:
    """A low figure of one axis with a row to each label, from the top down: no line to the left, and no ticks.

    `head`: lines of words above the rows; `foot`: for an axis below them. A row is `lines` lines high.
    """
    with canvas(ROW_IN * (lines * len(labels) + 0.4 + 1.1 * head + 1.2 * foot)) as (figure, (axis,)):
        axis.set_yticks([row - RISE for row in range(len(labels))], labels)
        axis.set_ylim(len(labels) - 0.5, -0.6 - 1.1 * head)
        axis.tick_params(axis="y", length=0, labelcolor=INK)
        axis.spines["left"].set_visible(False)
        if not foot:
            axis.set_xticks([])
            axis.spines["bottom"].set_visible(False)
        yield figure, axis


def pair(choice: str, rival: str) -> dict[str, str]:
    """The inks of the two options that are weighed, by id."""
    return {rival: SECOND, choice: FIRST}


def open_or_filled(colour: str, *, filled: bool) -> dict[str, Any]:
    """How a bar or a mark is inked: in its colour, or as an outline of it."""
    return {"facecolor": colour if filled else "white", "edgecolor": colour, "linewidth": OUTLINE_PT}


def spread_labels(positions: Sequence[float], gap: float) -> list[float]:
    """Shift label positions apart until neighbours are at least `gap` apart, keeping their order and centre."""
    order = sorted(range(len(positions)), key=lambda i: positions[i])
    placed = [positions[i] for i in order]
    for _ in range(50):
        moved = False
        for k in range(1, len(placed)):
            short = gap - (placed[k] - placed[k - 1])
            if short > 1e-9:
                placed[k - 1] -= short / 2
                placed[k] += short / 2
                moved = True
        if not moved:
            break
    result = [0.0] * len(positions)
    for position, i in zip(placed, order, strict=True):
        result[i] = position
    return result


def amounts(currency: str, digits: int = 3) -> Callable[[float], str]:
    """What writes an amount in compact money."""
    symbol = formats.SYMBOLS.get(currency, currency + " ")
    return lambda value: formats.money(value, digits, symbol)


def money_axis(axis: Axes, currency: str) -> None:
    """Tick labels of the axis below in compact money."""
    from matplotlib.ticker import FuncFormatter, MaxNLocator

    told = amounts(currency)
    axis.xaxis.set_major_locator(MaxNLocator(6, steps=[1, 2, 5, 10]))
    axis.xaxis.set_major_formatter(FuncFormatter(lambda value, _: told(value)))


def place_of(day: date) -> float:
    """Where a day lies on an axis of days."""
    from matplotlib.dates import date2num

    return float(date2num(day))  # type: ignore[no-untyped-call]


def days_axis(axis: Axes) -> None:
    """Tick labels of the axis below as days."""
    from matplotlib.dates import DateFormatter
    from matplotlib.ticker import MaxNLocator

    axis.xaxis.set_major_locator(MaxNLocator(4, steps=[1, 2, 5, 10], integer=True))
    axis.xaxis.set_major_formatter(DateFormatter("%-d %b %Y"))  # type: ignore[no-untyped-call]


def percent_axis(axis: Axes, which: str) -> None:
    """Tick labels of an axis as percentages."""
    from matplotlib.ticker import FuncFormatter

    target = axis.yaxis if which == "y" else axis.xaxis
    target.set_major_formatter(FuncFormatter(lambda v, _: formats.percent(v, 3)))
