"""The short way the covering array takes gives what the long way of `build` gives."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from one_process import whole
from read_memo import blocks_of, stitched

from fabricreport.memo.build import BuildResult
from fabricreport.memo.document.document import chart_data
from fabricreport.memo.document.pieces import gather

pytestmark = pytest.mark.slow
ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("client", ["tern-finetuning", pytest.param("example", marks=pytest.mark.trust)])
def test_one_process_shows_to_the_letter_what_a_build_shows(memos: dict[str, BuildResult], client: str) -> None:
    edition = memos[client].folder
    done = whole(ROOT / "params" / f"{client}.yaml")
    assert done.faults == []
    assert json.loads(json.dumps(done.ledger)) == json.loads((edition / "ledger.json").read_text(encoding="utf-8"))
    assert {p.stem for p in (edition / "data").glob("*.csv")} == set(chart_data(gather(done.memo)))
    assert json.loads(json.dumps(blocks_of(done.memo))) == blocks_of(stitched(edition))
