"""Body and sections as one notebook, and taken apart again: one kernel runs them, each as if it were alone.

begin      a cell of ours: everything the notebook before left is undone (`surroundings`)
cells      the notebook's own, with papermill's injected parameters behind its cell of parameters
answers    a cell of ours that answers the fields of its Markdown cells, where it has any: they are moved there after
"""

from __future__ import annotations

import json
import logging
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import nbformat
from nbformat import NotebookNode
from papermill.iorw import load_notebook_node
from papermill.parameterize import parameterize_notebook

from fabricreport.blocks.cells import ANSWERS_MIME, fields_of
from fabricreport.memo.document.outputs import carry, own
from fabricreport.memo.document.pieces import ANSWERS, HIDDEN_TAGS
from fabricreport.memo.run.environment import CHANGED_MIME

logging.getLogger("papermill").setLevel(logging.ERROR)  # a client's own notebook needs no cell of parameters
ASKING_TAG = "fabricreport-answers"
"""Of the cell that answers the fields."""
RUN = "fabricreport-run"
"""In the metadata of a merged notebook's cells while it runs: the notebook they are of, and their number in its source."""
CHANGED = "fabricreport-changed"
"""In a notebook's metadata: what it changed of the process that it ran in."""
SKIPPED = "skip-execution"
"""nbclient's tag of a cell that is not run."""
_ADDED = ("injected-parameters", "papermill-error-cell-tag")


@dataclass(frozen=True, eq=False)
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
    ask(nb)
    return nb


def merge(
    notebooks: Mapping[str, NotebookNode], folders: Mapping[str, Path], params: Path, watched: Collection[str] = ()
) -> Merged:
    """One notebook of several that are `prepared`, each to be run in its folder; of those `watched` what they change is told."""
    shared = str(params) if any("open_case" in c.source for nb in notebooks.values() for c in nb.cells) else ""
    nb: NotebookNode = nbformat.v4.new_notebook()  # type: ignore[no-untyped-call]
    parts = []
    for section, notebook in notebooks.items():
        ours = "__import__('fabricreport.memo.run.surroundings', fromlist=['begin'])"
        begin = f"{ours}.begin({str(folders[section])!r}, {shared!r}, watch={section in watched})"
        cells = [nbformat.v4.new_code_cell(begin), *notebook.cells]  # type: ignore[no-untyped-call]
        if section in watched:
            asking = {"tags": [ASKING_TAG]}
            cells.append(nbformat.v4.new_code_cell(f"{ours}.tell_changes()", metadata=asking))  # type: ignore[no-untyped-call]
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
    take(out)
    return out


def _numbers(cells: list[Any]) -> tuple[int, ...]:
    number, numbers = 0, []
    for cell in cells[1:]:
        if not (is_asking(cell) or {*_ADDED} & set(cell.metadata.get("tags", ()))):
            number += 1
        numbers.append(number)
    return (min(numbers, default=0), *numbers)


def is_asking(cell: Any) -> bool:
    """True for the hidden cell."""
    return ASKING_TAG in cell.metadata.get("tags", ())


def ask(nb: Any) -> None:
    """Put the hidden cell behind a notebook's own; answers of an earlier run go."""
    fields: dict[str, None] = {}
    for cell in _markdown(nb):
        if ANSWERS in own(cell):
            del cell.metadata["fabricreport"][ANSWERS]
        fields.update(dict.fromkeys(fields_of(cell.source)))
    if not fields:
        return
    wanted = json.dumps(list(fields), allow_nan=False)
    source = f"from fabricreport.blocks.cells import show_answers\n\nshow_answers({wanted}, globals())"
    nb.cells.append(nbformat.v4.new_code_cell(source, metadata={"tags": [ASKING_TAG]}))  # type: ignore[no-untyped-call]


def take(nb: Any) -> None:
    """Move the answers of the hidden cell to the Markdown cells that asked, and take the cell out."""
    asking = [cell for cell in nb.cells if is_asking(cell)]
    nb.cells = [cell for cell in nb.cells if not is_asking(cell)]
    outputs = [output for cell in asking for output in cell.outputs]
    given: dict[str, Any] = {}
    for output in outputs:
        given |= output.get("data", {}).get(ANSWERS_MIME, {})
        if changed := output.get("data", {}).get(CHANGED_MIME):
            nb.metadata[CHANGED] = changed
    said = [
        fault.value or fault.message
        for o in outputs
        if not {ANSWERS_MIME, CHANGED_MIME} & o.get("data", {}).keys()
        for fault in carry({}, o).faults
    ]
    for cell in _markdown(nb):
        mine = {field: given[field] for field in fields_of(cell.source) if field in given}
        if said:  # a warning on the way belongs to whoever asked
            mine = {field: {"fault": "; ".join(said)} for field in mine}
        if mine:
            kept = {**cell.metadata.get("fabricreport", {}), ANSWERS: mine}
            cell.metadata["fabricreport"] = nbformat.from_dict(kept)  # type: ignore[no-untyped-call]


def _markdown(nb: Any) -> list[Any]:
    return [c for c in nb.cells if c.cell_type == "markdown" and not HIDDEN_TAGS & set(c.metadata.get("tags", ()))]
