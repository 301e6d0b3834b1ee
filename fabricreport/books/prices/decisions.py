"""What a person decided of a held price: `price-decisions.yaml` beside the rows, or in one client's own folder of prices.

    decisions:
      - {item: gpu-hour-h100-nebius, date: "2026-10-01", price: 4.5, currency: USD, source: "Nebius, transcribed",
         verdict: accept, who: "A. Mensah", why: "her page says so", decided: "2026-11-25"}

One entry settles one row, known by item, date, price, currency and source; a row that was changed since is a new question.
A client's own decision counts before a shared one.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Literal

from fabricreport.atomic import write_atomically
from fabricreport.books.fields import CLOSED, Id, IsoDate, Line, Sentence, Unwritten
from fabricreport.books.prices.rules import PriceRow
from fabricreport.books.reader import checked, read_book
from fabricreport.errors import InputError, Problem
from fabricreport.located import Located

FILE = "price-decisions.yaml"
Verdict = Literal["accept", "reject"]
RowKey = tuple[str, date, float, str, str]


@dataclass(frozen=True)
class Decision:
    """Who accepted or rejected one row, why and when."""

    __pydantic_config__ = CLOSED
    item: Id
    date: IsoDate
    price: float
    currency: str
    source: Sentence
    verdict: Verdict
    who: Line
    why: Sentence
    decided: IsoDate
    file: Unwritten[str] = ""

    @property
    def key(self) -> RowKey:
        """The row that it settles."""
        return self.item, self.date, self.price, self.currency, self.source


@dataclass(frozen=True)
class _Decisions:
    __pydantic_config__ = CLOSED
    decisions: tuple[Decision, ...]


def key_of(row: PriceRow) -> RowKey:
    """What a decision knows a row by."""
    return (
        row.item,
        date(row.date.year, row.date.month, row.date.day),
        float(f"{row.price:.10g}"),
        row.currency,
        row.source,
    )


def decisions_in(folder: Path) -> tuple[Decision, ...]:
    """The decisions beside the rows of a folder; `InputError` with every fault, two on one row included."""
    path = folder / FILE
    if not path.is_file():
        return ()
    read = read_book(path, _Decisions)
    first: dict[RowKey, int] = {}
    faults = []
    for n, one in enumerate(read.value.decisions):
        if (before := first.setdefault(one.key, n)) != n:
            line = read.located.line_of(("decisions", before))
            message = f"this row of {one.item} is settled twice, first in line {line}"
            faults.append(read.located.problem(("decisions", n), message, remedy="Keep one of the two."))
    if faults:
        raise InputError(faults)
    return read.value.decisions


def record(folder: Path, decision: Decision) -> Path:
    """Write a decision beside the rows, in place of an earlier one on the same row; the file."""
    kept = [one for one in decisions_in(folder) if one.key != decision.key]
    path = folder / FILE
    try:
        folder.mkdir(parents=True, exist_ok=True)
        write_atomically(path, _text([*kept, decision]))
    except OSError as error:
        message = f"cannot be written ({error.strerror or error})"
        raise InputError(Problem(message, str(path), remedy="Check the folder and disk.")) from error
    return path


def decided(row: PriceRow, verdict: Verdict, *, who: str, why: str, on: date) -> Decision:
    """The decision on a row; `InputError` where a name or a reason is none."""
    item, day, price, currency, source = key_of(row)
    facts = {
        "item": item, "date": day.isoformat(), "price": price, "currency": currency, "source": source,
        "verdict": verdict, "who": who, "why": why, "decided": on.isoformat(),
    }  # fmt: skip
    return checked(Located(facts, FILE, {}), Decision)


def idle(decisions: Iterable[Decision], rows: Sequence[PriceRow]) -> list[Decision]:
    """Decisions on rows that are no longer there, or were changed since."""
    there = {key_of(row) for row in rows}
    return [one for one in decisions if one.key not in there]


def _text(decisions: Iterable[Decision]) -> str:
    lines = [
        "# Held prices that a person accepted or rejected; `fabricreport prices accept|reject` writes this file.\n",
        "decisions:\n",
    ]
    for one in decisions:
        facts = {
            "item": one.item, "date": one.date.isoformat(), "price": one.price, "currency": one.currency,
            "source": one.source, "verdict": one.verdict, "who": one.who, "why": one.why, "decided": one.decided.isoformat(),
        }  # fmt: skip
        lines.append("  - " + json.dumps(facts, ensure_ascii=False, allow_nan=False) + "\n")
    return "".join(lines)
