"""Courses of action of whole cases: the laws that hold for every client, and what page one and the table make of them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from bench import SHIPPED, changed
from bench import case as client
from rows import rows

from fabricreport.base.provenance import plain
from fabricreport.base.vocabulary import Confidence, CourseKind
from fabricreport.case import Case
from fabricreport.sections.decision import tables
from fabricreport.sections.decision.courses import alternatives
from fabricreport.sections.decision.courses.result import CoursesResult, OneNode
from fabricreport.sections.decision.words import DecisionFinding as F
from fabricreport.sections.tco.result import Bills

pytestmark = pytest.mark.slow
OWNERS = ("example", "halden-cloud", "kestrel-lab")


def found(name: str) -> CoursesResult:
    return client(name).decision().courses


def mean(draws: Any) -> float:
    return float(plain(draws).mean())


def alike(case: Case) -> tuple[Bills, tuple[str, str]]:
    """The bills of a case with the rival made the choice's equal in everything."""
    bills, compared = case.chain.bills, case.comparison
    choice, rival = compared.choice, compared.rival

    def both(of: Any) -> dict[str, Any]:
        return {**of, rival: of[choice]}

    same = replace(
        bills,
        own=both(bills.own),
        built=both(bills.built),
        paid=both(bills.paid),
        parts=both(bills.parts),
        components=both(bills.components),
        totals=both(bills.totals),
    )
    return same, (choice, rival)


# ---- laws


@rows("name", OWNERS)
def test_renting_first_for_no_month_is_the_option_as_it_stands(name: str) -> None:
    case = client(name)
    option = case.comparison.choice
    none = alternatives.rent_first(case.inputs, case.chain.bills, option, 0)
    assert np.allclose(plain(none.total), plain(case.chain.bills.totals[option]), rtol=1e-9)
    assert not plain(none.rent).any()


@rows("name", OWNERS)
def test_each_month_more_of_rent_is_paid_by_the_hour_and_less_is_owned(name: str) -> None:
    case = client(name)
    option = case.comparison.choice
    by_months = [alternatives.rent_first(case.inputs, case.chain.bills, option, months) for months in (1, 2, 4)]
    assert [mean(r.rent) for r in by_months] == sorted(mean(r.rent) for r in by_months)
    assert [mean(r.after) for r in by_months] == sorted((mean(r.after) for r in by_months), reverse=True)
    common = case.chain.bills.common
    least = common.stages[0][1] * 4 * 730.5 * plain(common.server.rent_per_gpu_hour)
    assert np.all(plain(by_months[2].rent) > 0.97 * least)


@rows("name", OWNERS)
def test_damages_are_priced_on_the_terms_that_the_contract_has(name: str) -> None:
    agreed = client(name).diligence().terms
    assert agreed is not None and agreed.weeks.cap is not None
    priced = found(name).clauses[agreed.option].terms
    assert priced.cap == pytest.approx(agreed.weeks.cap, rel=1e-12)
    assert replace(priced, cap=None) == replace(agreed.weeks, cap=None)


def test_a_clause_with_a_cap_of_nothing_is_worth_nothing() -> None:
    case = changed("example", evidence={"course-damages-cap": 0.0})
    uncapped = [alternatives.clause(case.inputs, case.chain.bills, o) for o in found("example").clauses]
    assert uncapped and all(not plain(clause.paid).any() for clause in uncapped)
    assert all(plain(clause.paid).any() for clause in found("example").clauses.values())


@rows("name", OWNERS)
def test_offers_cost_no_more_than_the_cheaper_option_and_the_asking_within_noise(name: str) -> None:
    for learning in (found(name).offers, found(name).pilot):
        assert learning is not None
        price = mean(learning.cost) + mean(learning.waiting)
        assert mean(learning.net) <= price + 2 * learning.worth.standard_error
        assert learning.worth.value <= client(name).decision().verdict.evpi + 2 * learning.worth.standard_error


def test_stopping_at_the_last_stage_is_the_whole_plan_and_wastes_nothing() -> None:
    growing, bills = found("kestrel-lab").growing, client("kestrel-lab").chain.bills
    assert growing is not None
    last = growing.stops[-1]
    for option in growing.left:
        assert np.allclose(plain(last.paid[option]), plain(bills.paid[option].total), rtol=1e-12)
        assert not plain(last.wasted[option]).any()
        paid = [mean(stop.paid[option]) for stop in growing.stops]
        assert paid == sorted(paid)
        assert all(mean(stop.wasted[option]) >= 0 for stop in growing.stops)
    assert mean(growing.stops[0].wasted[client("kestrel-lab").comparison.choice]) > 0


def test_ordering_ahead_adds_nothing_to_a_plan_of_one_stage_and_pays_interest_on_a_longer_one() -> None:
    for name, adds in (("example", False), ("kestrel-lab", True)):
        case = client(name)
        bills, option = case.chain.bills, case.comparison.choice
        cost = mean(alternatives.ahead_cost(bills.built[option], bills.own[option], bills.common))
        assert cost > 0 if adds else abs(cost) < 1e-6 * mean(bills.totals[option])


def test_jobs_within_one_node_cost_a_client_of_one_node_what_its_option_does(monkeypatch: pytest.MonkeyPatch) -> None:
    case = client("one node rented")
    option = case.comparison.choice
    assert alternatives.single_node(case.inputs, case.chain, option).standing == OneNode.NOT_ASKED
    monkeypatch.setattr(alternatives, "standing_of", lambda given: OneNode.PRICED)
    alone = alternatives.single_node(case.inputs, case.chain, option)
    assert np.allclose(plain(alone.total), plain(case.chain.bills.totals[option]), rtol=1e-9)
    assert np.allclose(plain(alone.time), 1.0)


@rows("name", OWNERS)
def test_equal_inputs_on_both_fabrics_give_equal_courses(name: str) -> None:
    case = client(name)
    bills, (a, b) = alike(case)
    given = case.inputs
    first, second = (alternatives.clause(given, bills, o) for o in (a, b))
    assert np.array_equal(plain(first.paid), plain(second.paid)) and first.terms == second.terms
    rents = [alternatives.rent_first(given, bills, o, 3).total for o in (a, b)]
    assert np.array_equal(plain(rents[0]), plain(rents[1]))
    late = [alternatives.lateness(bills, o, 9.0).total for o in (a, b)]
    assert np.array_equal(plain(late[0]), plain(late[1]))


# ---- sums by hand, of the example's own inputs


def test_damages_of_the_example_by_hand() -> None:
    """A week of 1,024 GPUs at $3 an hour is 1024 x 168 x 3 = $516,096; half of it is lost while the network is tuned."""
    case = client("example")
    option, bills = case.comparison.choice, case.chain.bills
    weeks, clause = plain(bills.own[option].bring_up_weeks), found("example").clauses[option]
    assert (clause.terms.loss, clause.terms.per_unit) == (
        258_000,
        129_000,
    )  # as a contract writes $258,048, and half of that
    assert clause.terms.limit - 1 < np.median(weeks) <= clause.terms.limit
    order = mean(sum(alternatives.fabric.capex(bills.built[option][0], bills.own[option], bills.common).values()))
    late = np.maximum(weeks - clause.terms.limit, 0.0)
    assert np.allclose(plain(clause.paid), np.minimum(late * 129_000, 0.1 * order)) and clause.paid.any()


def test_the_tests_of_the_example_cost_by_hand_what_they_take() -> None:
    case = client("example")
    given, common = case.inputs, case.chain.bills.common
    hour = mean(given.money("evidence:network-architect-pay") * given.value("evidence:pay-loading"))
    hour /= mean(given.value("evidence:engineer-hours-per-year"))
    offers, pilot = found("example").offers, found("example").pilot
    assert offers is not None and pilot is not None
    assert mean(offers.cost) == pytest.approx(mean(given.value("evidence:test-quote-work-hours")) * hour, rel=0.02)
    nodes, work = (mean(given.value(f"evidence:test-pilot-{what}")) for what in ("nodes", "work-hours"))
    rent = 2 * 8 * nodes * 7 * 24 * 2 * mean(common.server.rent_per_gpu_hour)
    assert mean(pilot.cost) == pytest.approx(rent + work * hour, rel=0.02)


@rows("name", OWNERS)
def test_a_test_has_one_worth_and_one_cost_wherever_it_is_printed(name: str) -> None:
    result = client(name).decision()
    assert result.information is not None
    for test, learning in (("quotes", result.courses.offers), ("pilot", result.courses.pilot)):
        tried = result.information.tried(test)
        assert tried is not None and learning is not None
        assert learning.worth == tried.estimate and mean(learning.cost) == mean(tried.cost)


def test_being_late_costs_the_price_of_delay_and_the_hours_not_had() -> None:
    case = client("example").changed(money__price_of_delay_usd_per_day=1000, money__gpu_hour_value=20)
    bills, option = case.chain.bills, case.comparison.choice
    allowed = bills.common.weeks_allowed
    none, two = (alternatives.lateness(bills, option, allowed + weeks) for weeks in (-1.0, 2.0))
    assert mean(none.total) == 0.0
    assert mean(two.delay) == pytest.approx(14_000.0)
    assert 0 < mean(two.hours) < 2 * 168 * 1024 * 20.0
    assert mean(two.total) == pytest.approx(mean(two.delay) + mean(two.hours))


# ---- who is told what


@rows(
    ("changes", "standing"),
    [
        ({}, OneNode.PRICED),
        ({"workload__model_parameters_billion": 200}, OneNode.NO_ROOM),
        ({"workload__kind": "pretraining-dense"}, OneNode.ONE_RUN),
        ({"workload__kind": "hpc-simulation"}, OneNode.NO_MODEL),
        ({"workload__kind": "inference-multi-node"}, OneNode.PRICED),
        ({"workload__kind": "inference-multi-node", "workload__model_parameters_billion": 700}, OneNode.NO_ROOM),
        ({"cluster__gpus": 136}, OneNode.NOT_ASKED),
        ({"cluster__gpus": 128}, OneNode.PRICED),
        ({"workload__jobs": [{"gpus": 8, "share": 1}]}, OneNode.PRICED),
        ({"workload__jobs": [{"gpus": 8, "share": 1}], "cluster__gpus": 512}, OneNode.PRICED),
        ({"workload__jobs": [{"gpus": 8, "share": 0.5}, {"gpus": 16, "share": 0.5}]}, OneNode.NOT_ASKED),
    ],
)
def test_single_nodes_are_asked_of_small_clients_by_the_memory_of_a_node(
    changes: dict[str, Any], standing: OneNode
) -> None:
    assert alternatives.standing_of(changed("tern-finetuning", **changes).inputs) == standing


def test_jobs_that_are_within_nodes_already_take_no_less_time_without_a_fabric() -> None:
    case = client("tern-finetuning").changed(workload__jobs=[{"gpus": 8, "share": 1}], workload__kind="hpc-simulation")
    alone = alternatives.single_node(case.inputs, case.chain, case.comparison.choice)
    assert np.allclose(plain(alone.time), 1.0)
    assert mean(alone.total) <= mean(case.chain.bills.totals[case.comparison.choice])


def test_one_run_takes_as_many_times_longer_as_it_loses_nodes() -> None:
    case = client("tern-finetuning")
    alone = case.decision().courses.single
    planned = case.params.workload.run_days
    assert planned is not None and np.allclose(plain(alone.days), planned * 2 * plain(alone.time))
    assert alone.soon
    for kind in ("inference-multi-node", "fine-tuning"):
        jobs = [{"gpus": 8, "share": 1}] if kind == "fine-tuning" else []
        other = case.changed(workload__kind=kind, workload__jobs=jobs)
        assert alternatives.single_node(other.inputs, other.chain, other.comparison.choice).days is None


@rows("days", [1, 40])
def test_jobs_within_nodes_are_advised_only_where_a_run_ends_in_time(days: int) -> None:
    case = client("tern-finetuning").changed(
        money__acquisition="buy",
        money__horizon_months=36,
        cluster__tenancy="single",
        workload__run_days=days,
        schedule={},
    )
    courses = case.decision().courses
    row = courses.row(CourseKind.SINGLE_NODE)
    assert row is not None and row.ranked == (days == 1)
    assert (courses.advised.kind == CourseKind.SINGLE_NODE) == (days == 1)


def test_an_owner_of_two_nodes_saves_the_fabric_by_jobs_within_each() -> None:
    case = client("tern-finetuning").changed(
        money__acquisition="buy", money__horizon_months=36, cluster__tenancy="single"
    )
    row = case.decision().courses.row(CourseKind.SINGLE_NODE)
    assert row is not None
    parts = case.chain.bills.paid[case.decision().courses.base]
    fabric = sum(mean(parts[name]) for name in ("switches", "optics", "adapters", "copper and fibre"))
    assert fabric > 0 and mean(row.against) < -fabric / 2


@rows(
    ("name", "plainly", "kinds"),
    [
        ("example", CourseKind.TAKE, {"choice", "rival", "offers", "pilot", "rent-first", "damages"}),
        ("open cloud", CourseKind.EITHER, {"choice", "rival", "offers", "pilot", "rent-first", "damages"}),
        (
            "kestrel-lab",
            CourseKind.STAGE_ONE,
            {"choice", "rival", "kin", "offers", "pilot", "rent-first", "damages", "ahead"},
        ),
        ("tern-finetuning", CourseKind.EITHER, {"choice", "rival", "single-node"}),
    ],
)
def test_courses_of_the_shipped_clients(name: str, plainly: CourseKind, kinds: set[str]) -> None:
    courses = found(name)
    assert courses.plain.kind == plainly and {row.key for row in courses.rows} == kinds
    assert len(courses.rows) <= 8


@rows("name", SHIPPED)
def test_the_row_that_is_held_against_has_no_amount_and_the_advised_course_is_marked_by_its_own_price(
    name: str,
) -> None:
    case = client(name)
    table = tables.courses(case.inputs, case.decision(), case.figure)
    empty = [row for row in table.rows if row.cells[1] is None]
    marked = [row for row in table.rows if row.role == "winner"]
    assert len(empty) == 1
    result = case.decision()
    offered = result.courses.row(CourseKind.OFFERS) is not None
    both = result.verdict.confidence == Confidence.DOES_NOT_MATTER and not offered
    hired = case.inputs.team.rented  # a renter is advised a seller
    assert len(marked) == (0 if hired else 2 if both else 1)
    asked = [str(row.cells[3]) for row in table.rows if "Offers on both" in str(row.cells[0])]
    assert len(asked) == offered and all("{pair}" in needs for needs in asked) and table.values["pair"]
    either = result.courses.advised.kind == CourseKind.EITHER and offered
    assert any("Offers on both" in str(row.cells[0]) for row in marked) == (either and not hired)


def test_a_client_whose_date_nobody_meets_is_told_to_rent_first_where_being_late_costs_more() -> None:
    case = client("pressed")
    courses = case.decision().courses
    assert courses.meeting is not None and mean(courses.meeting.extra) <= mean(courses.meeting.late)
    assert (courses.advised.kind, courses.by_date) == (CourseKind.RENT_FIRST, True)
    holds = set(case.spoken("decision").findings)
    assert {F.RENT_FIRST_LATE, F.COURSES_INVOLVED} <= holds and not holds & {F.TOO_LATE, F.TOO_LATE_ALONE}
    assert not {F.RENT_FIRST, F.TOO_LATE, F.COURSES_PLAIN, F.DATE_DEAR} & holds


def test_a_client_whose_date_is_dearer_to_meet_than_to_miss_is_told_so() -> None:
    case = client("too late")
    courses = case.decision().courses
    assert courses.meeting is not None and mean(courses.meeting.extra) > mean(courses.meeting.late)
    assert courses.meeting.course.kind == CourseKind.RENT_FIRST and courses.advised == courses.plain
    holds = set(case.spoken("decision").findings)
    assert {F.TOO_LATE, F.DATE_DEAR, F.COURSES_PLAIN} <= holds and F.RENT_FIRST_LATE not in holds
    assert {"decision.courses.extra", "decision.courses.late"} <= set(case.decision().numbers)


def test_a_course_names_both_options_where_the_order_of_the_two_is_open() -> None:
    case = client("pressed").changed(money__materiality_usd=50_000_000, schedule__production_by="2027-01-06")
    result = case.decision()
    assert result.verdict.open and result.verdict.confidence.close
    assert result.courses.advised.kind == CourseKind.RENT_FIRST
    assert set(result.courses.advised.options) == {result.verdict.choice, result.verdict.runner_up}
    marked = [row for row in tables.courses(case.inputs, result, case.figure).rows if row.role == "winner"]
    assert len(marked) == 1 and "Rent first" in str(marked[0].cells[0])


def test_a_renter_whose_date_nobody_meets_is_told_so_and_offered_no_purchase() -> None:
    case = client("example").changed(schedule__production_by="2026-11-28", money__acquisition="rent")
    assert case.decision().courses.advised == case.decision().courses.plain
    assert case.spoken("choose_provider").facts.arm("date") == "missed"
