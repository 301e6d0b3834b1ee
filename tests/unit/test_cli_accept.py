"""`fabricreport accept`: a delivery judged by the command, published whole or not at all."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from delivered_cases import delivery, write

import fabricreport.acceptance.delivered as delivered
from fabricreport.acceptance.study import plan_of
from fabricreport.case import open_case
from fabricreport.cli import main
from fabricreport.errors import MemoRejected
from fabricreport.memo.editions.editions import list_editions

ROOT = Path(__file__).parents[2]
PARAMS = ROOT / "params/tern-finetuning.yaml"
FILES = ("acceptance.html", "acceptance.json", "acceptance.pdf")


def accept(*arguments: object) -> Any:
    return CliRunner().invoke(main, ["accept", *map(str, arguments)])


def logs(folder: Path, **kind: float) -> Sequence[Path]:
    return write(delivery(plan_of(open_case(PARAMS)), **kind), folder)  # type: ignore[arg-type]


@pytest.mark.slow
def test_a_good_delivery_and_then_a_bad_one_are_judged_published_and_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out, home = tmp_path / "out", tmp_path / "out/tern-analytics/acceptance"
    good = accept(PARAMS, "--logs", *logs(tmp_path / "good"), "--output", out, "--json")
    assert good.exit_code == 0, good.output
    facts = json.loads(good.stdout)
    assert (facts["ok"], facts["verdict"], facts["folder"]) == (True, "accept", str(home))
    first = {name: (home / name).read_bytes() for name in FILES}
    assert json.loads(first["acceptance.json"])["tests"] == facts["tests"]
    assert first["acceptance.pdf"].startswith(b"%PDF") and b"<!doctype html>" in first["acceptance.html"]

    again = accept(PARAMS, "--logs", *reversed(logs(tmp_path / "good")), "--output", out)
    assert again.exit_code == 0 and "accept (" in again.output
    assert json.loads((home / "acceptance.json").read_bytes())["tests"] == facts["tests"]

    slow = logs(tmp_path / "slow", share=0.9)
    before = {name: (home / name).read_bytes() for name in FILES}

    def refused(*_: object) -> bytes:
        raise MemoRejected(["the PDF cannot be written"])

    with monkeypatch.context() as broken:
        broken.setattr("fabricreport.memo.write.pdf.render_pdf", refused)
        failed = accept(PARAMS, "--logs", *slow, "--output", out)
    assert failed.exit_code == MemoRejected.exit_code
    assert {name: (home / name).read_bytes() for name in FILES} == before  # the last good one is still there

    bad = accept(PARAMS, "--logs", *slow, "--output", out)
    assert bad.exit_code == 0 and "reject" in bad.output and "T-ALLREDUCE" in bad.output
    assert json.loads((home / "acceptance.json").read_bytes())["verdict"] == "reject"
    assert list_editions(out) == ()  # no edition of the memo itself
    assert not [path for path in out.iterdir() if path.name.startswith(".scratch")]


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
