"""The two nbconvert exporters: `jupyter nbconvert --to fabricreport-pdf x.ipynb` and `--to fabricreport-html`.

They read an executed notebook (or the merged memo), never run one. A notebook that did not pass through
`fabricreport build` has no front matter and was not checked, so it is marked as a draft; what a build would
refuse is logged as a warning.
"""

from __future__ import annotations

from typing import Any

from nbconvert.exporters import Exporter

from fabricreport.memo.document.document import Document, document_from_notebook
from fabricreport.memo.write.html import render_html
from fabricreport.memo.write.pdf import render_pdf


class _FabricReportExporter(Exporter):
    """What both exporters share: the notebook becomes a document, its faults become warnings."""

    def _document(self, nb: Any, resources: Any) -> Document:
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
    """A PDF/UA-1 file."""

    output_mimetype = "application/pdf"
    export_from_notebook = "fabricreport memo (PDF)"

    def _file_extension_default(self) -> str:
        return ".pdf"

    def from_notebook_node(  # type: ignore[override]
        self, nb: Any, resources: Any = None, **kw: Any
    ) -> tuple[bytes, Any]:
        """The file's bytes, with nbconvert's resources. Raises `MemoRejected` when Typst refuses the memo."""
        _, resources = super().from_notebook_node(nb, resources, **kw)
        return render_pdf(self._document(nb, resources)), resources
