"""What the pictures of page one draw: their rows, what is filled and what is open, and how high they are."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from itertools import pairwise
from typing import Any
from unittest import mock

import numpy as np
import pytest
from bench import case, changed
from rows import rows

from fabricreport.base.provenance import plain
from fabricreport.blocks import Drawing, theme
from fabricreport.blocks.theme import row_canvas
from fabricreport.models.judgement.choice import Difference
from fabricreport.sections.decision import charts
from fabricreport.sections.decision.charts import IN_IT, MOST_TURNS, schedule_chart, sellers_chart, switching_chart
from fabricreport.sections.decision.courses.result import ASKS
from fabricreport.sections.schedule import Step
from fabricreport.sections.tco.charts import MOST, causes_chart, stages_chart

pytestmark = pytest.mark.slow

MM_PER_PT = 25.4 / 72
OWNERS = ("example", "halden-cloud", "kestrel-lab")
RENTERS = ("tern-finetuning", "offers")


def records(drawing: Drawing) -> list[dict[str, str]]:
    head, *body = drawing.data
    return [dict(zip(head, row, strict=True)) for row in body]


def height_mm(drawing: Drawing) -> float:
    found = re.search(r'height="([\d.]+)pt"', drawing.svg)
    assert found
    return float(found[1]) * MM_PER_PT


def open_marks(drawing: Drawing) -> int:
    """Shapes with an outline of a colour and the page within."""
    return len(re.findall(r'(?:fill: #ffffff; stroke: #(?!ffffff)|fill="#ffffff" stroke="#(?!ffffff))', drawing.svg))


@rows("name", OWNERS)
def test_causes_add_up_to_their_sums_and_an_assumed_one_is_open(name: str) -> None:
    client = case(name)
    drawing = causes_chart(client.inputs, client.tco())
    found = records(drawing)
    cash, both = ([float(r["value"]) for r in found if r["is_sum"] == "true"][i] for i in (0, -1))
    causes = [float(r["value"]) for r in found if r["is_sum"] == "false"]
    assert both == pytest.approx(float(np.mean(plain(client.tco().difference.draws))), rel=1e-4)
    assert sum(causes) == pytest.approx(both, rel=1e-3) and cash != both
    assert open_marks(drawing) == sum(r["assumed"] == "true" for r in found) > 0
    assert 30 < height_mm(drawing) <= 60


@rows("name", OWNERS)
def test_the_heads_of_the_two_sides_stand_clear_of_the_line_between_them(name: str) -> None:
    client = case(name)
    with mock.patch("fabricreport.sections.tco.charts.drawn", side_effect=lambda figure, *_, **__: figure):
        figure = causes_chart(client.inputs, client.tco())
    (axis,) = figure.axes
    zero = axis.transData.transform((0.0, 0.0))[0]
    own, rival = (t.get_window_extent() for t in axis.texts if t.get_text().endswith("costs more"))
    assert own.x1 < zero < rival.x0


def test_any_causes_are_drawn_in_few_rows_that_add_up() -> None:
    client, random = case("example"), np.random.default_rng(20)
    result = client.tco()
    causes = list(result.difference.parts)
    for _ in range(25):
        sizes = random.choice([0.0, 1e3, 1e6], len(causes)) * random.normal(size=len(causes))
        parts = {c: np.full(8, v) for c, v in zip(causes, sizes, strict=True)}
        drawn = replace(result, difference=Difference(np.full(8, sizes.sum()), parts))
        found = records(causes_chart(client.inputs, drawn))
        assert len(found) <= MOST + 5
        alone = [r for r in found if r["is_sum"] == "false"]
        sums = [float(r["value"]) for r in found if r["is_sum"] == "true"]
        assert sums[0] + sums[1] == pytest.approx(sums[2], rel=1e-3, abs=1e-3 * np.abs(sizes).max())
        if alone:
            assert max(abs(float(r["value"])) for r in alone) == pytest.approx(np.abs(sizes).max(), rel=1e-4)


@rows("name", RENTERS)
def test_sellers_stand_in_the_order_of_their_cost_and_are_filled_by_their_word(name: str) -> None:
    client = case(name)
    offers = client.decision().offers
    assert offers
    drawing = sellers_chart(client.inputs, offers)
    found = records(drawing)
    assert [r["seller"] for r in found] == [j.offer.seller for j in offers.judged.values()][: len(found)]
    assert open_marks(drawing) == sum(r["network"] != IN_IT for r in found)
    assert all(float(r["p5"]) <= float(r["p95"]) for r in found)
    assert height_mm(drawing) <= 60
    assert open_marks(sellers_chart(client.inputs, offers, networked=False)) == 0


def test_stages_cost_what_their_table_says() -> None:
    client = case("kestrel-lab")
    result = client.tco()
    drawing = stages_chart(client.inputs, result)
    for option in (result.choice, result.rival):
        costs = [float(r["mean_cost"]) for r in records(drawing) if r["option"] == option]
        told = [result.numbers[f"tco.stage.price.{n}.{option}"].value for n in range(len(costs))]
        assert costs == pytest.approx(told, rel=1e-4) and len(costs) > 1
    assert height_mm(drawing) <= 60


@rows("name", (*OWNERS, *RENTERS, "one option", "too late"))
def test_an_option_takes_its_steps_in_order_and_is_in_time_where_its_chance_says_so(name: str) -> None:
    client = case(name)
    result = client.decision()
    drawing = schedule_chart(client.inputs, result)
    found = records(drawing)
    for option in result.totals:
        way = [r for r in found if r["option"] == option]
        assert [r["half"] for r in way] == sorted(r["half"] for r in way) and way[-1]["step"] == Step.PRODUCTION
        assert all(r["half"] <= r["nine_in_ten"] for r in way)
        if client.inputs.params.schedule.production_by and result.courses.advised.kind not in ASKS:
            due = str(client.inputs.params.schedule.production_by)
            assert (way[-1]["nine_in_ten"] <= due) == (result.verdict.ready[option] >= 0.9)
    assert height_mm(drawing) <= 60


@rows("name", ("example", "tern-finetuning"))
def test_a_switching_value_lies_on_the_side_that_is_told(name: str) -> None:
    client = case(name)
    drawing = switching_chart(client.inputs, client.decision())
    found = records(drawing)
    assert found and len(found) <= MOST_TURNS
    for row in found:
        used, low, high, at = (float(row[key]) for key in ("in_use", "p5", "p95", "turns_at"))
        assert low < high and (at > used) == (row["side"] == "above") and row["side"] in row["told"]
    assert height_mm(drawing) <= 60


@pytest.fixture
def drawn_on(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """The axes that charts of rows are drawn on from now on, as for the page."""
    seen: list[Any] = []

    @contextmanager
    def kept(*args: Any, **more: Any) -> Iterator[Any]:
        with row_canvas(*args, **more) as (figure, axis):
            seen.append(axis)
            yield figure, axis

    monkeypatch.setattr(charts, "row_canvas", kept)
    monkeypatch.setattr(theme, "narrow_svg", lambda *_: "")  # what draws them anew for a phone
    return seen


def test_the_longest_names_and_figures_leave_a_switching_chart_room_for_its_lines(
    monkeypatch: pytest.MonkeyPatch, drawn_on: list[Any]
) -> None:
    longest = "Share of its tuned bandwidth that sprayed Ethernet gets"
    row = (longest, 2.0, 1.0, 9.0, 3.0, "below", "1.97; level below 0.739 per cluster-year, 10 of 100")
    monkeypatch.setattr(charts, "_switches", lambda *_: [row] * MOST_TURNS)
    client = case("example")
    switching_chart(client.inputs, client.decision())
    assert [round(axis.get_position().width, 3) >= 0.08 for axis in drawn_on] == [True]


@rows("due", ("2027-02-19", "2027-10-01", "2028-03-01"))
def test_names_of_steps_stand_apart_however_far_the_date_is(due: str, drawn_on: list[Any]) -> None:
    client = changed("example", schedule__production_by=due)
    schedule_chart(client.inputs, client.decision())
    (axis,) = drawn_on
    drawn_on.clear()
    boxes = [text.get_window_extent() for text in axis.texts if text.get_position()[1] == -0.9]
    ends = sorted((box.x0, box.x1) for box in boxes)
    assert len(ends) >= 3 and all(left[1] < right[0] for left, right in pairwise(ends))


@rows("name", OWNERS)
def test_a_drawing_is_the_same_twice(name: str) -> None:
    client = case(name)
    one, again = causes_chart(client.inputs, client.tco()), causes_chart(client.inputs, client.tco())
    assert one == again and one.narrow
