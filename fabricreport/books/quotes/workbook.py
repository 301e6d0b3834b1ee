"""The form on which a seller quotes, as a workbook."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import date

from fabricreport.books.quotes.form import COLUMNS, GUIDE, SHEET, TO_FILL, Line, rows_of
from fabricreport.books.quotes.terms import terms
from fabricreport.books.workbook_reader import letter_of
from fabricreport.books.workbook_writer import FILL_COLOUR, HEAD, PLAIN, Book, Style, add_guide

_WIDTHS = {"what": 44, "include": 60, "fabric": 30, "item": 30, "request": 26, "seller": 26}
_WIDTH = 16
_WORDS = ("seller", "quoted_on", "valid_until")
_STYLES = {column: Style(fill=FILL_COLOUR, number="@" if column in _WORDS else "General") for column in TO_FILL}


def as_workbook(lines: Iterable[Line], made: date) -> bytes:
    """The form as XLSX, how to fill it in on the sheet before it; `made`: the day of the memo it is for."""
    book = Book(SHEET, made)
    add_guide(book, GUIDE, terms().read_first)
    sheet = book.sheet(SHEET)
    rows = rows_of(lines)
    for n, column in enumerate(COLUMNS):
        letter = letter_of(n)
        sheet.width(letter, _WIDTHS.get(column, _WIDTH))
        sheet.put(f"{letter}1", column, HEAD)
        for number, row in enumerate(rows, start=2):
            sheet.put(f"{letter}{number}", row[n], _STYLES.get(column, PLAIN))
    sheet.layout.freeze_panes("A2")
    sheet.layout.activate()
    return book.as_bytes()
