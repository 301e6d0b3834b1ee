"""A whole memo in one process: every notebook's cells over one analysed case, then the real stitcher, checks and writers.

The same cells, the same case, the same writers as `build`; what is left out is the kernels, the cache and the
publishing, which have tests of their own. `test_one_process.py` proves that both ways give the same bytes.
"""

from __future__ import annotations

import contextlib
import traceback
import warnings
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from unittest import mock

import nbformat
from notebook_cells import run

import fabricreport.case as case_module
import fabricreport.inputs.inputs as inputs_module
from fabricreport.blocks import document, theme
from fabricreport.case import Case, open_case
from fabricreport.memo.document.checks import check_memo
from fabricreport.memo.document.document import (
    Document,
    document_from_notebook,
    headline,
    in_memo,
    merged_ledger,
    stitch,
)
from fabricreport.memo.document.pieces import gather

ROOT = Path(__file__).parents[2]
NOTEBOOKS = ROOT / "notebooks"
SMALL_DRAWS = 256
"""The smallest sample in which a P5 or a P95 still rests on a dozen draws."""
_BLANK = '<svg xmlns="http://www.w3.org/2000/svg" width="468pt" height="180pt" viewBox="0 0 468 180"></svg>\n'


class CellFailed(AssertionError):
    """A cell of a shipped notebook raised: what `check` accepted did not build."""


@dataclass
class Whole:
    """One memo: its stitched notebook, the faults of its checks and the files a writer makes of it."""

    case: Case
    notebooks: dict[str, Any]
    faults: list[str] = field(default_factory=list)
    headline: dict[str, Any] = field(default_factory=dict)
    ledger: dict[str, Any] = field(default_factory=dict)

    @property
    def memo(self) -> Any:
        """The stitched notebook with a front matter."""
        memo = stitch(self.notebooks, {})
        memo.metadata["fabricreport"] = {
            "title": "Memo", "client": self.case.params.client.name, "status": "Client copy", "language": "en",
            "subject": "Network", "date": str(self.case.params.as_of), "edition": "test",
            "sections": [{"id": s, "title": s} for s in self.notebooks],
        }  # fmt: skip
        return memo


def whole(path: Path, *, draws: int | None = None, draw_charts: bool = True) -> Whole:
    """Open the params file and run its sections; raises `CellFailed` naming notebook, cell and client."""
    with mock.patch.object(inputs_module, "DRAWS", draws or inputs_module.DRAWS):
        return whole_of(open_case(path), path, draw_charts=draw_charts)


def whole_of(case: Case, path: Path = Path("client.yaml"), *, draw_charts: bool = False) -> Whole:
    """The same over a case that is open; `path` is what its notebooks call the file."""
    with drawing(draw_charts):
        done = Whole(case, {s: executed(s, case, path) for s in case.params.notebooks})
    found = gather(done.memo)
    done.faults, done.headline, done.ledger = check_memo(found), headline(found), merged_ledger(found)
    return done


def page(done: Whole) -> str:
    """The memo as its HTML writer makes it."""
    from fabricreport.memo.write.html import render_html

    return render_html(_document(done))


def written(done: Whole) -> tuple[str, bytes]:
    """The memo as the two writers make it of one document: HTML text, PDF bytes."""
    from fabricreport.memo.write.pdf import printed

    return page(done), printed(_document(done)).pdf


def _document(done: Whole) -> Document:
    document = document_from_notebook(in_memo(done.memo))
    assert document.problems == ()
    return document


@contextlib.contextmanager
def drawing(draw: bool) -> Iterator[None]:
    """Without drawing, each chart's code runs and only its picture is left blank."""
    if draw:
        yield
        return

    with mock.patch.object(theme, "_rendered", lambda figure: _BLANK):
        yield


def executed(section: str, case: Case, path: Path) -> Any:
    """The section's notebook with what its cells displayed."""
    notebook = nbformat.read(NOTEBOOKS / f"{section}.ipynb", as_version=4)  # type: ignore[no-untyped-call]
    shown: list[Any] = []
    names: dict[str, Any] = {"__name__": "__main__"}
    with (
        mock.patch.object(document, "_show", shown.append),
        mock.patch.object(case_module, "open_case", lambda _: case),
        warnings.catch_warnings(),
    ):
        warnings.simplefilter("error")
        for number, cell in enumerate(notebook.cells, start=1):
            if cell.cell_type != "code":
                continue
            shown.clear()
            try:
                run(cell.source, names, f"{section}.ipynb, cell {number}")
            except Exception as error:
                at = traceback.extract_tb(error.__traceback__)[-1]
                where = f"{section}.ipynb, cell {number} ({Path(at.filename).name}:{at.lineno})"
                raise CellFailed(f"{path}: {where}: {type(error).__name__}: {error}") from error
            cell.outputs = [_output(block) for block in shown]
    return notebook


def _output(block: Any) -> Any:
    return nbformat.v4.new_output("display_data", data=block._repr_mimebundle_())  # type: ignore[no-untyped-call]
