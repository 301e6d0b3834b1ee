"""Walks the totals of a table: whether one is cleaner than a marked part that is as much of it as a mark takes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from fabricreport.blocks.nodes import DataTable, Inline, Num, walk
from fabricreport.ledger import Record
from fabricreport.marks import AGED
from fabricreport.memo.document.gather import Gathered


@dataclass(frozen=True)
class Shown:
    """An amount as a table shows it."""

    value: float
    stale: bool


Line = tuple[str, Sequence[Shown | None]]
"""The role of a row, and its cells; None where a cell is no number."""


def mark_remarks(found: Gathered) -> Iterator[str]:
    """Totals of the memo's tables that are told as cleaner than a heavy part of them."""
    for piece in found.pieces:
        for table in walk(piece.nodes):
            if isinstance(table, DataTable):
                for r, c in too_clean(lines_of(table, found.ledger)):
                    number = next(n for n in walk(table.rows[r].cells[c]) if isinstance(n, Num))
                    yield (
                        f"{piece.where}: {number.id} ({number.text}) bears no dagger, and a heavy part of it does. "
                        "Let its sum be traced (`provenance`)."
                    )


def lines_of(table: DataTable, ledger: Mapping[str, Record]) -> list[Line]:
    """The rows of a printed table, with what the ledger says of each amount."""
    return [(row.role, [_shown(cell, ledger) for cell in row.cells]) for row in table.rows]


def _shown(cell: Sequence[Inline], ledger: Mapping[str, Record]) -> Shown | None:
    number = cell[0] if len(cell) == 1 and isinstance(cell[0], Num) else None
    entry = ledger.get(number.id) if number else None
    return Shown(number.value, bool(entry["stale"])) if number and entry and number.value is not None else None


def parts_of(above: Sequence[Line]) -> list[Line]:
    """The rows that a total sums up: those since the last total, or all of the group where it stands right beneath one."""
    group = above[next((n + 1 for n in reversed(range(len(above))) if above[n][0] == "group"), 0) :]
    since = group[next((n + 1 for n in reversed(range(len(group))) if group[n][0] == "total"), 0) :]
    return list(since or group)


def too_clean(rows: Sequence[Line]) -> Iterator[tuple[int, int]]:
    """Row and column of every total that bears no mark, though a heavy part of it does."""
    for r, (role, cells) in enumerate(rows):
        if role != "total":
            continue
        for c, total in enumerate(cells):
            parts = [part for _, row in parts_of(rows[:r]) if c < len(row) and (part := row[c])]
            if total and not total.stale and any(p.stale and abs(p.value) >= AGED * abs(total.value) for p in parts):
                yield r, c


def totals_in(rows: Sequence[Line]) -> int:
    """How many amounts stand in rows of totals."""
    return sum(shown is not None for role, cells in rows if role == "total" for shown in cells)
