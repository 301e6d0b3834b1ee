"""Workbooks that people fill in: read as cells, and refused where they hold more than cells; the parts that ours share.

Nothing in a workbook is worked out or followed: a formula comes as it is written, and whoever reads its cell refuses it.
"""

from __future__ import annotations

import io
import re
import textwrap
import zipfile
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fabricreport.errors import InputError, Problem
from fabricreport.located import did_you_mean, read_bytes_strict, shown_path

if TYPE_CHECKING:
    from openpyxl.cell.cell import Cell as WorkbookCell
    from openpyxl.styles import Font
    from openpyxl.workbook.workbook import Workbook

HEAD_COLOUR, FILL_COLOUR = "D9E2EC", "FFF8DC"
"""Of a table's head, and of the cells to fill in."""
_GUIDE_WIDTH = 100
_LINE_POINTS, _FULL = 15.0, 0.92
"""Height of a line, and how full a column is before a word goes to the next line."""
_RUNS: dict[str, str] = {
    "vbaproject": "macros",
    "macrosheets/": "macros",
    "dialogsheets/": "macros",
    "externallinks/": "links to other workbooks",
    "connections.xml": "connections to other data",
    "querytables/": "connections to other data",
    "embeddings/": "embedded files",
    "activex/": "controls",
    "ctrlprops/": "controls",
}
"""Parts of a workbook that do more than hold cells, by what stands in their path."""
_MOST_PARTS = 500
_DECLARED = re.compile(rb"<!\s*(?:DOCTYPE|ENTITY)", re.IGNORECASE)


@dataclass(frozen=True)
class Limits:
    """The largest form that is read: rows and columns of its sheet, bytes of the file, bytes once unpacked."""

    rows: int
    columns: int
    file_bytes: int
    unpacked_bytes: int


@dataclass(frozen=True)
class FormCell:
    """What stands in a cell: text, a number, a day, true or false, None; `formula` and `error` say that it is neither."""

    value: Any
    formula: bool = False
    error: bool = False

    @property
    def text(self) -> str:
        """The cell as it would stand in CSV."""
        value = self.value
        if value is None:
            return ""
        if isinstance(value, datetime):
            return value.date().isoformat() if value.time() == datetime.min.time() else str(value)
        if isinstance(value, date):
            return value.isoformat()
        return f"{value:.15g}" if isinstance(value, float) else str(value)


@dataclass(frozen=True)
class FormSheet:
    """One sheet: its title and its rows from the first, each from the first column."""

    title: str
    rows: tuple[tuple[FormCell, ...], ...]


def read_sheet(path: Path, title: str, limits: Limits, *, or_first: bool = False) -> FormSheet:
    """The sheet of this title, up to one row beyond the limit; `or_first`: the first one if none is called so.

    Raises `InputError` for a file that cannot be read, is too large or unpacks to too much, has no such sheet, or holds
    macros, controls, embedded files or links to others.
    """
    from openpyxl import load_workbook  # slow to import, and only a workbook needs it

    data = read_bytes_strict(path, max_bytes=limits.file_bytes)
    file = shown_path(path)
    try:
        _check_parts(data, file, limits)
        book = load_workbook(io.BytesIO(data), read_only=True)
        if title not in book.sheetnames and not or_first:
            found = ", ".join(book.sheetnames)
            raise InputError(
                Problem(f"has no sheet {title}", file, value=found, suggestion=did_you_mean(title, book.sheetnames))
            )
        sheet = book[title] if title in book.sheetnames else book.worksheets[0]
        rows = sheet.iter_rows(max_row=limits.rows + 1, max_col=limits.columns + 1)
        return FormSheet(sheet.title, tuple(tuple(_cell(cell) for cell in row) for row in rows))
    except InputError:
        raise
    except Exception as error:  # a broken workbook fails in as many ways as there are parts in it
        reason = type(error).__name__
        remedy = "Save it as XLSX again, without a password."
        raise InputError(Problem(f"is no workbook that can be read ({reason})", file, remedy=remedy)) from error


def _check_parts(data: bytes, file: str, limits: Limits) -> None:
    """Refuse what unpacks to too much, what does more than hold cells, and parts that declare entities of their own."""
    with zipfile.ZipFile(io.BytesIO(data)) as packed:
        parts = packed.infolist()
        if len(parts) > _MOST_PARTS:
            raise InputError(Problem(f"has more than {_MOST_PARTS} parts", file))
        if sum(part.file_size for part in parts) > limits.unpacked_bytes:
            raise InputError(Problem(f"unpacks to more than {limits.unpacked_bytes:,} bytes", file))
        names = [part.filename.lower() for part in parts]
        held = sorted({what for name in names for mark, what in _RUNS.items() if mark in name})
        if held:
            remedy = "Copy the answers into the form as it was sent, and save that as XLSX."
            raise InputError(Problem(f"holds {', '.join(held)}", file, remedy=remedy))
        for part in parts:
            if part.filename.lower().endswith((".xml", ".rels")):
                text = packed.read(part)
                if b"\0" in text or _DECLARED.search(text):
                    raise InputError(Problem(f"declares entities in {part.filename}", file, remedy="Save it again."))


def _cell(cell: Any) -> FormCell:
    value, kind = cell.value, cell.data_type
    if kind == "f":
        return FormCell(str(getattr(value, "text", None) or value), formula=True)
    return FormCell(value, error=kind == "e")


def letter_of(n: int) -> str:
    """The letter of a column of a sheet, from 0; a form has fewer than there are letters twice."""
    return chr(ord("A") + n) if n < 26 else f"A{chr(ord('A') + n - 26)}"


# ---- what the forms we write share


def add_guide(book: Workbook, title: str, lines: Iterable[str]) -> None:
    """Make the first sheet say how to fill in the others, a line in each row."""
    from openpyxl.styles import Alignment

    guide: Any = book.active
    guide.title = title
    guide.column_dimensions["A"].width = _GUIDE_WIDTH
    for number, line in enumerate(lines, start=1):
        put_text(guide.cell(number, 1), line)
        guide.cell(number, 1).alignment = Alignment(wrap_text=True, vertical="top")
        guide.row_dimensions[number].height = height_of([(line, _GUIDE_WIDTH)]) + _LINE_POINTS / 2
    guide.page_setup.orientation = "landscape"
    guide.page_setup.fitToWidth, guide.page_setup.fitToHeight = 1, 0
    guide.sheet_properties.pageSetUpPr.fitToPage = True


def height_of(texts: Iterable[tuple[str, float]]) -> float:
    """The height in points of a row that shows these texts whole, each in a column of so many characters."""
    lines = (len(textwrap.wrap(text, max(1, int(width * _FULL)))) for text, width in texts)
    return _LINE_POINTS * max(1, *lines) + 2


def font(**how: Any) -> Font:
    """The letters of our forms, so or so."""
    from openpyxl.styles import Font

    return Font(**{"name": "Calibri", "size": 11, **how})


def put_text(cell: WorkbookCell, text: str) -> None:
    """Write text into a cell as text: one that begins like a formula stays what it is, also when it is edited."""
    cell.value = text or None
    if text:
        cell.data_type = "s"
        cell.quotePrefix = text[:1] in "=+-@"


def style_head(cell: WorkbookCell) -> None:
    """Make a cell one of a table's head."""
    from openpyxl.styles import Alignment, PatternFill

    cell.font, cell.fill = font(bold=True), PatternFill("solid", fgColor=HEAD_COLOUR)
    cell.alignment = Alignment(wrap_text=True, vertical="top")


def bytes_of(book: Workbook) -> bytes:
    """The workbook as a file."""
    written = io.BytesIO()
    book.save(written)
    return written.getvalue()
