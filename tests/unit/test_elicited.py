"""Experts' answers from the params to the figures in force, to the cache and the snapshot, and the command that asks."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import bench
import numpy as np
import pytest
import yaml
from click.testing import CliRunner
from elicited_cases import CAREFUL, SURE, write_two
from scenario_cases import minimal

from fabricreport.base.provenance import plain
from fabricreport.books.elicitation import read_questionnaire
from fabricreport.case import Case, open_case
from fabricreport.check.check import check
from fabricreport.cli import books
from fabricreport.cli.main import main
from fabricreport.memo.run.recall import _NAMED
from fabricreport.memo.run.snapshot import take_snapshot
from fabricreport.scenario import load_params
from fabricreport.sections.evidence.facts import EvidenceFinding as F
from fabricreport.sections.evidence.facts import spoken

INFINIBAND, ROCEV2 = "evidence:weeks-to-stable-infiniband", "evidence:weeks-to-stable-rocev2"
OPTIONS = ["infiniband-ndr", "rocev2-branded-400g", "rocev2-whitebox-400g"]
pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("few_draws")]
EXAMPLE = Path(__file__).parents[2] / "params" / "elicited" / "example-answers.yaml"


def client(folder: Path, names: list[str] | None = None) -> Path:
    """A small client that names the answers of two experts (or those of `names`)."""
    two = write_two(folder)
    path = folder / "acme.yaml"
    path.write_text(
        yaml.safe_dump({**minimal(), "options": OPTIONS, "elicited": two if names is None else names}), encoding="utf-8"
    )
    return path


def test_what_experts_judged_stands_in_the_place_of_our_assumption(tmp_path: Path) -> None:
    given = open_case(client(tmp_path)).inputs
    ours = open_case(client(tmp_path, [])).inputs
    for input_id in (INFINIBAND, ROCEV2):
        record = given.record(input_id)
        assert (record["grade"], record["date"], record["publisher"]) == (
            "estimate", "2026-11-02", "C. Careful and S. Sure",
        )  # fmt: skip
        assert record["override"]["why"] == "elicited by 2026-11-02, pooled by calibration"
        assert ours.record(input_id)["grade"] == "assumption" and ours.record(input_id)["override"] is None
    below, above = plain(given.draw(INFINIBAND)), plain(given.draw(ROCEV2))
    assert np.quantile(below, [0.05, 0.5, 0.95]) == pytest.approx([2, 4, 10], rel=0.08)
    assert np.corrcoef(np.log(below), np.log(above))[0, 1] > 0.9, "a ratio was asked, so one follows the other"
    others = [i for i in ("evidence:fabric-tuning-rocev2", "evidence:pue") if i.partition(":")[2] in given.evidence]
    assert others and all(np.array_equal(plain(given.draw(i)), plain(ours.draw(i))) for i in others)


def test_a_what_if_of_one_leaves_the_others_at_their_draws(tmp_path: Path) -> None:
    given = open_case(client(tmp_path)).inputs
    moved = open_case(client(tmp_path)).changed(evidence={"weeks-to-stable-infiniband": 30}).inputs
    assert moved.central(INFINIBAND) == 30
    assert np.array_equal(plain(moved.draw(ROCEV2)), plain(given.draw(ROCEV2)))
    without = open_case(client(tmp_path)).changed(elicited=[]).inputs
    assert without.record(ROCEV2)["grade"] == "assumption" and not without.elicited


def test_a_changed_answer_is_another_snapshot(tmp_path: Path) -> None:
    path = client(tmp_path)
    params = load_params(path)
    frozen = take_snapshot(params, path, tmp_path / "frozen")
    assert {f.name: f.kind for f in frozen.files if f.kind == "elicited"} == {CAREFUL: "elicited", SURE: "elicited"}
    assert "elicited" in _NAMED, "an unchanged build looks at it too"
    assert open_case(frozen.params_json).inputs.record(ROCEV2)["text"] == open_case(path).inputs.record(ROCEV2)["text"]
    text = (tmp_path / CAREFUL).read_text(encoding="utf-8")
    (tmp_path / CAREFUL).write_text(text.replace("p50: 1.1,", "p50: 1.3,"), encoding="utf-8")
    assert take_snapshot(params, path, tmp_path / "again").hashes != frozen.hashes


def told(case: Case) -> set[str]:
    """What is said of a client's judges, beside the sources of another."""
    return set(spoken(case.inputs, bench.case("example").evidence()).findings)


def test_whoever_misses_the_known_answers_is_doubted_in_words(tmp_path: Path) -> None:
    heard, sure, none = (told(open_case(client(tmp_path, names))) for names in (None, [SURE], []))
    assert F.ELICITED in heard and F.DOUBTED not in heard
    assert {F.ELICITED, F.DOUBTED} <= sure
    assert not {F.ELICITED, F.DOUBTED} & none


def test_check_names_the_file_the_line_and_the_key_of_bad_answers(tmp_path: Path) -> None:
    path = client(tmp_path)
    text = (tmp_path / SURE).read_text(encoding="utf-8")
    (tmp_path / SURE).write_text(text.replace("p5: 2, p50: 2.2", "p5: 2.3, p50: 2.2"), encoding="utf-8")
    (problem,) = check(path).problems
    assert (problem.file, problem.key) == (str(tmp_path / SURE), "answers[1]") and problem.line
    assert "must rise" in problem.message and problem.value == "p5: 2.3, p50: 2.2, p95: 2.5"
    (tmp_path / SURE).unlink()
    (problem,) = check(path).problems
    assert (problem.key, problem.file) == ("elicited[1]", str(path))


# ---- the command


def run(*words: str | Path, typed: str = "") -> tuple[int, str]:
    done = CliRunner().invoke(main, ["elicit", *map(str, words)], input=typed)
    return done.exit_code, done.output


def test_in_a_pipe_a_form_is_written_once_and_it_says_what_to_do(tmp_path: Path) -> None:
    path = client(tmp_path, [])
    code, said = run(path)
    written = tmp_path / "acme" / "elicited" / "form.yaml"
    assert code == 0 and written.is_file()
    assert "elicited: [acme/elicited/form.yaml]" in said and f"--answers {written}" in said
    code, said = run(path)
    assert code == 2 and "is already there" in said
    code, said = run(path, "--answers", written)
    assert code == 2 and f"{written}:" in said and "answers[0].p5: has no value. Give it one." in said


def test_a_form_put_elsewhere_says_where_it_has_to_go(tmp_path: Path) -> None:
    (tmp_path / "client").mkdir()
    path = client(tmp_path / "client", [])
    code, said = run(path, "--to", tmp_path / "else" / "r.yaml")
    assert code == 0 and "copy it to" in said and "elicited: [acme/elicited/r.yaml]" in said


def test_answers_are_scored_and_set_beside_the_library(tmp_path: Path) -> None:
    path = client(tmp_path)
    code, said = run(path, "--answers", tmp_path / CAREFUL, "--answers", tmp_path / SURE)
    assert code == 0
    assert "0 of 8 answers outside P5 to P95" in said and "7 of 7 answers outside P5 to P95" in said
    assert "known beforehand, not counted" in said and "equal weights" in said
    code, said = run(path, "--json", "--answers", tmp_path / CAREFUL)
    found = json.loads(said)
    assert found["experts"][0]["weight"] == 1.0
    assert found["entries"]["weeks-to-stable-infiniband"]["pooled"] == pytest.approx({"p5": 2, "p50": 4, "p95": 10})


def test_answers_typed_at_a_terminal_make_a_file_that_counts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = client(tmp_path, [])
    asked = read_questionnaire()
    ranges = [
        f"{s.answer / 3}\n{s.answer}\n{min(s.answer * 3, 0.9 if s.unit == 'share' else 1e9)}\n"
        for s in asked.seeds.values()
    ]
    typed = [
        "R. Expert\n",
        "network lead, Example\n",
        "known\n",
        *ranges[1:],
        "5\n4\n9\n",
        "2\n4\n9\n",
        "\n",
        "\n",
        "1.1\n1.5\n3\n",
    ]
    monkeypatch.setattr(books, "_at_a_terminal", lambda: True)
    code, said = run(path, typed="".join(typed))
    assert code == 0 and "must rise: once more" in said, said
    written = tmp_path / "acme" / "elicited" / "r-expert.yaml"
    again = path.read_text(encoding="utf-8").replace("elicited: []", "elicited: [acme/elicited/r-expert.yaml]")
    path.write_text(again, encoding="utf-8")
    given = open_case(path).inputs
    assert written.is_file()
    assert given.record(INFINIBAND)["grade"] == "estimate"
    assert given.record(ROCEV2)["grade"] == "assumption", "nobody judged it, so our range stands"
    whitebox = given.record("evidence:operating-model-whitebox-bring-up")
    assert (whitebox["grade"], whitebox["value"]) == ("estimate", pytest.approx(1.5))


def test_the_example_of_the_form_is_whole_and_check_accepts_it(tmp_path: Path) -> None:
    (tmp_path / "elicited").mkdir()
    shutil.copy(EXAMPLE, tmp_path / "elicited")
    path = client(tmp_path, ["elicited/example-answers.yaml"])
    assert check(path).problems == ()
    (score,) = open_case(path).inputs.elicited.scores
    assert score.seeds == 6 and score.weight == 1.0
