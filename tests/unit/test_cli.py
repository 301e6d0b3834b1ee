"""The command line mirrors the library, documents itself, and ends with the documented exit codes."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from datetime import date
from pathlib import Path

import pytest
from click.testing import CliRunner

from fabricreport.cli import _say_built, main
from fabricreport.errors import Problem
from fabricreport.memo.build import BuildResult
from fabricreport.memo.run.run_record import RunRecord

ROOT = Path(__file__).parents[2]


def run(*args: str) -> tuple[int, str, str]:
    result = CliRunner().invoke(main, args)
    return result.exit_code, result.stdout, result.stderr


def test_a_wrong_file_ends_with_two_and_one_message_per_problem(tmp_path: Path) -> None:
    path = tmp_path / "bad.yaml"
    path.write_text((ROOT / "params/example.yaml").read_text().replace("gpus: 1024", "gpuz: 1024"))
    code, out, err = run("check", str(path))
    assert (code, out) == (2, "")
    assert "gpuz: is not a known key. Did you mean 'gpus'?" in err and "Traceback" not in err
    code, out, _ = run("check", "--json", str(path))
    told = json.loads(out)
    assert code == 2 and not told["ok"] and {"file", "line", "key", "remedy"} <= set(told["problems"][0])


def test_a_fault_of_a_book_that_several_params_files_share_is_told_once(tmp_path: Path) -> None:
    (tmp_path / "options").mkdir()
    (tmp_path / "options" / "own.yaml").write_text("- id: mine\n  like: nope\n", encoding="utf-8")
    paths = [tmp_path / f"{name}.yaml" for name in ("one", "two", "three")]
    for path in paths:
        path.write_text((ROOT / "params/tern-finetuning.yaml").read_text(encoding="utf-8"), encoding="utf-8")
    code, _, err = run("check", *map(str, paths))
    assert code == 2 and err.count("no option of this id stands above") == 1


def test_books_and_params_together_are_checked_with_file_and_line(tmp_path: Path) -> None:
    path = tmp_path / "huge.yaml"
    path.write_text((ROOT / "params/example.yaml").read_text().replace("gpus: 1024", "gpus: 131072"))
    code, out, _ = run("check", "--json", str(path))
    problems = json.loads(out)["problems"]
    assert code == 2 and {p["rule"] for p in problems} == {"switches-cannot-connect"}
    assert all((p["file"], p["key"]) == (str(path), "cluster.gpus") and p["line"] > 1 for p in problems)


@pytest.mark.slow
def test_a_new_params_file_passes_check_and_is_never_overwritten(tmp_path: Path) -> None:
    code, out, _ = run("new", "Acme & Söhne GmbH", "--folder", str(tmp_path))
    (written,) = tmp_path.glob("*.yaml")
    assert code == 0 and str(written) in out
    dated = re.search(r"dated (\S+), the newest price's date; today is (\S+)\.", out)
    assert dated and dated[2] == date.today().isoformat()
    assert f"as_of: {dated[1]}" in written.read_text()
    assert run("check", str(written))[0] == 0
    assert run("new", "Acme & Söhne GmbH", "--folder", str(tmp_path))[0] == 2


def test_a_new_file_says_why_it_is_dated_as_it_is(tmp_path: Path) -> None:
    assert "dated 2026-01-31, as you asked;" in run("new", "A", "--folder", str(tmp_path), "--as-of", "2026-01-31")[1]
    (tmp_path / "prices").mkdir()
    empty = run("new", "B", "--folder", str(tmp_path))[1]
    assert f"dated {date.today()}, for there is no price yet;" in empty


@pytest.mark.parametrize(("framework", "told"), [("disagrees", True), ("agrees", False), ("takes no side", False)])
def test_build_says_when_the_framework_disagrees_with_the_advice(
    framework: str, told: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    number = {"id": "decision.framework_total", "label": "Weighted lean", "text": "+0.42"}
    head = {
        "recommendation": "Buy A",
        "confidence": "leaning",
        "framework": framework,
        "framework_leans_to": "InfiniBand",
    }
    headline = {**head, "numbers": [number]}
    _say_built(BuildResult("A", "a", "e", Path("x"), "Client copy", headline, RunRecord(())))
    assert ("The framework disagrees: it leans to InfiniBand." in capsys.readouterr().out) is told


@pytest.mark.parametrize(("count", "lines"), [(0, 0), (5, 5), (7, 6)])
def test_build_tells_a_few_remarks_on_the_language_and_where_the_others_are(
    count: int, lines: int, capsys: pytest.CaptureFixture[str]
) -> None:
    remarks = tuple(f"decision.ipynb, cell {n}: too long." for n in range(count))
    _say_built(BuildResult("A", "a", "e", Path("x"), "Client copy", {}, RunRecord(()), remarks=remarks))
    told = capsys.readouterr().err.splitlines()
    assert len(told) == lines and all(line.startswith("language: ") for line in told)
    assert count <= lines or told[-1] == "language: and 2 more, in x/manifest.json"


def changed_example(folder: Path, old: str, new: str) -> Path:
    text = (ROOT / "params/example.yaml").read_text()
    assert old in text
    path = folder / "changed.yaml"
    path.write_text(text.replace(old, new))
    return path


@pytest.mark.slow
def test_check_doubts_a_plan_that_is_late_on_every_fabric_and_still_accepts_it(tmp_path: Path) -> None:
    path = changed_example(tmp_path, "gpus: 1024", "gpus: 32768")
    code, out, err = run("check", str(path))
    assert code == 0 and "nothing to mend" in out
    assert re.search(r"^note: .*changed\.yaml: A run planned for .* is late on every network with RDMA", err, re.M)
    told = json.loads(run("check", "--json", str(path))[1])
    assert told["ok"] and any("is late on every" in note for note in told["notes"])


@pytest.mark.slow
def test_check_of_an_ordinary_plan_doubts_nothing() -> None:
    code, _, err = run(
        "check", *(str(ROOT / f"params/{n}.yaml") for n in ("example", "tern-finetuning", "kestrel-lab"))
    )
    assert code == 0 and "the GPU time" not in err and "Look at" not in err


@pytest.mark.slow
def test_a_memo_dated_far_ahead_of_the_clock_is_said_and_accepted(tmp_path: Path) -> None:
    path = changed_example(tmp_path, "as_of: 2026-11-20", "as_of: 2099-01-01")
    code, _, err = run("check", str(path))
    assert code == 0 and re.search(r"the memo is dated 2099-01-01, \d+ days after today", err)


def test_the_evidence_and_its_claims_are_listed_for_machines() -> None:
    claims = json.loads(run("evidence", "--claims", "--json")[1])
    assert len(claims) > 60
    assert all({"id", "source", "claim", "stated", "recomputed", "verdict"} <= set(c) for c in claims)
    entries = json.loads(run("evidence", "--json")[1])
    assert len(entries) > 300 and all(e["grade"] and e["source"] for e in entries)


def test_prices_are_shown_and_checked() -> None:
    code, out, _ = run("prices", "show", "switch-qm9700", "--as-of", "2026-11-20", "--json")
    assert code == 0 and "32870" in out
    assert run("prices", "check", "--as-of", "2026-11-20")[0] == 0
    assert run("prices", "show", "switch-qm970")[0] == 2


def test_logs_are_measured() -> None:
    log = next((ROOT / "tests/data/logs").glob("*xe9680*"))
    code, out, _ = run("measure", str(log), "--nic-gbytes-per-s", "50", "--gpus-per-node", "8")
    assert code == 0 and "GB/s" in out
    assert run("measure", str(ROOT / "README.md"))[0] == 2


def test_cards_are_recomputed_and_an_unknown_one_is_suggested() -> None:
    code, out, _ = run("validate", "topology", "--json")
    assert code == 0 and json.loads(out)
    assert run("validate", "topologie")[0] == 2


def test_an_empty_output_has_no_editions_and_nothing_to_explain(tmp_path: Path) -> None:
    assert run("list", "--output", str(tmp_path))[0] == 0
    code, _, err = run("explain", "decision.difference", "--output", str(tmp_path))
    assert code == 2 and "no edition yet" in err


def test_help_loads_no_heavy_library() -> None:
    script = "import sys; sys.argv=['fabricreport','--help']\nfrom fabricreport.cli import main\ntry: main()\nexcept SystemExit: pass\n"
    script += "print(sorted({'numpy','pandas','scipy','matplotlib','pydantic','papermill'} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.strip().endswith("[]")


def test_a_problem_reads_as_one_line_with_all_five_parts() -> None:
    problem = Problem("is odd", "a.yaml", 3, "cluster.gpus", "7", "Use 8.", "8")
    assert str(problem) == "a.yaml:3: cluster.gpus: is odd (found 7). Did you mean '8'? Use 8."
