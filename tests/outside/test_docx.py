"""The editable copy in LibreOffice: it opens, and its pages hold what it says. `make outside`.

`FABRICREPORT_MEMOS` names a folder of editions, as in CI; where the example's is not among them it is built.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest
from pypdf import PdfReader
from read_docx import ReadDocx

from fabricreport.memo.build import build
from fabricreport.memo.editable import document_in
from fabricreport.memo.report import standing_report
from fabricreport.memo.write.docx import PROVED, DocxWriter

ROOT = Path(__file__).parents[2]
OFFICE = Path(shutil.which("soffice") or "soffice").resolve()
pytestmark = [
    pytest.mark.outside,
    pytest.mark.skipif(
        not [*OFFICE.parent.glob("libswlo.*")], reason="LibreOffice’s Writer lacks: apt-get install libreoffice-writer"
    ),
]
MOST_PAGES = 7
"""Page one and four of the body, and what another face than ours may add."""


def letters(text: str) -> str:
    return "".join(text.split())


def test_libreoffice_opens_the_copy_and_prints_what_it_says(tmp_path: Path) -> None:
    output = Path(os.environ.get("FABRICREPORT_MEMOS") or tmp_path / "output")
    edition = build(ROOT / "params" / "example.yaml", output=output)
    report = standing_report(output)
    file = tmp_path / "memo.docx"
    file.write_bytes(DocxWriter(document_in(edition, report and report.cited)).written())
    words = [str(OFFICE), f"-env:UserInstallation=file://{tmp_path}/profile", "--headless", "--convert-to", "pdf"]
    subprocess.run([*words, "--outdir", str(tmp_path), str(file)], check=True, capture_output=True, timeout=120)
    pages, copy = PdfReader(tmp_path / "memo.pdf").pages, ReadDocx(file.read_bytes())
    assert 2 <= len(pages) <= MOST_PAGES
    texts = [letters(page.extract_text()) for page in pages]
    assert letters(PROVED.format(edition.edition)) in texts[0]
    headings = [text for level in (1, 2) for text in copy.paragraphs(f"Heading{level}")]
    assert len(headings) > 4 and [text for text in headings if letters(text) not in "".join(texts)] == []
    assert len({image.data for page in pages for image in page.images}) == len(copy.pictures())
    assert [n for n in copy.numbers if letters(n) not in "".join(texts)] == []
