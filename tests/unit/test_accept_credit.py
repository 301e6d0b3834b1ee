"""What a shortfall is worth, what is counted once, and what is to be done."""

from __future__ import annotations

from dataclasses import replace

import pytest
from rows import rows

from fabricreport.delivery.judgement import Judged, TestVerdict, Why, credits_due, made_good, total
from fabricreport.delivery.study import Outcome, outcome_of
from fabricreport.ledger.numbers import Number
from fabricreport.sections.diligence.plan.result import PlannedTest, Tool

PER_PERCENT = Number("p", 1000.0, "usd/percent", "Price", "rule")
PER_WEEK = Number("w", 50_000.0, "usd/week", "Price", "rule")
PER_US = Number("l", 10.0, "usd/µs", "Price", "rule")
PER_HOUR = Number("h", 600.0, "usd/hour", "Price", "rule")


def judged(
    test_id: str,
    measured: float,
    threshold: float,
    price: Number | None,
    *,
    unit: str = "gbytes/s",
    verdict: TestVerdict = TestVerdict.FAIL,
    tool: Tool = Tool.NCCL,
    stage: int = 1,
    most: float | None = None,
) -> Judged:
    at_least = unit in ("gbytes/s", "gbits/s")
    test = PlannedTest(
        test_id, test_id, tool, "x", stage, 64, {(64, 0): threshold}, unit, at_least, 1, 1, "", "", (), price, most=most
    )
    return Judged(test, verdict, Why.BELOW if at_least else Why.ABOVE, 64, 0, threshold, measured=measured)


def test_a_percent_of_bandwidth_a_microsecond_a_week_and_a_minute_are_priced_by_their_units() -> None:
    found = credits_due(
        [
            judged("T-ALLREDUCE", 270.0, 300.0, PER_PERCENT),
            judged("T-LATENCY", 60.0, 50.0, PER_US, unit="us"),
            judged("T-WEEKS", 7.0, 5.5, PER_WEEK, unit="week", tool=Tool.RECORD),
            judged("T-DETECTION", 30.0, 15.0, PER_HOUR, unit="min", tool=Tool.RECORD),
        ]
    )
    assert [credit.amount for credit in found] == pytest.approx([10_000, 100, 75_000, 150])
    assert total(found) == pytest.approx(85_250)


def test_each_stage_has_its_own_credit_for_bandwidth_and_what_they_show_adds_up() -> None:
    """Ten percent of the first stage and five of the second, which a second collective shows less of."""
    later = Number("p2", 3000.0, "usd/percent", "Price", "rule")
    tests = [
        judged("T-ALLREDUCE", 270.0, 300.0, PER_PERCENT),
        judged("T-ALLREDUCE", 285.0, 300.0, later, stage=2),
        judged("T-ALLTOALL", 39.2, 40.0, later, stage=2),
    ]
    found = credits_due(tests)
    assert [(c.amount, c.counts) for c in found] == [
        (pytest.approx(10_000), True),
        (pytest.approx(15_000), True),
        (pytest.approx(6_000), False),
    ]
    assert total(found) == pytest.approx(25_000)


def test_a_credit_is_measured_by_the_middle_run_and_not_by_the_one_that_counts_for_the_floor() -> None:
    unlucky = replace(judged("T-ALLREDUCE", 270.0, 300.0, PER_PERCENT), middle=294.0)
    assert total(credits_due([unlucky])) == pytest.approx(2_000)
    assert credits_due([replace(unlucky, middle=300.0)]) == ()


def test_what_all_gpus_show_is_paid_for_and_not_a_larger_loss_on_fewer() -> None:
    few = replace(judged("T-ALLREDUCE", 240.0, 300.0, PER_PERCENT), gpus=16)
    on_all = judged("T-ALLREDUCE", 291.0, 300.0, PER_PERCENT)
    assert total(credits_due([replace(few, whole=on_all)])) == pytest.approx(3_000)
    assert credits_due([few]) == ()


def test_bandwidth_is_one_loss_whichever_collective_shows_it() -> None:
    found = credits_due(
        [judged("T-ALLREDUCE", 270.0, 300.0, PER_PERCENT), judged("T-ALLTOALL", 32.0, 40.0, PER_PERCENT)]
    )
    assert [(c.amount, c.counts) for c in found] == [(pytest.approx(10_000), False), (pytest.approx(20_000), True)]
    assert total(found) == pytest.approx(20_000)


def test_credits_for_bandwidth_end_where_the_plan_says_and_make_nothing_good_beyond() -> None:
    def tests(percents: float | None, weeks: float | None) -> list[Judged]:
        return [
            judged("T-ALLREDUCE", 270.0, 300.0, PER_PERCENT, most=percents),
            judged("T-ALLGATHER", 270.0, 300.0, None),
            judged("T-WEEKS", 7.0, 5.5, PER_WEEK, unit="week", tool=Tool.RECORD, most=weeks),
        ]

    within, ended = tests(10_000.5, None), tests(4_000.0, 50_000.0)
    free, cut = credits_due(within), credits_due(ended)
    assert [(c.amount, c.capped) for c in free] == [(pytest.approx(10_000), False), (75_000, False)]
    assert [(c.amount, c.capped) for c in cut] == [(4_000, True), (50_000, True)]
    assert [made_good(one, free) for one in within] == [True, True, True]
    assert [made_good(one, cut) for one in ended] == [False, False, True]
    assert outcome_of(ended, cut, advice_lost=False) is Outcome.REJECT


def test_nothing_is_due_for_what_passes_is_not_proven_or_has_no_price() -> None:
    passes = judged("T-ALLREDUCE", 310.0, 300.0, PER_PERCENT, verdict=TestVerdict.PASS)
    unproven = judged("T-ALLREDUCE", 200.0, 300.0, PER_PERCENT, verdict=TestVerdict.NOT_PROVEN)
    assert credits_due([passes, unproven, judged("T-LINKS", 300.0, 360.0, None, unit="gbits/s")]) == ()


def test_a_larger_shortfall_is_never_worth_less() -> None:
    worth = [total(credits_due([judged("T-ALLREDUCE", m, 300.0, PER_PERCENT)])) for m in (300.0, 299.0, 250.0, 0.0)]
    assert worth == sorted(worth)


LINK = judged("T-LINKS", 300.0, 360.0, None, unit="gbits/s", tool=Tool.PERFTEST)
SLOW = judged("T-ALLREDUCE", 270.0, 300.0, PER_PERCENT)
GATHER = judged("T-ALLGATHER", 270.0, 300.0, None)
RANKS = judged("T-RANKS", 1.9, 1.97, None, unit="ratio")
UNPROVEN = judged("T-SOAK", 0.0, 300.0, None, verdict=TestVerdict.NOT_PROVEN)
HOLDS = judged("T-INCAST", 400.0, 300.0, None, verdict=TestVerdict.PASS)


@rows(
    ("tests", "advice_lost", "outcome"),
    [
        ([HOLDS], False, Outcome.ACCEPT),
        ([HOLDS], True, Outcome.ACCEPT),  # it holds what was asked for: the contract gives no right to refuse it
        ([HOLDS, UNPROVEN], False, Outcome.RETEST),
        ([HOLDS, SLOW], False, Outcome.CREDIT),
        ([HOLDS, SLOW, GATHER], False, Outcome.CREDIT),
        ([HOLDS, SLOW], True, Outcome.REJECT),
        ([SLOW, UNPROVEN], False, Outcome.RETEST),
        ([GATHER], False, Outcome.REJECT),
        ([SLOW, LINK, UNPROVEN], False, Outcome.REJECT),
        ([HOLDS, RANKS], False, Outcome.RETEST),
    ],
)
def test_what_to_do_follows_from_the_verdicts(tests: list[Judged], advice_lost: bool, outcome: Outcome) -> None:
    assert outcome_of(tests, credits_due(tests), advice_lost=advice_lost) is outcome


def test_another_collective_is_made_good_with_the_one_that_has_a_price_and_a_link_is_not() -> None:
    credits = credits_due([SLOW])
    assert made_good(SLOW, credits) and made_good(GATHER, credits)
    assert not made_good(LINK, credits) and not made_good(GATHER, ())


def test_a_price_in_a_unit_that_the_test_does_not_measure_gives_no_credit() -> None:
    assert credits_due([replace(SLOW, test=replace(SLOW.test, price=PER_WEEK))]) == ()
