"""Reading one CSV of prices: its good rows, and its malformed ones with file and line.

A file that is no price table at all (other columns, not UTF-8, too large, broken quotes) raises `InputError`; a
single bad row does not hide the others. Lines that start with `#` are comments.
"""

from __future__ import annotations

import stat
from collections.abc import Collection, Sequence
from datetime import date
from pathlib import Path
from typing import NamedTuple

from fabricreport.books.prices.rules import COLUMNS, RENT_COLUMNS, PriceRow, clean_text, rules
from fabricreport.books.reader import read_table
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


def parse_prices(text: str, file: str) -> tuple[list[PriceRow], list[Malformed]]:
    """Like `read_price_file`, for text at hand; `file` is for messages."""
    if parted := separator_fault(text, file):
        raise InputError(parted)
    rows: list[PriceRow] = []
    malformed: list[Malformed] = []
    for row in read_table(text, file, PriceRow, head=_columns, most_rows=rules().most_rows):
        if row.value is not None:
            rows.append(row.value)
        item = clean_text(row.cells[0]).strip()[:80]
        terms = (_known(row.cells, "unit", rules().units), _known(row.cells, "currency", rules().currencies))
        malformed += [Malformed(item, _date_or_none(row.cells), problem, *terms) for problem in row.problems]
    return rows, malformed


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
