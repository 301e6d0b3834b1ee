"""Packing makes a PDF smaller and changes none of its objects."""

from __future__ import annotations

import io
import shutil
import subprocess
from functools import cache
from pathlib import Path
from typing import Any

import pypdf
import pytest
from nbformat.v4 import new_markdown_cell, new_notebook

from fabricreport.memo.document.document import document_from_notebook
from fabricreport.memo.write import pdf
from fabricreport.memo.write.pack import pack


@cache
def plain() -> bytes:
    text = "\n\n".join(
        f"# Heading {n}\n\nendstream and endobj, 1 0 obj, and (a [link](https://example.org/x))." for n in range(40)
    )
    document = document_from_notebook(new_notebook(cells=[new_markdown_cell(text)]))
    kept, pdf.pack = pdf.pack, lambda data: data
    try:
        return pdf.render_pdf(document)
    finally:
        pdf.pack = kept


def content(found: Any) -> bytes:
    written = io.BytesIO()
    found.write_to_stream(written)
    return written.getvalue()


def test_every_object_survives_byte_for_byte() -> None:
    before, after = (pypdf.PdfReader(io.BytesIO(data), strict=True) for data in (plain(), pack(plain())))
    numbers = sorted(before.xref[0])
    assert len(numbers) > 300
    root = before.trailer["/Root"]
    assert dict(root["/MarkInfo"].items()) == {"/Marked": True, "/Suspects": False}, "what Typst writes has changed"
    del root["/MarkInfo"]["/Suspects"]
    assert all(content(before.get_object(n)) == content(after.get_object(n)) for n in numbers)
    assert before.trailer["/ID"] == after.trailer["/ID"]
    assert [p.extract_text() for p in before.pages] == [p.extract_text() for p in after.pages]


def test_the_packed_file_is_less_than_half_as_long_and_always_the_same() -> None:
    assert len(pack(plain())) < len(plain()) / 2
    assert pack(plain()) == pack(plain())


def test_a_file_laid_out_otherwise_comes_back_unchanged() -> None:
    for data in (b"", b"%PDF-1.7\n", plain()[:-20], plain().replace(b" 0 obj\n", b" 0 obj ", 1), pack(plain())):
        assert pack(data) == data


@pytest.mark.skipif(shutil.which("pdfinfo") is None, reason="Poppler is not installed")
def test_poppler_reads_it_without_a_complaint(tmp_path: Path) -> None:
    path = tmp_path / "memo.pdf"
    path.write_bytes(pack(plain()))
    for tool, *more in (("pdfinfo",), ("pdftotext", "-")):
        done = subprocess.run([tool, str(path), *more], capture_output=True, text=True, check=True)
        assert done.stderr == "" and done.stdout
