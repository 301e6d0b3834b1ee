"""The last step of a section's run: its kernel answers the fields of the Markdown cells, and says what it has read.

A hidden cell is put behind the notebook's own before it runs. Its answers are moved to the Markdown cells after, and what
was read to the notebook's metadata, whence the build takes it before the notebook is kept.
"""

from __future__ import annotations

import json
from typing import Any

import nbformat

from fabricreport.blocks.cells import ANSWERS_MIME, fields_of
from fabricreport.memo.document.gather import ANSWERS, HIDDEN_TAGS
from fabricreport.memo.document.outputs import carry, own
from fabricreport.witness import READS_MIME

ASKING_TAG = "fabricreport-answers"
READS = "fabricreport-reads"
"""In the metadata of a notebook that has run: what it read; among the tags of a hidden cell: it asks for nothing else."""


def is_asking(cell: Any) -> bool:
    """True for the hidden cell."""
    return ASKING_TAG in cell.metadata.get("tags", ())


def asks_nothing(cell: Any) -> bool:
    """True for a hidden cell that no Markdown cell needs: without it the notebook is whole, only what it read is not known."""
    return READS in cell.metadata.get("tags", ())


def ask(nb: Any) -> None:
    """Put the hidden cell behind a notebook's own; answers of an earlier run go."""
    fields: dict[str, None] = {}
    for cell in _markdown(nb):
        if ANSWERS in own(cell):
            del cell.metadata["fabricreport"][ANSWERS]
        fields.update(dict.fromkeys(fields_of(cell.source)))
    lines = []
    if fields:
        wanted = json.dumps(list(fields), allow_nan=False)
        lines = ["from fabricreport.blocks.cells import show_answers", "", f"show_answers({wanted}, globals())", ""]
    lines += ["from fabricreport.witness import show_reads", "", "show_reads(globals().get('params'))"]
    cell = nbformat.v4.new_code_cell("\n".join(lines), metadata={"tags": [ASKING_TAG, *([] if fields else [READS])]})  # type: ignore[no-untyped-call]
    nb.metadata.pop(READS, None)
    nb.cells.append(cell)


def take(nb: Any) -> None:
    """Move the answers of the hidden cell to the Markdown cells that asked, what was read aside, and take the cell out."""
    asking = [cell for cell in nb.cells if is_asking(cell)]
    nb.cells = [cell for cell in nb.cells if not is_asking(cell)]
    outputs = [output for cell in asking for output in cell.outputs]
    told = [o.data[READS_MIME] for o in outputs if READS_MIME in o.get("data", {})]
    outputs = [o for o in outputs if READS_MIME not in o.get("data", {})]
    if told:
        nb.metadata[READS] = told[-1]
    given: dict[str, Any] = {}
    for output in outputs:
        given |= output.get("data", {}).get(ANSWERS_MIME, {})
    said = [
        fault.value or fault.message
        for o in outputs
        if ANSWERS_MIME not in o.get("data", {})
        for fault in carry({}, o).faults
    ]
    for cell in _markdown(nb):
        mine = {field: given[field] for field in fields_of(cell.source) if field in given}
        if said:  # a warning on the way belongs to whoever asked
            mine = {field: {"fault": "; ".join(said)} for field in mine}
        if mine:
            kept = {**cell.metadata.get("fabricreport", {}), ANSWERS: mine}
            cell.metadata["fabricreport"] = nbformat.from_dict(kept)  # type: ignore[no-untyped-call]


def take_reads(nb: Any) -> frozenset[str] | None:
    """Ids of everything that the run of this notebook read, taken out of it; None if nobody can tell."""
    told = nb.metadata.pop(READS, None)
    return None if told is None else frozenset(map(str, told))


def _markdown(nb: Any) -> list[Any]:
    return [c for c in nb.cells if c.cell_type == "markdown" and not HIDDEN_TAGS & set(c.metadata.get("tags", ()))]
