"""A memo with the answers of two experts: the tables stand in it, and the weeks that the advice rests on are theirs."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest
import yaml
from elicited_cases import write_two
from one_process import SMALL_DRAWS, Whole, whole, written

from fabricreport.provenance import plain

pytestmark = pytest.mark.slow
PARAMS = Path(__file__).parents[2] / "params"


def memo(folder: Path, *, asked: bool) -> Whole:
    folder.mkdir()
    data = yaml.safe_load((PARAMS / "example.yaml").read_text(encoding="utf-8"))
    data["as_of"] = str(data["as_of"])
    shutil.copytree(PARAMS / "prices", folder / "prices")
    path = folder / "northmere.yaml"
    path.write_text(yaml.safe_dump({**data, "elicited": write_two(folder) if asked else []}), encoding="utf-8")
    return whole(path, draws=SMALL_DRAWS, draw_charts=False)


def words(done: Whole) -> str:
    html, pdf = written(done)
    assert pdf.startswith(b"%PDF")
    return " ".join(re.sub(r"<[^>]+>", " ", html).split())


def test_the_answers_of_two_experts_are_printed_and_move_the_advice(tmp_path: Path) -> None:
    ours, theirs = memo(tmp_path / "ours", asked=False), memo(tmp_path / "theirs", asked=True)
    assert ours.faults == theirs.faults == []
    before, after = (done.case.chain.losses.weeks for done in (ours, theirs))
    shorter = "infiniband-ndr"
    assert plain(after[shorter]).mean() < 0.9 * plain(before[shorter]).mean()
    leads = [done.case.figure("decision.difference").value for done in (ours, theirs)]
    assert leads[0] != leads[1], "what the advice rests on has moved"
    said = words(theirs)
    for told in (
        "C. Careful",
        "builds clusters, Example Ltd (invented)",
        "2026-11-02",
        "With equal weights",
        "over 99",
    ):
        assert told in said, told
    assert "so they were asked of C. Careful and S. Sure" in said
    numbers = {n["id"]: n for n in theirs.ledger["numbers"]}
    assert numbers["evidence.expert.2.surprises"]["value"] == 7
    assert numbers["evidence.elicited.weeks-to-stable-infiniband.library.p95"]["grade"] == "assumption"
    silent = words(ours)
    assert "we found no published figure" in silent and "fabricreport elicit" in silent
    assert "C. Careful" not in silent and "found no published figure" in said
