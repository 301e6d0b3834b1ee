"""Courses of action: each pricing function against a sum done by hand, the rule on constructed courses, and the laws."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fabricreport.base.vocabulary import CourseKind
from fabricreport.models.judgement.choice import Advised, Offered, advised
from fabricreport.models.judgement.comparison import Course
from fabricreport.models.money import cashflow as money
from fabricreport.sections.diligence.terms import Damages

TAKE = Course(CourseKind.TAKE, ("a",))
RENT = Course(CourseKind.RENT_FIRST, ("a",))
PILOT = Course(CourseKind.PILOT, ("a", "b"))
DAMAGES = Course(CourseKind.DAMAGES, ("a",))
amounts = st.floats(0, 1e9)
weeks = st.lists(st.floats(0, 200), min_size=1, max_size=20).map(np.array)


def choose(*others: Offered, plain: Offered | None = None, m: float = 100.0, dated: bool = False) -> Advised:
    return advised(plain or Offered(TAKE, 0.0, 0.9), others, materiality=m, ready_probability=0.66, date_stated=dated)


# ---- known answers


def test_a_week_not_stable_costs_the_hours_it_does_not_give_and_the_price_of_delay() -> None:
    assert money.loss_per_week(100, 0.75, 2.0, 1000.0) == 100 * 168 * 0.25 * 2.0 + 7000.0
    assert money.loss_per_week(100, 1.0, 2.0) == 0.0


def test_damages_are_paid_by_the_week_from_the_promised_one_up_to_the_cap() -> None:
    agreed = Damages(
        "week", 4.0, loss=20_000.0, share=0.5, rent=None, cap=35_000.0, of_loss=frozenset(), capped_by=frozenset()
    )
    assert (agreed.by_share, agreed.per_unit, agreed.limit_weeks) == (True, 10_000.0, 4.0)
    beyond = np.array([2.0, 4.0, 5.5, 7.5, 50.0]) - agreed.limit_weeks
    assert agreed.paid(beyond).tolist() == [0.0, 0.0, 15_000.0, 35_000.0, 35_000.0]


def test_damages_of_who_rents_are_paid_by_the_day_and_no_more_than_its_rent() -> None:
    agreed = Damages(
        "day", 3.5, loss=1_000.0, share=0.5, rent=400.0, cap=None, of_loss=frozenset(), capped_by=frozenset()
    )
    assert (agreed.by_share, agreed.per_unit, agreed.limit_weeks) == (False, 400.0, 0.5)
    assert agreed.paid(np.array([0.0, 1.0, 100.0])).tolist() == [0.0, 2_800.0, 280_000.0]


def test_waiting_costs_only_the_weeks_by_which_the_date_is_missed_and_was_not_before() -> None:
    found = money.waiting_cost(6.0, [2.0, 5.0, 9.0, 20.0], 10.0, 1000.0)
    assert found.tolist() == [0.0, 1000.0, 5000.0, 6000.0]


def test_a_week_without_the_cluster_costs_its_hours_at_value_less_what_they_cost() -> None:
    assert money.worth_per_week(10, 3.0, 1.0, 100.0) == 10 * 168 * 2.0 + 700.0
    assert money.worth_per_week(10, 1.0, 1.0) == 0.0
    assert money.worth_per_week(10, 1.0, 2.0) == 0.0


def test_a_pilot_costs_its_rent_on_each_fabric_and_the_work() -> None:
    assert money.trial_cost(64, 2 * 168.0, 2, 3.0, 5000.0) == 2 * 64 * 168 * 2 * 3.0 + 5000.0


def test_work_by_the_hour_and_on_machines_that_are_owned() -> None:
    assert money.work_on_rented(1000.0, 2.0, 0.8) == 2500.0


def test_hours_rented_for_a_time_cost_their_rent_and_the_value_of_those_lost_and_never_more() -> None:
    assert money.hours_on_rented(1000.0, 2.0, 6.0, 0.8) == pytest.approx(3200.0)
    assert money.hours_on_rented(1000.0, 2.0, 6.0, 1.0) == 2000.0
    useful = np.linspace(0.0, 1.0, 101)
    found = money.hours_on_rented(1000.0, 2.0, 6.0, useful)
    assert np.all(np.isfinite(found)) and found.max() == 8000.0 and np.all(np.diff(found) < 0)
    assert money.work_on_owned(1500.0, 1000.0, 2.0, 0.8) == 1900.0
    assert money.work_on_owned(1500.0, 1000.0, 2.0, 1.1) == pytest.approx(1300.0)


def test_stages_that_begin_later_keep_the_last_of_those_that_meet() -> None:
    plan = ((0, 512), (2, 1024), (12, 4096))
    assert money.later(plan, 0) == plan
    assert money.later(plan, 3) == ((3, 1024), (12, 4096))


# ---- laws of the sums


@given(weeks, st.floats(0, 60), st.floats(1, 100), amounts)
def test_waiting_never_pays_and_costs_no_more_than_all_of_its_weeks(
    found: np.ndarray, wait: float, allowed: float, worth: float
) -> None:
    cost = money.waiting_cost(wait, found, allowed, worth)
    assert np.all(cost >= 0) and np.all(cost <= wait * worth * (1 + 1e-9) + 1e-12 * worth + 1e-6)
    assert not money.waiting_cost(0.0, found, allowed, worth).any()


# ---- the rule


def test_a_course_that_offers_nothing_new_and_costs_nothing_never_changes_the_advice() -> None:
    for m in (0.0, 100.0):
        assert choose(Offered(PILOT, 0.0, 0.9), m=m) == Advised(TAKE)
        assert choose(Offered(PILOT, 0.0, 0.9), m=m, dated=True) == Advised(TAKE)


def test_a_more_involved_course_has_to_earn_the_materiality() -> None:
    assert choose(Offered(RENT, -99.0, 0.9)) == Advised(TAKE)
    assert choose(Offered(RENT, -100.0, 0.9)) == Advised(RENT)
    assert choose(Offered(RENT, -150.0, 0.9), Offered(PILOT, -200.0, 0.9)) == Advised(PILOT)


def test_a_course_whose_price_is_not_known_is_never_advised() -> None:
    assert choose(Offered(DAMAGES, -1e9, 0.9, carried_out=False)) == Advised(TAKE)
    assert (
        choose(Offered(DAMAGES, -1e9, 0.9, carried_out=False), plain=Offered(TAKE, 0.0, 0.1), dated=True).course == TAKE
    )


def test_the_plain_course_may_cost_something_itself() -> None:
    either = Offered(Course(CourseKind.EITHER, ("a", "b")), 60.0, 0.9)
    assert choose(Offered(RENT, -45.0, 0.9), plain=either).course == RENT
    dear = Offered(Course(CourseKind.EITHER, ("a", "b")), 900.0, 0.9)
    assert choose(Offered(PILOT, 500.0, 0.9), plain=dear).course == dear.course, (
        "an order at once costs less than either"
    )
    assert choose(Offered(RENT, -35.0, 0.9), plain=either).course == either.course


def test_a_date_that_was_stated_is_met_before_money_is_saved() -> None:
    late = Offered(TAKE, 0.0, 0.2, late=5000.0)
    assert choose(Offered(PILOT, -500.0, 0.1), dated=True) == Advised(TAKE)
    assert choose(Offered(PILOT, -500.0, 0.1)) == Advised(PILOT)
    dear = Offered(RENT, 5000.0, 0.99)
    assert choose(Offered(PILOT, -500.0, 0.1), dear, plain=late, dated=True) == Advised(
        RENT, by_date=True, in_time=RENT
    )
    assert choose(dear, plain=late) == Advised(TAKE)
    assert choose(Offered(PILOT, -500.0, 0.1), plain=late, dated=True) == Advised(PILOT), (
        "no course meets it: money alone"
    )


def test_a_date_that_costs_more_to_meet_than_to_miss_is_moved() -> None:
    dear = Offered(RENT, 5000.0, 0.99, late=100.0)
    for missed, course in ((5099.0, TAKE), (5100.0, RENT)):
        found = choose(dear, plain=Offered(TAKE, 0.0, 0.2, late=missed), dated=True)
        assert found == Advised(course, by_date=course == RENT, in_time=RENT)
    free = Offered(PILOT, 4000.0, 0.99)
    assert choose(dear, free, plain=Offered(TAKE, 0.0, 0.2), dated=True) == Advised(TAKE, in_time=PILOT)
