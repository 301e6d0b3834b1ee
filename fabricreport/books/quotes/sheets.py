"""Reading a filled form, CSV or XLSX, as rows of text by column, each with the place that a fault is named by."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from fabricreport.books.prices.files import columns_fault, separator_fault
from fabricreport.books.quotes.form import COLUMNS, GUIDE, SHEET, TO_FILL
from fabricreport.books.quotes.terms import terms
from fabricreport.books.workbook_reader import FormCell, FormSheet, Limits, read_sheet
from fabricreport.decimals import meanings, number_remedy
from fabricreport.errors import InputError, Problem
from fabricreport.located import read_bytes_strict, shown_path

_KINDS = {".csv": "a form as CSV", ".xlsx": "a form as XLSX"}


@dataclass(frozen=True)
class FilledRow:
    """One row of a form, from 1: its cells by column, in their order, and the sheet or CSV that it stands in."""

    cells: Mapping[str, str]
    row: int
    sheet: FormSheet

    def problem(self, column: str, message: str, remedy: str = "", suggestion: str = "") -> Problem:
        """A fault in one cell: of a workbook by column and cell, of CSV by line and column."""
        return self.sheet.problem(self.row, list(self.cells).index(column), message, remedy, suggestion, column)

    @property
    def empty(self) -> bool:
        """Whether nothing was filled in."""
        return not any(self.cells.get(column) for column in TO_FILL)


def read_form(path: Path) -> tuple[FilledRow, ...]:
    """The rows of a filled form; `InputError` where the file is none, with every fault of its head or its cells."""
    kind, file = path.suffix.lower(), shown_path(path)
    if kind not in _KINDS:
        raise InputError(Problem("is no form of ours", file, remedy=f"Give {' or '.join(_KINDS.values())}."))
    limits = Limits.of(terms(), 2 * len(COLUMNS))
    sheet = _csv_sheet(path, limits) if kind == ".csv" else _form_sheet(path, limits)
    filled = {n: texts for n, row in enumerate(sheet.rows, start=1) if any(texts := [cell.text for cell in row])}
    if not filled:
        raise InputError(Problem("is empty", file, 1, remedy="`fabricreport quotes PARAMS` writes the form."))
    number, head = next(iter(filled.items()))
    while not head[-1]:
        head.pop()
    if fault := columns_fault(head, COLUMNS):
        raise InputError(Problem(fault[0], file, number, remedy=f"{fault[1]} Keep the head of the form.".strip()))
    if faults := [*sheet.beside(len(head)), *sheet.formulas()]:
        raise InputError(faults)
    rows = {n: dict(zip(head, [*texts, *[""] * len(head)], strict=False)) for n, texts in filled.items() if n > number}
    return tuple(FilledRow(cells, n, sheet) for n, cells in rows.items())


def _form_sheet(path: Path, limits: Limits) -> FormSheet:
    """The sheet of a workbook; a number that was typed as text and may mean two is asked about."""
    sheet = read_sheet(path, SHEET, limits, beside={GUIDE: len(terms().read_first)}, or_first=True)
    faults = [
        sheet.problem(row, column, "may be two numbers, as it is text", number_remedy(cell.value))
        for row, cells in enumerate(sheet.rows, start=1)
        for column, cell in enumerate(cells)
        if isinstance(cell.value, str) and "." in cell.value and len(meanings(cell.value)) > 1
    ]
    if faults:
        raise InputError(faults)
    return sheet


def _csv_sheet(path: Path, limits: Limits) -> FormSheet:
    """CSV as a sheet whose rows are the lines of the file: one that ends on another line than it began stands there."""
    data, file = read_bytes_strict(path, max_bytes=limits.file_bytes), shown_path(path)
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = 1 + data[: error.start].count(b"\n")
        raise InputError(Problem("is not UTF-8 text", file, line, remedy="Save it as UTF-8 CSV.")) from error
    if parted := separator_fault(text, file):
        raise InputError(parted)
    reader, rows = csv.reader(io.StringIO(text, newline=""), strict=True), list[tuple[FormCell, ...]]()
    try:
        for cells in reader:
            if reader.line_num > limits.rows:
                raise InputError(Problem(f"has more than {limits.rows:,} rows", file, reader.line_num))
            rows += [()] * (reader.line_num - len(rows) - 1)
            rows.append(tuple(map(FormCell, cells)))
    except csv.Error as error:
        raise InputError(Problem(f"is no CSV table ({error})", file, reader.line_num)) from error
    return FormSheet(file, "", tuple(rows))
