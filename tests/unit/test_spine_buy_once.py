"""The body of a memo about one purchase: what it finds of its own, on clients of every kind, and its words and tables."""

from __future__ import annotations

from functools import cache

import pytest
from bench import case, changed
from rows import rows

from fabricreport.case import Case
from fabricreport.provenance import mean_of
from fabricreport.sections.decision.finding import DecisionFinding as D
from fabricreport.sections.decision.monday.kinds import PAGE_ONE
from fabricreport.spine import buy_once_tables as tables
from fabricreport.spine import passes
from fabricreport.spine.buy_once import MOST_CARE, Finding, _levers, findings, words
from fabricreport.spine.buy_once_read import MOST_CAUSES, MOST_LEVERS, Read

pytestmark = pytest.mark.slow

F = Finding
CLIENTS = (
    *(
        "example",
        "halden-cloud",
        "open cloud",
        "infiniband ahead",
        "too late",
        "pressed",
        "one node",
        "one option",
        "nothing is material",
    ),
    *("cloud-partner-512", "decision alone", "two-weeks-1024"),
)
MOST_PASSES = 6
ONE_OF: dict[str, set[Finding]] = {
    "question": {F.ASKS_WHICH, F.ASKS_ALONE, F.ASKS_NODES},
    "changes": {F.CHANGES, F.NO_CHANGES},
    "why": {F.WHY_ALONE, F.WHY_SMALL, F.WHY_BOTH, F.WHY_OURS, F.WHY_THEIRS, F.WHY_NONE},
    "heading": {F.HEAD_ALONE, F.HEAD_SMALL, F.HEAD_SAVES, F.HEAD_COSTS, F.HEAD_CLOSE},
}
AT_MOST_ONE: dict[str, set[Finding]] = {
    "conditions": {F.SETTLE_BOTH, F.SETTLE_QUOTES, F.SETTLE_TERMS, F.SETTLE_TESTS},
    "tenants": {F.NEIGHBOURS_TOLD, F.NEIGHBOURS_ALIKE},
    "damages": {F.DELIVERY_PRICED, F.DELIVERY_ALONE},
    "stale": {F.STALE_SPARES, F.STALE_MOVES, F.STALE_ALONE, F.STALE_NODES},
    "levers": {F.ONE_LEVER_OUTWEIGHS, F.LEVERS_OUTWEIGH, F.LEVERS_MODEST},
    "speed": {f for f in F if f.name.startswith("SPEED_")},
    "within nodes": {F.NODES_SAFE, F.NODES_IN_TIME, F.NODES_LATE},
    "in time": {F.BOTH_IN_TIME, F.ONE_IN_TIME, F.NONE_IN_TIME, F.ALONE_IN_TIME, F.ALONE_LATE, F.HEAD_SAFE},
    "test": {F.TEST_OF_ONE, F.TEST_OF_BOTH},
    "weeks": {F.CLAUSE_OF_ONE, F.CLAUSE_OF_BOTH},
}


def client(name: str) -> Case:
    return changed("example", sections=["decision"]) if name == "decision alone" else case(name)


@cache
def found(name: str) -> frozenset[Finding]:
    return frozenset(findings(client(name)))


@rows("name", CLIENTS)
def test_of_what_excludes_each_other_one_holds(name: str) -> None:
    holds = found(name)
    assert {group: len(holds & members) for group, members in ONE_OF.items()} == dict.fromkeys(ONE_OF, 1)
    assert {group for group, members in AT_MOST_ONE.items() if len(holds & members) > 1} == set()
    assert len([f for f in holds if f.name.startswith("CARE_")]) <= MOST_CARE


def test_an_advice_that_leans_is_told_with_its_saving_its_odds_and_the_other_side() -> None:
    holds = found("infiniband ahead")
    assert {F.ASKS_WHICH, F.TILE_NETWORK, F.NONE_IN_TIME} <= holds
    assert {
        F.WHY_BOTH,
        F.TITLE_APART,
        F.HEAD_SAVES,
    } <= holds
    assert {F.TEST_OF_ONE, F.CLAUSE_OF_ONE} <= holds


def test_either_of_two_has_no_saving_of_one_and_a_test_for_both() -> None:
    holds = found("open cloud")
    assert {
        F.TILE_NETWORK,
        F.CLOSE_BY_RULE,
        F.HEAD_CLOSE,
    } <= holds
    assert {F.TEST_OF_BOTH, F.CLAUSE_OF_BOTH, F.CARE_LISTING} <= holds
    assert not holds & AT_MOST_ONE["conditions"]


def test_a_date_that_nobody_meets_is_said_once() -> None:
    holds = found("too late")
    assert F.NONE_IN_TIME in holds
    on_page_one = set(client("too late").spoken("decision").findings) & {
        D.TOO_LATE,
        D.IN_TIME,
        D.UNDATED,
        D.LATE_RENT,
        D.LATE_MOVE,
    }
    assert on_page_one == {D.TOO_LATE, D.LATE_RENT}


def test_without_a_date_the_earliest_safe_one_is_the_heading() -> None:
    silent = client("two options").changed(schedule={})
    assert set(findings(silent)) & AT_MOST_ONE["in time"] == {F.HEAD_SAFE}
    assert D.UNDATED in silent.spoken("decision").findings and words(silent)


def test_a_cluster_without_a_network_is_told_of_no_dates() -> None:
    holds = found("one node")
    assert {F.WHY_SMALL, F.CASE_SMALL, F.NO_CHANGES, F.HEAD_SMALL} <= holds
    assert not holds & {F.DATES_TOLD, F.TEST_OF_ONE, *AT_MOST_ONE["in time"]}


def test_one_option_alone_is_held_against_nothing() -> None:
    holds = found("one option")
    assert {F.ASKS_ALONE, F.TILE_TOTAL, F.WHY_ALONE, F.CASE_ALONE, F.HEAD_ALONE} <= holds
    assert F.COMPARED not in holds


def test_causes_are_named_by_who_saves_on_them() -> None:
    read = Read(client("example"))
    ours, theirs = read.causes
    means = {c: float(v) for c, v in read.tco.difference.waterfall().items()}
    assert all(means[c] > 0 for c in ours) and all(means[c] < 0 for c in theirs)
    assert len(ours) == MOST_CAUSES >= len(theirs) > 0
    assert read.stalls_told and not found("example") & AT_MOST_ONE["speed"]


def test_the_third_option_is_real_and_costs_more() -> None:
    read = Read(client("example"))
    verdict = read.verdict
    assert read.third not in ("", verdict.choice, verdict.runner_up)
    totals = {o: float(t.mean()) for o, t in read.result.totals.items()}
    between = [o for o in totals if o not in (verdict.choice, verdict.runner_up)]
    assert read.third == min(between, key=totals.__getitem__)
    assert all(o.rdma for o in read.given.options if o.id == read.third), "ordinary Ethernet would be a straw man"


def test_levers_pay_and_the_best_comes_first() -> None:
    read = Read(client("example"))
    net = {v.id: mean_of(v.saved_usd) - mean_of(v.cost_usd) for v in read.tail.levers}
    assert 0 < len(read.levers) <= MOST_LEVERS
    assert net[read.levers[0]] == max(net.values()) > 0
    assert all(net[lever] > 0 for lever in read.levers)


@rows("name", ["example", "halden-cloud"])
def test_page_one_has_the_steps_worth_most_and_the_body_the_others(name: str) -> None:
    case = client(name)
    changes = tables.changes(case.inputs, case.decision(), case.monday())
    assert len(changes.rows) == len(case.decision().changes)
    steps = [tables.actions(case.monday()).rows, tables.more_actions(case.monday()).rows]
    assert len(steps[0]) == PAGE_ONE
    assert [str(row.cells[0]) for row in (*steps[0], *steps[1])] == [one.mark for one in case.monday().todos]


def test_the_two_compared_have_a_column_each_and_the_advised_one_the_first() -> None:
    case = client("example")
    made = tables.dates(case.inputs, case.decision(), case.tail())
    assert [str(c.label) for c in made.columns] == ["", "RoCEv2", "InfiniBand"]
    assert len(tables.options(case.inputs, case.decision(), case.figure).rows) == len(case.decision().totals)
    assert len(tables.levers(case.tail(), Read(case).levers).rows) == len(Read(case).levers)


def test_prices_out_of_date_are_told_with_what_they_move() -> None:
    assert F.STALE_SPARES in found("example")
    assert F.STALE_MOVES in found("halden-cloud")
    for name in ("example", "halden-cloud"):
        assert client(name).figure("decision.difference").stale == (F.STALE_MOVES in found(name))


def test_the_best_measure_is_held_against_what_lies_between_the_two() -> None:
    case, read = client("rare checkpoints"), Read(client("rare checkpoints"))
    saved = case.tail().numbers[f"tail_risk.lever.{read.levers[0]}.saved"].value
    assert saved > abs(case.figure("decision.difference").value)
    assert {F.LEVER_OUTWEIGHS, F.LEVERS_OUTWEIGH} <= found("rare checkpoints")
    assert F.LEVER_OUTWEIGHS not in found("one option")
    assert str(words(case)["outweighing"]) in ("Two", "Three")
    read.__dict__["outweighing"] = read.outweighing[:1]
    assert F.ONE_LEVER_OUTWEIGHS in set(_levers(read))
    read.__dict__["outweighing"] = ()
    assert F.LEVERS_MODEST in set(_levers(read)) and F.LEVER_OUTWEIGHS not in set(_levers(read))


def test_without_a_test_the_contract_keeps_its_questions() -> None:
    for name in CLIENTS:
        tested = client(name).spoken("diligence").findings.tested_at_all
        assert (F.CONTRACT_ASKS in found(name)) == (not tested)


@rows("name", CLIENTS)
def test_what_has_to_pass_has_a_price_and_weeks_are_limited_once(name: str) -> None:
    one = client(name)
    shown = passes.shown(one.decision(), one.diligence())
    assert len(shown) <= MOST_PASSES and all(p.price is not None for p in shown)
    assert not ("weeks" in {p.id for p in shown} and found(name) & AT_MOST_ONE["weeks"])
    table = passes.table(one.inputs, one.decision(), one.diligence())
    assert all(len(row.cells) == len(table.columns) for row in table.rows)
    assert len(table.columns) == (5 if one.diligence().promises_of_rival else 4)


def test_what_is_equal_of_both_is_told_once() -> None:
    halden = client("open cloud")
    pair = (halden.decision().verdict.choice, halden.decision().verdict.runner_up)
    same = len({halden.figure(f"decision.besides.neighbours.{option}").text for option in pair}) == 1
    assert (F.NEIGHBOURS_ALIKE if same else F.NEIGHBOURS_TOLD) in found("open cloud")
    assert not found("example") & {F.NEIGHBOURS_ALIKE, F.NEIGHBOURS_TOLD}


def test_owning_is_held_against_renting_for_those_who_let_nothing() -> None:
    assert F.OWNING_TOLD in found("example") and F.OWNING_TOLD not in found("halden-cloud")
