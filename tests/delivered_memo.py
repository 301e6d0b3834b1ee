"""The memo of a delivery in one process: the cells of its notebook over a judged delivery, then the real checks and writers."""

from __future__ import annotations

from typing import Any
from unittest import mock

import nbformat
from notebook_cells import NOTEBOOKS, run

import fabricreport.delivery.facts as opened
from fabricreport.blocks import document
from fabricreport.delivery.delivery import documented, two_pages
from fabricreport.delivery.facts import SECTION, Delivery
from fabricreport.delivery.study import Acceptance
from fabricreport.memo.document.document import Document
from fabricreport.memo.editions.manifest import section_title


def executed(found: Acceptance) -> Any:
    """The notebook with what its cells show of a delivery."""
    notebook = nbformat.read(NOTEBOOKS / f"{SECTION}.ipynb", as_version=4)  # type: ignore[no-untyped-call]
    shown: list[Any] = []
    names: dict[str, Any] = {"__name__": "__main__"}
    with (
        mock.patch.object(document, "_show", shown.append),
        mock.patch.object(opened, "open_delivery", lambda _: Delivery(found)),
    ):
        for number, cell in enumerate(notebook.cells, start=1):
            shown.clear()
            run(cell.source, names, f"{SECTION}.ipynb, cell {number}")
            data = (block._repr_mimebundle_() for block in shown)
            cell.outputs = [nbformat.v4.new_output("display_data", data=one) for one in data]  # type: ignore[no-untyped-call]
    return notebook


def memo_of(found: Acceptance) -> tuple[Document, list[str]]:
    """The document and the faults of its checks."""
    notebook = executed(found)
    title, params = section_title(notebook, SECTION), found.case.params
    front = {
        "title": title, "client": params.client.name, "status": "Client copy", "language": "en", "to": params.memo.to,
        "from": params.memo.from_, "subject": params.memo.subject, "date": str(params.as_of),
        "date_text": str(params.as_of), "edition": "test", "sections": [{"id": SECTION, "title": title}],
    }  # fmt: skip
    document, faults = documented(notebook, front)
    return document, [*faults, *map(str, document.problems)]


def printed(found: Acceptance) -> Document:
    """The document as it is printed."""
    return two_pages(memo_of(found)[0])
