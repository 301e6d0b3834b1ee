"""Pictures that Markdown cells name by path: embedded from below the notebooks folder, never from elsewhere."""

from __future__ import annotations

import os
from pathlib import Path

import nbformat
import pytest
from rich_notebook import PNG

from fabricreport.blocks.nodes import Image, Paragraph, plain_text
from fabricreport.memo.document import pictures
from fabricreport.memo.document.checks import check_memo
from fabricreport.memo.document.document import document_from_notebook
from fabricreport.memo.document.gather import gather
from fabricreport.memo.document.stitch import stitch
from fabricreport.memo.run.fingerprint import notebook_digest
from fabricreport.memo.run.plan import _copy_notebooks


def copied(folder: Path, text: str) -> Path:
    """The build's copy of a notebook with one Markdown cell, beside the files of `folder`."""
    nb = nbformat.v4.new_notebook(cells=[nbformat.v4.new_markdown_cell(text)])
    nbformat.write(nb, folder / "tco.ipynb")
    copies = folder.with_name(f"copies-{len(list(folder.parent.iterdir()))}")
    return _copy_notebooks(folder, ("tco",), copies)["tco"]


def faults(copy: Path) -> list[str]:
    return check_memo(gather(stitch({"tco": nbformat.read(copy, as_version=4)}, {})))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    found = tmp_path / "notebooks"
    (found / "art").mkdir(parents=True)
    (found / "art" / "a plot.png").write_bytes(PNG)
    (tmp_path / "outside.png").write_bytes(PNG)
    return found


@pytest.mark.parametrize("text", ["![All is grey](art/a%20plot.png)", "So ![All is grey](<art/a plot.png>) it is."])
def test_a_png_below_the_notebooks_folder_is_embedded(folder: Path, text: str) -> None:
    copy = copied(folder, text)
    assert faults(copy) == []
    nodes = document_from_notebook(stitch({"tco": nbformat.read(copy, as_version=4)}, {})).nodes
    assert [n.alt for n in nodes if isinstance(n, Image) and n.src] == ["All is grey"]
    assert [plain_text(n.children) for n in nodes if isinstance(n, Paragraph)] in ([], ["So  it is."])


def test_a_changed_picture_is_a_changed_notebook(folder: Path) -> None:
    before = notebook_digest(copied(folder, "![Grey](art/a%20plot.png)"))
    (folder / "art" / "a plot.png").write_bytes(PNG + b"more")
    assert notebook_digest(copied(folder, "![Grey](art/a%20plot.png)")) != before


@pytest.mark.parametrize(
    "address",
    ["../outside.png", "none.png", "link.png", "linked/a%20plot.png", "words.png", "large.png", "art", "pipe.png"],
)
def test_a_file_that_may_not_be_embedded_is_named_with_notebook_cell_and_remedy(
    folder: Path, address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / "link.png").symlink_to(folder / "art" / "a plot.png")
    (folder / "linked").symlink_to(folder / "art")
    (folder / "words.png").write_text("no picture", encoding="utf-8")
    (folder / "large.png").write_bytes(PNG + bytes(2000))
    os.mkfifo(folder / "pipe.png")
    monkeypatch.setattr(pictures, "MAX_PICTURE_BYTES", 1000)
    (fault,) = faults(copied(folder, f"![Grey]({address})"))
    assert fault.startswith(f"tco.ipynb, cell 1: the image {address} is not embedded: attach it to the cell or draw it")


def test_an_absolute_path_is_not_embedded(folder: Path) -> None:
    (fault,) = faults(copied(folder, f"![Grey]({folder}/art/a%20plot.png)"))
    assert "is not embedded" in fault
