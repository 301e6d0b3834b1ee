"""Writing price files: atomically, without losing a row, and safe to open in a spreadsheet."""

from __future__ import annotations

import csv
import io
from collections import defaultdict
from collections.abc import Iterable, Sequence
from pathlib import Path

from fabricreport.atomic import write_atomically, write_if_new
from fabricreport.books.prices.files import header_line
from fabricreport.books.prices.rules import ALL_COLUMNS, COLUMNS, PriceRow
from fabricreport.books.prices.settling import Held
from fabricreport.errors import InputError, Problem
from fabricreport.spreadsheet import csv_text

__all__ = ["append", "columns_of", "drop_rows", "set_aside", "table_text", "write"]


def append(target: Path, rows: Iterable[PriceRow]) -> None:
    """Add rows to a price file, which is made with its header if it is not there."""
    try:
        before = target.read_text(encoding="utf-8-sig") if target.exists() else ""
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(Problem("cannot be read as UTF-8", str(target))) from error
    rows = list(rows)
    columns = _header(before) if before else columns_of(rows)
    if before and columns_of(rows) != COLUMNS and columns != ALL_COLUMNS:
        before, columns = _widened(before, columns), ALL_COLUMNS
    if rows or not target.exists():
        start = before or _lines([columns])
        write_atomically(target, start + ("" if start.endswith("\n") else "\n") + _table(rows, columns))


def write(target: Path, rows: Iterable[PriceRow]) -> bool:
    """Make a price file, and its folder, hold these rows and no others; whether that changed it."""
    try:
        return write_if_new(target, table_text(list(rows)))
    except OSError as error:
        message = f"cannot be written ({error.strerror or error})"
        raise InputError(Problem(message, str(target), remedy="Check the folder and disk.")) from error


def columns_of(rows: Sequence[PriceRow]) -> tuple[str, ...]:
    """The columns that a file of these rows needs: all, if one of them fills a column that may be left out."""
    return ALL_COLUMNS if any(any(row.cells()[len(COLUMNS) :]) for row in rows) else COLUMNS


def table_text(rows: Sequence[PriceRow]) -> str:
    """A price file of these rows."""
    columns = columns_of(rows)
    return _lines([columns]) + _table(rows, columns)


def _table(rows: Sequence[PriceRow], columns: Sequence[str]) -> str:
    cells = (dict(zip(ALL_COLUMNS, row.cells(), strict=True)) for row in rows)
    return _lines([one[c] for c in columns] for one in cells)


def _header(text: str) -> tuple[str, ...]:
    return tuple(c.strip() for c in next(csv.reader([header_line(text)[1]])))


def _widened(text: str, columns: Sequence[str]) -> str:
    """The text of a price file with all columns, those that it lacks left empty; comments stay as they are."""
    lines, start, found = io.StringIO(text, newline="").readlines(), 0, []  # as csv counts them
    reader = csv.reader(io.StringIO(text, newline=""))
    headed = False
    for cells in reader:
        kept = lines[start : reader.line_num]
        start = reader.line_num
        if not any(c.strip() for c in cells) or cells[0].startswith("#"):
            found += kept
            continue
        row = dict(zip(columns, cells, strict=False))
        found.append(_lines([ALL_COLUMNS if not headed else [row.get(c, "") for c in ALL_COLUMNS]]))
        headed = True
    return "".join(found)


def drop_rows(rows: Iterable[PriceRow]) -> None:
    """Take rows out of the files they were read from; everything else in those files stays as it is."""
    by_file: dict[str, list[int]] = defaultdict(list)
    for row in rows:
        by_file[row.file].append(row.line)
    for file, numbers in by_file.items():
        text = Path(file).read_bytes().decode("utf-8-sig")
        write_atomically(
            Path(file),
            "".join(line for n, line in enumerate(io.StringIO(text, newline=""), start=1) if n not in numbers),
        )


def set_aside(
    folder: Path, target: Path, refused: Sequence[Problem], held: Sequence[Held], replaced: Sequence[PriceRow]
) -> str:
    """Add to `<folder>/quarantine/<target>` what was refused, held or replaced, each with its reason; the file."""
    aside = folder / "quarantine" / target.name
    aside.parent.mkdir(exist_ok=True)
    head = ("kind", "item", "date", "price", "place", "reason")
    rows = [("refused", p.key, "", p.value, f"{p.file}:{p.line or ''}", p.message) for p in refused]
    rows += [
        (h.kind, h.item, h.date.isoformat() if h.date else "", "" if h.price is None else f"{h.price:.10g}",
         f"{Path(h.file).name}:{h.line}", h.message)
        for h in held
    ]  # fmt: skip
    rows += [
        ("replaced", r.item, r.date.isoformat(), f"{r.price:.10g}", f"{Path(r.file).name}:{r.line}",
         f"was held; {r.currency} per {r.unit} from {r.source}")
        for r in replaced
    ]  # fmt: skip
    before = aside.read_text(encoding="utf-8") if aside.exists() else _lines([head])
    seen = set(before.splitlines())
    write_atomically(aside, before + "".join(t for t in (_lines([r]) for r in rows) if t.rstrip("\n") not in seen))
    return str(aside)


def _lines(rows: Iterable[Sequence[str]]) -> str:
    """CSV text with one line feed after each row."""
    return csv_text(rows, end="\n")
