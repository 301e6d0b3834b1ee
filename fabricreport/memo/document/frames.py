"""pandas DataFrames as document tables: the HTML pandas writes is read as data, never copied."""

from __future__ import annotations

import re
from collections.abc import Iterator
from html.parser import HTMLParser

from fabricreport.blocks.nodes import DataTable, Inline, TableColumn, TableRow, Text

_NUMERIC = re.compile(r"[-−+]?[$€£]?[\d,.\s]*\d[\d,.]*(?:e[+-]?\d+)?\s*[%×x]?\Z", re.IGNORECASE)
_CUT = re.compile(r"\d+ rows × \d+ columns")
_WIDEST = 49
"""Characters at which pandas cuts a cell's text, the three dots included."""
_MISSING = frozenset(["", "nan", "none", "nat", "<na>", "-", "–"])


class _TableReader(HTMLParser):
    """Collects the cells of the first table; spans repeat their text."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.head: list[list[str]] = []
        self.body: list[list[str]] = []
        self.tables = 0
        self.remark = ""
        self._in_head = False
        self._row: list[str] | None = None
        self._cell: list[str] | None = None
        self._span = 1

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag == "table":
            self.tables += 1
        if self.tables != 1:
            return
        if tag in ("thead", "tbody"):
            self._in_head = tag == "thead"
        elif tag == "tr":
            self._row = []
        elif tag in ("td", "th") and self._row is not None:
            self._cell = []
            span = dict(attrs).get("colspan") or "1"
            self._span = min(int(span), 100) if span.isdigit() else 1

    def handle_endtag(self, tag: str) -> None:
        if self._row is not None and self._cell is not None and tag in ("td", "th"):
            self._row += [" ".join("".join(self._cell).split())] * self._span
            self._cell = None
        elif self._row is not None and tag == "tr":
            (self.head if self._in_head else self.body).append(self._row)
            self._row = None

    def handle_data(self, data: str) -> None:
        if self._cell is not None:
            self._cell.append(data)
        elif self.tables and self._row is None:
            self.remark += data


def table_from_html(html: str, caption: str = "", table_id: str = "") -> tuple[DataTable | None, list[tuple[str, str]]]:
    """A table from the `text/html` of a DataFrame, or None when there is no table in it, and what is wrong with it.

    Several header rows are joined with spaces; a column whose cells are all numbers is right-aligned. A fault, with its
    remedy, is what pandas left out, or a table beside the first.
    """
    reader = _TableReader()
    reader.feed(html)
    reader.close()
    if not reader.body and not reader.head:
        return None, []
    width = max(len(row) for row in [*reader.head, *reader.body])
    head = [_fit(row, width) for row in reader.head] or [[""] * width]
    body = [_fit(row, width) for row in reader.body]
    labels = [" ".join(dict.fromkeys(row[i] for row in head if row[i])) for i in range(width)]
    columns = (
        TableColumn(_text(label), "", "right" if _numeric([row[i] for row in body]) else "left")
        for i, label in enumerate(labels)
    )
    rows = (TableRow(tuple(_text(cell) for cell in row), "normal") for row in body)
    table = DataTable(table_id, _text(caption), tuple(columns), tuple(rows), ())
    return table, list(_faults(reader, body))


def _faults(reader: _TableReader, body: list[list[str]]) -> Iterator[tuple[str, str]]:
    if reader.tables > 1:
        yield "an HTML output holds more than one table", "Show each table from a cell of its own."
    if _CUT.search(reader.remark):
        remedy = "Choose what to show, or put it into a %%table cell."
        yield "a DataFrame is shown with rows or columns left out", remedy
    if not body:
        yield "a DataFrame without rows is shown", "Show it only where it has some, or say that there are none."
    if any(cell.endswith("...") and len(cell) >= _WIDEST for row in body for cell in row):
        yield "a DataFrame is shown with long text cut off", "Put it into a %%table cell, which prints all of it."


def _fit(row: list[str], width: int) -> list[str]:
    return [*row, *[""] * (width - len(row))]


def _text(value: str) -> tuple[Inline, ...]:
    return (Text(value),) if value else ()


def _numeric(cells: list[str]) -> bool:
    filled = [cell for cell in cells if cell.lower() not in _MISSING]
    return bool(filled) and all(_NUMERIC.match(cell) for cell in filled)
