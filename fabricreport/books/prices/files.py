"""Reading one CSV of prices: its good rows, and its malformed ones with file and line.

A file that is no price table at all (other columns, not UTF-8, too large, broken quotes) raises `InputError`; a
single bad row does not hide the others. Lines that start with `#` are comments.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from datetime import date
from pathlib import Path
from typing import NamedTuple

from fabricreport.books.prices.rules import COLUMNS, PriceRow, clean_text, parse_row, rules
from fabricreport.errors import InputError, Problem
from fabricreport.located import did_you_mean

_SEPARATORS = {";": "semicolons", "\t": "tabs", "|": "bars"}


class Malformed(NamedTuple):
    """A row that is no price: what is wrong, and item, date, unit and currency as far as they can be read."""

    item: str
    date: date | None
    problem: Problem
    unit: str = ""
    currency: str = ""


def read_price_file(path: Path) -> tuple[list[PriceRow], list[Malformed]]:
    """Rows of one CSV and its malformed ones; a file that is no price table raises."""
    try:
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


def parse_prices(text: str, file: str) -> tuple[list[PriceRow], list[Malformed]]:
    """Like `read_price_file`, for text at hand; `file` is for messages."""
    reader = csv.reader(io.StringIO(text, newline=""), strict=True)
    rows: list[PriceRow] = []
    malformed: list[Malformed] = []
    header: list[str] | None = None
    try:
        for cells in reader:
            line = reader.line_num
            if not any(c.strip() for c in cells) or cells[0].startswith("#"):
                continue
            if header is None:
                header = [c.strip() for c in cells]
                _check_header(header, file, line)
                continue
            if line > rules().most_rows:
                raise InputError(Problem(f"more than {rules().most_rows} rows", file, line))
            try:
                rows.append(parse_row(_record(cells, file, line), file, line))
            except InputError as error:
                item = clean_text(cells[0]).strip()[:80]
                terms = (_known(cells, "unit", "units"), _known(cells, "currency", "currencies"))
                malformed += [Malformed(item, _date_or_none(cells), problem, *terms) for problem in error.problems]
    except csv.Error as error:
        raise InputError(Problem(f"not a CSV table ({error})", file, reader.line_num)) from error
    if header is None:
        raise InputError(Problem("an empty file", file, 1, remedy=f"Its first line is {','.join(COLUMNS)}."))
    return rows, malformed


def _check_header(header: list[str], file: str, line: int) -> None:
    if tuple(header) != COLUMNS:
        what, remedy = columns_fault(header, COLUMNS) or ("columns in another order", "")
        raise InputError(Problem(what, file, line, remedy=f"{remedy} Needed exactly: {','.join(COLUMNS)}.".strip()))


def columns_fault(header: Sequence[str], needed: Sequence[str]) -> tuple[str, str] | None:
    """What keeps a header line from being the one needed, and the remedy: the separator, or columns by name."""
    line = ",".join(header)
    mark, name = max(((m, n) for m, n in _SEPARATORS.items()), key=lambda pair: line.count(pair[0]))
    if line.count(mark) >= max(2, len(header)):
        return f"the columns are separated by {name}", "Save it with commas between columns and a point in numbers."
    missing = [n for n in needed if n not in header]
    odd = [clean_text(c)[:40] for c in header if c not in needed]
    if not missing and not odd and len(header) == len(set(header)):
        return None
    parts = [f"column{'s' if len(names) > 1 else ''} {what}: {', '.join(names)}"
             for names, what in ((missing, "missing"), (odd, "unknown")) if names]  # fmt: skip
    guesses = [(n, did_you_mean(n, odd)) for n in missing]
    said = [f"Is '{found}' meant to be '{name}'?" for name, found in guesses if found]
    return "; ".join(parts) or "a column is there twice", " ".join(said)


def _record(cells: list[str], file: str, line: int) -> dict[str, str]:
    if len(cells) != len(COLUMNS):
        message = f"{len(cells)} cells instead of {len(COLUMNS)}"
        raise InputError(Problem(message, file, line, remedy="Quote a text that holds a comma; no decimal commas."))
    return dict(zip(COLUMNS, cells, strict=True))


def _date_or_none(cells: list[str]) -> date | None:
    try:
        return date.fromisoformat(cells[COLUMNS.index("date")].strip())
    except (ValueError, IndexError):
        return None


def _known(cells: list[str], column: str, rule: str) -> str:
    """The cell of a column if it is a word the rules know, else ''."""
    at = COLUMNS.index(column)
    text = cells[at].strip() if at < len(cells) else ""
    return text if text in getattr(rules(), rule) else ""
