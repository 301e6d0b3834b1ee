"""A number is marked as resting on what is past its shelf life, a bar as resting on an assumption, where that moves it."""

from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from rows import rows

from fabricreport.blocks.nodes import Strong, Text
from fabricreport.inputs import Inputs
from fabricreport.ledger import CARRIED, NumberMaker, carried
from fabricreport.memo.document.placed import PlacedNum
from fabricreport.memo.document.resolve import unmarked
from fabricreport.provenance import Traced
from fabricreport.sections.assumed import assumed

SIZE = 4096
RNG = np.random.default_rng(18)
OLD, NEW = RNG.normal(10, 2, SIZE), RNG.normal(10, 2, SIZE)


class Records:
    """Two prices, one past its shelf life, and what one seller asked for an hour, as old."""

    def record(self, input_id: str) -> dict[str, Any]:
        return {
            "id": input_id,
            "kind": "price",
            "grade": "quote",
            "date": "2026-09-01",
            "stale": input_id in ("price:old", "price:rent"),
            "unit": "eur/gpu-hour" if input_id == "price:rent" else "usd",
        }

    def draw(self, input_id: str) -> NDArray[np.float64]:
        return np.full(SIZE, 3.2) if input_id == "price:rent" else OLD if input_id == "price:old" else NEW


BOTH = {"price:old", "price:new"}


def stale(value: Any, unit: str = "usd", **more: Any) -> bool:
    return NumberMaker(Records()).number("n", value, unit, label="n", rule="r", **more).stale


@rows(("part", "marked"), [(0.0, False), (0.01, False), (0.02, False), (0.1, True), (1.0, True)])
def test_a_number_is_marked_where_a_stale_price_carries_a_part_of_its_range(part: float, marked: bool) -> None:
    assert stale(Traced(NEW + part * OLD, BOTH)) is marked


@rows("weight", [0.0, 0.03, 0.3, 1.0, 30.0])
def test_the_part_carried_is_that_of_the_spread(weight: float) -> None:
    assert carried(NEW + weight * OLD, [OLD]) == pytest.approx(weight / np.hypot(1, weight), abs=0.05)
    assert carried(NEW + weight * OLD, [OLD, NEW]) == pytest.approx(1)


def test_money_that_is_so_many_hours_at_one_sellers_old_rent_is_as_old() -> None:
    hours = Traced(NEW * 3.2, {"price:new", "price:rent"})
    assert stale(hours) and stale(hours, "usd/day") and not stale(hours, "share")
    assert not stale(Traced(NEW, BOTH), inputs=("price:rent",)), "told of beside it, not counted in"


@given(st.floats(-1e6, 1e6), st.floats(1e-3, 1e6), st.floats(0, 2))
def test_neither_the_unit_nor_the_level_changes_the_part(level: float, scale: float, weight: float) -> None:
    values = NEW + weight * OLD
    assert carried(level + scale * values, [3 * OLD - 7]) == pytest.approx(carried(values, [OLD]), abs=1e-5)


def test_what_no_stale_price_moves_is_hardly_ever_marked() -> None:
    marked = [carried(RNG.normal(size=SIZE), [OLD, NEW]) > CARRIED for _ in range(200)]
    assert np.mean(marked) < 0.05


def test_what_does_not_vary_carries_nothing() -> None:
    assert (
        carried(np.ones(9), [np.arange(9.0)]) == carried(np.arange(9.0), [np.ones(9)]) == carried(np.ones(9), []) == 0
    )


@rows("unit", ["share", "count", "relative"])
def test_a_share_or_a_count_is_never_marked(unit: str) -> None:
    assert not stale(Traced(OLD / 100, BOTH), unit) and not stale(0.5, unit, inputs=("price:old",))


def test_a_number_without_a_range_is_marked_where_it_rests_on_a_stale_price() -> None:
    assert stale(5.0, inputs=("price:old",)) and not stale(5.0, inputs=("price:new",))
    assert not stale(5.0, inputs=("price:old",), unmoved={"price:old"})
    assert stale(Traced(5.0, {"price:old"}), unmoved={"price:old"})
    assert not stale(5.0, inputs=("price:new",), sources=("price:old",))
    assert stale(Traced(np.arange(7.0), {"price:old"}))  # of another sample: it cannot be told


def test_the_number_of_a_heading_bears_no_mark() -> None:
    number = PlacedNum("n", "$3", 3.0, "d", "told", stale=True)
    (strong, words) = unmarked([Strong((number,)), Text("less")])
    assert isinstance(strong, Strong) and words == Text("less")
    (shown,) = strong.children
    assert isinstance(shown, PlacedNum) and (shown.text, shown.stale) == ("$3", False)


OURS, THEIRS = "evidence:ours", "evidence:theirs"
DRAWS = {i: RNG.normal(1, 0.1, 4096) for i in (OURS, THEIRS)}


def hatched(value: Any) -> bool:
    records = {OURS: {"grade": "assumption"}, THEIRS: {"grade": "measured"}}
    return assumed(cast(Inputs, SimpleNamespace(record=records.__getitem__, draw=DRAWS.__getitem__)), value)


@rows(("part", "told"), [(0.0, False), (0.01, False), (0.2, True), (3.0, True)])
def test_a_bar_is_hatched_where_an_assumption_carries_a_part_of_its_range(part: float, told: bool) -> None:
    assert hatched(Traced(DRAWS[THEIRS] + part * DRAWS[OURS], {OURS, THEIRS})) is told


def test_what_has_no_range_is_hatched_where_it_rests_on_an_assumption() -> None:
    assert hatched(Traced(np.ones(4096), {OURS})) and hatched(Traced(2.0, {OURS}))
    assert not hatched(Traced(np.ones(4096), {THEIRS})) and not hatched(Traced(DRAWS[OURS], {THEIRS}))
    assert not hatched(3.0)
