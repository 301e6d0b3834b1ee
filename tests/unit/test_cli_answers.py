"""The questionnaire and answers commands at a terminal: what they write, what they say and what they end with."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner
from openpyxl import load_workbook
from questionnaire_cases import ANSWERS, HEAD, SELLER, client, fill

from fabricreport.checking.check import check
from fabricreport.cli import main

pytestmark = pytest.mark.usefixtures("few_draws")


def run(*args: str) -> tuple[int, str, str]:
    result = CliRunner().invoke(main, args)
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    return result.exit_code, result.stdout, result.stderr


@pytest.fixture
def params(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.chdir(tmp_path)
    return client(tmp_path).name


@pytest.mark.slow
def test_questions_go_out_answers_come_in_and_what_is_filed_passes_check(params: str) -> None:
    code, out, _ = run("questionnaire", params, "--provider", SELLER, "--output", "out/form.xlsx")
    assert code == 0 and "answers out/form.xlsx --params client.yaml" in out
    code, _, err = run("questionnaire", params, "--provider", SELLER, "--output", "out/form.xlsx")
    assert code == 2 and "is already there" in err
    book = load_workbook("out/form.xlsx")
    fill(book, ANSWERS, HEAD)
    book.save("back.xlsx")
    code, out, _ = run("answers", "back.xlsx", "--params", params)
    assert code == 0 and "4 answers of Example Cloud" in out and "wrote" in out
    code, out, _ = run("answers", "back.xlsx", "--params", params, "--json")
    told = json.loads(out)
    assert code == 0 and told["named"] and told["changed"] == [] and told["answers"] == list(ANSWERS)
    assert not check(Path(params)).problems


def test_a_form_is_named_after_client_and_seller_where_no_file_is_named(params: str) -> None:
    code, out, _ = run("questionnaire", params, "--provider", "=SUM(A1)/x", "--json")
    told = json.loads(out)
    assert (
        code == 0 and told["written"] == "questionnaires/northmere-ai/sum-a1-x.xlsx" and Path(told["written"]).is_file()
    )
    assert told["provider"] == "=SUM(A1)/x" and "Q-NET-07" in told["questions"]
    assert run("questionnaire", params, "--provider", "北京", "--output", "form.yaml")[0] == 0


@pytest.mark.parametrize(("provider", "output"), [
    ("a\u202eb", "form.xlsx"), ("../x", "form.xlsx"), ("A" * 81, "form.yaml"), ("", "form.yaml"), (SELLER, "form.xlsm"),
    (SELLER, "form"),
])  # fmt: skip
def test_a_name_or_a_file_that_will_not_do_ends_with_two_and_writes_nothing(
    params: str, provider: str, output: str
) -> None:
    code, _, err = run("questionnaire", params, "--provider", provider, "--output", output)
    assert code == 2 and err and not Path(output).exists()


def test_what_cannot_be_named_safely_is_told_on_standard_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    client(tmp_path, "providers:\n  - name: |\n      Example Cloud\n")
    head = "provider: Example Cloud\ndate: 2026-11-02\nanswered_by: A\nanswers:\n"
    Path("form.yml").write_text(head + "  - {question: Q-COM-05, answer: Never.}\n", encoding="utf-8")
    code, out, err = run("answers", "form.yml", "--params", "client.yaml")
    assert code == 0 and "write into it, line" in err and "answers: providers/example-cloud.yaml" in err
    assert Path("providers/example-cloud.yaml").is_file() and "1 answer of" in out


def test_faults_are_told_all_at_once_with_exit_code_two(params: str) -> None:
    wrong = "provider: Example Cloud\ndate: today\nanswered_by: A\nanswers:\n  - {question: Q-NET-1, answer: x}\n"
    Path("form.yaml").write_text(wrong, encoding="utf-8")
    code, _, err = run("answers", "form.yaml", "--params", params)
    assert code == 2 and "form.yaml:2: date: is not a day" in err and "form.yaml:5: answers[0].question" in err
    code, out, _ = run("answers", "form.yaml", "--params", params, "--json")
    assert code == 2 and len(json.loads(out)["problems"]) == 2
