"""The body of a memo about one purchase: what it finds of its own, on clients of every kind, and its words and tables."""

from __future__ import annotations

from functools import cache

import pytest
from bench import case, changed
from fuzz_cases import some
from rows import rows

from fabricreport.base.provenance import mean_of
from fabricreport.bodies import tables, views
from fabricreport.bodies.buy_once import (
    MOST_CARE,
    MOST_CAUSES,
    MOST_LEVERS,
    Finding,
    Read,
    Turns,
    findings,
    turns,
    words,
)
from fabricreport.case import Case
from fabricreport.sections.decision.actions import PAGE_ONE
from fabricreport.sections.decision.tables import first_steps
from fabricreport.sections.decision.words import DecisionFinding as D

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
ONE_OF: dict[str, set[Finding]] = {"changes": {F.CHANGES, F.FLIPS, F.NO_CHANGES}}
AT_MOST_ONE: dict[str, set[Finding]] = {
    "damages": {F.DELIVERY_PRICED, F.DELIVERY_ALONE},
}


def client(name: str) -> Case:
    return changed("example", sections=["decision"]) if name == "decision alone" else case(name)


@cache
def found(name: str) -> frozenset[Finding]:
    return frozenset(findings(client(name)))


@cache
def turned(name: str) -> Turns:
    return turns(client(name))


@rows("name", some(CLIENTS, 4))
def test_of_what_excludes_each_other_one_holds(name: str) -> None:
    holds = found(name)
    assert {group: len(holds & members) for group, members in ONE_OF.items()} == dict.fromkeys(ONE_OF, 1)
    assert {group for group, members in AT_MOST_ONE.items() if len(holds & members) > 1} == set()
    assert len([f for f in holds if f.name.startswith("CARE_")]) <= MOST_CARE


def test_an_advice_that_leans_is_told_with_its_saving_its_odds_and_the_other_side() -> None:
    holds = found("infiniband ahead")
    assert {F.TILE_NETWORK, F.COMPARED} <= holds
    told = turned("infiniband ahead")
    assert (told.heading, told.date) == ("saves", "neither")
    assert (told.passes, told.clause) == ("one", "one")


def test_either_of_two_has_no_saving_of_one_and_a_test_for_both() -> None:
    holds = found("open cloud")
    assert {F.TILE_NETWORK, F.CLOSE_BY_RULE, F.CARE_LISTING} <= holds
    told = turned("open cloud")
    assert (told.heading, told.passes, told.clause) == ("close", "both", "either")
    assert (told.advice, told.conditions) == ("ask", "none")


def test_a_date_that_nobody_meets_is_said_once() -> None:
    assert turned("too late").date == "neither"
    on_page_one = set(client("too late").spoken("decision").findings) & {
        D.TOO_LATE,
        D.UNDATED,
        D.LATE_RENT,
        D.LATE_MOVE,
    }
    assert on_page_one == {D.TOO_LATE, D.LATE_RENT}


def test_without_a_date_the_earliest_safe_one_is_the_heading() -> None:
    silent = client("two options").changed(schedule={})
    assert turns(silent).date == "safe"
    assert D.UNDATED in silent.spoken("decision").findings and words(silent)


def test_a_cluster_without_a_network_is_told_of_no_dates() -> None:
    holds = found("one node")
    assert F.NO_CHANGES in holds
    told = turned("one node")
    assert (told.heading, told.date, told.calendar, told.passes) == ("small", "none", "none", "none")
    assert (told.advice, told.other) == ("small", "small")


def test_one_option_alone_is_held_against_nothing() -> None:
    holds = found("one option")
    assert F.COMPARED not in holds
    told = turned("one option")
    assert (told.heading, told.money, told.purchase) == ("alone", "alone", "none")
    assert (told.sure, told.other, told.care) == ("alone", "alone", "alone")


def test_causes_are_named_by_who_saves_on_them() -> None:
    read = Read(client("example"))
    ours, theirs = read.causes
    means = {c: float(v) for c, v in read.tco.difference.waterfall().items()}
    assert all(means[c] > 0 for c in ours) and all(means[c] < 0 for c in theirs)
    assert len(ours) == MOST_CAUSES >= len(theirs) > 0


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
    steps = [first_steps(case.monday()).rows, tables.more_actions(case.monday()).rows]
    assert len(steps[0]) == PAGE_ONE
    assert [str(row.cells[0]) for row in (*steps[0], *steps[1])] == [one.mark for one in case.monday().todos]


def test_the_two_compared_have_a_column_each_and_the_advised_one_the_first() -> None:
    case = client("example")
    made = tables.dates(case.inputs, case.decision(), case.tail())
    assert [str(c.label) for c in made.columns] == ["", "Branded RoCEv2", "InfiniBand"]
    assert len(tables.options(case.inputs, case.decision(), case.figure).rows) == len(case.decision().totals)
    assert len(tables.levers(case.tail(), Read(case).levers).rows) == len(Read(case).levers)


def test_the_best_measure_is_held_against_what_lies_between_the_two() -> None:
    case, read = client("rare checkpoints"), Read(client("rare checkpoints"))
    saved = case.tail().numbers[f"tail_risk.lever.{read.levers[0]}.saved"].value
    assert saved > abs(case.figure("decision.difference").value)
    assert turned("rare checkpoints").levers == "several" and turned("one option").levers != "several"
    assert str(words(case)["outweighing"]) in ("Two", "Three")


@rows("name", ["rare checkpoints", *some(CLIENTS, 3)])
def test_the_heading_of_the_measures_counts_those_that_pay_better_than_the_choice(name: str) -> None:
    told, read = turned(name).levers, Read(client(name))
    assert (told == "none") == (not read.levers)
    assert (told in ("one", "several")) == bool(read.outweighing)


@rows("name", some(CLIENTS, 4))
def test_what_a_test_of_two_nodes_shows_is_told_only_where_there_is_a_test(name: str) -> None:
    told = turned(name)
    assert told.contract == "tested" or (told.trial, told.passes, told.credit) == ("none", "none", "none")


@rows("name", some(CLIENTS, 4))
def test_what_has_to_pass_has_a_price_and_weeks_are_limited_once(name: str) -> None:
    one = client(name)
    shown = views.shown(one.decision(), one.diligence())
    assert len(shown) <= MOST_PASSES and all(p.price is not None for p in shown)
    assert not ("weeks" in {p.id for p in shown} and turned(name).clause != "none")
    table = views.contract_table(one.inputs, one.decision(), one.diligence())
    assert all(len(row.cells) == len(table.columns) for row in table.rows)
    assert len(table.columns) == (5 if one.diligence().promises_of_rival else 4)


def test_what_is_equal_of_both_is_told_once() -> None:
    halden = client("open cloud")
    pair = (halden.decision().verdict.choice, halden.decision().verdict.runner_up)
    same = len({halden.figure(f"decision.besides.neighbours.{option}").text for option in pair}) == 1
    assert turned("open cloud").tenants == ("alike" if same else "apart")
    assert turned("example").tenants == "none"


def test_owning_is_held_against_renting_for_those_who_let_nothing() -> None:
    assert (turned("example").renting, turned("halden-cloud").renting) == ("owning", "none")
