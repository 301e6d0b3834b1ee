"""All notebooks of one client run in this process on one case: what the memo would check, at a fifth of a build's cost."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import nbformat
import pytest

from fabricreport import case as case_module
from fabricreport.blocks import MIME, Block, document
from fabricreport.case import open_case
from fabricreport.memo.stitch import stitch

NOTEBOOKS = Path(__file__).parents[2] / "notebooks"
SECTIONS = ("decision", "latency", "tco", "tail_risk", "diligence", "evidence")


def run_notebooks(params: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """The stitched memo of a params file. A warning anywhere is an error here."""
    case = open_case(params)
    shown: list[Block] = []
    monkeypatch.setattr(case_module, "open_case", lambda _: case)
    monkeypatch.setattr(document, "_show", shown.append)
    done = {}
    for section in SECTIONS:
        nb = nbformat.read(NOTEBOOKS / f"{section}.ipynb", as_version=4)
        names: dict[str, Any] = {}
        for number, cell in enumerate(nb.cells, start=1):
            shown.clear()
            exec(compile(cell.source, f"{section} cell {number}", "exec"), names)
            bundles = [json.loads(json.dumps(block.bundle)) for block in shown]
            cell.outputs = [nbformat.v4.new_output("display_data", data={MIME: bundle}) for bundle in bundles]
        done[section] = nb
    return stitch(done, {})
