"""The questionnaire and answers commands at a terminal: what they write, what they say and what they end with."""

from __future__ import annotations

import csv
import json
import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import bench
import pytest
from click.testing import CliRunner
from delivered_cases import delivery, write
from openpyxl import load_workbook
from published_cases import put_edition
from questionnaire_cases import ANSWERS, HEAD, SELLER, client, fill
from rows import rows

import fabricreport.delivery.delivery as delivered
import fabricreport.inputs.inputs as inputs_module
from fabricreport.base.errors import MemoRejected
from fabricreport.case import open_case
from fabricreport.check.check import check
from fabricreport.cli.main import main
from fabricreport.delivery.study import plan_of
from fabricreport.memo.editions.editions import list_editions, prune
from fabricreport.memo.editions.manifest import read_sealed

pytestmark = pytest.mark.slow


def run(*args: str) -> tuple[int, str, str]:
    result = CliRunner().invoke(main, args)
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    return result.exit_code, result.stdout, result.stderr


@pytest.fixture
def params(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.chdir(tmp_path)
    return client(tmp_path).name


@pytest.mark.usefixtures("few_draws")
def test_questions_go_out_answers_come_in_and_what_is_filed_passes_check(params: str) -> None:
    text = Path(params).read_text(encoding="utf-8")
    Path(params).write_text(text.replace("spectrum-x-400g, rocev2-branded-400g, ", ""), encoding="utf-8")
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


@pytest.mark.usefixtures("few_draws")
def test_a_form_is_named_after_client_and_seller_where_no_file_is_named(params: str) -> None:
    code, out, _ = run("questionnaire", params, "--provider", "=SUM(A1)/x", "--json")
    told = json.loads(out)
    assert (
        code == 0 and told["written"] == "questionnaires/northmere-ai/sum-a1-x.xlsx" and Path(told["written"]).is_file()
    )
    assert told["provider"] == "=SUM(A1)/x" and "Q-NET-07" in told["questions"]
    assert run("questionnaire", params, "--provider", "北京", "--output", "form.yaml")[0] == 0


@pytest.mark.usefixtures("few_draws")
@rows(("provider", "output"), [
    ("a\u202eb", "form.xlsx"), ("../x", "form.xlsx"), ("A" * 81, "form.yaml"), ("", "form.yaml"), (SELLER, "form.xlsm"),
    (SELLER, "form"),
])  # fmt: skip
def test_a_name_or_a_file_that_will_not_do_ends_with_two_and_writes_nothing(
    params: str, provider: str, output: str
) -> None:
    code, _, err = run("questionnaire", params, "--provider", provider, "--output", output)
    assert code == 2 and err and not Path(output).exists()


@pytest.mark.usefixtures("few_draws")
def test_what_cannot_be_named_safely_is_told_on_standard_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    client(tmp_path, "providers:\n  - name: |\n      Example Cloud\n")
    head = "provider: Example Cloud\ndate: 2026-11-02\nanswered_by: A\nanswers:\n"
    Path("form.yml").write_text(head + "  - {question: Q-COM-05, answer: Never.}\n", encoding="utf-8")
    code, out, err = run("answers", "form.yml", "--params", "client.yaml")
    assert code == 0 and "write into it, line" in err and "answers: northmere-ai/providers/example-cloud.yaml" in err
    assert Path("northmere-ai/providers/example-cloud.yaml").is_file() and "1 answer of" in out


@pytest.mark.usefixtures("few_draws")
def test_faults_are_told_all_at_once_with_exit_code_two(params: str) -> None:
    wrong = "provider: Example Cloud\ndate: today\nanswered_by: A\nanswers:\n  - {question: Q-NET-1, answer: x}\n"
    Path("form.yaml").write_text(wrong, encoding="utf-8")
    code, _, err = run("answers", "form.yaml", "--params", params)
    assert (
        code == 2
        and "form.yaml:2: date: must be a date of the calendar" in err
        and "form.yaml:5: answers[0].question" in err
    )
    code, out, _ = run("answers", "form.yaml", "--params", params, "--json")
    assert code == 2 and len(json.loads(out)["problems"]) == 2


ROOT = Path(__file__).parents[2]
ANSWER = {"seller": "Acme Ltd", "quoted_on": "2026-11-10", "unit_price": "120000", "valid_until": "2026-12-31"}


@pytest.fixture
def buyer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A client with price files of its own, from whose folder the commands are run."""
    for name in ("prices", "providers"):
        shutil.copytree(ROOT / "params" / name, tmp_path / name)
    shutil.copy(ROOT / "params/halden-cloud.yaml", tmp_path / "client.yaml")
    monkeypatch.chdir(tmp_path)
    yield tmp_path / "client.yaml"


def answer(form: Path, **more: str) -> None:
    """Fill in the first quote of the switch."""
    with form.open(encoding="utf-8-sig", newline="") as handle:
        rows = list(csv.DictReader(handle))
    first = next(row for row in rows if row["item"] == "switch-q3400")
    first.update({**ANSWER, **more})
    with form.open("w", encoding="utf-8", newline="") as handle:
        writer = csv.DictWriter(handle, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)


@pytest.mark.usefixtures("few_draws")
def test_forms_are_written_once_and_a_filled_one_is_filed(buyer: Path) -> None:
    code, out, _ = run("quotes", "client.yaml", "--output", "forms")
    assert code == 0 and "quotes import FILE --params client.yaml" in out
    assert {path.suffix for path in Path("forms").iterdir()} == {".csv", ".xlsx"}
    code, _, err = run("quotes", "--output", "forms", "client.yaml")
    assert code == 2 and "is already there" in err
    form = Path("forms/infiniband-xdr.csv")
    answer(form)
    code, out, _ = run("quotes", "import", str(form), "--params", "client.yaml")
    assert code == 0 and "1 quotes added" in out
    filed = Path("halden-cloud/prices/quotes-acme-ltd.csv").read_bytes()
    code, out, _ = run("quotes", "import", str(form), "--params", "client.yaml", "--json")
    told = json.loads(out)
    assert (code, told["added"], told["known"]) == (0, 0, 1)
    assert Path("halden-cloud/prices/quotes-acme-ltd.csv").read_bytes() == filed
    assert open_case(Path("client.yaml")).prices["switch-q3400"].price == 120_000
    assert not list(Path("prices").glob("*quotes*"))


@pytest.mark.usefixtures("few_draws")
def test_a_quote_to_nobody_in_particular_is_refused_unless_it_is_shared_and_then_names_whose_memos_it_moves(
    buyer: Path,
) -> None:
    assert run("quotes", "client.yaml")[0] == 0
    form = next(Path("quotes").glob("*/infiniband-xdr.csv"))
    answer(form)
    code, _, err = run("quotes", "import", str(form))
    assert code == 2 and "--params" in err and "--shared" in err and not list(Path("prices").glob("*quotes*"))
    shutil.copy(ROOT / "params/tern-finetuning.yaml", "renter.yaml")
    others = "options: [spectrum-x-800g, rocev2-branded-800g]\n"
    lines = buyer.read_text(encoding="utf-8").splitlines(keepends=True)
    text = "".join(others if line.startswith("options:") else line for line in lines)
    Path("ethernet.yaml").write_text(text, encoding="utf-8")
    Path("broken.yaml").write_text("client: 1\n", encoding="utf-8")
    code, out, _ = run("quotes", "import", str(form), "--shared", "--json")
    told = json.loads(out)
    assert code == 0 and Path("prices/quotes-acme-ltd.csv").is_file()
    moved = {"params": "client.yaml", "client": "Halden Cloud", "items": ["switch-q3400"]}
    assert told["moves"] == [moved] and ["broken.yaml" in note for note in told["notes"]] == [True]
    code, out, _ = run("quotes", "import", str(form), "--shared")
    assert code == 0 and "moves no memo" in out, "it is there already"


@pytest.mark.usefixtures("few_draws")
def test_a_form_with_a_fault_files_nothing_and_names_the_line(buyer: Path) -> None:
    assert run("quotes", "client.yaml", "--output", "forms")[0] == 0
    form = Path("forms/infiniband-xdr.csv")
    answer(form, unit_price="-1", seller="=cmd")
    code, _, err = run("quotes", "import", str(form), "--params", "client.yaml")
    assert code == 2 and f"{form}:2: unit_price" in err and f"{form}:2: seller" in err
    assert not list(Path("prices").glob("*quotes*"))
    code, out, _ = run("quotes", "import", str(form), "--params", "client.yaml", "--json")
    assert code == 2 and len(json.loads(out)["problems"]) == 2


@pytest.mark.usefixtures("few_draws")
def test_a_file_or_params_that_cannot_be_read_end_in_a_message(buyer: Path) -> None:
    for args in (("none.yaml",), ("import", "none.csv"), ("import", "client.yaml")):
        code, _, err = run("quotes", *args)
        assert code == 2 and err and "Traceback" not in err
    Path("client.yaml").write_text("client: 1\n", encoding="utf-8")
    assert run("quotes", "client.yaml")[0] == 2
    Path("file").write_text("", encoding="utf-8")
    shutil.copy(ROOT / "params/halden-cloud.yaml", "client.yaml")
    code, _, err = run("quotes", "client.yaml", "--output", "file/forms")
    assert code == 2 and "cannot be written" in err


PARAMS = ROOT / "params/tern-finetuning.yaml"
FILES = ("acceptance.html", "acceptance.json", "acceptance.pdf")


def accept(*arguments: object) -> Any:
    return CliRunner().invoke(main, ["accept", *map(str, arguments)])


def logs(folder: Path, **kind: float) -> Sequence[Path]:
    return write(delivery(plan_of(bench.case("tern-finetuning")), **kind), folder)  # type: ignore[arg-type]


def test_a_delivery_is_judged_published_and_read_and_stays_where_the_next_cannot_be_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(inputs_module, "DRAWS", bench.DRAWS)
    out, home = tmp_path / "out", tmp_path / "out/tern-analytics/acceptance"
    memo = put_edition(PARAMS, out)
    bad = accept(PARAMS, "--logs", *logs(tmp_path / "slow", share=0.6), "--output", out, "--json")
    assert bad.exit_code == 0, bad.output
    facts = json.loads(bad.stdout)
    assert (facts["ok"], facts["verdict"], facts["folder"]) == (True, "reject", str(home))
    first = {name: (home / name).read_bytes() for name in FILES}
    assert json.loads(first["acceptance.json"])["tests"] == facts["tests"]
    assert first["acceptance.pdf"].startswith(b"%PDF") and b"<!doctype html>" in first["acceptance.html"]

    with monkeypatch.context() as judged:
        judged.setattr(delivered, "deliver", lambda *_, **__: delivered.Accepted(home, facts))
        told = accept(PARAMS, "--logs", PARAMS, "--output", out).output
    assert "reject (" in told and "T-ALLREDUCE" in told

    def refused(*_: object) -> bytes:
        raise MemoRejected(["the PDF cannot be written"])

    monkeypatch.setattr("fabricreport.memo.write.exporters.printed", refused)
    failed = accept(PARAMS, "--logs", *logs(tmp_path / "good"), "--output", out)
    assert failed.exit_code == MemoRejected.exit_code
    assert {name: (home / name).read_bytes() for name in FILES} == first  # the last good one is still there
    assert [e.edition for e in list_editions(out) if e.client != "_evidence"] == [
        memo.name
    ]  # no other edition of the memo itself
    assert not [path for path in out.iterdir() if path.name.startswith(".scratch")]
    (run,) = home.glob("2026-*/run.json")
    assert read_sealed(run)["memo"] == memo.name
    put_edition(PARAMS, out, as_of="2026-11-28")
    assert prune(out, 1, "tern-analytics") == {f"tern-analytics/{memo.name}": "kept: accepted"}


def test_a_log_under_another_name_is_another_input_of_the_edition(tmp_path: Path) -> None:
    (log,) = write({"T-ALLGATHER.zzz.log": "x"}, tmp_path / "logs")
    ((wrong, said),) = delivered._freeze([log], tmp_path / "wrong").items()
    ((right, same),) = delivered._freeze([log.rename(log.with_name("T-ALLREDUCE.log"))], tmp_path / "right").items()
    assert said == same and (Path(wrong).name, Path(right).name) == ("T-ALLGATHER.zzz.log", "T-ALLREDUCE.log")


@rows("option", ["a/b", "../../x", "x" * 300, "infiniband-nrd"])
def test_an_option_that_nobody_knows_is_refused_before_anything_is_made(tmp_path: Path, option: str) -> None:
    done = accept(PARAMS, "--logs", *write({"a.log": "x"}, tmp_path / "logs"), "--option", option, "--output", tmp_path)
    assert done.exit_code == 2 and "is no option of this client" in done.output and not (tmp_path / "x").exists()


def test_every_fault_of_the_files_ends_with_2_and_publishes_nothing(tmp_path: Path) -> None:
    files = write({"a.log": "nothing\n", "b.yaml": "tests: 7\n"}, tmp_path / "logs")
    done = accept(PARAMS, "--logs", *files, tmp_path / "none.log", "--output", tmp_path / "out", "--json")
    assert done.exit_code == 2
    told = json.loads(done.stdout)
    assert told["ok"] is False and "none.log" in told["problems"][0]["file"]
    done = accept(PARAMS, "--logs", *files, "--output", tmp_path / "out")
    assert done.exit_code == 2
    assert str(files[0]) in done.output and str(files[1]) in done.output  # the user's files, not the copies
    assert not (tmp_path / "out/tern-analytics").exists()


def test_a_file_where_a_link_belongs_is_never_overwritten(tmp_path: Path) -> None:
    home = tmp_path / "out/tern-analytics/acceptance"
    home.mkdir(parents=True)
    (home / "acceptance.pdf").write_text("mine")
    with pytest.raises(delivered.InputError, match="stands where"):
        delivered.link_newest(home)
    assert (home / "acceptance.pdf").read_text() == "mine"


def test_the_help_says_what_the_exit_codes_mean() -> None:
    shown = " ".join(accept("--help").output.split())
    assert "0 whatever the verdict" in shown and "2 the input is wrong" in shown
    assert accept(PARAMS).exit_code == 2  # no logs named
