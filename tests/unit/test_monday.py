"""What to do before signing: who does it, by when, the most worth first, in full sentences; never more than fits."""

from __future__ import annotations

import re
from dataclasses import replace

import bench
import pytest
import yaml
from fuzz_cases import some
from monday_cases import CLIENTS, facts, kinds, listed, of
from rows import rows

from fabricreport.base.yaml_files import read_yaml
from fabricreport.blocks import open_section
from fabricreport.blocks.nodes import DataTable, plain_text
from fabricreport.case import Case
from fabricreport.sections.decision.actions import CONDITIONS, Due, Kind, actions, gain, most, roles, sellers_asked
from fabricreport.sections.decision.steps import (
    BETTER,
    CAPPED,
    CREDITED,
    Monday,
    monday_of,
    monday_words,
    named,
    ranked,
    word_of,
)
from fabricreport.sections.decision.tables import UNPRICED, todo
from fabricreport.sections.decision.words import DecisionFinding as F
from fabricreport.sections.schedule import Step, is_working_day

pytestmark = pytest.mark.slow


NOTEBOOK = yaml.safe_load((bench.ROOT / "notebooks/decision.ipynb").read_text(encoding="utf-8"))
LETTERS = re.findall(r"%%say each=todo in (todo_\w+)", "".join("".join(c["source"]) for c in NOTEBOOK["cells"]))
"""The words that the notebook's letters go through."""

# ---- the data


def test_every_kind_has_an_entry_and_a_condition() -> None:
    assert list(actions()) == [Kind(row["id"]) for row in read_yaml("actions")["actions"]]
    assert set(actions()) == set(Kind) == {*CONDITIONS, Kind.ANSWERS, Kind.OWN, Kind.RECORD}


def test_every_role_is_known_and_has_a_name_for_every_client() -> None:
    assert {role for a in actions().values() for role in (a.who, a.to)} <= set(roles())
    assert all({"builds", "rents"} <= set(n) or {"staffed", "unstaffed"} <= set(n) for n in roles().values())


def test_an_action_asks_a_question_that_is_put() -> None:
    known = {q["id"] for q in read_yaml("questions")["questions"]}
    assert {q for a in actions().values() for q in a.questions} <= known


# ---- the list


@rows("name", some([*CLIENTS], 4))
def test_a_list_is_short_ordered_by_worth_and_dated(name: str) -> None:
    case = of(name)
    monday = listed(case)
    assert len(monday.todos) <= most() == 7
    worth = [one.due.worth.usd if one.due.worth else None for one in monday.todos]
    priced = [w for w in worth if w is not None]
    assert worth == [*sorted(priced, reverse=True), *[None] * (len(worth) - len(priced))] and all(
        w >= 0 for w in priced
    )
    assert len({one.action.kind for one in monday.todos}) == len(monday.todos)
    days = monday.calendar.days
    for one in monday.todos:
        assert case.as_of < one.by <= days[Step.ORDER] and is_working_day(one.by)
        assert one.answer is None or one.by < one.answer == days[Step.ANSWERS] < days[Step.ORDER]
    assert all(one.who for one in monday.todos)
    table = todo(monday)
    assert [row.cells[-1] == UNPRICED for row in table.rows] == [w is None for w in worth]


def printed(case: Case, monday: Monday) -> list[tuple[str, ...]]:
    """The rows of the list, as printed."""
    body, _ = open_section("decision", case)
    table = todo(monday)
    body.table("tab-x", "What to do", table.columns, table.rows)
    node = body.emitted[-1].nodes[0]
    assert isinstance(node, DataTable)
    return [tuple(plain_text(cell) for cell in row.cells) for row in node.rows]


@rows("name", some([*CLIENTS], 4))
def test_every_line_is_said_in_full_and_has_one_letter(name: str) -> None:
    monday = of(name).monday()
    table = printed(of(name), monday)
    assert len(table) == len(monday.todos) and all(all(row) for row in table)
    words = of(name).spoken("decision").words
    letters = [letter for word in LETTERS for letter in words[word]]  # type: ignore[attr-defined]
    assert sorted(str(letter) for letter in letters) == [one.mark for one in monday.todos]
    assert all(str(letter.said["to"]) for letter in letters)
    if of(name).inputs.team.rented:  # a seller is called by its name
        asked = sellers_asked(facts(of(name)))
        outside = [named(one).said["to"] for one in monday.todos if one.to]
        assert all(any(seller in str(to) for seller in asked) for to in outside)
        everyone = next(named(one) for one in monday.todos if one.action.kind == Kind.RENTS).said["to"]
        assert all(seller in str(everyone) for seller in asked)


def test_the_notebook_has_one_letter_for_every_kind_that_a_line_may_be_of() -> None:
    assert sorted(LETTERS) == sorted(map(word_of, Kind))


def test_what_each_of_our_clients_has_to_do() -> None:
    found = {name: kinds(listed(of(name))) for name in ("example", "renter", "grower", "landlord")}
    assert {Kind.QUOTE, Kind.CLAUSE, Kind.DELIVERY, Kind.ACCEPTANCE} <= found["example"]
    assert {Kind.RENTS, Kind.TOPOLOGY, Kind.DELIVERY, Kind.ACCEPTANCE, Kind.TRIAL} <= found["renter"]
    assert {Kind.REPRICE, Kind.QUOTE, Kind.ACCEPTANCE} <= found["grower"]
    assert {Kind.CLAUSE, Kind.QUOTE} <= found["landlord"]
    assert not {Kind.STALE, Kind.QUOTE, Kind.TUNER, Kind.NEWER_GPU} & found["renter"]


def test_a_single_node_needs_nothing_done_about_the_network() -> None:
    monday = listed(of("one node"))
    assert not any(one.action.network for one in monday.todos)


def test_who_is_too_late_already_is_given_days_that_can_be_kept() -> None:
    late = listed(of("too late"))
    assert not late.calendar.in_time and max(one.by for one in late.todos) <= late.calendar.days[Step.ORDER]
    assert F.TOO_LATE in set(of("too late").spoken("decision").findings)


def test_a_renter_s_reader_acts_and_a_builder_s_purchasing() -> None:
    assert {one.who for one in listed(of("renter")).todos} == {"Head of Machine Learning"}
    assert {one.who for one in listed(of("example")).todos} == {"purchasing", "network team"}
    case = of("example")
    alone = case.changed(organisation__network_engineers=0).inputs
    todos = monday_of(alone, case.decision(), case.diligence(), case.tail()).todos
    assert "Chief Technology Officer" in {one.who for one in todos}


def test_what_only_the_future_shows_is_a_term_of_the_contract() -> None:
    terms = {kind for kind, action in actions().items() if action.contract}
    assert terms == {Kind.DELIVERY, Kind.CLAUSE, Kind.WEEKS, Kind.REPRICE, Kind.ACCEPTANCE}


# ---- order, by itself


def test_what_is_not_priced_stands_last_and_in_the_order_of_the_file() -> None:
    found = [Due(Kind.HALLS), Due(Kind.QUOTE, gain(1.0, ())), Due(Kind.TOPOLOGY), Due(Kind.STALE, gain(5.0, ()))]
    assert [one.kind for one in ranked(found)] == [Kind.STALE, Kind.QUOTE, Kind.TOPOLOGY, Kind.HALLS]


def test_words_know_every_kind_whether_it_applies_or_not() -> None:
    words = monday_words(listed(of("example")))
    assert set(words) == {
        *map(word_of, Kind),
        *BETTER,
        *CAPPED,
        *CREDITED,
        "exchange",
        "networked",
    }
    assert all(len(w) <= 1 for w in words.values() if isinstance(w, tuple))


# ---- letters to both sides of an open course: whose amounts stand in them


@rows("name", ["renter", "landlord"])
def test_a_letter_writes_the_amounts_of_both_where_neither_is_advised_and_they_part(name: str) -> None:
    case = of(name)
    monday, at = listed(case), facts(case)
    assert case.decision().verdict.open and set(at.promises) == {p.id for p in at.tests.promises_of_rival}
    parted = {
        Kind.ACCEPTANCE: at.apart("busbw", "passes"),
        Kind.WEEKS: at.apart("weeks", "passes", "price"),
        Kind.CLAUSE: True,
    }
    seen = {one.action.kind for one in monday.todos} & set(parted)
    assert len(seen) > 1
    for one in monday.todos:
        assert one.due.either == parted.get(one.action.kind, False)
        assert bool(named(one).said["either"]) == (one.due.either or bool(one.due.networks))


@rows("name", ["example", "grower"])
def test_a_letter_writes_the_amounts_of_one_where_one_is_advised(name: str) -> None:
    assert not of(name).decision().verdict.open
    assert all(not one.due.either for one in listed(of(name)).todos)


def test_amounts_that_print_alike_are_written_once() -> None:
    case = of("renter")
    at = facts(case)
    own = at.promises["busbw"]
    alike = replace(at, tests=replace(at.tests, promises_of_rival=(own,)))
    apart = replace(own, passes=replace(own.passes, value=own.passes.value * 2), price=own.price)
    parting = replace(at, tests=replace(at.tests, promises_of_rival=(apart,)))
    unpriced = replace(at, tests=replace(at.tests, promises_of_rival=(replace(apart, price=None),)))
    assert not alike.apart("busbw", "passes", "price")
    assert parting.apart("busbw", "passes") and not parting.apart("busbw", "price")
    assert not unpriced.apart("busbw", "price") and not unpriced.apart("weeks", "passes")


@rows("name", [*CLIENTS, "launch-512-rented"])
def test_a_letter_names_the_values_of_each_network_that_its_seller_may_deliver(name: str) -> None:
    """One value alone would hold the seller of the other network to what the plan does not ask of it."""
    client = of(name) if name in CLIENTS else bench.case(name)
    tests, step = client.diligence(), client.monday()
    asked = next((one.due for one in step.todos if one.action.kind == Kind.ACCEPTANCE), None)
    theirs = {p.id: p for p in tests.promises_of_rival}
    if asked is None or not theirs:
        return
    own = next(p for p in tests.promises if p.id == "busbw")
    pairs = [(getattr(own, part), getattr(theirs["busbw"], part)) for part in ("passes", "credit")]
    assert asked.either == any(a is not None and b is not None and a.text != b.text for a, b in pairs)


# ---- what a step is worth, and what offers are compared by


@rows("name", some([*CLIENTS], 4))
def test_worth_is_one_figure_wherever_it_stands(name: str) -> None:
    case = of(name)
    for one in case.monday().todos:
        figure = f"decision.worth.{one.action.kind}"
        told = one.due.pays
        assert (figure in case.decision().numbers) == told
        if one.due.worth and told:
            assert case.figure(figure).value == pytest.approx(one.due.worth.usd)


@rows("name", ["example", "renter", "grower", "landlord", "one node"])
def test_offers_are_compared_by_one_sum_wherever_something_is_asked(name: str) -> None:
    words, monday = of(name).spoken("decision").words, of(name).monday()
    asks = {Kind.QUOTE, Kind.RENTS} & kinds(monday)
    told, *bandwidth = (bool(words[word]) for word in BETTER)
    assert told == bool(asks and monday.terms) and sum(bandwidth) <= told
