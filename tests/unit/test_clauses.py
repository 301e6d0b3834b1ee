"""The terms to write into the contract: each under its question's id, with the figures that this client has."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

from fabricreport.blocks.nodes import plain_text
from fabricreport.blocks.template import Binder
from fabricreport.books.families import families
from fabricreport.books.option_reader import read_options
from fabricreport.books.questions import read_questions
from fabricreport.case import Case, open_case
from fabricreport.declared import DECLARED
from fabricreport.figures import find_spec
from fabricreport.findings import Name
from fabricreport.formats import NBSP
from fabricreport.inputs import INPUT_KINDS
from fabricreport.sections.diligence.clauses import Clause, clauses, fields_of
from fabricreport.sections.diligence.tables import acceptance, contract_terms, first_questions, priced_terms, shortlist

PARAMS = Path(__file__).parents[2] / "params"
WORDINGS = [(q.id, wording) for q in read_questions() for sentence in q.clause for wording in sentence]
FLOOR = {"question": "Q-NET-12", "answer": "A floor is written in.", "unit": "gbytes/s"}
pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("few_draws")]


def client(folder: Path, base: str = "example", answers: Mapping[str, list[dict[str, Any]]] = {}, **keys: Any) -> Case:
    """A shipped client with other keys and with what some sellers answered."""
    data = yaml.safe_load((PARAMS / f"{base}.yaml").read_text(encoding="utf-8"))
    rows: list[dict[str, str]] = []
    for number, (seller, given) in enumerate(answers.items()):
        file = {"provider": seller, "date": "2026-11-02", "answered_by": "A. Seller", "answers": given}
        (folder / f"{number}.yaml").write_text(yaml.safe_dump(file), encoding="utf-8")
        rows.append({"name": seller, "answers": f"{number}.yaml"})
    for key, value in {**keys, **({"providers": rows} if rows else {})}.items():
        *into, last = key.split("__")
        place = data
        for part in into:
            place = place[part]
        place[last] = value
    path = folder / "client.yaml"
    path.write_text(yaml.safe_dump({**data, "as_of": str(data["as_of"])}), encoding="utf-8")
    return open_case(path)


def said(case: Case) -> dict[str, str]:
    """The text of each clause by its question's id."""
    return {c.question.id: text(case, c) for c in clauses(case.inputs, case.diligence())}


def text(case: Case, clause: Clause) -> str:
    result = case.diligence()
    words = {"option": Name(result.option.name), "rival": Name(result.rival.name)}
    return plain_text(Binder(case.figure, words).inline(clause.text)).replace(NBSP, " ")


# ---- the wordings themselves


@pytest.mark.parametrize(("question", "wording"), WORDINGS)
def test_a_wording_is_a_sentence_with_declared_figures_and_no_number_of_its_own(question: str, wording: str) -> None:
    bare = re.sub(r"\{[^{}]*\}", "", wording)
    assert bare.endswith(".") and not re.search(r"\d", bare)
    for field in fields_of(wording):
        known = field in ("option", "rival") or field.startswith(INPUT_KINDS) or find_spec(DECLARED.values(), field)
        assert known, field
        assert not field.startswith("diligence.term") or field == f"diligence.term.{question}"


@pytest.mark.parametrize(("question", "wording"), WORDINGS)
def test_a_wording_names_no_fabric(question: str, wording: str) -> None:
    names = {n for f in families().values() for n in (f.name, f.short_name)} | {o.name for o in read_options().values()}
    assert not [name for name in names if name in wording]


def test_a_clause_is_one_to_three_sentences_and_one_that_holds_an_answer_says_which_is_best() -> None:
    for question in read_questions():
        assert len(question.clause) <= 3, question.id
        holds = any(f"{{diligence.term.{question.id}}}" in w for s in question.clause for w in s)
        assert holds == bool(question.best), question.id
        assert question.best in ("", "most", "least") and question.breach in ("", "busbw", "weeks", "detection")


def test_all_questions_have_a_clause_but_the_one_for_a_reference() -> None:
    assert {q.id for q in read_questions() if not q.clause} == {"Q-OPS-09"}


# ---- what a client is given


@pytest.mark.parametrize("base", ["example", "tern-finetuning", "kestrel-lab", "halden-cloud"])
def test_every_question_put_has_its_clause_and_every_clause_its_question(base: str) -> None:
    case = open_case(PARAMS / f"{base}.yaml")
    put = {p.question.id for p in case.diligence().questions}
    assert set(said(case)) == put - {"Q-OPS-09"}
    assert all("{" not in words for words in said(case).values())


@pytest.mark.parametrize("base", ["tern-finetuning", "halden-cloud"])
def test_where_no_fabric_is_advised_no_clause_names_one_alone(base: str) -> None:
    case = open_case(PARAMS / f"{base}.yaml")
    result = case.diligence()
    assert result.promises_of_rival
    for words in said(case).values():
        assert (result.option.name in words) == (result.rival.name in words)
    assert result.option.name in said(case)["Q-NET-07"]


def test_a_client_of_one_node_is_asked_nothing_of_a_network_and_given_no_floor(tmp_path: Path) -> None:
    case = client(tmp_path, "tern-finetuning", cluster__gpus=8)
    assert {p.question.id for p in case.diligence().questions} == {
        "Q-COM-01",
        "Q-COM-04",
        "Q-COM-05",
        "Q-DEL-02",
        "Q-OPS-05",
    }
    assert not any("Acceptance Test" in words or "GB/s" in words for words in said(case).values())


def test_one_node_that_grows_is_asked_of_the_network_it_grows_into(tmp_path: Path) -> None:
    grows = client(tmp_path, "tern-finetuning", cluster__gpus=8, cluster__trajectory=[{"month": 6, "gpus": 64}])
    assert {"Q-NET-01", "Q-NET-07", "Q-NET-09"} <= {p.question.id for p in grows.diligence().questions}
    assert "64 GPUs" in said(grows)["Q-NET-06"]


def test_damages_are_those_of_the_decision_where_the_network_is_bought(tmp_path: Path) -> None:
    case = open_case(PARAMS / "example.yaml")
    of_course = case.figure(f"decision.courses.per_week.{case.diligence().option.id}")
    assert case.figure("diligence.damages").value == of_course.value
    assert f"liquidated damages of {of_course.text.replace(NBSP, ' ')} per week" in said(case)["Q-OPS-10"]
    renter = open_case(PARAMS / "tern-finetuning.yaml")
    assert "diligence.damages" not in renter.diligence().numbers
    assert "diligence.promised" not in renter.diligence().numbers
    assert renter.figure("diligence.pass.weeks").text.replace(NBSP, " ") in said(renter)["Q-OPS-10"]


@pytest.mark.parametrize("base", ["example", "halden-cloud"])
def test_the_weeks_of_the_clause_are_those_from_which_the_decision_counts_damages(base: str) -> None:
    case = open_case(PARAMS / f"{base}.yaml")
    tests = case.diligence()
    weeks = [case.figure("diligence.promised")]
    options = [tests.option.id]
    if tests.promises_of_rival:
        weeks, options = [*weeks, case.figure("diligence.rival.promised")], [*options, tests.rival.id]
    assert [w.value for w in weeks] == [case.figure(f"decision.courses.promised.{o}").value for o in options]
    assert all(w.text.replace(NBSP, " ") in said(case)["Q-OPS-10"] for w in weeks)


# ---- what a seller answers becomes the term


def test_a_value_answered_is_the_term_and_no_other_clause_changes(tmp_path: Path) -> None:
    before = said(client(tmp_path))
    weeks = {"question": "Q-OPS-10", "answer": "Four weeks.", "value": 4, "unit": "week"}
    after = said(client(tmp_path, answers={"Example Cloud": [weeks]}))
    assert {i for i in before if before[i] != after[i]} == {"Q-OPS-10"}
    assert "within 4 weeks of power-on" in after["Q-OPS-10"]


def test_an_answer_that_fails_its_check_is_no_term(tmp_path: Path) -> None:
    low = client(tmp_path, answers={"Example Cloud": [{**FLOOR, "value": 120}]})
    assert "diligence.term.Q-NET-12" not in low.diligence().numbers
    assert said(low)["Q-NET-12"] == said(client(tmp_path))["Q-NET-12"]


def test_of_several_answers_the_best_is_the_term_and_of_a_range_the_end_that_binds(tmp_path: Path) -> None:
    both = {"One": [{**FLOOR, "value": 300}], "Two": [{**FLOOR, "value": {"low": 310, "high": 330}}]}
    for order in (both, dict(reversed(both.items()))):
        case = client(tmp_path, answers=order)
        assert case.figure("diligence.term.Q-NET-12").value == 310
        assert next(c for c in clauses(case.inputs, case.diligence()) if c.question.id == "Q-NET-12").seller == "Two"


def test_a_busbw_measured_is_the_term_if_the_run_was_as_large_as_the_cluster(tmp_path: Path) -> None:
    def measured(gpus: int) -> Case:
        log = {
            "gpus": gpus,
            "size_mib": 1024,
            "busbw_gbytes_per_s": 310.0,
            "algbw_gbytes_per_s": 310.0 * gpus / (2 * (gpus - 1)),
        }
        return client(
            tmp_path, answers={"One": [{"question": "Q-NET-07", "answer": "", "document": "a.txt", "measured": log}]}
        )

    assert measured(1024).figure("diligence.term.Q-NET-07").value == 310
    assert "diligence.term.Q-NET-07" not in measured(512).diligence().numbers


def test_the_table_has_one_identifier_through_and_says_whose_value_a_term_is(tmp_path: Path) -> None:
    case = client(tmp_path, answers={"Two": [{**FLOOR, "value": 310}]})
    table = contract_terms(case.inputs, case.diligence())
    by_id = {str(row.cells[0]): row.cells for row in table.rows}
    assert set(by_id) == set(said(case))
    assert [c.label for c in table.columns][:2] == ["Question", "Draft term"]
    assert str(by_id["Q-NET-12"][2]) == "Two" and by_id["Q-NET-01"][2] is None
    silent = contract_terms(case.inputs, open_case(PARAMS / "example.yaml").diligence())
    assert len(silent.columns) == len(table.columns) - 1


# ---- the sellers by what matters to the client


def heads(case: Case) -> list[str]:
    return [str(column.label) for column in shortlist(case.inputs, case.diligence()).columns]


def test_the_table_of_sellers_has_the_columns_that_matter_to_the_client(tmp_path: Path) -> None:
    buyer, renter = open_case(PARAMS / "example.yaml"), open_case(PARAMS / "tern-finetuning.yaml")
    assert "Rent found, {money}" in heads(renter) and "Rent found, {money}" not in heads(buyer)
    assert "Answered" not in heads(buyer) and "Answered" not in heads(renter)
    isolation = {"question": "Q-NET-14", "answer": "Partition keys, set by us, shown in a test with a noisy neighbour."}
    told = client(tmp_path, "tern-finetuning", {"Vultr": [isolation]})
    assert {"Size", "Isolation", "Answered"} <= set(heads(told))
    row = shortlist(told.inputs, told.diligence()).rows[0].cells
    assert row[heads(told).index("Isolation")] == "specific"


def test_the_short_tables_hold_what_money_stands_behind(tmp_path: Path) -> None:
    case = client(tmp_path)
    given, result = case.inputs, case.diligence()
    asked, terms = first_questions(result).rows, priced_terms(given, result).rows
    told = [q for q in result.questions if q.worth > 0 or q.difference or q.own_cost]
    assert [str(row.cells[0]) for row in asked] == [q.question.title for q in told][:8]
    assert {str(row.cells[0]) for row in terms} == {c.question.title for c in clauses(given, result) if c.breach}
    assert len(asked) > 2 < len(terms) < len(contract_terms(given, result).rows)
    assert all(row.cells[2] for row in terms)


def test_the_units_of_the_test_stand_at_the_head_of_each_row(tmp_path: Path) -> None:
    case = client(tmp_path)
    rows = {str(row.cells[0]): row.cells[1] for row in acceptance(case.diligence()).rows}
    units = {title.rpartition(" (")[2].rstrip(")") for title in rows if title.endswith(")")}
    assert units == {"GB/s", "µs", "weeks", "min"}
    assert all(":bare}" in str(cell) for cell in rows.values())


def test_the_sellers_with_the_least_open_come_first(tmp_path: Path) -> None:
    result = open_case(PARAMS / "example.yaml").diligence()
    open_points = [len(row.gaps) for row in result.shown]
    assert open_points == sorted(open_points)
