"""The two nbconvert exporters: `jupyter nbconvert --to fabricreport-pdf x.ipynb` and `--to fabricreport-html`.

They read an executed notebook (or the merged memo), never run one. A build writes by them, with the document that it has
checked. A notebook that did not pass through `fabricreport build` has no front matter and was not checked, so it is marked
as a draft; what a build would refuse is logged as a warning.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal

from nbconvert.exporters import Exporter

from fabricreport.memo.document.document import Document, document_from_notebook
from fabricreport.memo.write.html import render_html
from fabricreport.memo.write.pdf import Attachment, Attachments, printed

_ATTACHED: dict[str, tuple[str, Literal["data", "source"], str]] = {
    "ledger.json": (
        "application/json",
        "data",
        "Every number of the memo with its rule, inputs, grade, date and sources",
    ),
    "memo.xlsx": (
        "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
        "source",
        "The memo's tables and cash flows as a workbook that recomputes",
    ),
}


def attached(folder: Path) -> Attachments:
    """What of an edition goes into its memo.pdf, and never into what sellers are sent."""
    return {name: Attachment((folder / name).read_bytes(), *facts) for name, facts in _ATTACHED.items()}


class _FabricReportExporter(Exporter):
    """What both exporters share: the notebook becomes a document, its faults become warnings."""

    def __init__(self, document: Document | None = None, **kw: Any) -> None:
        super().__init__(**kw)  # type: ignore[no-untyped-call]
        self._checked = document

    def _document(self, nb: Any, resources: Any) -> Document:
        if self._checked is not None:
            return self._checked
        metadata = (resources or {}).get("metadata") or {}
        document = document_from_notebook(nb, title=str(metadata.get("name") or ""))
        for problem in document.problems:
            self.log.warning("%s", problem)
        return document


class FabricReportHTMLExporter(_FabricReportExporter):
    """One self-contained HTML page."""

    output_mimetype = "text/html"
    export_from_notebook = "fabricreport memo (HTML)"

    def _file_extension_default(self) -> str:
        return ".html"

    # nbconvert annotates the base with the notebook it passes on; every exporter of its own returns its output here.
    def from_notebook_node(  # type: ignore[override]
        self, nb: Any, resources: Any = None, **kw: Any
    ) -> tuple[str, Any]:
        """The page as text, with nbconvert's resources."""
        _, resources = super().from_notebook_node(nb, resources, **kw)
        return render_html(self._document(nb, resources)), resources


class FabricReportPDFExporter(_FabricReportExporter):
    """A PDF/A-3a and PDF/UA-1 file."""

    output_mimetype = "application/pdf"
    export_from_notebook = "fabricreport memo (PDF)"

    def __init__(self, document: Document | None = None, attachments: Attachments | None = None, **kw: Any) -> None:
        super().__init__(document, **kw)
        self._attachments = attachments

    def _file_extension_default(self) -> str:
        return ".pdf"

    def from_notebook_node(  # type: ignore[override]
        self, nb: Any, resources: Any = None, **kw: Any
    ) -> tuple[bytes, Any]:
        """The file's bytes, with nbconvert's resources and among them the remarks on its pages.

        Raises `MemoRejected` when Typst refuses the memo.
        """
        _, resources = super().from_notebook_node(nb, resources, **kw)
        made = printed(self._document(nb, resources), self._attachments)
        return made.pdf, {**resources, "remarks": made.remarks}


def write_both(
    folder: Path,
    name: str,
    notebook: Any,
    document: Document,
    paper: Document | None = None,
    attachments: Attachments | None = None,
) -> tuple[str, ...]:
    """`<name>.html` and `<name>.pdf` of a notebook whose document is made; gives the remarks on the printed pages.

    `paper` is the document of the PDF where that is another, `attachments` is what goes into it.
    """
    page, _ = FabricReportHTMLExporter(document).from_notebook_node(notebook)
    (folder / f"{name}.html").write_bytes(page.encode("utf-8"))
    pdf, resources = FabricReportPDFExporter(paper or document, attachments).from_notebook_node(notebook)
    (folder / f"{name}.pdf").write_bytes(pdf)
    remarks: tuple[str, ...] = resources["remarks"]
    return remarks
