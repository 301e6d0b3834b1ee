"""A chart for a narrow screen: the same figure in a phone's width, and none where words would be in each other's way."""

from __future__ import annotations

import re

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
import seaborn as sns
from matplotlib.figure import Figure

from fabricreport.blocks import Drawing, narrow
from fabricreport.blocks.theme import canvas, drawn, label_end, row_canvas

LONG = ["How long InfiniBand takes to run stably", "Share of time lost to congestion stalls on RoCEv2"]
DATA = pd.DataFrame({"option": [*LONG, "A third option with a name as long"], "cost": [1.0, 2.0, 3.0]})


def rows_chart() -> Drawing:
    with row_canvas(LONG, head=1) as (figure, axis):
        axis.barh([0, 1], [1.0, 2.0], height=0.6)
        label_end(axis, 2.0, 1, "two")
        axis.text(1, -0.9, "amounts", ha="center")
    return drawn(figure, "fig-x", data=DATA)


def plain(kind: str) -> Figure:
    """An analyst's own figure, without the house style."""
    figure, axis = plt.subplots()
    if kind == "rows":
        sns.barplot(DATA, y="option", x="cost", ax=axis)
    elif kind == "columns":
        sns.barplot(DATA, y="cost", x="option", ax=axis)
    elif kind == "heat map":
        sns.heatmap(np.arange(6.0).reshape(2, 3), ax=axis)
    else:
        axis.plot([1, 2], [1, 2], label="a")
        figure.legend()
    return figure


def size(svg: str) -> tuple[float, float]:
    found = re.match(r'<svg [^>]*?width="([\d.]+)pt" height="([\d.]+)pt"', svg)
    assert found, svg[:200]
    return float(found[1]), float(found[2])


def test_the_narrow_drawing_is_as_wide_as_a_phone_and_higher_and_the_same_twice() -> None:
    one, again = rows_chart(), rows_chart()
    assert (one.svg, one.narrow) == (again.svg, again.narrow)
    width, height = size(one.narrow)
    assert width == pytest.approx(narrow.WIDTH_IN * narrow.POINTS_PER_IN, abs=0.1) and height > size(one.svg)[1]


@pytest.mark.parametrize(
    ("kind", "drawn_too"), [("rows", True), ("columns", False), ("heat map", False), ("legend", False)]
)
def test_a_plain_figure_is_drawn_too_unless_words_would_meet(kind: str, drawn_too: bool) -> None:
    made = drawn(plain(kind), "fig-x", data=DATA)
    assert made.svg.startswith("<svg ") and bool(made.narrow) == drawn_too


def test_rows_keep_the_height_of_their_marks_and_what_is_above_them_makes_room_for_a_label() -> None:
    place = narrow.Rows(rows=[0, 1, 2], shrunk=0.5, line=0.4, up=-1)
    assert [place(y) for y in (0, 1, 2)] == [0, 1, 2]
    assert place(1.3) - place(0.7) == pytest.approx(0.3)
    assert place(-0.9) == pytest.approx(-0.85)


def test_no_axis_of_many_is_lost_and_none_is_narrower_than_half() -> None:
    with canvas(1.6, columns=5) as (figure, axes):
        for number, axis in enumerate(axes):
            axis.plot([0, 1], [0, number])
    assert drawn(figure, "fig-x", data=DATA).narrow
    assert len(figure.axes) == 5
    assert min(axis.get_position().width for axis in figure.axes) > 0.3
