"""Where each thing stands on the sheet of the questionnaire."""

from __future__ import annotations

from fabricreport.books.questionnaire.form import wording
from fabricreport.books.workbook_reader import letter_of

SHEET, GUIDE, LISTS = "Answers", "Read first", "Lists"
COLUMNS: tuple[str, ...] = tuple(wording().columns)
"""Columns of the table, in their order: what is asked, then what a seller fills in."""
TO_FILL = COLUMNS[COLUMNS.index("answer") :]
HEAD_ROWS: dict[str, int] = {key: row for row, key in enumerate(wording().head, start=2)}
"""The row of what is told once, by its key."""
TABLE_ROW = len(HEAD_ROWS) + 2
"""The row of the table's head."""
LETTERS = {column: letter_of(n) for n, column in enumerate(COLUMNS)}
