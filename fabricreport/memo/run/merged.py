"""Body and sections as one notebook, and taken apart again: one kernel runs them, each as if it were alone.

begin      a cell of ours: everything the notebook before left is undone (`fresh`)
cells      the notebook's own, with papermill's injected parameters behind its cell of parameters
answers    a cell of ours that answers the fields of its Markdown cells (`binding`), where it has any
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import nbformat
from nbformat import NotebookNode
from papermill.iorw import load_notebook_node
from papermill.parameterize import parameterize_notebook

from fabricreport.memo.run import binding

RUN = "fabricreport-run"
"""In the metadata of a merged notebook's cells while it runs: the notebook they are of, and their number in its source."""
SKIPPED = "skip-execution"
"""nbclient's tag of a cell that is not run."""
_ADDED = ("injected-parameters", "papermill-error-cell-tag")


@dataclass(frozen=True)
class Part:
    """One notebook as it stands in a merged one: its cells from `start` (ours, which begins it) up to `stop`.

    `numbers` has each cell's number in the source (from 1), that of the cell before for a cell that was put in.
    """

    section: str
    start: int
    numbers: tuple[int, ...]
    metadata: Mapping[str, Any]

    @property
    def stop(self) -> int:
        """The place behind its last cell."""
        return self.start + len(self.numbers)

    @property
    def cells(self) -> int:
        """How many cells its source has."""
        return self.numbers[-1]


@dataclass(frozen=True)
class Merged:
    """The notebook that is run, and where each notebook stands in it."""

    notebook: NotebookNode
    parts: tuple[Part, ...]


def prepared(path: Path, params: Path) -> NotebookNode:
    """A notebook with its parameters injected, and the cell that asks for its answers."""
    parameters = {"params": str(params)}
    source = load_notebook_node(str(path))
    nb: NotebookNode = parameterize_notebook(source, parameters, kernel_name="python3", language="python")
    binding.ask(nb)
    return nb


def merge(notebooks: Mapping[str, NotebookNode], folders: Mapping[str, Path], params: Path) -> Merged:
    """One notebook of several that are `prepared`, each to be run in its folder."""
    shared = str(params) if any("open_case" in c.source for nb in notebooks.values() for c in nb.cells) else ""
    nb: NotebookNode = nbformat.v4.new_notebook()  # type: ignore[no-untyped-call]
    parts = []
    for section, notebook in notebooks.items():
        begin = f"__import__('fabricreport.memo.run.fresh', fromlist=['begin']).begin({str(folders[section])!r}, {shared!r})"
        cells = [nbformat.v4.new_code_cell(begin), *notebook.cells]  # type: ignore[no-untyped-call]
        part = Part(section, len(nb.cells), _numbers(cells), notebook.metadata)
        for at, (cell, number) in enumerate(zip(cells, part.numbers, strict=True)):
            cell.id = f"c{part.start + at}"
            cell.metadata[RUN] = {"notebook": section, "cell": number}
        nb.cells += cells
        parts.append(part)
    return Merged(nb, tuple(parts))


def skip(cell: Any) -> None:
    """Have a cell of a merged notebook not run."""
    if SKIPPED not in (tags := cell.metadata.setdefault("tags", [])):
        tags.append(SKIPPED)
        cell.metadata[RUN]["skipped"] = True


def taken_out(nb: Any, part: Part) -> NotebookNode:
    """One of the notebooks out of the merged one, as it would be had it been run alone."""
    out: NotebookNode = nbformat.v4.new_notebook(metadata=part.metadata)  # type: ignore[no-untyped-call]
    own = [c for c in nb.cells if c.metadata.get(RUN, {}).get("notebook") == part.section]
    out.cells = own[1:]
    for cell in out.cells:
        if cell.metadata.pop(RUN).get("skipped"):
            cell.metadata["tags"].remove(SKIPPED)
    binding.take(out)
    return out


def _numbers(cells: list[Any]) -> tuple[int, ...]:
    number, numbers = 0, []
    for cell in cells[1:]:
        if not (binding.is_asking(cell) or {*_ADDED} & set(cell.metadata.get("tags", ()))):
            number += 1
        numbers.append(number)
    return (min(numbers, default=0), *numbers)
