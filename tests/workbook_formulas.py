"""What the formulas of a workbook give, worked out by themselves: no value that a formula carries is looked at."""

from __future__ import annotations

import io
import math
import re
from typing import Any

from openpyxl import load_workbook
from openpyxl.utils import range_boundaries

_CELL = re.compile(r"(?:(?:'([^']+)'|([A-Za-z]+))!)?(\$?[A-Z]{1,2}\$?\d+)(?::(\$?[A-Z]{1,2}\$?\d+))?(?![(\w])")


class Worked:
    """A workbook with cells of which some may be changed: `cell("Summary", "B5")` is what that gives."""

    def __init__(self, data: bytes) -> None:
        self.book, self._known = load_workbook(io.BytesIO(data)), dict[tuple[str, str], Any]()
        self.told = load_workbook(io.BytesIO(data), data_only=True)
        rows = self.book["Inputs"].iter_rows(min_row=5, values_only=True) if "Inputs" in self.book.sheetnames else ()
        self.places = {str(row[10]): f"C{number}" for number, row in enumerate(rows, start=5)}

    def changed(self, **inputs: float) -> Worked:
        """The same workbook with other inputs, by their ids."""
        for key, value in inputs.items():
            self.book["Inputs"][self.places[key]] = value
        self._known.clear()
        return self

    def cell(self, sheet: str, cell: str) -> Any:
        """What a cell gives."""
        key = sheet, cell.replace("$", "")
        if key not in self._known:
            value = self.book[sheet][key[1]].value
            is_formula = isinstance(value, str) and self.book[sheet][key[1]].data_type == "f"
            self._known[key] = self._worked(sheet, value[1:]) if is_formula else value or 0.0
        return self._known[key]

    def _cells(self, sheet: str, first: str, last: str) -> list[Any]:
        left, top, right, bottom = range_boundaries(f"{first}:{last}".replace("$", ""))
        found = self.book[sheet].iter_rows(top, bottom, left, right)
        return [self.cell(sheet, one.coordinate) for row in found for one in row]

    def _worked(self, sheet: str, text: str) -> Any:
        def named(found: re.Match[str]) -> str:
            own = found[1] or found[2] or sheet
            return f"_cells({own!r}, {found[3]!r}, {found[4]!r})" if found[4] else f"cell({own!r}, {found[3]!r})"

        parts = text.split('"')
        parts[::2] = [re.sub(r"(?<![<>])=", "==", _CELL.sub(named, part).replace("^", "**")) for part in parts[::2]]
        return eval('"'.join(parts), {**_FUNCTIONS, "cell": self.cell, "_cells": self._cells})


def _flat(args: tuple[Any, ...]) -> list[float]:
    return [one for arg in args for one in (arg if isinstance(arg, list) else [arg])]


_FUNCTIONS: dict[str, Any] = {
    "SUM": lambda *args: math.fsum(_flat(args)),
    "SUMPRODUCT": lambda a, b: math.fsum(x * y for x, y in zip(a, b, strict=True)),
    "MIN": lambda *args: min(_flat(args)),
    "MAX": lambda *args: max(_flat(args)),
    "ROUNDUP": lambda value, _: math.ceil(value),
    "ABS": abs,
    "AND": lambda *args: all(args),
    "IF": lambda asked, yes, no: yes if asked else no,
    "COUNTIF": lambda cells, wanted: sum(cell == wanted for cell in cells),
}
