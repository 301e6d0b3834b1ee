"""Commands that read what was published, and those that take several params files, tell every fault and guess nothing."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from fabricreport.cli import main
from fabricreport.errors import InputError
from fabricreport.memo.editions.editions import publish
from fabricreport.memo.editions.locks import scratch_folder
from fabricreport.memo.editions.manifest import MANIFEST, list_outputs, sealed
from fabricreport.memo.run.run_record import Progress

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


def run(*args: str) -> tuple[int, str, str]:
    result = CliRunner().invoke(main, args)
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    return result.exit_code, result.stdout, result.stderr


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


@pytest.mark.parametrize("content", [b"", b"\0\xff", b"[]", b"{}", b'{"numbers": 1, "inputs": 2}'])
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


@pytest.mark.parametrize("entry", ["tco.difference", "price:switch"])
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


@pytest.mark.parametrize("command", ["build", "refresh"])
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


@pytest.mark.parametrize(("more", "lines"), [((), 1), (("--json",), 0)])
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
