"""The questionnaire: what a seller is sent, which names it takes, and what is refused of what comes back."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import bench
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from openpyxl import Workbook, load_workbook
from questionnaire_cases import (
    ANSWERS,
    DAY,
    HEAD,
    ROOT,
    SELLER,
    blank,
    client,
    example,
    filled,
    form_of,
    opened,
    row_of,
)
from rows import rows

from fabricreport.base.errors import InputError
from fabricreport.base.text import hostile_characters
from fabricreport.base.yaml_files import load_strict
from fabricreport.books.answers import read_answers
from fabricreport.books.sellers import Proof, read_providers, read_questions
from fabricreport.desk.answers import file_answers, read_workbook
from fabricreport.desk.questionnaire import (
    COLUMNS,
    GUIDE,
    HEAD_ROWS,
    LETTERS,
    LISTS,
    SHEET,
    TABLE_ROW,
    TO_FILL,
    Questionnaire,
    as_yaml,
    provider_name,
)
from fabricreport.desk.quotes import questionnaire_of
from fabricreport.desk.workbooks import applies, as_workbook
from fabricreport.inputs.dossier import read_given
from fabricreport.scenario import slugify
from fabricreport.sections.diligence.study import asked

pytestmark = pytest.mark.slow

# ---- the bank


def test_every_question_says_what_a_useful_answer_rests_on_firmest_first_and_which_choices_it_has() -> None:
    for question in read_questions():
        assert question.accepts == tuple(proof for proof in Proof if proof in question.accepts) != (), question.id
        assert len(set(question.choices)) == len(question.choices) != 1, question.id
        assert not any("," in choice for choice in question.choices), f"{question.id}: a list of a sheet is cut there"


# ---- what is sent


@rows("rents", [False, True])
def test_a_seller_is_sent_the_questions_this_client_asks_and_no_others(rents: bool) -> None:
    form = form_of(money__acquisition="rent") if rents else form_of()
    case = example(money__acquisition="rent") if rents else example()
    ids = [question.id for question in form.questions]
    assert sorted(ids) == sorted(q.id for q in asked(case.inputs, read_providers(), joins_nodes=True))
    assert ids == [
        str(cell.value) for cell in load_workbook(io.BytesIO(as_workbook(form, DAY)))[SHEET]["A"][TABLE_ROW:]
    ]
    located = load_yaml(as_yaml(form))
    assert [answer["question"] for answer in located["answers"]] == ids


def load_yaml(data: bytes) -> Any:
    with TemporaryDirectory() as scratch:
        path = Path(scratch) / "form.yaml"
        path.write_bytes(data)
        return load_strict(path).data


def test_only_the_cells_that_apply_to_a_question_can_be_filled_in() -> None:
    book = opened()
    sheet = book[SHEET]
    assert all(each.protection.sheet for each in book.worksheets) and book.security.lockStructure
    openings = {cell.coordinate for row in sheet.iter_rows() for cell in row if not cell.protection.locked}
    cells = {f"{LETTERS[c]}{row_of(q.id)}" for q in form_of().questions for c in TO_FILL if applies(q, c)}
    assert openings == cells | {f"B{HEAD_ROWS[key]}" for key in ("date", "answered_by", "fabric")}
    assert (
        book.sheetnames == [GUIDE, SHEET, LISTS] and book[LISTS].sheet_state == "hidden" and book.active.title == SHEET
    )


@rows(("question", "column", "offered"), [
    ("Q-OPS-01", "choice", "own team,client,vendor,nobody"),
    ("Q-OPS-01", "evidence", "contract,log,record,statement"),
])  # fmt: skip
def test_a_list_offers_what_a_question_takes(question: str, column: str, offered: str) -> None:
    cell = f"{LETTERS[column]}{row_of(question)}"
    rules = [rule for rule in opened()[SHEET].data_validations.dataValidation if cell in rule.sqref]
    assert [rule.formula1 for rule in rules] == [f'"{offered}"']


def test_each_line_says_what_is_asked_why_and_what_a_good_answer_has_in_both_forms() -> None:
    sheet, text = opened()[SHEET], " ".join(as_yaml(form_of()).decode().replace("#", " ").split())
    for question in form_of().questions:
        told = (question.question, question.why, question.good)
        assert tuple(sheet[f"{LETTERS[c]}{row_of(question.id)}"].value for c in ("asked", "why", "good")) == told
        assert all(" ".join(part.split()) in text for part in told)
    assert "1,024 GPUs" in sheet.cell(HEAD_ROWS["asked_for"], 2).value and "1,024 GPUs" in text


@rows("client_file", ["example", "tern-finetuning", "kestrel-lab", "halden-cloud"])
def test_every_fabric_that_the_form_offers_is_one_that_answers_may_speak_for(client_file: str) -> None:
    form = questionnaire_of(bench.case(client_file), SELLER)
    assert form.fabrics and set(form.fabrics) <= set(read_given(ROOT / f"params/{client_file}.yaml").fabrics)


# ---- names


@rows("name", [
    "", "   ", "A" * 81, "Acme \u202edtL", "Ac\u200bme", "Acme\nLtd", "Acme\tLtd", "Acme\x07", "../../etc/passwd", "..",
    "/etc/passwd", "\\\\host\\share", "C:\\acme", "c:/acme", "~/acme", "acme/../../x", "a/./b", "e" + "\u0301" * 20,
])  # fmt: skip
def test_a_name_that_hides_something_or_is_a_path_is_refused(name: str) -> None:
    with pytest.raises(InputError) as error:
        provider_name(name)
    assert error.value.exit_code == 2


@rows("name", [
    '=cmd|"/c calc"!A1', "@SUM(A1)", "-1+1", "+x", "<script>alert(1)</script>", "DataCrunch/Verda", "AT&T: \"quoted\" #1",
    "{{ name }}", "$(rm -rf)", "北京云计算", "Müller & Söhne GmbH", "A" * 80, "null", "yes", "1e3", "[]:*?/\\", "%s{0}", "'=1+1",
])  # fmt: skip
def test_any_other_name_is_kept_as_it_is_and_runs_nowhere(name: str) -> None:
    form = Questionnaire(provider_name(name), "1,024 GPUs", ("rocev2",), read_questions()[:2])
    book = load_workbook(io.BytesIO(as_workbook(form, DAY)))
    cell = book[SHEET].cell(HEAD_ROWS["provider"], 2)
    assert (cell.value, cell.data_type) == (name, "s")
    assert load_yaml(as_yaml(form))["provider"] == name


names = st.text(
    st.characters(exclude_categories=("Cs", "Cc")), min_size=1, max_size=80
)  # fmt: skip


@settings(deadline=None, max_examples=60)
@given(names)
def test_a_name_is_refused_or_comes_back_from_both_forms_and_never_leaves_its_folder(name: str) -> None:
    try:
        kept = provider_name(name)
    except InputError:
        parts = name.strip().replace("\\", "/").split("/")
        path = {"", ".", "..", "~"} & {part.strip() for part in parts} or parts[0][1:2] == ":"
        assert hostile_characters(name) or path or not name.strip()
        return
    form = Questionnaire(kept, "1,024 GPUs", ("rocev2",), read_questions()[:1])
    assert load_yaml(as_yaml(form))["provider"] == kept
    cell = load_workbook(io.BytesIO(as_workbook(form, DAY)))[SHEET].cell(HEAD_ROWS["provider"], 2)
    assert (cell.value, cell.data_type) == (kept, "s")
    assert set(slugify(kept, "provider")) <= set("abcdefghijklmnopqrstuvwxyz0123456789-")


# ---- what comes back


def faults(path: Path, params: Path) -> dict[str, str]:
    """What is refused, by cell, with the file named in each."""
    with pytest.raises(InputError) as error:
        file_answers(path, params)
    assert all(problem.file == str(path) and problem.line is None for problem in error.value.problems)
    return {problem.key: str(problem) for problem in error.value.problems}


def at(question: str, column: str) -> str:
    return f"{SHEET}!{LETTERS[column]}{row_of(question)}"


WRONG: dict[str, tuple[dict[str, dict[str, Any]], str, str]] = {
    "a formula": ({"Q-NET-01": {"answer": "=1+1"}}, at("Q-NET-01", "answer"), "is a formula"),
    "a formula for a number": ({"Q-NET-01": {"value": "=SUM(G1:G2)"}}, at("Q-NET-01", "value"), "is a formula"),
    "words for a number": ({"Q-NET-01": {"value": "one to one"}}, at("Q-NET-01", "value"), "must be a number"),
    "a number that cannot be": ({"Q-NET-01": {"value": -3}}, at("Q-NET-01", "value"), "at least 0"),
    "a number that no computer holds": ({"Q-NET-01": {"value": "1e999"}}, at("Q-NET-01", "value"), "must be a number"),
    "a high end alone": ({"Q-NET-01": {"high": 3}}, at("Q-NET-01", "value"), "Fill in both ends"),
    "ends that fall": ({"Q-NET-01": {"value": 3, "high": 2}}, at("Q-NET-01", "value"), "must rise"),
    "a value where none is asked": ({"Q-OPS-01": {"value": 3}}, at("Q-OPS-01", "value"), "takes no value"),
    "another choice": ({"Q-OPS-01": {"choice": "own taem"}}, at("Q-OPS-01", "choice"), "Did you mean 'own team'?"),
    "a choice where there is none": ({"Q-NET-01": {"choice": "yes"}}, at("Q-NET-01", "choice"), "no choices"),
    "another proof": ({"Q-NET-01": {"evidence": "recrod"}}, at("Q-NET-01", "evidence"), "Did you mean 'record'?"),
    "a text that may be two numbers": ({"Q-NET-01": {"value": "1.234"}}, at("Q-NET-01", "value"), "Is it 1234 or 1.234?"),
    "another unit": ({"Q-NET-01": {"value": 1, "unit": "percent"}}, at("Q-NET-01", "unit"), "must be in x"),
    "another question": ({"Q-NET-01": {"question": "Q-NET-99", "answer": "x"}}, at("Q-NET-01", "question"), "is no question"),
    "a question twice": ({"Q-NET-02": {"question": "Q-NET-01", "answer": "x"}, "Q-NET-01": {"answer": "y"}},
                         at("Q-NET-02", "question"), "answered twice"),
    "hidden text": ({"Q-NET-01": {"answer": "a\u202eb"}}, at("Q-NET-01", "answer"), "bidirectional"),
    "a long answer": ({"Q-NET-01": {"answer": "x" * 2001}}, at("Q-NET-01", "answer"), "2001 characters"),
    "half a rank": ({"Q-NET-09": {"gpus": 1.5, "busbw_gbytes_per_s": 3}}, at("Q-NET-09", "gpus"), "whole number"),
    "a benchmark without GPUs": ({"Q-NET-09": {"busbw_gbytes_per_s": 3}}, at("Q-NET-09", "gpus"), "is missing. Fill `gpus` in"),
    "words for a rank": ({"Q-NET-09": {"gpus": "many", "busbw_gbytes_per_s": "3 GB/s"}},
                         at("Q-NET-09", "busbw_gbytes_per_s"), "Write digits alone, without a unit."),
    "more than the links carry": ({"Q-NET-09": {"gpus": 1024, "busbw_gbytes_per_s": 9000}},
                                  at("Q-NET-09", "busbw_gbytes_per_s"), "is more than"),
    "a document on two lines": ({"Q-NET-01": {"document": "a\nb"}}, at("Q-NET-01", "document"), "single line"),
}  # fmt: skip


@pytest.mark.laws(8)
@pytest.mark.parametrize("name", WRONG)
def test_what_no_answer_can_be_is_refused_by_its_cell_and_nothing_is_written(tmp_path: Path, name: str) -> None:
    answers, cell, message = WRONG[name]
    params = client(tmp_path)
    before = params.read_bytes()
    found = faults(filled(tmp_path / "form.xlsx", answers), params)
    assert cell in found and message in found[cell], found
    assert params.read_bytes() == before and not (tmp_path / "northmere-ai").exists()


@rows(("key", "value", "message"), [
    ("date", None, "is missing. Fill `date` in"),
    ("date", "2 November", "must be a date of the calendar"),
    ("date", "2026-12-02", "is after the memo's date"),
    ("date", "1900-01-01", "is over 5 years before the memo"),
    ("answered_by", None, "is missing. Fill `answered_by` in"),
    ("fabric", "infiniband-nrd", "Did you mean 'infiniband-ndr'?"),
    ("provider", None, "is missing. Fill `provider` in"),
    ("provider", "../x", "is a path"),
    ("provider", "=A1", "is a formula"),
])  # fmt: skip
def test_what_is_wrong_with_the_head_is_named_by_its_cell(tmp_path: Path, key: str, value: Any, message: str) -> None:
    found = faults(filled(tmp_path / "form.xlsx", head={**HEAD, key: value}), client(tmp_path))
    assert list(found) == [f"{SHEET}!B{HEAD_ROWS[key]}"] and message in found[f"{SHEET}!B{HEAD_ROWS[key]}"], found


def test_every_fault_of_a_workbook_comes_at_once(tmp_path: Path) -> None:
    wrong = {"Q-NET-01": {"value": "x", "evidence": "words"}, "Q-OPS-01": {"choice": "us"}}
    found = faults(filled(tmp_path / "form.xlsx", wrong, {"answered_by": "A. Seller"}), client(tmp_path))
    cells = {
        at("Q-NET-01", "value"),
        at("Q-NET-01", "evidence"),
        at("Q-OPS-01", "choice"),
        f"{SHEET}!B{HEAD_ROWS['date']}",
    }
    assert set(found) == cells


def test_a_form_in_which_nothing_is_filled_in_is_refused(tmp_path: Path) -> None:
    params = client(tmp_path)
    assert "holds no answer" in next(iter(faults(filled(tmp_path / "form.xlsx", {}), params).values()))
    form = tmp_path / "form.yaml"
    text = (
        as_yaml(form_of())
        .decode()
        .replace("date: ", "date: 2026-11-02", 1)
        .replace("answered_by: ", "answered_by: A", 1)
    )
    form.write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match="holds no answer"):
        file_answers(form, params)


def moved_column(book: Any) -> None:
    book[SHEET][f"{LETTERS['answer']}{TABLE_ROW}"].value = "Reply"


def beside(book: Any) -> None:
    book[SHEET].cell(TABLE_ROW + 2, len(COLUMNS) + 1).value = "one more thing"


def far_beside(book: Any) -> None:
    book[SHEET]["ZZ9"].value = "all of this without prejudice"


def on_another_sheet(book: Any) -> None:
    book.create_sheet("Terms")["C3"].value = "subject to stock"


def below_the_guide(book: Any) -> None:
    book[GUIDE]["A40"].value = "subject to stock"


def renamed(book: Any) -> None:
    book[SHEET].title = "Answer"


def too_long(book: Any) -> None:
    book[SHEET].cell(5000, 1).value = "Q-NET-01"


@rows(("change", "message"), [
    (moved_column, "is not the Answer of the form"), (beside, "stands beside the form"), (renamed, "has no sheet Answers"),
    (far_beside, "Answers!ZZ9: stands beside the form"), (on_another_sheet, "Terms!C3: stands outside the form"),
    (below_the_guide, "Read first!A40: stands outside the form"), (too_long, "more than 500 rows"),
])  # fmt: skip
def test_a_form_of_another_shape_is_refused(tmp_path: Path, change: Callable[[Any], None], message: str) -> None:
    book = opened()
    change(book)
    book.save(tmp_path / "form.xlsx")
    with pytest.raises(InputError, match=message):
        read_workbook(tmp_path / "form.xlsx")


def packed(path: Path, parts: dict[str, bytes]) -> Path:
    """The empty form with other parts in it."""
    with zipfile.ZipFile(io.BytesIO(blank())) as old, zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as new:
        for name in old.namelist():
            if name not in parts:
                new.writestr(name, old.read(name))
        for name, data in parts.items():
            new.writestr(name, data)
    return path


ENTITIES = b'<?xml version="1.0"?><!DOCTYPE x [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;">]><x>&b;</x>'


@rows(("parts", "message"), [
    ({"xl/vbaProject.bin": b"x"}, "holds macros"),
    ({"xl/externalLinks/externalLink1.xml": b"<x/>"}, "links to other workbooks"),
    ({"xl/connections.xml": b"<x/>"}, "connections to other data"),
    ({"xl/embeddings/oleObject1.bin": b"x"}, "embedded files"),
    ({"xl/activeX/activeX1.xml": b"<x/>"}, "controls"),
    ({"xl/comments1.xml": b"<x/>"}, "holds comments"),
    ({"xl/drawings/drawing1.xml": b"<x/>"}, "text boxes"),
    ({f"xl/other/{n}.xml": b"0" * 15_000_001 for n in range(2)}, "unpacks to more"),
    ({f"xl/other/{n}.png": b"" for n in range(501)}, "more than 500 parts"),
    ({"xl/styles.xml": ENTITIES}, "declares entities"),
    ({"xl/styles.xml": ENTITIES.decode().encode("utf-16")}, "declares entities"),
    ({"xl/workbook.xml": b"not a workbook"}, "is no workbook that can be read"),
])  # fmt: skip
def test_a_workbook_that_does_more_than_hold_cells_is_refused(
    tmp_path: Path, parts: dict[str, bytes], message: str
) -> None:
    path = packed(tmp_path / "form.xlsx", parts)
    with pytest.raises(InputError, match=message):
        read_workbook(path)


@rows(("name", "data", "message"), [
    ("form.xlsm", blank(), "holds macros"),
    ("form.csv", b"a,b", "is no form of ours"),
    ("form.xlsx", b"PK\x03\x04", "is no workbook that can be read"),
    ("form.xlsx", b"\xd0\xcf\x11\xe0 an old or locked workbook", "without a password"),
    ("form.xlsx", b"x" * 5_000_001, "is larger than"),
    ("form.yaml", b"answers: !!python/object:os.system x", "tags are not allowed"),
])  # fmt: skip
def test_a_file_of_another_kind_is_refused(tmp_path: Path, name: str, data: bytes, message: str) -> None:
    (tmp_path / name).write_bytes(data)
    with pytest.raises(InputError, match=message):
        file_answers(tmp_path / name, client(tmp_path))


def test_another_workbook_of_one_sheet_is_refused(tmp_path: Path) -> None:
    book = Workbook()
    book.active.append(["Q-NET-01", "our answers"])
    book.save(tmp_path / "form.xlsx")
    with pytest.raises(InputError, match="has no sheet Answers"):
        read_workbook(tmp_path / "form.xlsx")


# ---- from the form to the file


EQUIVALENT = """provider: Example Cloud
date: 2026-11-02
answered_by: A. Seller, sales
fabric: infiniband-ndr
answers:
  - {question: Q-NET-01, answer: "Two tiers, one to one; drawing attached.", value: 1, unit: x, evidence: record, document: drawing.pdf}
  - question: Q-NET-09
    answer: Log of 128 nodes attached.
    choice: yes
    evidence: log
    document: all.txt
    measured: {gpus: 1024, size_mib: 1024, busbw_gbytes_per_s: 310.5, algbw_gbytes_per_s: 155.4}
  - {question: Q-NET-12, answer: A floor can be written in., value: {low: 120, high: 180.5}, unit: gbytes/s, choice: yes, evidence: contract}
  - {question: Q-COM-05, answer: ""}
  - {question: Q-OPS-01, answer: "A team of four.\\nTested every night.", choice: own team, evidence: statement}
"""


def test_a_workbook_and_the_same_answers_in_yaml_are_filed_alike_and_read_alike_by_a_build(tmp_path: Path) -> None:
    texts = {}
    for kind in ("xlsx", "yaml"):
        folder = tmp_path / kind
        folder.mkdir()
        params, form = client(folder), folder / f"form.{kind}"
        filled(form) if kind == "xlsx" else form.write_text(EQUIVALENT, encoding="utf-8")
        filed = file_answers(form, params)
        texts[kind] = Path(filed.file).read_bytes()
        assert filed.questions == ("Q-NET-01", "Q-NET-09", "Q-NET-12", "Q-OPS-01")
    assert texts["xlsx"] == texts["yaml"]
    again = read_answers(tmp_path / "xlsx/northmere-ai/providers/example-cloud.yaml", provider=SELLER)
    typed = read_answers(tmp_path / "yaml/form.yaml", provider=SELLER)
    assert (again.provider, again.date, again.answered_by, again.fabric) == (
        typed.provider, typed.date, typed.answered_by, typed.fabric,
    )  # fmt: skip
    for question, answer in again.answers.items():
        assert {**vars(answer), "line": 0} == {**vars(typed.answers[question]), "line": 0}
    assert set(typed.answers) - set(again.answers) == {"Q-COM-05"}


def test_a_day_or_a_number_that_a_spreadsheet_made_of_what_was_typed_is_what_it_was(tmp_path: Path) -> None:
    from datetime import datetime

    answers = {"Q-NET-01": {"answer": 400, "document": 7}}
    path = filled(tmp_path / "form.xlsx", answers, {**HEAD, "date": datetime(2026, 11, 2)})
    file_answers(path, client(tmp_path))
    found = read_answers(tmp_path / "northmere-ai/providers/example-cloud.yaml", provider=SELLER)
    assert found.date == "2026-11-02"
    assert (found.answers["Q-NET-01"].text, found.answers["Q-NET-01"].document) == ("400", "7")


def test_text_that_looks_like_a_formula_or_markup_is_kept_as_text(tmp_path: Path) -> None:
    texts = [
        '=HYPERLINK("http://x")',
        "<script>alert(1)</script>",
        "#let x = 1",
        "{{ 7*7 }}",
        "@x",
        "---\n- a: &b c",
        "'=1",
    ]
    book = opened()
    ids = [question.id for question in form_of().questions][: len(texts)]
    for question, text in zip(ids, texts, strict=True):
        cell = book[SHEET][f"{LETTERS['answer']}{row_of(question)}"]
        cell.value, cell.data_type = text, "s"
    for key, value in HEAD.items():
        book[SHEET].cell(HEAD_ROWS[key], 2).value = value
    book.save(tmp_path / "form.xlsx")
    file_answers(tmp_path / "form.xlsx", client(tmp_path))
    found = read_answers(tmp_path / "northmere-ai/providers/example-cloud.yaml", provider=SELLER)
    assert [found.answers[question].text for question in ids] == texts


def test_a_question_put_in_other_words_is_told_of(tmp_path: Path) -> None:
    reworded = {**ANSWERS, "Q-OPS-01": {**ANSWERS["Q-OPS-01"], "asked": "Is the fabric nice?"}}
    notes = file_answers(filled(tmp_path / "form.xlsx", reworded), client(tmp_path)).notes
    assert any("Q-OPS-01" in note for note in notes) and not any("Q-NET" in note for note in notes)


def test_the_form_is_for_a_named_seller_of_this_client() -> None:
    with pytest.raises(InputError):
        questionnaire_of(example(), "a" * 81)
