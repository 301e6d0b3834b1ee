"""Known answers: where a decision turns, on functions whose roots are known."""

from __future__ import annotations

import math
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rows import rows

from fabricreport.models.judgement.turning import TOLERANCE, Asked, Seen, Turning, turning, turning_of_whole

LOW, HIGH = 0.0, 10.0


def course_of(lead: float, material: float) -> str:
    """Take the choice while it leads by more than counts, either while it is close, the rival beyond."""
    return "take:a" if lead > material else "take:b" if lead < -material else "either:a+b"


def by_money(lead: Callable[[float], float], material: float = 1.0) -> Callable[[float], Seen]:
    return lambda x: Seen(lead(x), material, course_of(lead(x), material))


def found(model: Callable[[float], Seen], start: float = 2.0, low: float = LOW, high: float = HIGH) -> Turning:
    return turning(Asked(model), start, low, high)


LEADS: dict[str, tuple[Callable[[float], float], float, float]] = {
    "linear": (lambda x: 10 - 2 * x, 5.0, 4.5),
    "curved": (lambda x: 49 - x * x, 7.0, math.sqrt(48)),
    "exponential": (lambda x: 20 - math.exp(x), math.log(20), math.log(19)),
    "flat then steep": (lambda x: 6 - x**8 / 1e6, 6e6**0.125, 5e6**0.125),
}


@rows("name", LEADS)
def test_level_and_edge_are_found_to_a_thousandth_of_the_range(name: str) -> None:
    lead, level, edge = LEADS[name]
    at = found(by_money(lead))
    assert at.level == pytest.approx(level, abs=TOLERANCE * (HIGH - LOW))
    assert at.edge == pytest.approx(edge, abs=TOLERANCE * (HIGH - LOW))
    assert at.course == "either:a+b"


@settings(deadline=None)
@given(st.floats(0.5, 9.5), st.floats(0.05, 3.0), st.floats(0.5, 9.5), st.sampled_from([-1.0, 1.0]))
def test_any_line_is_level_at_its_root_and_the_advice_differs_at_the_edge_and_not_before(
    root: float, material: float, start: float, sign: float
) -> None:
    model = by_money(lambda x: sign * 2 * (x - root), material)
    at = found(model, start)
    assert at.level == pytest.approx(root, abs=TOLERANCE * (HIGH - LOW))
    here = model(start).course
    if at.edge is None:
        assert {model(x / 100).course for x in range(1001)} == {here}
    else:
        short = 2 * TOLERANCE * (HIGH - LOW)
        assert model(at.edge).course == at.course != here
        before = at.edge - math.copysign(min(short, abs(at.edge - start)), at.edge - start)
        assert model(before).course == here


def test_the_edge_lies_before_the_level_where_a_lead_must_be_large_and_after_it_where_the_rival_must_be_clear() -> None:
    leads = found(by_money(lambda x: 10 - 2 * x))
    assert leads.edge is not None and leads.level is not None and leads.edge < leads.level
    decided = found(lambda x: Seen(10 - 2 * x, 1.0, "take:a" if 10 - 2 * x > -1 else "take:b"))
    assert (decided.level, decided.edge) == pytest.approx((5.0, 5.5), abs=TOLERANCE * 10)


def test_an_answer_that_never_turns_has_neither_point() -> None:
    assert found(by_money(lambda x: 50 + x)) == Turning(None, None)
    assert found(by_money(lambda _: 0.5)) == Turning(None, None)
    assert found(by_money(lambda x: 50 + x), start=LOW) == found(by_money(lambda x: 50 + x), start=HIGH)


def test_the_money_level_at_the_value_in_use_is_level_there() -> None:
    for sign in (1.0, -1.0):
        assert found(by_money(lambda x, s=sign: s * (x - 2.0)), start=2.0).level == 2.0  # type: ignore[misc]
    assert found(by_money(lambda x: -((x - 2.0) ** 2)), start=2.0).level == 2.0


def test_of_two_turning_points_the_nearer_one_counts() -> None:
    def lead(x: float) -> float:
        return 8 - (x - 4) ** 2  # level at 4 +- 2.83

    assert found(by_money(lead), start=2.0).level == pytest.approx(4 - math.sqrt(8), abs=0.01)
    assert found(by_money(lead), start=6.0).level == pytest.approx(4 + math.sqrt(8), abs=0.01)
    assert found(by_money(lead), start=6.0).edge == pytest.approx(4 + math.sqrt(7), abs=0.01)


def test_a_course_that_changes_without_the_money_is_found_too() -> None:
    """The client's date, for one: the course jumps while the lead stays what it is."""
    model = lambda x: Seen(5.0, 1.0, "take:a" if x < 7.1234 else "take:b")  # noqa: E731  # one line of a table
    at = found(model)
    assert at.level is None and at.course == "take:b"
    assert at.edge == pytest.approx(7.1234, abs=TOLERANCE * 10)


def test_what_is_known_between_shows_a_crossing_that_the_ends_hide() -> None:
    """The lead falls below zero and rises again: both ends agree with the start, a value asked in between does not."""
    model = by_money(lambda x: (x - 4) * (x - 8))
    assert found(model).level is None
    asked = Asked(model)
    asked(6.0)
    assert turning(asked, 2.0, LOW, HIGH).level == pytest.approx(4.0, abs=TOLERANCE * 10)


def test_no_value_is_asked_twice_and_few_are_asked() -> None:
    values: list[float] = []

    def model(x: float) -> Seen:
        values.append(x)
        return by_money(lambda v: 49 - v * v)(x)

    found(model)
    assert len(values) == len(set(values)) <= 25


@rows(("root", "level"), [(3.5, 4), (20.0, 24), (11.9, 12), (0.5, None), (100.0, None)])
def test_an_input_in_whole_numbers_turns_at_the_first_value_beyond(root: float, level: int | None) -> None:
    values = (1, 2, 4, 8, 12, 16, 24, 36, 48, 60)
    at = turning_of_whole(by_money(lambda x: root - x, 0.0), 2, values)
    assert at.level == level
    if level is not None:
        assert at.edge == level and at.course == "take:b"


def test_whole_numbers_are_searched_downwards_too_and_the_nearer_turn_counts() -> None:
    values = tuple(range(1, 21))
    at = turning_of_whole(by_money(lambda x: (x - 6.5) * (13.5 - x), 0.0), 12, values)
    assert (at.level, at.edge) == (14, 14)
    at = turning_of_whole(by_money(lambda x: (x - 6.5) * (13.5 - x), 0.0), 8, values)
    assert (at.level, at.edge) == (6, 6)


def test_a_value_in_use_that_is_not_among_the_whole_numbers_is_still_where_the_search_starts() -> None:
    asked: list[int] = []

    def model(x: int) -> Seen:
        asked.append(x)
        return by_money(lambda v: 5.5 - v, 0.0)(x)

    assert turning_of_whole(model, 3, (2, 4, 6, 8)).level == 6
    assert len(asked) == len(set(asked)) and set(asked) <= {2, 3, 4, 6, 8}


def test_one_value_has_nowhere_to_turn() -> None:
    assert turning_of_whole(by_money(lambda x: x - 3.0), 3, (3,)) == Turning(None, None)
    assert found(by_money(lambda x: x - 3.0), 4.0, 4.0, 4.0) == Turning(None, None)
