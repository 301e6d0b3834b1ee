"""A notebook's cells run in this process, without a kernel: prose cells and line magics as a shell would run them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from fabricreport.base.vocabulary import SPINES
from fabricreport.blocks.cells import run_cell
from fabricreport.blocks.prose import is_prose, read_cell
from fabricreport.scenario import SECTION_NAMES

ROOT = Path(__file__).parents[1]
NOTEBOOKS = ROOT / "notebooks"
EVERY = tuple(sorted(p.stem for p in NOTEBOOKS.glob("*.ipynb")))
"""Every notebook that ships."""
SECTIONS = tuple(name for name in EVERY if name in (*SECTION_NAMES, *SPINES))
"""Those of a memo: its sections, and its body by what the client asks. The other is of a delivery."""


def sources(section: str) -> list[tuple[str, list[str]]]:
    """The code cells of a shipped notebook, each with its tags."""
    cells = json.loads((NOTEBOOKS / f"{section}.ipynb").read_text(encoding="utf-8"))["cells"]
    return [("".join(c["source"]), c["metadata"].get("tags", [])) for c in cells if c["cell_type"] == "code"]


def plain(source: str) -> str:
    """A code cell without its line magics, as plain Python of the same number of lines."""
    return "\n".join("" if line.startswith("%") else line for line in source.split("\n"))


def run(source: str, space: dict[str, Any], name: str = "cell") -> None:
    """Run one code cell with the notebook's variables."""
    if is_prose(source):
        run_cell(read_cell(source), space, lambda expression: eval(expression, space))
    else:
        exec(compile(plain(source), name, "exec"), space)
