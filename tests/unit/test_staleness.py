"""What bears a dagger rests on prices out of date, what bears a ring on our assumptions: by how much of it they make up."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from rows import rows

from fabricreport.base.provenance import Traced, aged, out_of_date
from fabricreport.blocks.nodes import Num, Strong, Text
from fabricreport.ledger.numbers import AGED, MOSTLY, NumberMaker, Part, assumed
from fabricreport.memo.document.numbering import unmarked

SIZE = 4096
RNG = np.random.default_rng(18)
OLD = out_of_date(Traced(RNG.normal(10, 2, SIZE), {"price:old"}))
NEW = Traced(RNG.normal(10, 2, SIZE), {"price:new"})
RENT = out_of_date(Traced(3.2, {"price:rent"}))
OURS, THEIRS = (Traced(RNG.normal(1, 0.1, SIZE), {i}) for i in ("evidence:ours", "evidence:theirs"))


class Records:
    """Prices, two of them out of date, and two entries, one of them an assumption."""

    stale_ids = frozenset({"price:old", "price:rent"})

    def record(self, input_id: str) -> dict[str, Any]:
        return {
            "id": input_id,
            "kind": input_id.partition(":")[0],
            "grade": "assumption" if input_id == "evidence:ours" else "quote",
            "date": "2026-09-01",
            "stale": input_id in self.stale_ids,
            "unit": "usd",
            "value": 1.0,
        }

    def value(self, input_id: str) -> NDArray[np.float64]:
        known = (OLD, NEW, OURS, THEIRS)
        return next((np.asarray(v) for v in known if input_id in v.inputs), np.full(SIZE, 3.2))


def stale(value: Any, unit: str = "usd", **more: Any) -> bool:
    return NumberMaker(Records()).number("n", value, unit, label="n", rule="r", **more).stale


@rows(("part", "marked"), [(0.0, False), (0.04, False), (0.06, True), (1.0, True), (-0.06, True)])
def test_an_amount_is_marked_where_a_price_out_of_date_makes_up_a_part_of_it(part: float, marked: bool) -> None:
    assert stale(NEW + part * OLD) is marked


def test_a_price_without_a_range_makes_up_its_part_as_well() -> None:
    assert stale(NEW * RENT) and stale(5.0 + RENT, "usd/day") and not stale(100 * NEW + RENT)


@given(st.floats(0.01, 3), st.floats(1e-3, 1e6), st.floats(0, 1e3))
def test_the_part_is_exact_through_whatever_is_linear(weight: float, scale: float, more: float) -> None:
    values = scale * np.stack([weight * OLD, NEW]).sum(axis=0) + more
    exact = scale * weight * np.mean(np.asarray(OLD)) / np.mean(np.asarray(values))
    assert aged(values) == pytest.approx(exact, rel=1e-5)
    assert aged(np.sort(values)[::-1]) == pytest.approx(exact, rel=1e-5)


def test_what_is_taken_away_leaves_no_part() -> None:
    assert not stale(NEW + OLD - OLD) and aged(NEW) is None and aged(OLD - OLD) is None
    changed = Traced(np.zeros(SIZE))
    changed[:] = NEW + OLD
    assert stale(changed)
    changed += 100.0 * NEW
    assert not stale(changed)


def test_a_difference_is_marked_for_its_own_amount_and_not_for_the_totals() -> None:
    most, total = 100 * NEW + OLD, 100 * NEW
    assert not stale(most) and stale(most - total)


def test_a_total_is_marked_where_a_heavy_part_of_it_is_however_deep() -> None:
    """What is resold takes the old price out of the total again, and none of its mark."""
    cash = NEW + 0.2 * OLD - 0.19 * OLD
    heavy, light = Part(0.2 * OLD), Part(0.01 * OLD)
    total = cash + 0.5 * NEW
    assert not stale(cash) and not stale(total)
    assert stale(cash, parts=[heavy]) and not stale(cash, parts=[light])
    assert stale(total, parts=[Part(cash, (heavy,))]) and not stale(total, parts=[Part(cash, (light,))])
    assert not stale(100 * total, parts=[Part(cash, (heavy,))]), "the part is a trifle of it"


@rows("unit", ["share", "relative", "count", "ratio", "week", "gbytes/s"])
def test_nothing_but_money_is_marked(unit: str) -> None:
    assert stale(OLD, "eur") and not stale(OLD, unit) and not stale(0.5, unit, inputs=("price:old",))


def test_an_amount_of_which_it_cannot_be_told_is_marked_where_it_rests_on_such_a_price() -> None:
    assert stale(5.0, inputs=("price:old",)) and not stale(5.0, inputs=("price:new",))
    assert not stale(5.0, inputs=("price:new",), sources=("price:old",))


def test_the_number_of_a_heading_bears_no_mark() -> None:
    number = Num("n", "$3", 3.0, "d", "told", stale=True, ring=True)
    (strong, words) = unmarked([Strong((number,)), Text("less")])
    assert isinstance(strong, Strong) and words == Text("less")
    (shown,) = strong.children
    assert isinstance(shown, Num) and (shown.text, shown.stale, shown.ring) == ("$3", False, False)


def ringed(value: Any, ids: tuple[str, ...] = ()) -> bool:
    return assumed(Records(), value, {*ids, *getattr(value, "inputs", ())})


@rows(("part", "told"), [(0.0, False), (0.5, False), (0.9, False), (1.1, True), (3.0, True)])
def test_a_figure_is_assumed_where_assumptions_carry_most_of_its_range(part: float, told: bool) -> None:
    assert MOSTLY == 0.5 and ringed(THEIRS + part * OURS) is told


def test_a_figure_without_a_range_is_assumed_where_it_rests_on_nothing_else() -> None:
    ours, both = "evidence:ours", ("evidence:ours", "evidence:theirs")
    assert ringed(2.0, (ours,)) and ringed(2.0, (ours, "param:horizon")) and ringed(Traced(np.ones(SIZE), {ours}))
    assert not ringed(2.0, both) and not ringed(3.0) and not ringed(THEIRS)


def test_no_part_counts_that_is_less_than_what_marks() -> None:
    assert 0 < AGED < MOSTLY
