"""The last step of a section's run: its kernel answers the fields of the Markdown cells.

A hidden cell is put behind the notebook's own before it runs, and its answers are moved to the Markdown cells after.
"""

from __future__ import annotations

import json
from typing import Any

import nbformat

from fabricreport.blocks.cells import ANSWERS_MIME, fields_of
from fabricreport.memo.document.gather import ANSWERS, HIDDEN_TAGS
from fabricreport.memo.document.outputs import carry, own

ASKING_TAG = "fabricreport-answers"


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


def _markdown(nb: Any) -> list[Any]:
    return [c for c in nb.cells if c.cell_type == "markdown" and not HIDDEN_TAGS & set(c.metadata.get("tags", ()))]
