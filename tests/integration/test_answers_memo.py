"""Memos of clients whose sellers, or two experts, have answered: what the answers change is printed, and moves the advice."""

from __future__ import annotations

import re
import shutil
from pathlib import Path
from typing import Any

import bench
import pytest
from answer_cases import PARAMS, WEEKS, answered, resting
from one_process import page, whole, whole_of

from fabricreport.base.provenance import plain
from fabricreport.memo.build import BuildResult

pytestmark = pytest.mark.slow


def test_the_answers_of_two_experts_are_printed_and_move_the_advice(memos: dict[str, BuildResult]) -> None:
    ours, theirs = bench.case("example"), bench.case("elicited")
    before, after = (plain(case.chain.losses.weeks["infiniband-ndr"]).mean() for case in (ours, theirs))
    assert after < 0.9 * before and ours.comparison.verdict.lead != theirs.comparison.verdict.lead
    done = whole_of(theirs)
    assert done.faults == []
    said, silent = (words(html) for html in (page(done), memos["example"].memo_html.read_text("utf-8")))
    for told in ("builds clusters, Example Ltd (invented)", "2026-11-02", "With equal weights", "over 99"):
        assert told in said, told
    assert "was asked of C. Careful and S. Sure" in said and "was asked of" not in silent
    numbers = {n["id"]: n for n in done.ledger["numbers"]}
    assert numbers["evidence.expert.2.weight"]["value"] < 0.01
    assert numbers["evidence.elicited.weeks-to-stable-infiniband.library.p95"]["grade"] == "assumption"
    assert "C. Careful" not in silent


def words(html: str) -> str:
    return " ".join(re.sub(r"<[^>]+>", " ", html).split())


@pytest.mark.laws(0)
def test_a_memo_with_answers_of_sellers_says_what_they_change() -> None:
    assert not whole_of(bench.case("answered")).faults


@pytest.mark.trust
@pytest.mark.parametrize("name", ["claim", "proof"])
def test_two_files_that_differ_in_evidence_only_make_a_memo_each(tmp_path: Path, name: str) -> None:
    folder = answered(tmp_path, resting(WEEKS, "contract")).inputs.folder
    shutil.copy(PARAMS / "providers" / f"example-{name}.yaml", folder / "providers" / "0.yaml")
    assert not whole(folder / "client.yaml", draws=bench.DRAWS, draw_charts=False).faults


@pytest.mark.trust
def test_a_memo_of_a_renter_says_what_terms_were_answered(tmp_path: Path) -> None:
    def term(question: str, value: float, unit: str, proof: str) -> dict[str, Any]:
        return {"question": question, "answer": "As said.", "value": value, "unit": unit, "evidence": proof}

    case = answered(
        tmp_path,
        term("Q-COM-01", 2.1, "usd/gpu-hour", "contract"),
        term("Q-COM-02", 0.2, "usd/gpu-hour", "contract"),
        term("Q-NET-06", 64, "gpus", "contract"),
        term("Q-DEL-02", 2, "week", "contract"),
        term("Q-COM-06", 0.1, "share", "statement"),
        resting(WEEKS, "contract", value=0.5),
        client="tern-finetuning",
        fabric="infiniband",
        seller="Lambda",
    )
    assert not whole(case.inputs.folder / "client.yaml", draws=bench.DRAWS, draw_charts=False).faults
