"""Laws of how sure an act is, on clients drawn at random. `make laws` asks 200 clients."""

from __future__ import annotations

import pytest
from test_close_laws import client

from fabricreport.base.vocabulary import CourseKind
from fabricreport.sections.decision.courses.result import TEST_OF

pytestmark = [pytest.mark.slow, pytest.mark.laws(3)]


@pytest.mark.parametrize("seed", range(200))
def test_an_act_stands_in_a_share_of_outcomes_and_at_least_where_its_option_is_the_cheapest(seed: int) -> None:
    case, judge, _ = client(seed)
    result = case.decision()
    wins = result.cheapest.shares
    assert sum(wins.values()) == pytest.approx(1.0) and min(wins.values()) >= 0
    if result.sure is None:
        return
    assert 0 <= result.sure.share <= 1
    priced = [row for row in result.courses.rows if row.ranked and row.kind not in (CourseKind.TAKE, *TEST_OF)]
    if result.courses.advised.kind == CourseKind.TAKE and not priced and not judge.weighing.date_stated:
        assert result.sure.share >= wins[result.courses.base] - 1e-9
