"""The terms to write into the contract: each under its question's id, with the figures that this client has."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from unittest import mock

import pytest
import yaml
from bench import DRAWS, EDGES, GOLDEN, PARAMS, SHIPPED, case, changed
from fuzz_cases import some
from rows import rows

import fabricreport.inputs.inputs as inputs_module
from fabricreport.base.formats import NBSP
from fabricreport.blocks.nodes import plain_text
from fabricreport.blocks.template import Binder
from fabricreport.bodies.bodies import DECLARED
from fabricreport.books.equipment import families
from fabricreport.books.options import read_options
from fabricreport.books.sellers import read_questions
from fabricreport.case import Case, open_case
from fabricreport.ledger.figures import find_spec
from fabricreport.ledger.numbers import INPUT_KINDS
from fabricreport.sections.diligence import tables as plan_tables
from fabricreport.sections.diligence.clauses import WORDS, Clause, clauses, fields_of, planned
from fabricreport.sections.diligence.facts import plan_words
from fabricreport.sections.diligence.tables import clause_words, contract_terms, first_questions, shortlist

WORDINGS = [(q.id, wording) for q in read_questions() for sentence in q.clause for wording in sentence]
FLOOR = {"question": "Q-NET-12", "answer": "A floor is written in.", "unit": "gbytes/s"}
pytestmark = pytest.mark.slow


def client(folder: Path, base: str = "example", answers: Mapping[str, list[dict[str, Any]]] = {}, **keys: Any) -> Case:
    """A shipped client with other keys and with what some sellers answered."""
    data = yaml.safe_load((PARAMS / f"{base}.yaml").read_text(encoding="utf-8"))
    providers: list[dict[str, str]] = []
    for number, (seller, given) in enumerate(answers.items()):
        file = {"provider": seller, "date": "2026-11-02", "answered_by": "A. Seller", "answers": given}
        (folder / f"{number}.yaml").write_text(yaml.safe_dump(file), encoding="utf-8")
        providers.append({"name": seller, "answers": f"{number}.yaml"})
    for key, value in {**keys, **({"providers": providers} if providers else {})}.items():
        *into, last = key.split("__")
        place = data
        for part in into:
            place = place[part]
        place[last] = value
    path = folder / "client.yaml"
    path.write_text(yaml.safe_dump({**data, "as_of": str(data["as_of"])}), encoding="utf-8")
    with mock.patch.object(inputs_module, "DRAWS", DRAWS):
        return open_case(path)


def said(case: Case) -> dict[str, str]:
    """The text of each clause by its question's id."""
    return {c.question.id: text(case, c) for c in clauses(case.inputs, case.diligence())}


def text(case: Case, clause: Clause) -> str:
    result = case.diligence()
    return plain_text(Binder(case.figure, clause_words(result)).inline(clause.text)).replace(NBSP, " ")


# ---- the wordings themselves


@rows(("question", "wording"), WORDINGS)
def test_a_wording_is_a_sentence_with_declared_figures_and_no_number_of_its_own(question: str, wording: str) -> None:
    bare = re.sub(r"\{[^{}]*\}", "", wording)
    assert bare.endswith(".") and not re.search(r"\d", bare)
    for field in fields_of(wording):
        known = field in WORDS or field.startswith(INPUT_KINDS) or find_spec(DECLARED.values(), field)
        assert known, field
        assert not field.startswith("diligence.term") or field == f"diligence.term.{question}"


@rows(("question", "wording"), WORDINGS)
def test_a_wording_names_no_fabric(question: str, wording: str) -> None:
    names = {n for f in families().values() for n in (f.name, f.short_name)} | {o.name for o in read_options().values()}
    assert not [name for name in names if name in wording]


def test_a_clause_is_one_to_three_sentences_and_one_that_holds_an_answer_says_which_is_best() -> None:
    for question in read_questions():
        assert len(question.clause) <= 3, question.id
        holds = any(f"{{diligence.term.{question.id}}}" in w for s in question.clause for w in s)
        assert holds == bool(question.best), question.id
        assert question.best in ("", "most", "least") and question.breach in (
            "",
            "busbw",
            "weeks",
            "detection",
            "interruptions",
            "latency",
            "delivery",
        )


def test_all_questions_have_a_clause_but_the_one_for_a_reference() -> None:
    assert {q.id for q in read_questions() if not q.clause} == {"Q-OPS-09"}


# ---- what a client is given


@rows("base", SHIPPED)
def test_every_question_put_has_its_clause_and_every_clause_its_question(base: str) -> None:
    result = case(base).diligence()
    untested = {p.question.id for p in result.questions if p.question.tests and not planned(result, p.question)}
    assert set(said(case(base))) == result.put - untested - {"Q-OPS-09"}
    assert untested == ({"Q-NET-10", "Q-NET-14"} if base == "tern-finetuning" else set())
    assert all("{" not in words for words in said(case(base)).values())


@rows("base", [*SHIPPED, "launch-512-rented", "moe-256-six-weeks", *some([*GOLDEN, *EDGES], 2)])
def test_the_plan_names_no_question_that_the_letters_leave_out(base: str) -> None:
    client = case(base)
    given, result = client.inputs, client.diligence()
    sheets = (
        plan_tables.lossless(given, result),
        plan_tables.manager(given, result),
        plan_tables.isolation(given, result),
    )
    words_of = plan_words(given, result)
    tests = words_of["plan_tests"]
    asks = [str(test.said[part]) for test in tests for part in ("asks", "why")]  # type: ignore[attr-defined]
    asks += ["Q-OPS-10"] if result.plan.tests else []  # as the prose of the plan has them
    asks += [str(words_of["plan_settled"])]
    asks += [str(cell) for sheet in sheets for row in sheet.rows for cell in row.cells]
    letters = " ".join(str(cell) for row in contract_terms(given, result).rows for cell in row.cells)
    assert {q for words in asks for q in re.findall(r"Q-\w+-\d+", words)} <= {*re.findall(r"Q-\w+-\d+", letters)}


@rows("base", ["tern-finetuning", "open cloud"])
def test_where_no_fabric_is_advised_no_clause_names_one_alone(base: str) -> None:
    result, told = case(base).diligence(), said(case(base))
    assert result.promises_of_rival
    for words in told.values():
        assert (result.option.name in words) == (result.rival.name in words)
    assert result.option.name in told["Q-NET-07"]


def test_a_client_of_one_node_is_asked_nothing_of_a_network_and_given_no_floor() -> None:
    one = case("one node rented")
    assert {p.question.id for p in one.diligence().questions} == {
        "Q-COM-01",
        "Q-COM-04",
        "Q-COM-05",
        "Q-DEL-02",
        "Q-OPS-05",
    }
    assert not any("Acceptance Test" in words or "GB/s" in words for words in said(one).values())


def test_one_node_that_grows_is_asked_of_the_network_it_grows_into() -> None:
    grows = changed("tern-finetuning", cluster__gpus=8, cluster__trajectory=[{"month": 6, "gpus": 64}])
    assert {"Q-NET-01", "Q-NET-07", "Q-NET-09"} <= {p.question.id for p in grows.diligence().questions}
    assert "64 GPUs" in said(grows)["Q-NET-06"]


@rows("base", ["example", "halden-cloud", "tern-finetuning"])
def test_a_clause_on_time_states_limit_loss_damages_and_their_end_as_the_figures_have_them(base: str) -> None:
    client = case(base)
    stated = said(client)["Q-OPS-10"]
    for figure in ("pass.weeks", "damages.weeks", "share.weeks", "price.weeks"):
        assert client.figure(f"diligence.{figure}").text.replace(NBSP, " ") in stated, figure
    bought = "diligence.cap" in client.diligence().numbers
    assert bought == (base != "tern-finetuning") and (" of the price of the Network" in stated) == bought


# ---- what a seller answers becomes the term


WEEKS = {"question": "Q-OPS-10", "answer": "Four weeks.", "value": 4, "unit": "week"}
RANGE = {**FLOOR, "value": {"low": 310, "high": 330}}


def measured(gpus: int) -> dict[str, Any]:
    log = {
        "gpus": gpus,
        "size_mib": 1024,
        "busbw_gbytes_per_s": 310.0,
        "algbw_gbytes_per_s": 310.0 * gpus / (2 * (gpus - 1)),
    }
    return {"question": "Q-NET-07", "answer": "", "document": "a.txt", "measured": log}


@pytest.fixture(scope="module")
def answered(tmp_path_factory: pytest.TempPathFactory) -> Case:
    answers = {"One": [{**FLOOR, "value": 300}, WEEKS, measured(1024)], "Two": [RANGE]}
    return client(tmp_path_factory.mktemp("answered"), answers=answers)


def test_what_is_answered_and_passes_its_check_is_the_term_and_no_other_clause_changes(answered: Case) -> None:
    before, after = said(case("example")), said(answered)
    assert {i for i in before if before[i] != after[i]} == {"Q-OPS-10", "Q-NET-12", "Q-NET-07"}
    assert "within 4 weeks of power-on" in after["Q-OPS-10"]
    assert answered.figure("diligence.term.Q-NET-07").value == 310


def test_an_answer_that_fails_its_check_or_was_measured_on_fewer_gpus_is_no_term(tmp_path: Path) -> None:
    low = client(tmp_path, answers={"One": [{**FLOOR, "value": 120}, measured(512)]})
    assert not {"diligence.term.Q-NET-12", "diligence.term.Q-NET-07"} & set(low.diligence().numbers)
    assert said(low)["Q-NET-12"] == said(case("example"))["Q-NET-12"]


def test_of_several_answers_the_best_is_the_term_and_of_a_range_the_end_that_binds(
    answered: Case, tmp_path: Path
) -> None:
    turned = client(tmp_path, answers={"Two": [RANGE], "One": [{**FLOOR, "value": 300}]})
    for each in (answered, turned):
        assert each.figure("diligence.term.Q-NET-12").value == 310
        assert next(c for c in clauses(each.inputs, each.diligence()) if c.question.id == "Q-NET-12").seller == "Two"


def test_the_table_has_one_identifier_through_and_says_whose_value_a_term_is(answered: Case) -> None:
    table = contract_terms(answered.inputs, answered.diligence())
    by_id = {str(row.cells[0]): row.cells for row in table.rows}
    assert set(by_id) == {p.question.id for p in answered.diligence().questions} > set(said(answered))
    assert {i for i, cells in by_id.items() if cells[1].startswith("the seller’s answer")} == set(by_id) - set(
        said(answered)
    )
    assert [c.label for c in table.columns][:2] == ["Question", "Draft term"]
    assert str(by_id["Q-NET-12"][2]) == "Two" and by_id["Q-NET-01"][2] is None
    silent = contract_terms(answered.inputs, case("example").diligence())
    assert len(silent.columns) == len(table.columns) - 1


# ---- the sellers by what matters to the client


def heads(case: Case) -> list[str]:
    return [str(column.label) for column in shortlist(case.diligence()).columns]


def test_the_table_of_sellers_has_the_columns_that_matter_to_the_client(tmp_path: Path) -> None:
    buyer, renter = case("example"), case("tern-finetuning")
    assert "Answered" not in heads(buyer) and "Answered" not in heads(renter)
    isolation = {"question": "Q-NET-14", "answer": "Partition keys, set by us, shown in a test with a noisy neighbour."}
    told = client(tmp_path, "tern-finetuning", {"Vultr": [isolation]})
    assert {"Size", "Isolation", "Answered"} <= set(heads(told))
    row = shortlist(told.diligence()).rows[0].cells
    assert row[heads(told).index("Isolation")] == "specific"


def test_the_short_table_of_questions_holds_those_that_money_stands_behind() -> None:
    result = case("example").diligence()
    told = [q for q in result.questions if q.worth > 0 or q.difference or q.own_cost]
    asked = [str(row.cells[0]) for row in first_questions(result).rows]
    assert asked == [q.question.title for q in told][:8] and len(asked) > 2


def test_a_draft_term_says_what_breaking_it_costs_where_that_has_a_price() -> None:
    given, result = case("example").inputs, case("example").diligence()
    table = contract_terms(given, result)
    at = [str(column.label) for column in table.columns].index("Breach: the seller pays")
    priced = {str(row.cells[0]) for row in table.rows if row.cells[at]}
    assert priced == {c.question.id for c in clauses(given, result) if c.breach}
    assert 2 < len(priced) < len(table.rows)


def test_the_sellers_with_the_least_open_come_first(tmp_path: Path) -> None:
    result = case("example").diligence()
    open_points = [len(row.gaps) for row in result.shown]
    assert open_points == sorted(open_points)
