"""Laws of how sure an act is, on clients drawn at random. `make laws` asks 200 clients."""

from __future__ import annotations

import pytest
from test_close_laws import client

from fabricreport.base.vocabulary import Confidence, CourseKind
from fabricreport.sections.decision.courses.result import TEST_OF
from fabricreport.sections.decision.turning import key_of

pytestmark = [pytest.mark.slow, pytest.mark.laws(3)]


@pytest.mark.parametrize("seed", range(200))
def test_an_act_stands_in_a_share_of_outcomes_that_a_clear_one_needs_and_points_lie_on_the_side_that_is_told_of_what_is_in_use(
    seed: int,
) -> None:
    case, judge, _ = client(seed)
    result = case.decision()
    wins = result.cheapest.shares
    assert sum(wins.values()) == pytest.approx(1.0) and min(wins.values()) >= 0
    for turn in result.turns.turning:
        if used := result.numbers.get(f"decision.in_use.{key_of(turn.input_id)}"):
            above = {point: result.own_unit(turn).told(point.at) > used.value for point in turn.points}
            assert above == {point: point.side == "above" for point in turn.points}, turn.input_id
    if result.sure is None:
        return
    assert 0 <= result.sure.share <= 1
    if result.offers is None and result.verdict.confidence == Confidence.CLEAR:
        assert round(result.sure.share, 2) >= result.rule.clear_probability and not result.turned_without
    priced = [row for row in result.courses.rows if row.ranked and row.kind not in (CourseKind.TAKE, *TEST_OF)]
    if result.courses.advised.kind == CourseKind.TAKE and not priced and not judge.weighing.date_stated:
        assert result.sure.share >= wins[result.courses.base] - 1e-9, "at least where its option is the cheapest"
