"""One question followed from end to end, and the command that prints it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from unittest import mock

import bench
import pytest
import yaml
from click.testing import CliRunner
from rows import rows

import fabricreport.case as case_module
import fabricreport.inputs.inputs as inputs_module
from fabricreport.base.errors import InputError
from fabricreport.case import Case, keep_open, open_case
from fabricreport.cli.main import main
from fabricreport.desk.trace import NOT_RUN, Trace, question_of, trace

PARAMS = Path(__file__).parents[2] / "params"
KEYS = ["question", "answer", "evidence", "input", "numbers", "clause", "test", "result"]
pytestmark = pytest.mark.slow
WEEKS = {
    "question": "Q-OPS-10",
    "answer": "Three weeks, as at two sites.",
    "value": 3,
    "unit": "week",
    "document": "a.pdf",
}
EXIT = {"question": "Q-COM-05", "answer": "Three months' notice, licences stay with the equipment."}


def client(folder: Path) -> Path:
    """The example client, with a seller who answers two questions."""
    data = yaml.safe_load((PARAMS / "example.yaml").read_text(encoding="utf-8"))
    file = {
        "provider": "Example Cloud",
        "date": "2026-11-02",
        "answered_by": "A. Seller",
        "fabric": "infiniband-ndr",
        "answers": [{**WEEKS, "evidence": "record"}, EXIT],
    }
    (folder / "a.yaml").write_text(yaml.safe_dump(file), encoding="utf-8")
    data["organisation"]["qos_expertise"], data["money"]["manager_licence"] = "none", "charged"  # advised InfiniBand
    data |= {
        "as_of": str(data["as_of"]),
        "options": ["infiniband-ndr", "rocev2-branded-400g"],
        "providers": [{"name": "Example Cloud", "answers": "a.yaml"}],
    }
    (folder / "client.yaml").write_text(yaml.safe_dump(data), encoding="utf-8")
    return folder / "client.yaml"


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The params of a client whose case everybody who opens it shares."""
    with mock.patch.object(inputs_module, "DRAWS", bench.DRAWS), mock.patch.object(case_module, "_KEPT", {}):
        path = client(tmp_path_factory.mktemp("client"))
        keep_open(path)
        yield path


@pytest.fixture
def answered(path: Path) -> Case:
    return open_case(path)


@pytest.fixture(scope="module")
def of_weeks(path: Path, tmp_path_factory: pytest.TempPathFactory) -> Trace:
    output = tmp_path_factory.mktemp("output")
    record(output, T_WEEKS="fail", T_SOAK="pass", T_LINKS="not proven")
    return trace(open_case(path), "Q-OPS-10", output)


def moved(found: Trace) -> set[str]:
    return {row["id"] for row in found.numbers if row["moved"]}


def test_a_trace_has_its_eight_parts_and_no_other(of_weeks: Trace) -> None:
    found = of_weeks
    assert list(found.as_dict()) == KEYS
    assert json.loads(json.dumps(found.as_dict()))["question"]["id"] == "Q-OPS-10"


def test_an_answer_is_followed_into_the_input_the_numbers_and_the_clause(answered: Case, of_weeks: Trace) -> None:
    found = of_weeks
    (answer,) = found.answer
    assert (answer["provider"], answer["value"], answer["verdict"]) == (
        "Example Cloud",
        {"low": 3.0, "high": 3.0},
        "specific",
    )
    assert found.evidence["given"] == [{"provider": "Example Cloud", "rests_on": "record", "document": "a.pdf"}]
    (row,) = found.input["moved"]
    assert row["id"] == "evidence:weeks-to-stable-infiniband" and row["before"] != row["after"]
    assert {"decision.difference", "decision.total.infiniband-ndr", "diligence.term.Q-OPS-10"} <= moved(found)
    assert "decision.total.rocev2-branded-400g" not in moved(found)
    assert found.clause is not None and "within 3" in found.clause["text"]
    assert found.clause["answered_by"] == "Example Cloud"
    (test,) = found.test
    weeks = answered.figure("diligence.pass.weeks").value
    assert (test["id"], test["option"], test["gpus"]) == ("T-WEEKS", "InfiniBand NDR 400G", 1024)
    assert [t["value"] for t in test["thresholds"]] == [pytest.approx(weeks, rel=0.05)]
    assert found.result["verdict"] == "fail" and [t["id"] for t in found.result["tests"]] == ["T-WEEKS"]


def test_the_numbers_before_are_those_of_the_client_without_this_answer(answered: Case, of_weeks: Trace) -> None:
    found = {row["id"]: row for row in of_weeks.numbers}
    without = answered.without_answers("Q-OPS-10").tco().numbers
    assert found["decision.difference"]["before"] == without["tco.difference"].text
    assert found["decision.total.infiniband-ndr"]["before"] == without["tco.total.infiniband-ndr"].text
    for figure_id in ("decision.probability", "decision.difference"):
        assert found[figure_id]["after"] == answered.figure(figure_id).text
    assert found["diligence.term.Q-OPS-10"]["before"] is None


def test_an_answer_that_moves_nothing_moves_no_number(answered: Case, tmp_path: Path) -> None:
    found = trace(answered, "Q-COM-05", tmp_path)
    assert found.answer and found.input["moved"] == [] and moved(found) == set()
    assert found.result == {"verdict": NOT_RUN, "tests": []}


def test_a_question_that_nobody_answered_and_one_not_put_say_so(answered: Case, tmp_path: Path) -> None:
    (answer,) = trace(answered, "Q-NET-07", tmp_path).answer
    assert answer["verdict"] == "missing"
    rented = trace(answered, "Q-COM-04", tmp_path)
    assert not rented.question["put_to_sellers"] and rented.answer == ()


def test_a_question_is_found_under_its_former_name_and_a_mistake_names_the_nearest() -> None:
    assert question_of("allreduce-results").id == "Q-NET-07"
    with pytest.raises(InputError) as caught:
        question_of("Q-NET-77")
    assert caught.value.exit_code == 2 and str(caught.value.problems[0].suggestion).startswith("Q-NET-")


def record(folder: Path, **tests: str) -> Path:
    path = folder / "northmere-ai" / "acceptance" / "acceptance.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    rows = [{"id": i.replace("_", "-"), "verdict": v, "reason": "told", "questions": []} for i, v in tests.items()]
    path.write_text(json.dumps({"as_of": "2026-12-01", "tests": rows}), encoding="utf-8")
    return path


def test_the_result_is_the_worst_of_the_tests_that_hold_the_seller_to_the_answer(
    answered: Case, tmp_path: Path
) -> None:
    record(tmp_path, T_WEEKS="fail", T_SOAK="pass", T_LINKS="not proven")
    found = {i: trace(answered, i, tmp_path).result["verdict"] for i in ("Q-OPS-07", "Q-NET-02", "Q-COM-05")}
    assert found == {"Q-OPS-07": "pass", "Q-NET-02": "not proven", "Q-COM-05": NOT_RUN}


@rows("text", ["", "[]", '{"tests": [{"id": 1}]}'])
def test_a_record_that_is_none_is_refused_with_its_file(answered: Case, tmp_path: Path, text: str) -> None:
    path = record(tmp_path)
    path.write_text(text, encoding="utf-8")
    with pytest.raises(InputError) as caught:
        trace(answered, "Q-OPS-07", tmp_path)
    assert caught.value.problems[0].file == str(path)


def run(*args: str) -> tuple[int, str, str]:
    result = CliRunner().invoke(main, args)
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    return result.exit_code, result.stdout, result.stderr


def test_the_command_prints_the_parts_as_text_and_as_json(path: Path, tmp_path: Path) -> None:
    code, out, _ = run("trace", "Q-OPS-07", str(path), "--output", str(tmp_path))
    assert code == 0
    assert [line.split(":")[0].split(" (")[0] for line in out.splitlines() if line[:1] not in (" ", "Q")] == [
        "Answer", "Evidence", "Input", "Numbers", "Clause", "Test", "Result",
    ]  # fmt: skip
    code, out, _ = run("trace", "Q-OPS-07", str(path), "--json", "--output", str(tmp_path))
    parts: dict[str, Any] = json.loads(out)
    assert code == 0 and set(parts) == set(KEYS)


def test_an_unknown_id_ends_with_two_and_the_nearest_before_anything_is_run(tmp_path: Path) -> None:
    code, _, err = run("trace", "Q-NET-7", str(tmp_path / "none.yaml"))
    assert code == 2 and "Q-NET-07" in err
    code, _, err = run("trace", "Q-NET-07", str(tmp_path / "none.yaml"))
    assert code == 2 and "none.yaml" in err
