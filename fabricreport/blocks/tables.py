"""Tables of ledger numbers: one unit and one number of decimals to a column, and which figures make up another."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from itertools import combinations, pairwise
from typing import Any, cast, get_args

from fabricreport.base import formats
from fabricreport.blocks.gate import AMOUNT, BY_LETTER, Written, adds_up, is_sum, written
from fabricreport.blocks.nodes import DataTable, Inline, Num, Role, TableColumn, TableRow, Text, plain_text
from fabricreport.blocks.template import Binder, PhraseCell
from fabricreport.ledger.facts import Name
from fabricreport.ledger.numbers import Number

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


_AMOUNT = re.compile(rf"{AMOUNT}(?:\s(?:(?P<of>of {formats.OF})|(?P<unit>(?!to |± )[^\d\s](?:(?! to | ± ).)*)))?")
_BESIDE = re.compile(rf"[a-z ±{formats.MINUS}-]*")
"""What may stand beside the amounts of a figure: fewer than, to, a sign."""


def with_units_once(
    columns: Sequence[TableColumn], rows: Sequence[TableRow]
) -> tuple[tuple[TableColumn, ...], tuple[TableRow, ...]]:
    """The table with a unit that all figures of a column bear told once, in its head; then, where columns of several units
    stand side by side, one that the figures of a row bear in the row's name."""
    heads, full = [*columns], [[*row.cells] for row in rows]
    own = [cells for row, cells in zip(rows, full, strict=True) if row.role != "group"]
    for c, head in enumerate(heads):
        if not head.unit and (unit := _lift(own, [c])):
            heads[c] = replace(head, unit=unit, align="right")
    mixed = [c for c, head in enumerate(heads) if c and not head.unit and head.align == "right"]
    for cells in own if len(mixed) > 1 else ():
        first = next(filter(None, (_units(cells[c]) for c in mixed)), None)
        places = [c for c in mixed if _units(cells[c]) == first]
        unit = _lift([cells], places) if len(places) > 1 else ""
        if unit and not re.search(rf"(?<![\w-]){re.escape(unit)}(?!\w)", plain_text(cells[0]), re.IGNORECASE):
            cells[0] = (*cells[0], Text(f" ({unit})"))
    return tuple(heads), tuple(replace(row, cells=tuple(cells)) for row, cells in zip(rows, full, strict=True))


def _units(cell: Sequence[Inline]) -> set[tuple[str, str]]:
    """The units of the figures of a cell, currencies apart; none if it holds anything but figures."""
    text, words = plain_text(cell), {plain_text((node,)) for node in cell if not isinstance(node, Num)}
    if not words <= {" to ", " ± "} or not _BESIDE.fullmatch(_AMOUNT.sub("", text)):
        return set()
    found = {(each["currency"] or "", "%" if each["of"] else each["unit"] or "") for each in _AMOUNT.finditer(text)}
    return found - {("", "")} or found


def _lift(rows: Sequence[list[tuple[Inline, ...]]], places: Sequence[int]) -> str:
    """The one unit of all figures at these places, which it takes off them; '' where one has none or another.
    Amounts of money are told in thousands or millions as most of them are."""
    figures = [row[c] for row in rows for c in places if any(map(str.isdigit, plain_text(row[c])))]
    units = {unit for cell in figures for unit in _units(cell) or {("", "")}}
    currency, unit = units.pop() if len(units) == 1 else ("", "")
    if not currency + unit:
        return ""
    letters = Counter(each["letter"] or "" for cell in figures for each in _AMOUNT.finditer(plain_text(cell)))
    letter = max(letters, key=lambda each: (letters[each], -BY_LETTER[each]))

    def moved(amount: re.Match[str]) -> str:
        by = BY_LETTER[amount["letter"] or ""] / BY_LETTER[letter]
        value = Decimal(amount["digits"].replace(",", "")) * by
        return amount["digits"] if by == 1 else f"{value.normalize():,f}"

    for row in rows:
        for c in places:
            row[c] = tuple(replace(n, text=_AMOUNT.sub(moved, n.text)) if isinstance(n, Num) else n for n in row[c])
    return f"{currency}{letter} {unit}".strip()


THOUSAND, MILLION = 1e3, 1e6
ROLES = get_args(Role)
Cell = Number | str | PhraseCell | None
RANGE = "90 % range"
"""The head of a column of spreads."""


class Words(str):
    """Text that is data and no name: printed as it stands, and read by the gate."""

    __slots__ = ()


@dataclass(frozen=True)
class Column:
    """A column's head. `style` shows numbers as `value`, as their `spread`, or, in a column of several units, `mixed`.

    `decimals` overrides what follows from the column's largest value. A text column is set left.
    """

    label: str
    style: str = "value"
    decimals: int | None = None


@dataclass(frozen=True)
class Row:
    """A row's cells: numbers, text (a template), phrases or None for an empty cell; `role` marks totals and the winner."""

    cells: Sequence[Cell]
    role: str = "normal"


@dataclass(frozen=True)
class Table:
    """What a section makes of a table: its columns and rows. Caption and note stand in the notebook's cell.

    `values` are words of this table alone.
    """

    columns: Sequence[Column]
    rows: Sequence[Row]
    values: Mapping[str, object] = field(default_factory=dict)


def table_node(
    binder: Binder, table_id: str, caption: str, columns: Sequence[Column], rows: Sequence[Row], note: str
) -> DataTable:
    """The table's node, its note saying where sums are rounded; refuses ragged rows, which print a number under a wrong head."""
    for row in rows:
        if len(row.cells) != len(columns) or row.role not in ROLES:
            raise ValueError(
                f"table {table_id}: a row has {len(row.cells)} cells for {len(columns)} columns, role {row.role}"
            )
    scales = _shared([_scale(column, [row.cells[i] for row in rows]) for i, column in enumerate(columns)])
    for i, (scale, after) in enumerate(pairwise(scales)):
        if scale and after and columns[i + 1].style == "spread" and after.by == THOUSAND and scale.by == 1:
            scales[i] = after  # a mean stands beside its range

    def shown(row: Row) -> TableRow:
        cells = (_cell(binder, cell, c, s) for cell, c, s in zip(row.cells, columns, scales, strict=True))
        return TableRow(tuple(cells), cast(Role, row.role))

    heads = [_head(binder, c, s) for c, s in zip(columns, scales, strict=True)]
    told = with_units_once(heads, [shown(row) for row in rows])
    return with_rounding_told(DataTable(table_id, binder.inline(caption), *told, binder.inline(note) if note else ()))


def frame_parts(frame: Any) -> tuple[list[Column], list[Row]]:
    """A DataFrame as columns and rows: ledger numbers keep their footing, all else is printed as it stands.

    The index is left out (`frame.reset_index()` makes it a column); a column of several units shows the unit in each cell.
    """
    cells = [[_frame_cell(value) for value in row] for row in frame.itertuples(index=False, name=None)]
    columns = []
    for place, label in enumerate(frame.columns):
        units = {formats.unit_in(cell.unit, cell.currency) for row in cells if isinstance(cell := row[place], Number)}
        columns.append(Column(Words(label), style="mixed" if len(units) > 1 else "value"))
    return columns, [Row(row) for row in cells]


def _frame_cell(value: Any) -> Cell:
    if isinstance(value, Number | Name):
        return value
    missing = value is None or value != value
    return None if missing else Words(value)


def _scale(column: Column, cells: Sequence[Cell]) -> formats.Scale | None:
    """The scale of a column that holds numbers of one unit; None for text and for mixed units."""
    numbers = [cell for cell in cells if isinstance(cell, Number)]
    if not numbers or column.style == "mixed":
        return None
    units = {formats.unit_in(n.unit, n.currency) for n in numbers}
    if len(units) > 1:
        raise ValueError(f"column {column.label!r} mixes units {sorted(units)}: use style='mixed' or split it")
    largest = max(_extent(n, column.style) for n in numbers)
    scale = formats.column_scale(numbers[0].unit, largest, numbers[0].currency)
    return scale if column.decimals is None else formats.Scale(scale.head, scale.by, column.decimals)


def _shared(scales: list[formats.Scale | None]) -> list[formats.Scale | None]:
    """Columns of money in thousands follow one in millions, so that a row can be read across.

    They take as many decimals as any of these has, for those are what they add up with. Small amounts keep their own scale: a
    column of dollars shown in thousands would be a column of zeros.
    """
    in_millions = [s for s in scales if s and "M" in s.head and s.by == MILLION]
    millions = max(in_millions, key=lambda s: s.decimals, default=None)

    def follow(scale: formats.Scale | None) -> formats.Scale | None:
        if scale is None or millions is None or scale.by != THOUSAND:
            return scale
        return formats.Scale(scale.head.replace("k", "M", 1), millions.by, millions.decimals)

    return [follow(scale) for scale in scales]


def _extent(number: Number, style: str) -> float:
    ends = (number.spread.p5, number.spread.p95) if style == "spread" and number.spread else (number.value,)
    return max(abs(e) for e in ends)


def _head(binder: Binder, column: Column, scale: formats.Scale | None) -> TableColumn:
    right = scale is not None or column.style == "mixed"
    label = _cell(binder, column.label, column, None) if column.label else ()
    return TableColumn(label, scale.head if scale else "", "right" if right else "left")


def _cell(binder: Binder, cell: Cell, column: Column, scale: formats.Scale | None) -> tuple[Inline, ...]:
    if cell is None:
        return (Text("–"),)
    if isinstance(cell, Number):
        return (binder.number_node(cell, text=_number_text(cell, column, scale)),)
    if isinstance(cell, PhraseCell):
        return binder.within(cell.words).prose_line(cell.text)
    return (binder.name_node(cell),) if isinstance(cell, Name | Words) else binder.inline(cell)


def _number_text(number: Number, column: Column, scale: formats.Scale | None) -> str:
    if scale is None:
        return number.text
    if column.style == "spread" and number.spread:
        low, high = (formats.fixed(v / scale.by, scale.decimals) for v in (number.spread.p5, number.spread.p95))
        return low if low == high else f"{low} to {high}"
    if number.unit == "share":
        return formats.fixed_share(number.value, scale)
    return formats.fixed(number.value / scale.by, scale.decimals)
