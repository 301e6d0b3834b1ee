"""Sums and differences of a table: which of its figures make up another, and what its note says where they do not as printed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

from fabricreport.blocks.nodes import DataTable, Inline, Num, TableColumn, TableRow, Text
from fabricreport.blocks.written import Written, adds_up, is_sum, written

ROUNDED = "Each figure is rounded by itself, so a sum may differ in its last digit."
"""What a note says of a table whose figures do not add up as they are printed, and of no other."""


@dataclass(frozen=True)
class Sum:
    """A figure of a table that others make up: the places of all, a row and a column each."""

    whole: tuple[int, int]
    parts: tuple[tuple[int, int], ...]


@dataclass(frozen=True)
class _Cell:
    value: float
    printed: Written
    is_total: bool


def with_rounding_told(table: DataTable) -> DataTable:
    """The table, its note saying that figures are rounded where that shows."""
    cells = _cells(table.columns, table.rows)
    if all(adds_up(cells[s.whole].printed, [cells[p].printed for p in s.parts]) for s in _sums(cells)):
        return table
    note: tuple[Inline, ...] = (*table.note, Text(" ")) if table.note else ()
    return DataTable(table.id, table.caption, table.columns, table.rows, (*note, Text(ROUNDED)))


def sums_of(table: DataTable) -> list[Sum]:
    """Every figure of a table that figures above it in its column, or two beside it in its row, make up exactly."""
    return list(_sums(_cells(table.columns, table.rows)))


def _cells(columns: Sequence[TableColumn], rows: Sequence[TableRow]) -> dict[tuple[int, int], _Cell]:
    found = {}
    for r, row in enumerate(rows):
        if row.role != "group" and len(row.cells) == len(columns):
            for c, words in enumerate(row.cells):
                number = words[0] if len(words) == 1 and isinstance(words[0], Num) else None
                if number is not None and number.value is not None:
                    amounts = written(number.text, columns[c].unit)
                    if len(amounts) == 1:
                        found[r, c] = _Cell(number.value, amounts[0], row.role == "total")
    return found


def _sums(cells: dict[tuple[int, int], _Cell]) -> Iterator[Sum]:
    for r, c in cells:
        above = [(row, c) for row in range(r - 1, -1, -1) if (row, c) in cells]
        yield from _down(cells, (r, c), above)
        yield from _down(cells, (r, c), [at for at in above if cells[at].is_total])
        yield from _across(cells, r, c)


def _down(cells: dict[tuple[int, int], _Cell], whole: tuple[int, int], above: list[tuple[int, int]]) -> Iterator[Sum]:
    """The shortest run of the nearest figures above one that make it up."""
    for count in range(2, len(above) + 1):
        if is_sum(cells[whole].value, [cells[at].value for at in above[:count]]):
            yield Sum(whole, tuple(above[:count]))
            return


def _across(cells: dict[tuple[int, int], _Cell], r: int, c: int) -> Iterator[Sum]:
    beside = [at for at in cells if at[0] == r and at[1] != c]
    for pair in combinations(beside, 2):
        if is_sum(cells[r, c].value, [cells[at].value for at in pair]):
            yield Sum((r, c), pair)
