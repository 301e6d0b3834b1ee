"""The command line mirrors the library, documents itself, and ends with the documented exit codes."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from rows import rows

from fabricreport.base.errors import InputError, Problem
from fabricreport.books.prices.rules import COLUMNS
from fabricreport.cli.groups import GROUPS
from fabricreport.cli.main import _say_built, main
from fabricreport.memo.build import BuildResult
from fabricreport.memo.editions.editions import publish
from fabricreport.memo.editions.locks import scratch_folder
from fabricreport.memo.editions.manifest import MANIFEST, Progress, RunRecord, list_outputs, sealed

ROOT = Path(__file__).parents[2]


def run(*args: str) -> tuple[int, str, str]:
    result = CliRunner().invoke(main, args)
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
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


@pytest.mark.slow
def test_books_and_params_together_are_checked_with_file_and_line(tmp_path: Path) -> None:
    path = tmp_path / "huge.yaml"
    path.write_text((ROOT / "params/example.yaml").read_text().replace("gpus: 1024", "gpus: 131072"))
    code, out, _ = run("check", "--json", str(path))
    problems = json.loads(out)["problems"]
    assert code == 2 and {p["rule"] for p in problems} == {"switches-cannot-connect"}
    assert all((p["file"], p["key"]) == (str(path), "cluster.gpus") and p["line"] > 1 for p in problems)


@pytest.mark.slow
@pytest.mark.usefixtures("few_draws")
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


@rows(("framework", "told"), [("disagrees", True), ("agrees", False), ("takes no side", False)])
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


@rows(("count", "lines"), [(0, 0), (5, 5), (7, 6)])
def test_build_tells_a_few_remarks_and_where_the_others_are(
    count: int, lines: int, capsys: pytest.CaptureFixture[str]
) -> None:
    remarks = tuple(f"decision.ipynb, cell {n}: too long." for n in range(count))
    _say_built(BuildResult("A", "a", "e", Path("x"), "Client copy", {}, RunRecord(()), remarks=remarks))
    told = capsys.readouterr().err.splitlines()
    assert len(told) == lines and all(line.startswith("to mend: ") for line in told)
    assert count <= lines or told[-1] == "to mend: and 2 more, in x/manifest.json"


def test_an_editable_copy_is_named_where_it_is_and_made_of_nothing_unproved(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    _say_built(BuildResult("A", "a", "e", Path("x/e"), "Client copy", {}, RunRecord(()), docx=Path("x/e.memo.docx")))
    assert "\n  x/e.memo.docx\n" in capsys.readouterr().out
    for aside in (["--draft"], ["--only", "tco"]):
        code, out, err = run("build", "x.yaml", "--output", str(tmp_path), "--to", "docx", *aside)
        assert (code, out) == (2, "") and "--to docx copies what is proved" in err and not [*tmp_path.iterdir()]


@pytest.mark.slow
@pytest.mark.usefixtures("few_draws")
def test_check_doubts_a_plan_late_on_every_fabric_and_a_date_far_ahead_and_accepts_both(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("fabricreport.check.examination.tried_out", lambda _: ())  # test_idle_overrides.py asks what is
    text = (ROOT / "params/example.yaml").read_text()
    assert "gpus: 1024" in text and "as_of: 2026-11-27" in text
    path = tmp_path / "changed.yaml"
    path.write_text(
        text.replace("gpus: 1024", "gpus: 32768")
        .replace("2026-11-27", "2099-01-01")
        .replace("2027-02-19", "2099-03-26")
    )
    code, out, err = run("check", str(path))
    assert code == 0 and "nothing to mend" in out
    told = [line for line in err.splitlines() if "the GPU time" in line or "Look at" in line]
    assert told and all("changed.yaml" in line for line in told)
    (line,) = (
        n for n, text in enumerate(path.read_text().splitlines(), start=1) if text.strip().startswith("run_days:")
    )
    late = (
        rf"^note: .*changed\.yaml:{line}: A run planned for .* is late on every .*\(workload\.run_days, line {line}[;)]"
    )
    assert re.search(late, err, re.M), err
    assert re.search(r"the memo is dated 2099-01-01, \d+ days after today", err)
    listed = json.loads(run("check", "--json", str(path))[1])
    assert listed["ok"] and any("is late on every" in note for note in listed["notes"])


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


def test_every_command_stands_in_one_of_four_groups_with_a_whole_line() -> None:
    listed = [name for lines in GROUPS.values() for name in lines]
    assert len(GROUPS) == 4 and len(listed) == len(set(listed)) <= 22
    assert set(main.commands) == set(listed)
    told = CliRunner().invoke(main, ["--help"], terminal_width=80).stdout
    for title, lines in GROUPS.items():
        (part,) = re.findall(rf"^{re.escape(title)}:\n((?:  .*\n)+)", told, flags=re.MULTILINE)
        assert [line.split() for line in part.splitlines()] == [[name, *line.split()] for name, line in lines.items()]


def test_help_loads_no_heavy_library() -> None:
    script = "import sys; sys.argv=['fabricreport','--help']\nfrom fabricreport.cli.main import main\ntry: main()\nexcept SystemExit: pass\n"
    script += "print(sorted({'numpy','pandas','scipy','matplotlib','pydantic','papermill'} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.strip().endswith("[]")


def test_a_problem_reads_as_one_line_with_all_five_parts() -> None:
    problem = Problem("is odd", "a.yaml", 3, "cluster.gpus", "7", "Use 8.", "8")
    assert str(problem) == "a.yaml:3: cluster.gpus: is odd (found 7). Did you mean '8'? Use 8."


HEADER = ",".join(COLUMNS)
ROW = "switch-qm9700,each,30000,,,USD,2026-11-02,,A quote,quote"
ODD = {
    "empty": b"",
    "a line feed": b"\n",
    "a byte order mark": b"\xef\xbb\xbf",
    "binary": bytes(range(256)),
    "utf-16": HEADER.encode("utf-16"),
    "header only": HEADER.encode() + b"\n",
    "header without a line feed": HEADER.encode(),
    "a NUL": f"{HEADER}\n{ROW}\0\n".encode(),
    "a NUL in the header": b"\0" + HEADER.encode(),
    "1e400": f"{HEADER}\n{ROW.replace('30000', '1e400')}\n".encode(),
    "a long number": f"{HEADER}\n{ROW.replace('30000', '9' * 5000)}\n".encode(),
    "the year 0": f"{HEADER}\n{ROW.replace('2026', '0000')}\n".encode(),
    "the last day": f"{HEADER}\n{ROW.replace('2026-11-02', '9999-12-31')}\n".encode(),
    "an open quote": f'{HEADER}\n"{ROW}\n'.encode(),
    "a huge cell": f"{HEADER}\n{ROW.replace('A quote', 'x' * 200_000)}\n".encode(),
    "too few cells": f"{HEADER}\nswitch-qm9700\n".encode(),
    "carriage returns": f"{HEADER}\r{ROW}\r".encode(),
    "a lone surrogate": f"{HEADER}\n".encode() + b"\xed\xa0\x80,each\n",
}


@pytest.mark.slow
@pytest.mark.laws(4)
@pytest.mark.parametrize("name", ODD)
def test_an_odd_price_file_ends_in_a_message_and_never_in_a_traceback(tmp_path: Path, name: str) -> None:
    source, book = tmp_path / "odd.csv", tmp_path / "prices"
    source.write_bytes(ODD[name])
    shutil.copytree(ROOT / "params" / "prices", book)
    code, _, err = run("prices", "import", str(source), "--folder", str(book), "--name", "new")
    assert code in (0, 2) and (code == 0 or err or (book / "quarantine" / "new.csv").exists())
    shutil.copy(source, book / "zz-odd.csv")
    for command in (("show",), ("show", "switch-qm9700"), ("check",), ("check", "--json")):
        code, out, err = run("prices", *command, "--folder", str(book))
        assert code in (0, 2) and (out or "zz-odd.csv" in err), err


@rows("command", [("show",), ("check",), ("show", "switch-qm9700")])
def test_an_empty_folder_of_prices_is_no_traceback(tmp_path: Path, command: tuple[str, ...]) -> None:
    (tmp_path / "prices").mkdir()
    code, out, err = run("prices", *command, "--folder", str(tmp_path / "prices"))
    assert code in (0, 2) and out + err


def test_a_source_that_is_a_folder_or_is_not_there_is_named(tmp_path: Path) -> None:
    for source in (tmp_path, tmp_path / "none.csv", Path("a\0b")):
        code, _, err = run("prices", "import", str(source), "--folder", str(tmp_path / "prices"))
        assert code == 2 and "cannot be read" in err
    assert not (tmp_path / "prices").exists()


@rows("place", ["params/prices", "prices"])
def test_an_import_writes_where_a_build_from_here_would_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, place: str
) -> None:
    (tmp_path / place).mkdir(parents=True)
    (tmp_path / "quote.csv").write_text(f"{HEADER}\n{ROW}\n", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    code, out, _ = run("prices", "import", "quote.csv")
    assert code == 0 and (tmp_path / place / "quote.csv").is_file() and f"{place}/quote.csv" in out
    assert "30,000" in run("prices", "show", "switch-qm9700")[1]


def test_without_a_folder_here_the_projects_own_prices_are_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert "32,870" in run("prices", "show", "switch-qm9700", "--as-of", "2026-11-20")[1]


def test_an_import_into_a_folder_that_cannot_be_written_is_a_message(tmp_path: Path) -> None:
    (tmp_path / "quote.csv").write_text(f"{HEADER}\n{ROW}\n", encoding="utf-8")
    (tmp_path / "prices").write_text("a file in its place", encoding="utf-8")
    code, _, err = run("prices", "import", str(tmp_path / "quote.csv"), "--folder", str(tmp_path / "prices" / "x"))
    assert code == 2 and "cannot be written" in err


def test_a_log_that_contradicts_itself_ends_with_two(tmp_path: Path) -> None:
    log = next((ROOT / "tests/data/logs").glob("*xe9680*"))
    assert run("measure", str(log))[0] == 0
    code, out, _ = run("measure", str(log), "--ranks", "2")
    assert "error" in out and code == 2


def test_only_a_build_speaks_of_what_was_not_built(tmp_path: Path) -> None:
    bad = tmp_path / "bad.yaml"
    bad.write_text("client: 1\n", encoding="utf-8")
    output = ("--output", str(tmp_path / "out"))
    for args in (("build", str(bad), *output), ("refresh", str(bad), *output)):
        assert f"Nothing was built for {bad}." in run(*args)[2]
    for args in (("check", str(bad)), ("measure", str(bad)), ("explain", "x", *output), ("prices", "import", str(bad))):
        code, _, err = run(*args)
        assert code == 2 and "built" not in err


FIRST, SECOND = "2026-11-20-aaaaaaaa", "2026-11-21-bbbbbbbb"
NUMBER = {
    "id": "tco.difference",
    "value": 530_838.0,
    "text": "$531k",
    "unit": "usd",
    "label": "Difference",
    "rule": "",
    "inputs": ["price:switch"],
    "sources": [],
    "grade": "quote",
    "spread": {"p5": -1_131_120.0, "p50": 530_838.0, "p95": 2_000_000.0},
    "spread_text": {"p5": "−$1.13M", "p50": "$531k", "p95": "$2M"},
    "date": "",
    "stale": False,
}
SWITCH = {"id": "price:switch", "text": "$100", "grade": "quote", "stale": False, "source": "S", "label": "Switch"}


def put(output: Path, client: str, edition: str, *numbers: dict[str, Any]) -> Path:
    with scratch_folder(output) as scratch:
        folder = scratch / edition
        folder.mkdir()
        ledger = {"numbers": list(numbers or [NUMBER]), "inputs": [SWITCH]}
        (folder / "ledger.json").write_text(json.dumps(ledger), encoding="utf-8")
        facts: dict[str, Any] = {"client": {"name": client.title(), "slug": client}}
        facts |= {"edition": edition, "as_of": edition[:10], "status": "Client copy", "outputs": list_outputs(folder)}
        (folder / MANIFEST).write_bytes(sealed(facts))
        return publish(scratch, output, client, edition, run={"sections": []}).folder


def test_a_cut_ledger_is_told_by_list_and_refused_by_explain(tmp_path: Path) -> None:
    edition = put(tmp_path, "acme", FIRST)
    assert run("list", "--output", str(tmp_path))[1].split()[-1] == "latest"
    (edition / "ledger.json").write_bytes((edition / "ledger.json").read_bytes()[:100])
    code, out, _ = run("list", "--output", str(tmp_path))
    assert code == 0 and "damaged" in out and "ledger.json: was changed (-" in out
    (listed,) = json.loads(run("list", "--output", str(tmp_path), "--json")[1])
    assert listed["damaged"] and listed["faults"][0].startswith("ledger.json: ")
    code, out, err = run("explain", "tco.difference", "--output", str(tmp_path))
    assert (code, out) == (2, "") and "ledger.json: was changed" in err and str(edition) in err


@pytest.mark.slow
def test_a_figure_that_no_memo_prints_is_worked_out_from_the_params(tmp_path: Path) -> None:
    put(tmp_path, "acme", FIRST)
    asked = ("explain", "tco.total.infiniband-ndr", "--output", str(tmp_path))
    code, _, err = run(*asked)
    assert code == 2 and "--params" in err
    code, out, err = run(*asked, "--params", str(ROOT / "params" / "example.yaml"))
    assert code == 0, err
    assert "worked out now, from example.yaml" in out and "in no memo" in out and "rests on" in out
    code, _, err = run("explain", "decision.lead", "--output", str(tmp_path))
    assert code == 2 and "Did you mean" in err


@rows("content", [b"", b"\0\xff", b"[]", b"{}", b'{"numbers": 1, "inputs": 2}'])
def test_a_ledger_of_any_other_content_is_one_message(tmp_path: Path, content: bytes) -> None:
    edition = put(tmp_path, "acme", FIRST)
    (edition / "ledger.json").write_bytes(content)
    code, _, err = run("explain", "tco.difference", "--edition", str(edition))
    assert code == 2 and "this edition is damaged" in err


def test_a_folder_with_a_ledger_and_no_manifest_is_no_edition(tmp_path: Path) -> None:
    (tmp_path / "ledger.json").write_text('{"numbers": [], "inputs": []}', encoding="utf-8")
    code, _, err = run("explain", "tco.difference", "--edition", str(tmp_path))
    assert code == 2 and "manifest.json: is missing" in err


def test_explain_does_not_guess_between_clients(tmp_path: Path) -> None:
    put(tmp_path, "acme", FIRST)
    assert run("explain", "tco.difference", "--output", str(tmp_path))[0] == 0
    put(tmp_path, "tern", SECOND)
    code, _, err = run("explain", "tco.difference", "--output", str(tmp_path))
    assert code == 2 and "acme, tern" in err and "--edition" in err
    for asked in ("acme", "tern", FIRST, f"tern/{SECOND}"):
        assert run("explain", "tco.difference", "--output", str(tmp_path), "--edition", asked)[0] == 0


def test_an_edition_id_that_two_clients_have_is_no_guess(tmp_path: Path) -> None:
    for client, text in (("acme", "$531k"), ("tern", "$9k")):
        put(tmp_path, client, FIRST, NUMBER | {"text": text})
    code, out, err = run("explain", "tco.difference", "--output", str(tmp_path), "--edition", FIRST)
    assert (code, out) == (2, "") and f"acme/{FIRST}, tern/{FIRST}" in err
    told = run("explain", "tco.difference", "--output", str(tmp_path), "--edition", FIRST, "--json")
    assert told[0] == 2 and not json.loads(told[1])["ok"]
    for client, text in (("acme", "$531k"), ("tern", "$9k")):
        out = run("explain", "tco.difference", "--output", str(tmp_path), "--edition", f"{client}/{FIRST}")[1]
        assert client.title() in out and text in out


@rows("entry", ["tco.difference", "price:switch"])
def test_explain_says_whose_edition_it_read(tmp_path: Path, entry: str) -> None:
    edition = put(tmp_path, "acme", FIRST)
    put(tmp_path, "tern", SECOND)
    for asked in ("acme", FIRST, str(edition)):
        where = ("--output", str(tmp_path), "--edition", asked)
        assert run("explain", entry, *where)[1].splitlines()[0] == f"Acme, edition {FIRST}"
        told = json.loads(run("explain", entry, *where, "--json")[1])
        assert (told["client"], told["edition"]) == ({"name": "Acme", "slug": "acme"}, FIRST)
    code, _, err = run("explain", "tco.diference", "--output", str(tmp_path), "--edition", "tern")
    assert code == 2 and f"Tern, edition {SECOND}" in err and "tco.difference" in err


def test_explain_takes_the_edition_that_latest_points_to(tmp_path: Path) -> None:
    put(tmp_path, "acme", FIRST)
    put(tmp_path, "acme", SECOND, NUMBER | {"text": "$600k"})
    assert "= $600k" in run("explain", "tco.difference", "--output", str(tmp_path))[1]
    (tmp_path / "acme" / "latest").unlink()
    (tmp_path / "acme" / "latest").symlink_to(FIRST)
    assert "= $531k" in run("explain", "tco.difference", "--output", str(tmp_path))[1]


def test_explain_writes_the_spread_as_the_memo_writes_the_number(tmp_path: Path) -> None:
    put(tmp_path, "acme", FIRST)
    out = run("explain", "tco.difference", "--output", str(tmp_path))[1]
    assert "P5 −$1.13M, P50 $531k, P95 $2M" in out and "e+06" not in out


@rows("command", ["build", "refresh"])
def test_a_broken_params_file_is_in_the_json_with_its_problems(tmp_path: Path, command: str) -> None:
    bad, worse = tmp_path / "bad.yaml", tmp_path / "worse.yaml"
    bad.write_text("client: {name: A}\nclient: {name: B}\n", encoding="utf-8")
    for paths in ((bad,), (bad, worse)):
        code, out, err = run(command, *map(str, paths), "--json", "--output", str(tmp_path / "out"))
        told = json.loads(out)
        assert code == 2 and not told["ok"] and err == ""
        assert [f["params"] for f in told["failed"]] == [str(p) for p in paths]
        assert all(f["exit_code"] == 2 and f["problems"] and f["hint"] for f in told["failed"])
        assert told["failed"][0]["problems"][0]["line"] == 1
    code, out, err = run(command, str(bad), str(worse), "--output", str(tmp_path / "out"))
    assert (code, out) == (2, "") and "bad.yaml:1" in err and "worse.yaml" in err


@rows(("more", "lines"), [((), 1), (("--json",), 0)])
def test_a_build_in_a_pipe_says_once_that_it_is_at_work(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, more: tuple[str, ...], lines: int
) -> None:
    def at_work(*_: Any, progress: Any, **__: Any) -> None:
        for step in (Progress("tco", "started"), Progress("decision", "started")):
            (progress or (lambda _: None))(step)
        raise InputError("enough")

    monkeypatch.setattr("fabricreport.memo.build.build", at_work)
    code, _, err = run("build", "acme.yaml", "--output", str(tmp_path / "out"), *more)
    assert code == 2 and err.count("acme.yaml: running its notebooks") == lines
