"""Workbooks as we write them: text stays text, the same content is the same bytes."""

from __future__ import annotations

import io
import textwrap
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any, NamedTuple

import xlsxwriter

from fabricreport.base.text import FORMULA_STARTS

FILL_COLOUR = "#FFF8DC"
"""Of the cells to fill in, and of inputs."""
LINE_POINTS, _FULL = 15.0, 0.92
"""Height of a line, and how full a column is before a word goes to the next line."""
_TEXT_ONLY = {"in_memory": True, "strings_to_formulas": False, "strings_to_urls": False, "strings_to_numbers": False}


@dataclass(frozen=True)
class Style:
    """How a cell looks: colours as `#RRGGBB`, `number` a format of numbers (`@`: what is typed stays text).

    `to_fill`: a person may write into it where the workbook is locked.
    """

    bold: bool = False
    italic: bool = False
    size: int = 11
    colour: str = ""
    fill: str = ""
    border: str = ""
    wrap: bool = True
    left: bool = False
    number: str = "General"
    to_fill: bool = False


PLAIN, HEAD = Style(), Style(bold=True, fill="#D9E2EC")


class Formula(NamedTuple):
    """A formula of ours, never one that a person typed, and what it gives, for whoever reads without working it out."""

    text: str
    gives: float | str


class _Lockable(xlsxwriter.Workbook):  # type: ignore[misc]  # it has no types
    """XlsxWriter locks cells; this one can lock which sheets there are as well."""

    locked = False

    def _write_workbook_pr(self) -> None:
        super()._write_workbook_pr()
        if self.locked:
            self._xml_empty_tag("workbookProtection", [("lockStructure", 1)])


class Book:
    """A workbook being written; `made` is the day that it names as its own, `locked` keeps all but the cells to fill in."""

    def __init__(self, title: str, made: date, *, locked: bool = False) -> None:
        self._bytes = io.BytesIO()
        self._book = _Lockable(self._bytes, _TEXT_ONLY)
        self._book.locked = locked
        day = datetime(made.year, made.month, made.day)
        self._book.set_properties({"title": title, "author": "fabricreport", "created": day})
        self._formats: dict[tuple[Style, bool], Any] = {}

    def sheet(self, title: str) -> Sheet:
        """One more sheet, after those there are."""
        layout = self._book.add_worksheet(title)
        if self._book.locked:
            layout.protect(options={"format_columns": True, "format_rows": True})
        return Sheet(self, layout)

    def as_bytes(self) -> bytes:
        """The workbook as a file; nothing can be added after it."""
        self._book.close()
        return self._bytes.getvalue()

    def format_of(self, style: Style, *, quoted: bool = False) -> Any:
        """A style as XlsxWriter has it; `quoted`: the text of the cell is text, also once it has been edited."""
        if (style, quoted) not in self._formats:
            stated = {
                "font_color": style.colour, "bg_color": style.fill, "border_color": style.border,
                "border": 1 if style.border else "", "align": "left" if style.left else "",
            }  # fmt: skip
            self._formats[style, quoted] = self._book.add_format({
                "bold": style.bold, "italic": style.italic, "font_size": style.size, "text_wrap": style.wrap,
                "valign": "top", "num_format": style.number, "locked": not style.to_fill, "quote_prefix": quoted,
                **{key: value for key, value in stated.items() if value},
            })  # fmt: skip
        return self._formats[style, quoted]


class Sheet:
    """One sheet; cells and ranges are named as in a spreadsheet (`B3`, `B3:B9`), rows counted from 1, columns by letter.

    `layout` is XlsxWriter's own sheet, for all that is not in a cell: panes, pages, rules of what may be typed.
    """

    def __init__(self, book: Book, layout: Any) -> None:
        self.layout, self._book = layout, book

    def put(self, cell: str, value: str | float | Formula, style: Style = PLAIN) -> None:
        """Write a cell; a text stays what it is, however it begins, and '' is an empty cell in this style.

        Raises `ValueError` for a text of more than 32,767 characters, and for a cell that no sheet has.
        """
        if isinstance(value, Formula):
            code = self.layout.write_formula(cell, value.text, self._book.format_of(style), value.gives)
        elif value == "":
            code = self.layout.write_blank(cell, None, self._book.format_of(style))
        elif isinstance(value, str):
            quoted = value.startswith(FORMULA_STARTS)
            code = self.layout.write_string(cell, value, self._book.format_of(style, quoted=quoted))
        else:
            code = self.layout.write_number(cell, value, self._book.format_of(style))
        if code:
            raise ValueError(f"{cell} cannot hold {str(value)[:40]!r}")

    def width(self, letter: str, characters: float) -> None:
        """Make a column so wide."""
        self.layout.set_column(f"{letter}:{letter}", characters)

    def height(self, row: int, points: float) -> None:
        """Make a row so high."""
        self.layout.set_row(row - 1, points)

    def colour_where(self, cells: str, formula: str, fill: str) -> None:
        """Colour the cells of a range for which a formula, written for its first, holds."""
        rule = {"type": "formula", "criteria": f"={formula}", "format": self._book.format_of(Style(fill=fill))}
        self.layout.conditional_format(cells, rule)

    def print_across(self) -> None:
        """Print it across, as wide as the page."""
        self.layout.set_landscape()
        self.layout.fit_to_pages(1, 0)


def height_of(texts: Iterable[tuple[str, float]]) -> float:
    """The height in points of a row that shows these texts whole, each in a column of so many characters."""
    lines = (len(textwrap.wrap(text, max(1, int(width * _FULL)))) for text, width in texts)
    return LINE_POINTS * max(1, *lines) + 2
