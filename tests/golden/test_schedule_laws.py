"""Laws of the clock, on two hundred clients drawn at random: what no lead time, no date and no course may ever do.

`make laws` asks all of them, `make test` four, by the commit.
"""

from __future__ import annotations

from datetime import timedelta
from itertools import pairwise

import bench
import numpy as np
import pytest
from test_close_laws import client

from fabricreport.base.provenance import plain
from fabricreport.base.uncertain import Uncertain
from fabricreport.base.vocabulary import CourseKind
from fabricreport.case import Case
from fabricreport.models.judgement.comparison import Course
from fabricreport.sections.decision.courses.result import clock_of
from fabricreport.sections.decision.inputs import ready
from fabricreport.sections.schedule import HAND_OVER, LEAD, Step, calendar_of, working_day_until

pytestmark = [pytest.mark.slow, pytest.mark.laws(4)]
each = pytest.mark.parametrize("seed", range(200))
SHARES = (0.3, 0.66, 0.9)
BOUGHT = (CourseKind.TAKE, CourseKind.OFFERS, CourseKind.EITHER, CourseKind.PILOT, CourseKind.RENT_FIRST)


def case_of(seed: int) -> Case:
    return client(seed)[0]


@each
def test_every_date_can_be_kept_in_order_and_agrees_with_its_chance(seed: int) -> None:
    case = case_of(seed)
    bought, due = not case.inputs.team.rented, case.params.schedule.production_by
    for kind in BOUGHT if bought else (CourseKind.TAKE,):
        for option in case.chain.bills.own:
            clock = clock_of(case.inputs, case.chain.bills, Course(kind, (option,)), option)
            for share in SHARES:
                found = calendar_of(case.as_of, clock, share, due)
                days = [found.days[step] for step in Step]
                assert case.as_of < days[0] < days[1] < days[2] and days == sorted(days), (kind, option, days)
                if bought and kind != CourseKind.RENT_FIRST:
                    assert days[2] < days[3] < days[5] < days[6], "order, delivery, stable, production"
                assert found.in_time == (found.chance >= share - 1e-9)
    found, rented = case.decision().schedule, not bought
    asked = found.promised(rented=rented)
    assert asked <= found.last_delivery and (rented or asked <= found.bought.days[Step.DELIVERY])


@each
def test_a_longer_lead_never_raises_a_share_and_delays_all_networks_alike(seed: int) -> None:
    case = case_of(seed)
    entry = HAND_OVER if case.inputs.team.rented else LEAD
    shares, arrivals = [], []
    for low in (2.0, 8.0, 20.0):
        bills = case.chain.replacing({entry: Uncertain("pert", low, low + 1, low + 8)}).bills
        shares.append(ready(bills, case.params.weeks_allowed))
        arrivals.append([plain(own.arrival.power_on) for own in bills.own.values()])
    for sooner, later in pairwise(shares):
        assert all(later[o] <= sooner[o] for o in sooner)
    for alike in arrivals:
        assert all(np.array_equal(alike[0], other) for other in alike[1:]), "equal leads, equal delays"


@each
def test_a_later_date_never_lowers_a_share_and_none_binds_nothing(seed: int) -> None:
    case = case_of(seed)
    bills = case.chain.bills
    shares = [ready(bills, weeks) for weeks in (1.0, 12.0, 20.0, 26.0, 52.0, np.inf)]
    for sooner, later in pairwise(shares):
        assert all(later[o] >= sooner[o] for o in sooner)
    assert set(shares[-1].values()) == {1.0}
    undated = case.changed(schedule={}).comparison.verdict
    assert undated.capped != "deadline" and undated.decided_by != "deadline"


def test_a_date_is_the_first_working_day_that_the_share_wanted_meets() -> None:
    case = bench.case("example")
    clock = clock_of(case.inputs, case.chain.bills, Course(CourseKind.TAKE, ("infiniband-ndr",)), "infiniband-ndr")
    safe = calendar_of(case.as_of, clock, 0.66, None).safe
    before = working_day_until(safe - timedelta(days=1))
    chance = [calendar_of(case.as_of, clock, 0.66, day).chance for day in (before, safe)]
    assert chance[0] < 0.66 <= chance[1]
