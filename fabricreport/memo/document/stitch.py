"""Many executed notebooks become one notebook node, and the few things that are told of it as data."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import nbformat
from nbformat import NotebookNode

from fabricreport.blocks.node_json import to_json
from fabricreport.blocks.nodes import (
    DataTable,
    Figure,
    Glance,
    Headline,
    Paragraph,
    Scalar,
    Strong,
    Top,
    plain_text,
)
from fabricreport.ledger import Record
from fabricreport.memo.document.document import LETTERS
from fabricreport.memo.document.gather import Gathered, Piece, first_heading, gather
from fabricreport.memo.document.measures import sentences_of
from fabricreport.memo.document.tables import table_rows

OWN_FILE = "file:"
"""What the tag of a cell begins with that stands in a file of its own and not in the memo."""


def stitch(notebooks: Mapping[str, Any], front_matter: Mapping[str, Any]) -> Any:
    """Merge executed notebooks (section -> node, in the memo's order) into one node with the memo's front matter.

    Every cell remembers its notebook and its number there, so that a fault can be named; its outputs are not copied.
    """
    merged = nbformat.v4.new_notebook()  # type: ignore[no-untyped-call]
    merged.metadata["fabricreport"] = dict(front_matter)
    for section, notebook in notebooks.items():
        for number, cell in enumerate(notebook.cells, start=1):
            own = {"section": section, "notebook": f"{section}.ipynb", "cell": number}
            metadata = {**cell.metadata, "fabricreport": {**cell.metadata.get("fabricreport", {}), **own}}
            kept = {**cell, "id": f"{section}-{number}", "metadata": NotebookNode(metadata)}  # type: ignore[no-untyped-call]
            merged.cells.append(NotebookNode(kept))  # type: ignore[no-untyped-call]
    return merged


def own_files(memo: Any) -> dict[str, Any]:
    """The parts of a stitched memo that are files of their own, by name: the cells tagged `file:<name>`.

    Each is a notebook node with the memo's front matter; its first heading is its title.
    A part whose cells show nothing for this client is left out.
    """
    tagged: dict[str, list[Any]] = {}
    for cell in memo.cells:
        for name in _files(cell) if cell.get("outputs") else ():
            tagged.setdefault(name, []).append(cell)
    return {name: _alone(memo, name, cells) for name, cells in sorted(tagged.items())}


def _files(cell: Any) -> list[str]:
    return [t.removeprefix(OWN_FILE) for t in cell.metadata.get("tags", []) if t.startswith(OWN_FILE)]


def _alone(memo: Any, name: str, cells: list[Any]) -> Any:
    part = nbformat.v4.new_notebook()  # type: ignore[no-untyped-call]
    heading = first_heading(piece for cell in cells for piece in gather({"cells": [cell]}).pieces)
    front = dict(memo.metadata["fabricreport"])
    title = plain_text(heading.children) if heading else str(front["title"])
    kind = {"kind": LETTERS} if name == LETTERS.lower() else {}
    part.metadata["fabricreport"] = {**front, "title": title, "subject": title, "marked": False, **kind}
    part.cells = list(cells)
    return part


def in_memo(memo: Any) -> Any:
    """A stitched memo without the cells that stand in files of their own; the given one is not changed."""
    printed = nbformat.v4.new_notebook()  # type: ignore[no-untyped-call]
    printed.metadata.update(memo.metadata)
    printed.cells = [cell for cell in memo.cells if not _files(cell)]
    return printed


def merged_ledger(found: Gathered) -> dict[str, list[Record]]:
    """`numbers` and `inputs` of the whole memo, each sorted by id: what `ledger.json` holds."""
    return {
        "numbers": [found.ledger[i] for i in sorted(found.ledger)],
        "inputs": [found.inputs[i] for i in sorted(found.inputs)],
    }


def headline(found: Gathered, printed: Glance | None = None) -> dict[str, Any]:
    """The advice as page one words it, and what the decision notebook declares; empty where neither stands in the memo.

    `printed` is the glance of the finished document, in which each reference has its number.
    """
    glance = printed or next((node for node in _nodes(found) if isinstance(node, Glance)), None)
    declared = next((node for node in _nodes(found) if isinstance(node, Headline)), None)
    advice = advice_of(glance) if glance else ""
    said = {"recommendation": advice} if advice else {}
    return {**said, **(dict(to_json(declared)["data"]) if declared else {})}


def advice_of(glance: Glance) -> str:
    """The advice in the memo's own words: what page one opens with in bold, else its first sentence."""
    for part in glance.children:
        if isinstance(part, Paragraph) and part.children:
            first = part.children[0]
            opening = Paragraph(first.children) if isinstance(first, Strong) else part
            said = sentences_of([Piece((opening,), "", "")])
            return said[0].words.rstrip(".,:;") if said else ""
    return ""


def chart_data(found: Gathered, printed: Iterable[Top] = ()) -> dict[str, list[list[Scalar]]]:
    """The rows each chart plots and each table prints, by the block's id, for `data/<id>.csv`.

    `printed`: blocks of the finished document, in which each reference has its words; they go before those gathered.
    """
    rows: dict[str, list[list[Scalar]]] = {}
    tables = {node.id: node for node in printed if isinstance(node, DataTable)}
    for node in _nodes(found):
        if isinstance(node, Figure) and node.data:
            rows[node.id] = [list(row) for row in node.data]
        elif isinstance(node, DataTable) and node.id:
            rows[node.id] = table_rows(tables.get(node.id, node))
    return rows


def _nodes(found: Gathered) -> Iterator[Top]:
    for piece in found.pieces:
        yield from piece.nodes
