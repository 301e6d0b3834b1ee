"""Which rows of a book are good, which are held, and why: each judged against the last good one before it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path
from statistics import median_low
from typing import Any

from fabricreport.books.prices.decisions import Decision, RowKey, key_of
from fabricreport.books.prices.market import Jump, of_the_market
from fabricreport.books.prices.rules import Day, PriceRow, doubt, grade_rank, spans
from fabricreport.errors import Problem

REJECTED = "rejected"
"""The kind of a row that a person rejected: it is told no more."""
QUESTIONS = ("jump", "spot", "unit", "currency")
"""The kinds of held rows that a person settles."""


@dataclass(frozen=True)
class Held:
    """A row that is not used, why, and what is used instead."""

    item: str
    kind: str
    message: str
    file: str
    line: int
    date: Day | None = None
    price: float | None = None
    unit: str = ""
    currency: str = ""
    in_use: str = ""
    row: PriceRow | None = field(default=None, compare=False, repr=False)
    last: PriceRow | None = field(default=None, compare=False, repr=False)

    def as_dict(self) -> dict[str, Any]:
        """Plain values for `--json`."""
        facts = {k: v for k, v in self.__dict__.items() if k not in ("row", "last")}
        return facts | {"date": self.date.isoformat() if self.date else None, "spans": self.spans}

    @property
    def is_fault(self) -> bool:
        """Whether the row is no price, or contradicts another: whoever wrote it has to mend it."""
        return self.kind in ("malformed", "duplicate")

    @property
    def is_question(self) -> bool:
        """Whether a person has to say if the price is right: nobody has accepted or rejected it."""
        return self.kind in QUESTIONS

    @property
    def spans(self) -> bool:
        """Whether the price may be right, so that a memo computes with all between it and the last good one."""
        return self.kind == "jump" and self.row is not None and self.last is not None and spans(self.row, self.last)

    def __str__(self) -> str:
        where = f"{self.file}:{self.line}: " if self.file else ""
        if self.is_question and self.last and self.date:
            computed = "computed with all between the two" if self.spans else "the last good price stays in use"
            return (
                f"{where}a newer price of {self.item} is held ({self.kind}): {self.price:g} {self.currency} of {self.date} "
                f"against {self.last.price:g} {self.last.currency} of {self.last.date}: {self.message}; {computed}. Settle it: "
                f"fabricreport prices accept {self.item} --who NAME --why REASON (or reject)"
            )
        use = f"; in use: {self.in_use}" if self.in_use else "; no other price is known"
        return f"{where}{self.item or 'a row'} held ({self.kind}): {self.message}{use}"


def without_duplicates(rows: list[PriceRow]) -> tuple[list[PriceRow], list[Held], list[Problem]]:
    """The rows once each, the repeats and contradictions that are held, and the contradictions as problems."""
    groups: dict[tuple[str, date, str], list[PriceRow]] = defaultdict(list)
    for row in rows:
        groups[row.item, row.date, row.source].append(row)
    kept: list[PriceRow] = []
    held: list[Held] = []
    conflicts: list[Problem] = []
    for (item, day, _), same in groups.items():
        first = same[0]
        if all(r.cells() == first.cells() for r in same):
            kept.append(first)
            for r in same[1:]:
                held.append(_held(r, "repeat", f"repeats {place_of(first.file, first.line)}"))
            continue
        places = ", ".join(place_of(r.file, r.line) for r in same)
        message = f"{len(same)} different rows for {item} on {day} from one source ({places})"
        conflicts.append(Problem(message, same[-1].file, same[-1].line, "price", remedy="Keep the right one."))
        held += [_held(r, "duplicate", message) for r in same]
    return kept, held, conflicts


def _by_item(rows: Iterable[PriceRow]) -> dict[str, list[PriceRow]]:
    series: dict[str, list[PriceRow]] = defaultdict(list)
    for row in sorted(rows, key=lambda r: (r.item, r.date, -grade_rank(r.grade), r.source)):
        series[row.item].append(row)
    return series


def settled(
    rows: Iterable[PriceRow],
    sound: frozenset[PriceRow],
    verdicts: Mapping[RowKey, Decision],
    yardsticks: Iterable[PriceRow],
) -> tuple[list[PriceRow], list[Held], tuple[str, ...]]:
    """The good rows, oldest first within an item, the held ones, and notes on those that the market let through.

    Those that are `sound` are not asked again. A row that was rejected, or may be a spot price, says nothing of the market.
    A row let through may be what the next one is judged by, so all are judged
    again until nothing more is let through.
    """
    shipped = {r.item: r for r in yardsticks}
    series = _by_item(rows)
    notes: dict[PriceRow, str] = {}
    while True:
        good: list[PriceRow] = []
        held: list[Held] = []
        for item, one in series.items():
            passed, doubted = _judged(one, sound | notes.keys(), shipped.get(item), verdicts)
            good += passed
            held += doubted
        jumps = [Jump(h.row, h.last) for h in held if h.kind == "jump" and h.row and h.last]
        silent = {h.row for h in held if h.kind != "jump"}
        heard = {item: [row for row in one if row not in silent] for item, one in series.items()} if jumps else {}
        found = of_the_market(jumps, heard)
        if not found:
            return good, held, tuple(notes.values())
        notes |= found


def _judged(
    series: list[PriceRow], sound: frozenset[PriceRow], shipped: PriceRow | None, verdicts: Mapping[RowKey, Decision]
) -> tuple[list[PriceRow], list[Held]]:
    """The good rows of an item and its held ones, each judged against the last good one before it."""
    good: list[PriceRow] = []
    held: list[Held] = []
    for n, row in enumerate(series):
        settled = verdicts.get(key_of(row))
        last = good[-1] if good else _yardstick(row, series[n + 1 :], shipped)
        reason = doubt(row, last) if row not in sound and last else None
        if reason and not good and last and last.date > row.date and spans(row, last):
            reason = None  # an old price that the market has left behind is no slip
        if reason and settled is not None:
            refused = settled.verdict == "reject"
            reason = (REJECTED, f"rejected by {settled.who}: {settled.why}") if refused else None
        if reason is None:
            good.append(row)
        else:
            held.append(_held(row, *reason, last))
    return good, held


def _yardstick(row: PriceRow, later: list[PriceRow], shipped: PriceRow | None) -> PriceRow | None:
    """What the first row of an item is judged by: the price shipped, else the median of two later ones or more."""
    if shipped is not None:
        return shipped
    peers = [r for r in later if r.date > row.date]
    if len(peers) < 2:
        return None
    middle = median_low(r.price for r in peers)
    return next(r for r in peers if r.price == middle)


def _held(row: PriceRow, kind: str, message: str, last: PriceRow | None = None) -> Held:
    where = (row.file, row.line, row.date, row.price, row.unit, row.currency)
    return Held(row.item, kind, message, *where, row=row, last=last)


def place_of(file: str, line: int) -> str:
    """Where a row stands, for a message."""
    return f"{Path(file).name}:{line}"
