"""Writing price files: atomically, without losing a row, and safe to open in a spreadsheet."""

from __future__ import annotations

import io
from collections import defaultdict
from collections.abc import Iterable, Sequence
from pathlib import Path

from fabricreport.atomic import write_atomically, write_if_new
from fabricreport.books.prices.book import Held
from fabricreport.books.prices.rules import COLUMNS, PriceRow
from fabricreport.errors import InputError, Problem
from fabricreport.spreadsheet import csv_text

__all__ = ["append", "drop_rows", "set_aside", "write"]


def append(target: Path, rows: Iterable[PriceRow]) -> None:
    """Add rows to a price file, which is made with its header if it is not there."""
    try:
        before = target.read_text(encoding="utf-8-sig") if target.exists() else _lines([COLUMNS])
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(Problem("cannot be read as UTF-8", str(target))) from error
    added = _lines(r.cells() for r in rows)
    if added or not target.exists():
        write_atomically(target, before + ("" if before.endswith("\n") else "\n") + added)


def write(target: Path, rows: Iterable[PriceRow]) -> bool:
    """Make a price file, and its folder, hold these rows and no others; whether that changed it."""
    text = _lines([COLUMNS, *(r.cells() for r in rows)])
    try:
        return write_if_new(target, text)
    except OSError as error:
        message = f"cannot be written ({error.strerror or error})"
        raise InputError(Problem(message, str(target), remedy="Check the folder and disk.")) from error


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
