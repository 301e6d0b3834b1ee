"""By when something is to be done before signing: working days, the last day to sign, and days of answers."""

from __future__ import annotations

from datetime import date, timedelta
from typing import Any

import numpy as np
import pytest
from hypothesis import given as over
from hypothesis import strategies as st
from monday_cases import listed, of
from rows import rows

from fabricreport.provenance import plain
from fabricreport.sections.decision.monday.dates import (
    answered,
    due,
    is_working_day,
    last_day_to_sign,
    told,
    working_days_after,
)
from fabricreport.sections.decision.monday.kinds import Kind

FRIDAY = date(2026, 11, 20)


def test_working_days_skip_the_weekend() -> None:
    assert [told(working_days_after(FRIDAY, n)) for n in (0, 1, 5, 6)] == [
        "20 November 2026", "23 November 2026", "27 November 2026", "30 November 2026",
    ]  # fmt: skip


@over(
    st.dates(min_value=date(2020, 1, 1), max_value=date(2035, 1, 1)),
    st.integers(min_value=1, max_value=15),
    st.floats(min_value=0.0, max_value=400.0),
    st.lists(
        st.lists(st.floats(min_value=0.0, max_value=400.0), min_size=1, max_size=12).map(np.array),
        min_size=1,
        max_size=2,
    ),
    st.floats(min_value=0.01, max_value=1.0),
)
def test_a_day_is_a_working_day_after_the_memo_and_not_after_the_last_day_to_sign(
    as_of: date, days: int, allowed: float, stable: list[Any], likely: float
) -> None:
    last = last_day_to_sign(as_of, allowed, stable, likely)
    by = due(as_of, days, last)
    answer = answered(by, 7 * days, last)
    assert as_of < by <= answer <= last.day and all(map(is_working_day, (by, answer, last.day)))

    def chance(day: date) -> float:
        return min(float(np.mean(d <= allowed - (day - as_of).days)) for d in stable)

    assert last.chance == chance(last.day) and last.early_enough == (last.chance >= likely - 1e-9)
    assert chance(working_days_after(last.day, 1)) < likely, "the next working day is too late"


def test_the_last_day_to_sign_is_the_last_on_which_being_ready_is_likely() -> None:
    weeks = np.array([20.0, 30.0, 39.9, 50.0])
    assert last_day_to_sign(FRIDAY, 84.0, [weeks], 0.75).day == date(2027, 1, 1)  # 44 days on is 3 January, a Sunday
    assert last_day_to_sign(FRIDAY, 84.0, [weeks], 0.75).chance == 0.75
    assert last_day_to_sign(FRIDAY, 84.0, [weeks, weeks + 10], 0.75).day == date(2026, 12, 24)  # the slower one counts
    late = last_day_to_sign(FRIDAY, 7.0, [np.array([20.0])], 0.66)
    assert (late.day, late.early_enough, late.chance) == (date(2026, 11, 23), False, 0.0)


@pytest.mark.slow
@rows("name", ["example", "grower", "landlord", "renter"])
def test_signing_on_the_last_day_leaves_the_network_likely_to_be_ready(name: str) -> None:
    case = of(name)
    last, verdict = case.decision().monday.last, case.decision().verdict
    rule = case.inputs.central("evidence:rule-ready-probability")
    allowed = float(case.inputs.params.organisation.time_to_production_weeks) - (last.day - case.as_of).days / 7
    taken = (verdict.choice, verdict.runner_up) if verdict.open else (verdict.choice,)
    own = case.chain.bills.own
    ready = min(float(np.mean(plain(own[o].bring_up_weeks) <= allowed + 1e-12)) for o in taken)
    assert last.early_enough and rule <= last.chance == pytest.approx(ready)
    assert case.figure("decision.monday.ready").value == pytest.approx(last.chance)


@pytest.mark.slow
def test_offers_are_due_after_the_weeks_that_the_courses_count_or_when_all_is_signed() -> None:
    for name in ("example", "grower"):
        case = of(name)
        weeks = case.inputs.central("evidence:course-tender-weeks")
        last = case.decision().monday.last.day
        quote = next(one for one in listed(case).todos if one.action.kind == Kind.QUOTE)
        assert quote.answer == min(quote.by + timedelta(weeks=weeks), last) and quote.to == "three integrators"
    terms = [one for one in listed(of("grower")).todos if one.action.contract]
    assert terms and all(one.answer is None for one in terms)
