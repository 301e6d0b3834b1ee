"""Workbooks that people fill in: read as cells, and refused where they hold more than cells or unpack to more than a form.

Nothing in a workbook is worked out or followed: a formula comes as it is written, and whoever reads its sheet refuses it.
"""

from __future__ import annotations

import io
import re
import sys
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from types import MappingProxyType
from typing import Any, Protocol

from fabricreport.base.errors import InputError, Problem
from fabricreport.base.locations import did_you_mean, read_bytes_strict, shown_path
from fabricreport.base.text import visible

_RUNS: dict[str, tuple[str, ...]] = {
    "comments": ("comments", "persons/"),
    "connections to other data": ("connections.xml", "querytables/"),
    "controls": ("activex/", "ctrlprops/"),
    "embedded files": ("embeddings/",),
    "links to other workbooks": ("externallinks/",),
    "macros": ("vbaproject", "macrosheets/", "dialogsheets/"),
    "pictures or text boxes": ("drawings/", "media/"),
}
"""What a workbook may do more than hold cells, and what stands in the paths of its parts then."""
_MOST_PARTS = 500
_MOST_ELEMENTS = 1_000_000
"""A form of 5,000 rows has fewer; what takes them in keeps an object for each, whatever its bytes."""
_CHUNK_BYTES = 65_536
_PACKED = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
"""How parts of a workbook are packed; the other ways of a zip file cannot be unpacked a chunk at a time."""
_DECLARED = re.compile(rb"\0|<!(?:DOCTYPE|ENTITY)", re.IGNORECASE)
"""What no part of a form has: entities of its own, and the NUL of UTF-16, in which they would not be found."""
_MOST_COLUMNS = 16_384
_MOST_TOLD = 20
"""Faults outside the form that one run names."""
_BORDER = len(b"<!DOCTYPE") - 1
_AS_SENT = "Copy the answers into the form as it was sent."


class Stated(Protocol):
    """The words of a form, as far as they say how large it may be."""

    @property
    def most_rows(self) -> int:
        """Rows of its sheet."""
        ...

    @property
    def largest_file_bytes(self) -> int:
        """Bytes of the file."""
        ...

    @property
    def largest_unpacked_bytes(self) -> int:
        """Bytes of it once unpacked."""
        ...


@dataclass(frozen=True)
class Limits:
    """The largest form that is read: columns and rows of its sheet, bytes of the file, bytes once unpacked."""

    columns: int
    rows: int
    file_bytes: int
    unpacked_bytes: int

    @classmethod
    def of(cls, stated: Stated, columns: int) -> Limits:
        """The limits that the words of a form state."""
        return cls(columns, stated.most_rows, stated.largest_file_bytes, stated.largest_unpacked_bytes)


@dataclass(frozen=True)
class FormCell:
    """What stands in a cell: text, a number, a day, true or false, None; `fault` says what else it is, a formula say."""

    value: Any
    fault: str = ""
    place: str = ""
    """Where it stands, of one beyond the columns of the form."""

    @property
    def text(self) -> str:
        """The cell as it would stand in CSV, without the space around it and with line ends as files have them."""
        value = "" if self.value is None else self.value
        if isinstance(value, datetime) and value.time() == datetime.min.time():
            value = value.date()
        text = f"{value:.15g}" if isinstance(value, float) else str(value).strip()
        return (
            text.replace("_x000D_", "").replace("\r\n", "\n").replace("\r", "\n")
        )  # the first is \r as Excel spells it


@dataclass(frozen=True)
class FormSheet:
    """One sheet of a file, '' as the title of CSV: its rows from the first, each from the first column."""

    file: str
    title: str
    rows: tuple[tuple[FormCell, ...], ...]

    def at(self, row: int, column: int) -> FormCell:
        """The cell of a row, from 1, and a column, from 0; an empty one where the sheet ends before."""
        cells = self.rows[row - 1] if row <= len(self.rows) else ()
        return cells[column] if column < len(cells) else FormCell(None)

    def name(self, row: int, column: int) -> str:
        """What messages call a cell: `Answers!B3`."""
        return f"{self.title}!{self.at(row, column).place or f'{letter_of(column)}{row}'}"

    def problem(
        self, row: int, column: int, message: str, remedy: str = _AS_SENT, suggestion: str = "", head: str = ""
    ) -> Problem:
        """A fault in one cell: of a workbook by its name, after the column's `head`; of CSV by its line and head."""
        name = self.name(row, column)
        key = (f"{head} ({name})" if head else name) if self.title else head
        value = visible(self.at(row, column).text)
        return Problem(message, self.file, None if self.title else row, key, value, remedy, suggestion)

    def other_than(self, labels: Mapping[tuple[int, int], str]) -> Iterator[Problem]:
        """A fault for each cell, by row and column, that does not hold the label that the form has there."""
        for (row, column), label in labels.items():
            if self.at(row, column).text != label:
                yield self.problem(row, column, f"is not the {label} of the form")

    def beside(self, columns: int) -> Iterator[Problem]:
        """A fault for each cell that is filled in beyond so many columns."""
        remedy = _AS_SENT if self.title else "Quote a text that holds a comma; no decimal commas."
        for row, cells in enumerate(self.rows, start=1):
            for column, cell in enumerate(cells[columns:], start=columns):
                if cell.text:
                    yield self.problem(row, column, "stands beside the form", remedy)

    def formulas(self) -> Iterator[Problem]:
        """A fault for each cell that holds a formula or the fault of one: nothing here is worked out."""
        for row, cells in enumerate(self.rows, start=1):
            for column, cell in enumerate(cells):
                if cell.fault:
                    yield self.problem(row, column, cell.fault, "Write what it gives, as text or a number.")


def read_sheet(
    path: Path, title: str, limits: Limits, *, beside: Mapping[str, int] = MappingProxyType({}), or_first: bool = False
) -> FormSheet:
    """The sheet of this title; `or_first`: the first one if none is called so. `beside`: rows of
    the form's other sheets in which its own text stands, in their first column.

    Raises `InputError` for a file that cannot be read, is too large or unpacks to too much, has no such sheet or too many
    rows in it, says anything outside the form (in cells however far, comments, text boxes, sheets of its own), or holds
    macros, controls, embedded files or links to others: what nobody reads must not look as if it had been said.
    """
    from openpyxl import load_workbook  # slow to import, and only a workbook needs it

    data = read_bytes_strict(path, max_bytes=limits.file_bytes)
    file = shown_path(path)
    try:
        _check_parts(data, file, limits)
        book = load_workbook(io.BytesIO(data), read_only=True)
        names = book.sheetnames
        if title not in names and not or_first:
            near = did_you_mean(title, names)
            raise InputError(Problem(f"has no sheet {title}", file, value=", ".join(names), suggestion=near))
        sheet = book[title] if title in names else book.worksheets[0]
        read = FormSheet(file, sheet.title, tuple(_near(row, limits.columns) for row in _rows(sheet, limits)))
        faults = [
            fault
            for other in book.worksheets
            if other.title != sheet.title
            for fault in _elsewhere(other, file, limits, beside)
        ]
    except InputError:
        raise
    except Exception as error:  # a broken workbook fails in as many ways as there are parts in it
        reason = type(error).__name__
        remedy = "Save it as XLSX again, without a password."
        raise InputError(Problem(f"is no workbook that can be read ({reason})", file, remedy=remedy)) from error
    if len(read.rows) > limits.rows:
        raise InputError(Problem(f"has more than {limits.rows:,} rows", file, None, read.title))
    if faults:
        raise InputError(faults[:_MOST_TOLD])
    return read


def _rows(sheet: Any, limits: Limits) -> Iterator[Sequence[Any]]:
    """The rows of a sheet to the first beyond the limit, each as wide as a sheet may be whatever size the file states."""
    sheet.reset_dimensions()
    rows: Iterator[Sequence[Any]] = sheet.iter_rows(max_row=limits.rows + 1, max_col=_MOST_COLUMNS)
    return rows


def _near(row: Sequence[Any], columns: int) -> tuple[FormCell, ...]:
    """The cells of a row that a form has, and with them the first that is filled in beyond."""
    far = next(_filled(row[columns:]), None)
    return (*map(_cell, row[:columns]), *(() if far is None else (replace(_cell(far), place=far.coordinate),)))


def _filled(cells: Sequence[Any]) -> Iterator[Any]:
    from openpyxl.cell.read_only import EMPTY_CELL

    if {*map(id, cells)} - {id(EMPTY_CELL)}:  # in one go, for a sheet is 16,384 columns wide
        yield from (cell for cell in cells if cell.value is not None)


def _elsewhere(sheet: Any, file: str, limits: Limits, ours: Mapping[str, int]) -> Iterator[Problem]:
    """A fault for each cell of a sheet beside the form that is filled in where the form has nothing."""
    for number, row in enumerate(_rows(sheet, limits), start=1):
        for cell in _filled(row[1:] if number <= ours.get(sheet.title, 0) else row):
            if text := _cell(cell).text:
                place = f"{sheet.title}!{cell.coordinate}"
                yield Problem("stands outside the form", file, None, place, visible(text), _AS_SENT)


def _check_parts(data: bytes, file: str, limits: Limits) -> None:
    """Refuse what unpacks to too much, what does more than hold cells, and parts that declare entities of their own."""
    with zipfile.ZipFile(io.BytesIO(data)) as packed:
        parts = packed.infolist()
        if len(parts) > _MOST_PARTS:
            raise InputError(Problem(f"has more than {_MOST_PARTS} parts", file))
        names = [part.filename.lower() for part in parts]
        if held := [what for what, marks in _RUNS.items() if any(mark in name for name in names for mark in marks)]:
            remedy = (
                "Copy everything that is to count into the cells of the form as it was sent, and save that as XLSX."
            )
            raise InputError(Problem(f"holds {', '.join(held)}", file, remedy=remedy))
        too_much = InputError(Problem(f"unpacks to more than {limits.unpacked_bytes:,} bytes", file))
        if sum(part.file_size for part in parts) > limits.unpacked_bytes:
            raise too_much
        unpacked = elements = 0
        for part in parts:
            before, border = unpacked, b""
            for chunk in _chunks(packed, part):
                unpacked += len(chunk)
                if unpacked > limits.unpacked_bytes:
                    raise too_much
                elements += chunk.count(b"<")
                if elements > _MOST_ELEMENTS:
                    raise InputError(Problem(f"holds more than {_MOST_ELEMENTS:,} elements", file))
                seen = border + chunk
                if part.filename.lower().endswith((".xml", ".rels")) and _DECLARED.search(seen):
                    raise InputError(Problem(f"declares entities in {part.filename}", file, remedy="Save it again."))
                border = seen[-_BORDER:]
            if unpacked - before != part.file_size:  # what opens it after us unpacks by that size
                raise zipfile.BadZipFile(part.filename)


def _chunks(packed: zipfile.ZipFile, part: zipfile.ZipInfo) -> Iterator[bytes]:
    """What a part unpacks to, a chunk at a time and to its end, whatever size it says it has."""
    if part.compress_type not in _PACKED:
        raise zipfile.BadZipFile(part.filename)
    whole = copy(part)
    whole.file_size = sys.maxsize
    with packed.open(whole) as stream:
        while chunk := stream.read(_CHUNK_BYTES):
            yield chunk


def _cell(cell: Any) -> FormCell:
    value, kind = cell.value, cell.data_type
    if kind == "f":
        return FormCell(str(getattr(value, "text", None) or value), "is a formula")
    return FormCell(value, "is the fault of a formula" if kind == "e" else "")


def letter_of(column: int) -> str:
    """The letter of a column of a sheet, from 0; a form has fewer than there are letters twice."""
    return chr(ord("A") + column) if column < 26 else f"A{chr(ord('A') + column - 26)}"
