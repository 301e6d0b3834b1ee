"""One CSV of prices: read, its malformed rows with file and line; written atomically, without losing a row, safe in a spreadsheet.

A file that is no price table at all (other columns, not UTF-8, too large, broken quotes) raises `InputError`; a
single bad row does not hide the others. Lines that start with `#` are comments.
"""

from __future__ import annotations

import csv
import io
import stat
from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from datetime import date
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from fabricreport.base.errors import InputError, Problem
from fabricreport.base.files import write_atomically, write_if_new, writing
from fabricreport.base.locations import did_you_mean
from fabricreport.base.text import csv_text
from fabricreport.books.prices.rules import ALL_COLUMNS, COLUMNS, RENT_COLUMNS, PriceRow, clean_text, rules
from fabricreport.books.prices.settlement import Held
from fabricreport.books.reader import read_table

_SEPARATORS = {";": "semicolons", "\t": "tabs", "|": "bars"}


class Malformed(NamedTuple):
    """A row that is no price: what is wrong, and item, date, unit and currency as far as they can be read."""

    item: str
    date: date | None
    problem: Problem
    unit: str = ""
    currency: str = ""


def read_price_file(path: Path) -> tuple[tuple[PriceRow, ...], tuple[Malformed, ...]]:
    """Rows of one CSV and its malformed ones; a file that is no price table raises."""
    try:
        if not stat.S_ISREG(path.stat().st_mode):
            raise InputError(
                Problem("is not an ordinary file", str(path), remedy="Put a file there, no folder or pipe.")
            )
        if path.stat().st_size > rules().largest_file_bytes:
            raise InputError(Problem(f"larger than {rules().largest_file_bytes} bytes", str(path), 1))
        data = path.read_bytes()
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = 1 + data[: error.start].count(b"\n")
        raise InputError(Problem("not UTF-8 text", str(path), line, remedy="Save it as UTF-8 CSV.")) from error
    except OSError as error:
        raise InputError(Problem(f"cannot be read ({error.strerror})", str(path))) from error
    return parse_prices(text, str(path))


@lru_cache(maxsize=32)
def parse_prices(text: str, file: str) -> tuple[tuple[PriceRow, ...], tuple[Malformed, ...]]:
    """Like `read_price_file`, for text at hand; `file` is for messages. Clients of one folder share its files: remembered."""
    if parted := separator_fault(text, file):
        raise InputError(parted)
    rows: list[PriceRow] = []
    malformed: list[Malformed] = []
    for row in read_table(text, file, PriceRow, head=_columns, most_rows=rules().most_rows):
        if row.value is not None:
            rows.append(row.value)
        malformed += [_malformed(row.cells, problem) for problem in row.problems]
    return tuple(rows), tuple(malformed)


def _malformed(cells: Sequence[str], problem: Problem) -> Malformed:
    terms = (_known(cells, "unit", rules().units), _known(cells, "currency", rules().currencies))
    return Malformed(clean_text(cells[0]).strip()[:80], _date_or_none(cells), problem, *terms)


def _columns(header: list[str], file: str, line: int) -> Sequence[str]:
    """The columns of a header line, which begins with those needed and may name others after them."""
    beside = header[len(COLUMNS) :]
    if tuple(header[: len(COLUMNS)]) == COLUMNS and len({*beside} & {*RENT_COLUMNS}) == len(beside):
        return tuple(header)
    needed = (*COLUMNS, *(c for c in RENT_COLUMNS if c in header))
    what, remedy = columns_fault(header, needed) or ("columns in another order", "")
    told = f"Needed exactly: {','.join(COLUMNS)}, and after them any of {','.join(RENT_COLUMNS)}."
    raise InputError(Problem(what, file, line, remedy=f"{remedy} {told}".strip()))


def header_line(text: str) -> tuple[int, str]:
    """The first line of a table that is no comment, and its number; an empty one where there is none."""
    lines = enumerate(text.splitlines(), start=1)
    return next(((n, line) for n, line in lines if line.strip() and not line.startswith("#")), (1, ""))


def separator_fault(text: str, file: str) -> Problem | None:
    """The fault of a table whose columns are not separated by commas; None where they are, or it has one column."""
    number, line = header_line(text)
    mark = max(_SEPARATORS, key=line.count)
    if line.count(mark) < max(2, line.count(",") + 1) and not line.startswith(f"sep={mark}"):
        return None
    remedy = "Save it with commas between columns and a point in numbers."
    return Problem(f"the columns are separated by {_SEPARATORS[mark]}", file, number, remedy=remedy)


def columns_fault(header: Sequence[str], needed: Sequence[str]) -> tuple[str, str] | None:
    """What keeps a header line from being the one needed, and the remedy, columns by name."""
    missing = [n for n in needed if n not in header]
    odd = [clean_text(c)[:40] for c in header if c not in needed]
    if not missing and not odd and len(header) == len(set(header)):
        return None
    parts = [f"column{'s' if len(names) > 1 else ''} {what}: {', '.join(names)}"
             for names, what in ((missing, "missing"), (odd, "unknown")) if names]  # fmt: skip
    guesses = [(n, did_you_mean(n, odd)) for n in missing]
    said = [f"Is '{found}' meant to be '{name}'?" for name, found in guesses if found]
    return "; ".join(parts) or "a column is there twice", " ".join(said)


def _date_or_none(cells: Sequence[str]) -> date | None:
    try:
        return date.fromisoformat(cells[COLUMNS.index("date")].strip())
    except (ValueError, IndexError):
        return None


def _known(cells: Sequence[str], column: str, words: Collection[str]) -> str:
    """The cell of a column if it is one of these words, else ''."""
    at = COLUMNS.index(column)
    text = cells[at].strip() if at < len(cells) else ""
    return text if text in words else ""


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
    with writing(target):
        return write_if_new(target, table_text(list(rows)))


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
