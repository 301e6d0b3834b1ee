"""A memo of a client whose sellers have answered: two files that differ in evidence only, each in one process."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest
from answer_cases import PARAMS, WEEKS, answered, resting
from one_process import whole

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("name", ["claim", "proof"])
def test_a_memo_with_answers_says_what_they_change(tmp_path: Path, name: str) -> None:
    folder = answered(tmp_path, resting(WEEKS, "contract")).inputs.folder
    shutil.copy(PARAMS / "providers" / f"example-{name}.yaml", folder / "providers" / "0.yaml")
    assert not whole(folder / "client.yaml", draws=256, draw_charts=False).faults


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
    assert not whole(case.inputs.folder / "client.yaml", draws=256, draw_charts=False).faults
