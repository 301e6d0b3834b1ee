"""Reading a filled form, CSV or XLSX, as rows of text by column, each with the place that a fault is named by."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from fabricreport.books.prices.files import columns_fault, separator_fault
from fabricreport.books.quotes.form import COLUMNS, SHEET, TO_FILL
from fabricreport.books.quotes.terms import terms
from fabricreport.books.workbooks import Limits, letter_of, read_sheet
from fabricreport.errors import InputError, Problem
from fabricreport.hostile_text import visible
from fabricreport.located import read_bytes_strict

_KINDS = {".csv": "a form as CSV", ".xlsx": "a form as XLSX"}


@dataclass(frozen=True)
class FilledRow:
    """One row of a form: its cells by column, the file, and the row's number; `sheet` is '' for CSV."""

    cells: Mapping[str, str]
    file: str
    row: int
    sheet: str = ""
    letters: Mapping[str, str] | None = None

    def problem(self, column: str, message: str, remedy: str = "", suggestion: str = "") -> Problem:
        """A fault in one cell: of a workbook by sheet, row and column, of CSV by line."""
        at = f" ({self.sheet}!{self.letters[column]}{self.row})" if self.letters and column in self.letters else ""
        value = visible(self.cells.get(column, ""))
        return Problem(message, self.file, self.row, f"{column}{at}", value, remedy, suggestion)

    @property
    def empty(self) -> bool:
        """Whether nothing was filled in."""
        return not any(self.cells.get(column) for column in TO_FILL)


def read_form(path: Path) -> tuple[FilledRow, ...]:
    """The rows of a filled form; `InputError` where the file is none, with every fault of its head or its cells."""
    kind = path.suffix.lower()
    if kind not in _KINDS:
        raise InputError(Problem("is no form of ours", str(path), remedy=f"Give {' or '.join(_KINDS.values())}."))
    if kind == ".csv":
        data = read_bytes_strict(path, max_bytes=_largest())
        return tuple(_rows(_csv_lines(data, path), str(path), ""))
    sheet, lines = _workbook(path)
    return tuple(_rows(lines, str(path), sheet))


def _csv_lines(data: bytes, path: Path) -> Iterator[tuple[int, list[str]]]:
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = 1 + data[: error.start].count(b"\n")
        raise InputError(Problem("is not UTF-8 text", str(path), line, remedy="Save it as UTF-8 CSV.")) from error
    if parted := separator_fault(text, str(path)):
        raise InputError(parted)
    reader = csv.reader(io.StringIO(text, newline=""), strict=True)
    try:
        for cells in reader:
            yield reader.line_num, cells
    except csv.Error as error:
        raise InputError(Problem(f"is no CSV table ({error})", str(path), reader.line_num)) from error


def _workbook(path: Path) -> tuple[str, list[tuple[int, list[str]]]]:
    """The name of the form's sheet and its rows; formulas come as they are written, and are refused where they count."""
    sizes = Limits(_most_rows() + 1, 2 * len(COLUMNS), _largest(), terms().largest_unpacked_bytes)
    sheet = read_sheet(path, SHEET, sizes, or_first=True)
    return sheet.title, [(n, [cell.text for cell in row]) for n, row in enumerate(sheet.rows, start=1)]


def _most_rows() -> int:
    return terms().most_rows


def _largest() -> int:
    return terms().largest_file_bytes


def _rows(lines: Iterable[tuple[int, Sequence[str]]], file: str, sheet: str) -> Iterator[FilledRow]:
    head: list[str] | None = None
    letters: Mapping[str, str] = {}
    for number, cells in lines:
        cells = [cell.strip() for cell in cells]
        while cells and not cells[-1]:
            cells.pop()
        if not cells:
            continue
        if number > _most_rows() + 1:
            raise InputError(Problem(f"has more than {_most_rows():,} rows", file, number))
        if head is None:
            head = cells
            if fault := columns_fault(head, COLUMNS):
                raise InputError(
                    Problem(fault[0], file, number, remedy=f"{fault[1]} Keep the head of the form.".strip())
                )
            letters = {name: letter_of(n) for n, name in enumerate(head)} if sheet else {}
            continue
        if len(cells) > len(head):
            raise InputError(Problem(f"{len(cells)} cells instead of {len(head)}", file, number))
        padded = [*cells, *[""] * (len(head) - len(cells))]
        yield FilledRow(dict(zip(head, padded, strict=True)), file, number, sheet, letters)
    if head is None:
        raise InputError(Problem("is empty", file, 1, remedy="`fabricreport quotes PARAMS` writes the form."))
