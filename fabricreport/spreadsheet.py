"""The one place where text from people and sellers is made safe for CSV, whose cells cannot say that they hold text."""

from __future__ import annotations

import csv
import io
import math
import re
from collections.abc import Iterable, Sequence
from typing import Any

FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r")
# A spreadsheet reads these as numbers already; a leading sign there is a sign, not a formula.
_NUMBER = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?\Z")


def spreadsheet_cell(value: Any) -> Any:
    """A value that no spreadsheet can read as a formula: numbers pass, risky text gets a leading apostrophe.

    The rule is OWASP's: a cell that starts with `=`, `+`, `-`, `@`, TAB or CR may run. A text that is a plain
    number keeps its sign. Non-finite numbers become empty cells.
    """
    if value is None:
        return ""
    if isinstance(value, bool | int):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else ""
    text = str(value)
    if text.lstrip(" \n").startswith(FORMULA_STARTS) and not _NUMBER.match(text):
        return "'" + text
    return text


def csv_text(rows: Iterable[Sequence[Any]], end: str = "\r\n") -> str:
    """Rows as CSV with safe cells, comma-separated, with CRLF line ends (RFC 4180) unless others are asked for."""
    buffer = io.StringIO(newline="")
    csv.writer(buffer, lineterminator=end).writerows([spreadsheet_cell(cell) for cell in row] for row in rows)
    return buffer.getvalue()
