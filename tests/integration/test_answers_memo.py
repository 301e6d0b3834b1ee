"""A memo of a client whose sellers have answered: two files that differ in evidence only, each in one process."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from answer_cases import PARAMS, WEEKS, answered, resting
from one_process import whole

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("name", ["claim", "proof"])
def test_a_memo_with_answers_says_what_they_change(tmp_path: Path, name: str) -> None:
    folder = answered(tmp_path, resting(WEEKS, "contract")).inputs.folder
    shutil.copy(PARAMS / "providers" / f"example-{name}.yaml", folder / "providers" / "0.yaml")
    assert not whole(folder / "client.yaml", draws=256, draw_charts=False).faults
