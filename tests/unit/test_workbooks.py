"""Workbooks: what is written stays what it is, and what is read unpacks to no more than a form."""

from __future__ import annotations

import bz2
import io
import subprocess
import sys
import zipfile
import zlib
from collections.abc import Callable
from datetime import date, datetime
from pathlib import Path

import pytest
from openpyxl import load_workbook
from rows import rows

from fabricreport.base.errors import InputError
from fabricreport.base.sheets import Book, Formula
from fabricreport.books.sellers import read_questions
from fabricreport.books.workbooks import Limits, read_sheet
from fabricreport.desk.questionnaire import Questionnaire
from fabricreport.desk.quotes import as_workbook as as_quotes
from fabricreport.desk.workbooks import as_workbook as as_questionnaire

DAY = date(2026, 11, 20)
LIMITS = Limits(columns=10, rows=100, file_bytes=5_000_000, unpacked_bytes=6_000_000)


def written(cells: dict[str, str | float | Formula]) -> bytes:
    book = Book("Cells", DAY)
    sheet = book.sheet("Cells")
    for cell, value in cells.items():
        sheet.put(cell, value)
    return book.as_bytes()


# ---- what is written


@rows(
    "text",
    ["=1+1", "{=A1}", "+1", "-5", "@SUM(A1)", "\tx", "http://x.example", "mailto:a@x.example", "12", "_x0041_", " a"],
)
def test_a_text_is_written_as_text_also_once_it_is_edited(text: str) -> None:
    cell = load_workbook(io.BytesIO(written({"A1": text})))["Cells"]["A1"]
    assert (cell.data_type, cell.hyperlink) == ("s", None) and cell.quotePrefix == text.startswith(tuple("=+-@\t"))


def test_a_text_is_read_as_it_was_written_with_line_ends_as_files_have_them(tmp_path: Path) -> None:
    texts = ["=1+1", "two\r\nlines", "_x0041_", "<b>&amp;"]
    path = tmp_path / "cells.xlsx"
    path.write_bytes(written({f"A{row}": text for row, text in enumerate(texts, start=1)}))
    assert [cells[0].text for cells in read_sheet(path, "Cells", LIMITS).rows] == [
        text.replace("\r", "") for text in texts
    ]


def test_a_text_that_no_cell_can_hold_is_not_cut() -> None:
    with pytest.raises(ValueError, match="A1 cannot hold"):
        written({"A1": "x" * 32_768})


def test_a_formula_carries_what_it_gives() -> None:
    data = written({"A1": 2, "A2": Formula("=A1*21", 42.0), "A3": Formula('=IF(A1>1,"yes","no")', "yes")})
    told, asked = (load_workbook(io.BytesIO(data), data_only=only)["Cells"] for only in (True, False))
    assert (told["A2"].value, told["A3"].value, asked["A2"].value) == (42, "yes", "=A1*21")


@rows("form", [
    lambda: as_quotes([], DAY),
    lambda: as_questionnaire(Questionnaire("Example Cloud", "8 GPUs", ("rocev2",), read_questions()[:2]), DAY),
])  # fmt: skip
def test_a_form_is_dated_as_its_memo_and_the_same_bytes_whenever_it_is_written(
    form: Callable[[], bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    import time

    before = form()
    monkeypatch.setattr(time, "time", lambda: 2_000_000_000.0)
    monkeypatch.setattr(time, "localtime", lambda *_: time.gmtime(2_000_000_000))
    assert form() == before
    dated = load_workbook(io.BytesIO(before)).properties
    assert dated.created == dated.modified == datetime(2026, 11, 20)


# ---- what is read


def packed(path: Path, body: bytes, way: int, says: int, holds: bytes = b"") -> Path:
    """A file with one part, whose body is packed in a way, holds this and says that it holds so many bytes."""
    with zipfile.ZipFile(path, "w") as archive:
        part = zipfile.ZipInfo("xl/styles.xml")
        archive.writestr(part, body)
        part.compress_type, part.file_size, part.CRC = way, says, zlib.crc32(holds)
    return path


def deflated(block: bytes, times: int) -> bytes:
    """A block so many times over, deflated: made by repeating what is packed."""
    packer = zlib.compressobj(9, zlib.DEFLATED, -zlib.MAX_WBITS)
    once = packer.compress(block) + packer.flush(zlib.Z_FULL_FLUSH)
    return once * times + packer.flush()


HIGH_WATER = """
import re, sys
from pathlib import Path
from fabricreport.books.workbooks import Limits, read_sheet
from fabricreport.base.errors import InputError
try:
    read_sheet(Path(sys.argv[1]), "Answers", Limits(15, 500, 5_000_000, 30_000_000))
except InputError as error:
    print(error)
print(re.search(r"VmHWM:\\s*(\\d+)", Path("/proc/self/status").read_text())[1])
"""
"""Not `ru_maxrss`, which a process inherits from whoever started it."""


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="asks Linux for the most memory a process had")
@rows("says", [10, 2**31])
def test_a_file_of_two_megabytes_that_unpacks_to_two_gigabytes_is_refused_in_150_megabytes(
    tmp_path: Path, says: int
) -> None:
    path = packed(
        tmp_path / "form.xlsx", deflated(bytes(2**20).replace(b"\0", b" "), 2**11), zipfile.ZIP_DEFLATED, says
    )
    assert path.stat().st_size > 2_000_000
    ended = subprocess.run([sys.executable, "-c", HIGH_WATER, str(path)], capture_output=True, text=True, check=True)
    message, kilobytes = ended.stdout.splitlines()
    assert "unpacks to more than 30,000,000 bytes" in message and int(kilobytes) < 150_000, ended.stdout


SPACE = b" " * 10_000
TAGS = b"<a/>" * 1_000_001
BORDER, NUL = b" " * 65_530 + b"<!DOCTYPE x>", b" " * 70_000 + b"\0"
LIES: dict[str, tuple[bytes, int, int, bytes, str]] = {
    "a part that says it is shorter": (deflated(SPACE, 1), zipfile.ZIP_DEFLATED, 10, SPACE, "BadZipFile"),
    "a part that says it is longer": (deflated(SPACE, 1), zipfile.ZIP_DEFLATED, 100_000, SPACE, "BadZipFile"),
    "a part packed as no workbook is": (bz2.compress(SPACE), zipfile.ZIP_BZIP2, len(SPACE), SPACE, "BadZipFile"),
    "an entity on the border of two chunks": (BORDER, zipfile.ZIP_STORED, len(BORDER), BORDER, "declares entities"),
    "a million elements": (deflated(TAGS, 1), zipfile.ZIP_DEFLATED, len(TAGS), TAGS, "more than 1,000,000 elements"),
    "a NUL after the first chunk": (NUL, zipfile.ZIP_STORED, len(NUL), NUL, "declares entities"),
}


@rows("name", LIES)
def test_a_part_is_held_to_what_it_unpacks_to_and_looked_through_whole(tmp_path: Path, name: str) -> None:
    body, way, says, holds, message = LIES[name]
    with pytest.raises(InputError, match=message):
        read_sheet(packed(tmp_path / "form.xlsx", body, way, says, holds), "Answers", LIMITS)
