"""Settling a held row: which one is meant, and the decision on it written beside the rows."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from pathlib import Path

from fabricreport.books.prices.book import PriceBook
from fabricreport.books.prices.decisions import Decision, Verdict, decided, record
from fabricreport.books.prices.settling import Held
from fabricreport.errors import InputError, Problem
from fabricreport.located import did_you_mean


@dataclass(frozen=True)
class Settled:
    """A decision, the file that keeps it, and the rows of the item that are held still."""

    decision: Decision
    file: str
    left: tuple[Held, ...]

    def text(self) -> str:
        """One line for the decision, and one for each question that is left."""
        one = self.decision
        done = "accepted" if one.verdict == "accept" else "rejected"
        lines = [f"{one.item}: {one.price:,.10g} {one.currency} of {one.date} {done} by {one.who}, in {self.file}"]
        return "\n".join([*lines, *(f"still held: {held}" for held in self.left)])


def settle(
    read: PriceBook,
    folder: Path,
    item: str,
    verdict: Verdict,
    *,
    who: str,
    why: str,
    on: date,
    row_date: date | None = None,
) -> Settled:
    """Accept or reject the newest held row of an item, or that of `row_date`, in `folder`; `InputError` where none is held."""
    item = item.removeprefix("price:")
    asked = {h.item for h in read.quarantine if h.is_question}
    rows = [h for h in read.quarantine if h.item == item and h.is_question and row_date in (None, h.date)]
    if not rows:
        day = f" of {row_date}" if row_date else ""
        remedy = (
            f"Held: {', '.join(sorted(asked))}." if asked else "No row is held: `fabricreport prices check` lists them."
        )
        raise InputError(Problem(f"no row of {item}{day} is held", key="ITEM", value=item, remedy=remedy,
                                 suggestion=did_you_mean(item, asked)))  # fmt: skip
    newest = [h for h in rows if h.date == max(r.date for r in rows if r.date)]
    if len(newest) > 1:
        places = ", ".join(f"{h.file}:{h.line}" for h in newest)
        raise InputError(Problem(f"{len(newest)} rows of {item} of one day are held ({places})", key="ITEM", value=item,
                                 remedy="Take out the wrong ones, then settle the one that is left."))  # fmt: skip
    row = newest[0].row
    assert row is not None, "a question is about a row"
    one = decided(row, verdict, who=who, why=why, on=on)
    path = record(folder, one)
    left = tuple(h for h in read.quarantine if h.item == item and h.is_question and h.row is not row)
    return Settled(one, str(path), left)
