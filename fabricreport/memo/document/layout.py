"""The shape of a printed table: how wide it is, which columns stretch, how decimals line up."""

from __future__ import annotations

import re
from collections.abc import Sequence

from fabricreport.base import formats
from fabricreport.blocks.nodes import DataTable, Inline, Num, Scalar, TableColumn, TableRow, TableShape, plain_text
from fabricreport.ledger.numbers import DAGGER

_DECIMAL = re.compile(r"^[^\d]*[\d,\u202f\u00a0 ]*\d(?:\.(\d+))?\D*$")
_ALONE = re.compile(r"[−-]?\d{1,3}(?:,\d{3})+(?:\.\d+)?\Z|[−-]?\d+(?:\.\d+)?\Z")
_AROUND = re.compile(r"[\d.,\s†○−-]")
"""What leaves of a cell the unit that its number stands in: decimals of different units, or of none, make no line."""
_CHAR_PT = 4.2
"""Mean advance of a character of the table's type (Libertinus Serif at 8.25 pt), a little on the safe side."""
_GAP_PT = 14.0
_TEXT_PT, _WIDE_PT = 320.0, 467.0
_LONG_CHARS = 22
_GAP_CHARS, _BESIDE_CHARS, _SHORT_CHARS = 3, 2, 10
_STEP_CHARS, _LOST_CHARS = 4, 4
"""Moved between columns at a time; lost at the ends of lines where a text is broken."""
_MOST_CHARS = 200
"""What a column of long texts wants at most, so that it leaves the others some room."""
_MOST_WHOLE = 16
"""An amount or a range ("−12.30 to 15.99†") of so many characters is not broken."""
_ROOMY, _SMALL = 0.8, 0.45


def table_shape(columns: Sequence[TableColumn], rows: Sequence[TableRow]) -> TableShape:
    """The shape of a table whose rows have a cell for each column."""
    decimals, places = _decimal_places(columns, rows)
    full = [(row, missing) for row, missing in zip(rows, decimals, strict=True) if row.role != "group"]
    cells = [[*map(_as_set, row.cells, missing)] for row, missing in full]
    heads = [(plain_text(column.label), column.unit) for column in columns]
    lengths = [max(map(len, (*heads[i], *(row[i] for row in cells)))) for i in range(len(columns))]
    natural_pt = sum(lengths) * _CHAR_PT + _GAP_PT * max(len(columns) - 1, 0)
    left = [i for i, column in enumerate(columns) if column.align == "left"]
    stretch = [max(lengths[i], 8) if i in left and lengths[i] > _LONG_CHARS else 0 for i in range(len(columns))]
    if natural_pt < _ROOMY * _TEXT_PT:
        # Spread evenly: a number must not stand at the far end of an empty line from its label.
        stretch = [length + _GAP_CHARS for length in lengths]
    elif natural_pt > _WIDE_PT:
        kept = [0 if i in left else _MOST_WHOLE for i in range(len(columns))]
        needed = [_longest_word(h, [row[i] for row in cells], kept[i]) for i, h in enumerate(heads)]
        stretch = _fewest_lines(_shared(lengths, needed), needed, cells)
    elif not any(stretch) and left:
        stretch[left[0]] = 1
    return TableShape(
        narrow=natural_pt < _SMALL * _TEXT_PT,
        wide=natural_pt > _TEXT_PT,
        crowded=natural_pt > _WIDE_PT,
        stretch=tuple(stretch),
        decimals=decimals,
        places=places,
    )


def table_texts(table: DataTable) -> list[list[str]]:
    """What a table prints, as rows of text, the heads with their units first."""
    heads = [plain_text(column.label) + (f" ({column.unit})" if column.unit else "") for column in table.columns]
    return [heads, *([plain_text(cell) for cell in row.cells] for row in table.rows)]


def table_rows(table: DataTable) -> list[list[Scalar]]:
    """The same for its CSV, each number as a spreadsheet reads it."""
    heads, *rows = table_texts(table)
    return [[*heads], *(list[Scalar](map(_plain_number, row)) for row in rows)]


def _plain_number(text: str) -> str:
    """A number alone as a spreadsheet reads it; the ledger tells which rest on an old price."""
    return text.replace(formats.MINUS, "-").replace(",", "") if _ALONE.match(text) else text


def _shared(wanted: Sequence[int], needed: Sequence[int]) -> list[int]:
    """The width of a page over columns that want more of it, in characters: each has its longest word, a short one
    with the gap beside it, and what is left goes to the others by what they still want."""
    more = [max(min(want, _MOST_CHARS) - need, 0) for want, need in zip(wanted, needed, strict=True)]
    needed = [need + (_BESIDE_CHARS if need < _SHORT_CHARS else 0) for need in needed]
    room = round(_WIDE_PT / _CHAR_PT) - sum(needed)
    if room <= 0 or not any(more):
        return list(needed)
    return [need + round(room * each / sum(more)) for need, each in zip(needed, more, strict=True)]


def _fewest_lines(widths: list[int], needed: Sequence[int], rows: Sequence[Sequence[str]]) -> list[int]:
    """The widths, characters moved from one column to another as long as that makes the table lower."""

    def height(widths: Sequence[int]) -> int:
        wraps = (((w - _BESIDE_CHARS, len(cell)) for w, cell in zip(widths, row, strict=True)) for row in rows)
        return sum(max(1 if length <= w else -(-(length + _LOST_CHARS) // w) for w, length in row) for row in wraps)

    def moved(source: int, target: int) -> list[int]:
        return [w - _STEP_CHARS * (i == source) + _STEP_CHARS * (i == target) for i, w in enumerate(widths)]

    while True:
        givers = [i for i, w in enumerate(widths) if w - _STEP_CHARS >= needed[i]]
        ways = [moved(i, j) for i in givers for j in range(len(widths)) if j != i]
        best = min(ways, key=height, default=widths)
        if height(best) >= height(widths):
            return widths
        widths = best


def _longest_word(head: tuple[str, str], cells: Sequence[str], whole: int) -> int:
    """What a column cannot do without: the longest word of its head, set bold, or of its cells, or one of at most `whole`
    characters as it stands."""
    longest = max(len(word) for word in " ".join(head).split(" "))
    kept = (_wide(w) for cell in cells for w in ([cell] if len(cell) <= whole else cell.split(" ")))
    return max([4, longest + 1, *kept])


def _as_set(nodes: Sequence[Inline], missing: int) -> str:
    """A cell as long as it is set: with the dagger of an old price, and as many digits more as its column lines up."""
    aged = any(isinstance(node, Num) and node.stale for node in nodes)
    return plain_text(nodes) + DAGGER * aged + "0" * missing


def _wide(word: str) -> int:
    """A word's width in mean characters: capitals take half as much again, so an id is not broken at its hyphens."""
    return len(word) + sum(c.isupper() for c in word) // 2


def _decimal_places(
    columns: Sequence[TableColumn], rows: Sequence[TableRow]
) -> tuple[tuple[tuple[int, ...], ...], tuple[int, ...]]:
    units = [
        {column.unit + _AROUND.sub("", plain_text(r.cells[i])) for r in rows if _decimals(r.cells[i]) is not None}
        for i, column in enumerate(columns)
    ]
    one_unit = [c.align == "right" and len(of) == 1 and "" not in of for c, of in zip(columns, units, strict=True)]
    found = [[_decimals(row.cells[i]) if one_unit[i] else None for i in range(len(columns))] for row in rows]
    most = tuple(max((row[i] or 0 for row in found), default=0) for i in range(len(columns)))
    missing = (tuple(most[i] - had if had is not None else -1 for i, had in enumerate(row)) for row in found)
    return tuple(missing), most


def _decimals(nodes: Sequence[Inline]) -> int | None:
    match = _DECIMAL.match(plain_text(nodes).strip())
    return len(match[1] or "") if match else None
