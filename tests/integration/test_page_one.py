"""Page one as a reader counts it: words, numbers, tiles; and that it keeps its limits for clients of every kind."""

from __future__ import annotations

from pathlib import Path

import bench
import nbformat
import pytest
from one_process import Whole, drawing, executed

from fabricreport.memo.document.checks import (
    MOST_NUMBERS,
    MOST_OF_TILE,
    MOST_PICTURES,
    MOST_WORDS,
    TILES,
    page_one,
    page_one_remarks,
)
from fabricreport.memo.document.document import document_from_notebook, in_memo
from fabricreport.sections.decision.actions import PAGE_ONE
from fabricreport.sections.decision.sensitivity import MOST

pytestmark = pytest.mark.slow

KINDS = ("example", "kestrel-lab", "tern-finetuning", "two-weeks-1024", "one option", "serving-replicas-64", "offers")


def notebook_of(name: str) -> nbformat.NotebookNode:
    """The body of a client's memo alone, its pictures left blank."""
    case = bench.case(name)
    body = case.params.notebooks[0]
    with drawing(False):
        done = Whole(case, {body: executed(body, case, Path("client.yaml"))})
    memo = in_memo(done.memo)
    memo.cells.append(nbformat.v4.new_markdown_cell("# The rule {#sec-decision-rule}"))  # as an annex has it
    return memo


@pytest.mark.laws(2)
@pytest.mark.parametrize("name", KINDS)
def test_page_one_can_be_read_in_a_minute(name: str) -> None:
    document = document_from_notebook(notebook_of(name))
    found = page_one(document)
    assert found.words <= MOST_WORDS and found.numbers <= MOST_NUMBERS and found.pictures <= MOST_PICTURES
    assert len(found.tiles) == TILES and max(max(tile) for tile in found.tiles) <= MOST_OF_TILE
    assert all(rows <= most for rows, most in zip(found.tables[::-1], (PAGE_ONE, MOST), strict=False))
    assert list(page_one_remarks(document)) == []


def test_what_is_added_to_page_one_is_counted_and_told() -> None:
    notebook = notebook_of("example")
    before = page_one(document_from_notebook(notebook))
    added, told = 3, MOST_WORDS - before.words + 1
    at = next(n for n, cell in enumerate(notebook.cells) if "**Read with care.**" in cell.source)
    notebook.cells.insert(at, nbformat.v4.new_markdown_cell("Three more words."))
    assert page_one(document_from_notebook(notebook)).words == before.words + added
    notebook.cells[at].source = " ".join(["word"] * told)
    remarks = list(page_one_remarks(document_from_notebook(notebook)))
    assert [str(MOST_WORDS + 1) in remark and "words" in remark for remark in remarks] == [True]
