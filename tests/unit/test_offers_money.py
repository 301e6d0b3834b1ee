"""Offers of rented GPU time: two by hand, and the laws that no set of offers may break."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fabricreport.base.units import HOURS_PER_MONTH
from fabricreport.models.money.cashflow import Discounting
from fabricreport.models.money.offers import (
    BEYOND,
    DELAY,
    MONTHLY,
    OfferTerms,
    Pick,
    Reach,
    Rung,
    Standing,
    Work,
    cheapest_in,
    cost_of,
    months_committed,
    pick,
    room_per_gpu_hour,
)
from fabricreport.models.money.ownership import LostTime

FREE = Discounting(0.0)
YEAR = Work(((0, 16),), 12, FREE)
LOST = LostTime(exposed_communication=0.1, tail=0.2)
HOURS = 16 * HOURS_PER_MONTH * 12


def flat(price: float, **more: object) -> OfferTerms:
    return OfferTerms((Rung(0, price),), 16, **more)  # type: ignore[arg-type]


def test_an_offer_by_hand_rent_of_the_hours_that_the_work_takes() -> None:
    found = cost_of(flat(2.0), LOST, YEAR)
    assert found.total == pytest.approx(2.0 * HOURS / 0.72)
    assert found.costs["rent"] == pytest.approx(2.0 * HOURS)
    assert (months_committed(0, 12), float(found.bound)) == (0, 0.0)


def test_an_offer_by_hand_with_a_ladder_an_add_on_and_a_late_start() -> None:
    """Eighteen months at 1.50 with 0.25 an hour and 100 a month: twelve are used, six are owed, 7 days late at 1,000."""
    terms = OfferTerms(
        (Rung(0, 3.0), Rung(18, 1.5)),
        16,
        minimum_share=0.5,
        add_ons_usd_per_gpu_hour=0.25,
        add_ons_usd_per_month=100.0,
    )
    found = cost_of(terms, LOST, YEAR, delay_usd=7 * 1000.0)
    beyond = 6 * 16 * HOURS_PER_MONTH * 0.5 * 1.75
    assert found.rung.months == 18 and months_committed(18, 12) == 18
    assert found.costs[BEYOND] == pytest.approx(beyond)
    assert found.costs[MONTHLY] == pytest.approx(18 * 100.0)
    assert found.costs[DELAY] == 7000.0
    assert found.total == pytest.approx(1.75 * HOURS / 0.72 + beyond + 1800.0 + 7000.0)
    assert found.bound == pytest.approx(18 * 16 * HOURS_PER_MONTH * 0.5 * 1.75)


def test_the_rung_that_is_cheapest_for_the_work_is_taken_and_not_the_cheapest_hour() -> None:
    ladder = OfferTerms((Rung(0, 2.0), Rung(12, 1.9), Rung(36, 1.8)), 16)
    assert cost_of(ladder, LOST, YEAR).rung.months == 12
    assert cost_of(ladder, LOST, Work(((0, 16),), 36, FREE)).rung.months == 36


def test_months_are_committed_in_whole_terms() -> None:
    assert [months_committed(m, 12) for m in (0, 1, 5, 6, 12, 24)] == [0, 12, 15, 12, 12, 24]


def test_gpus_that_have_to_be_taken_are_paid_for() -> None:
    larger = OfferTerms((Rung(0, 2.0),), 32)
    assert cost_of(larger, LOST, YEAR).total == pytest.approx(2 * cost_of(flat(2.0), LOST, YEAR).total)


def test_where_the_client_values_a_lost_hour_otherwise_it_is_charged_at_that() -> None:
    own = Work(((0, 16),), 12, FREE, hour_usd=10.0)
    found = cost_of(flat(2.0), LOST, own)
    assert found.costs["rent"] == pytest.approx(2.0 * HOURS)
    assert found.total == pytest.approx(2.0 * HOURS + 10.0 * HOURS * 0.28)


@given(
    price=st.floats(0.5, 10.0),
    less=st.floats(0.001, 0.4),
    rate=st.floats(0.0, 0.3),
    useful=st.floats(0.2, 1.0),
)
@settings(max_examples=60, deadline=None)
def test_of_two_offers_equal_but_for_the_price_the_cheaper_wins_by_price_times_hours_over_the_useful_share(
    price: float, less: float, rate: float, useful: float
) -> None:
    money, lost = Discounting(rate, inflation_per_year=0.02), LostTime(exposed_communication=1 - useful)
    work = Work(((0, 16),), 12, money)
    dear, cheap = (cost_of(flat(p), lost, work).total for p in (price, price - less))
    hours = float(money.level(16 * HOURS_PER_MONTH, 12, terms="fixed"))
    assert dear - cheap == pytest.approx(less * hours / useful)
    means = {
        "dear": Reach(float(dear), float(dear), float(dear)),
        "cheap": Reach(float(cheap), float(cheap), float(cheap)),
    }
    assert pick(means).first == "cheap" and pick(means).standing == Standing.TAKE


reaches = st.builds(
    lambda mean, down, up, is_open, firm, barred, ready: Reach(
        mean, mean * (1 - down), mean * (1 + up), is_open, firm, barred, ready=ready
    ),
    st.floats(1.0, 100.0),
    st.floats(0.0, 0.5),
    st.floats(0.0, 0.5),
    st.booleans(),
    st.booleans(),
    st.booleans(),
    st.booleans(),
)


@given(found=st.dictionaries(st.sampled_from("abcdef"), reaches, min_size=1))
@settings(max_examples=200, deadline=None)
def test_a_dominated_offer_never_reorders_the_rest(found: dict[str, Reach]) -> None:
    worst = max(r.high for r in found.values()) * 2
    more = {**found, "z": Reach(worst, worst, worst * 1.1, open=True, firm=False)}
    before, after = pick(found), pick(more)
    if before.first:
        assert (after.first, after.contenders) == (before.first, before.contenders)
    if before.second and before.standing == after.standing:
        assert after.second == before.second


@given(found=st.dictionaries(st.sampled_from("abcdef"), reaches, min_size=1))
@settings(max_examples=200, deadline=None)
def test_who_contends_can_be_the_cheapest_and_who_does_not_cannot(found: dict[str, Reach]) -> None:
    able = {o: r for o, r in found.items() if not r.barred}
    contenders = pick(found).contenders
    for offer, reach in able.items():
        others = [r.high for o, r in able.items() if o != offer]
        assert (offer in contenders) == (not others or reach.low <= min([*others, reach.high]))


prices = st.lists(st.floats(1.0, 10.0), min_size=20, max_size=20)


def test_what_is_open_makes_a_condition_and_what_is_refused_takes_an_offer_out() -> None:
    firm, dearer = Reach(10, 10, 10), Reach(12, 12, 12)
    assert pick({"a": Reach(10, 10, np.inf, open=True), "b": dearer}) == Pick(Standing.TAKE_IF, "a", "b", ("a", "b"))
    assert pick({"a": Reach(10, 10, 10, barred=True), "b": dearer}).first == "b"
    assert pick({"a": Reach(10, 10, 10, barred=True)}).standing == Standing.NONE
    assert pick({"a": firm, "b": dearer}, material_usd=3.0) == Pick(Standing.EITHER, "a", "b", ("a", "b"))
    assert pick({"a": firm, "b": dearer}, material_usd=1.0) == Pick(Standing.TAKE, "a", "b", ("a",))
    listed = {"a": Reach(10, 8, 13, open=True, firm=False), "b": Reach(12, 10, 16, open=True, firm=False)}
    assert pick(listed) == Pick(Standing.LISTED, "a", "b", ("a", "b"))


def test_a_price_out_of_date_contends_and_puts_nobody_out() -> None:
    old, fresh, dear = (Reach(m, m - 1, m + 1, open=True, firm=False, old=m == 5) for m in (5, 10, 14))
    assert pick({"a": old, "b": fresh, "c": dear}).contenders == ("a", "b")
    assert pick({"a": old, "c": dear}).contenders == ("a", "c")
    assert pick({"a": old}).contenders == ("a",)
    between = Reach(11, 10.9, 12, open=True, firm=False)  # costs more at its least than the first at its most
    surely = Reach(10, 10, 10.5, open=True, firm=False)
    late = {"a": surely, "b": between, "c": Reach(14, 9, 16, open=True, firm=False)}
    assert pick(late) == Pick(Standing.LISTED, "a", "c", ("a", "c"))


def test_the_room_for_a_surcharge_is_the_lead_over_what_a_dollar_an_hour_costs() -> None:
    first, second = (cost_of(flat(p), LOST, YEAR) for p in (2.0, 2.5))
    assert first.per_dollar == pytest.approx(HOURS / 0.72)
    room = room_per_gpu_hour(float(first.total), float(second.total), float(first.per_dollar))
    assert room == pytest.approx(0.5)
    owed = cost_of(OfferTerms((Rung(18, 2.0),), 16, minimum_share=0.5), LOST, YEAR)
    dearer = cost_of(OfferTerms((Rung(18, 3.0),), 16, minimum_share=0.5), LOST, YEAR)
    assert owed.per_dollar == pytest.approx(float(dearer.total - owed.total))


def test_the_share_of_draws_in_which_each_is_cheapest_counts_ties_for_both() -> None:
    assert cheapest_in({"a": np.array([1.0, 3.0]), "b": np.array([1.0, 2.0])}) == {"a": 0.25, "b": 0.75}
    assert cheapest_in({}) == {}


def test_a_date_without_a_price_passes_over_what_is_late_and_keeps_it_as_what_stands_behind() -> None:
    soon, late = Reach(12, 12, 12), Reach(10, 10, 10, ready=False)
    assert pick({"a": late, "b": soon}).first == "a"
    assert pick({"a": late, "b": soon}, by_date=True) == Pick(Standing.TAKE, "b", "", ("b",), ("a",))
    assert pick({"a": late}, by_date=True) == Pick(Standing.TAKE, "a", "", ("a",))
    unsaid = Reach(8, 8, np.inf, open=True, apart=True)
    assert pick({"a": late, "b": unsaid}, by_date=True) == Pick(Standing.TAKE_WITHIN, "b", "a", ("b",))


def test_an_offer_that_has_run_out_is_renewed_and_never_taken() -> None:
    old = Reach(10, 9, 13, open=True, firm=False, expired=True)
    assert pick({"a": old}) == Pick(Standing.RENEW, "a", "", ("a",))
    assert pick({"a": old, "b": Reach(11, 11, 11)}) == Pick(Standing.RENEW, "a", "b", ("a", "b"))
    assert pick({"a": old, "b": Reach(8, 8, 8)}).standing == Standing.TAKE


@given(found=st.dictionaries(st.sampled_from("abcdef"), reaches, min_size=1), by_date=st.booleans())
@settings(max_examples=200, deadline=None)
def test_what_stands_behind_an_offer_never_costs_less_and_what_is_passed_over_does(
    found: dict[str, Reach], by_date: bool
) -> None:
    picked = pick(found, by_date=by_date)
    if picked.second:
        assert found[picked.second].mean >= found[picked.first].mean
    assert all(found[o].mean < found[picked.first].mean and not found[o].ready for o in picked.late)
    if by_date and picked.first and not found[picked.first].ready:
        assert not any(r.ready and not r.barred for r in found.values())
