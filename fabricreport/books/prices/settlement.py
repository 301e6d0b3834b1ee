"""Which rows of a book are good, which are held, and why: each judged against the last good one before it, by the market and by decisions.

    decisions:
      - {item: gpu-hour-h100-nebius, date: "2026-10-01", price: 4.5, currency: USD, source: "Nebius, transcribed",
         verdict: accept, who: "A. Mensah", why: "her page says so", decided: "2026-11-25"}

One entry settles one row, known by item, date, price, currency and source; a row that was changed since is a new question.
A client's own decision counts before a shared one.
"""

from __future__ import annotations

import json
import math
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, timedelta
from pathlib import Path
from statistics import median_low
from typing import Any, Literal, NamedTuple

from fabricreport.base.errors import InputError, Problem
from fabricreport.base.files import write_atomically, writing
from fabricreport.base.locations import Located
from fabricreport.books.fields import CLOSED, Id, IsoDate, Line, Sentence, Unwritten
from fabricreport.books.prices.rules import (
    RENT_UNITS,
    Day,
    PriceRow,
    doubt,
    grade_rank,
    product_named,
    rules,
    slip,
    spans,
)
from fabricreport.books.reader import checked, read_book


class Jump(NamedTuple):
    """A price and the one before it; of the seller of a rent, or of the publisher of a listing."""

    row: PriceRow
    last: PriceRow

    @property
    def ratio(self) -> float:
        """How many times the one before."""
        return self.row.price / self.last.price

    @property
    def seller(self) -> str:
        """Whose price it is: rents have items for each seller, a piece of equipment is listed by several."""
        return rent_of(self.row.item).seller if self.row.unit in RENT_UNITS else self.row.publisher


class Rent(NamedTuple):
    """Whose rent an item is, and of what product; '' for one of many sellers, or no rent."""

    seller: str
    product: str


_RENT = re.compile(r"gpu-hour-([a-z0-9]+)-(.+)", re.ASCII)
_MOST_LOOKS = 5_000_000
"""Jumps times rows beyond which nobody looks: so many jumps are a broken file, and no market."""
_PANELS = ("on-demand", "hyperscaler", "hyperscaler-on-demand")
"""What rents of many sellers at once are called after their GPU."""


def of_the_market(held: Sequence[Jump], series: Mapping[str, Sequence[PriceRow]]) -> dict[PriceRow, str]:
    """The jumps that the market explains, each with the note that says by what; `series`: all rows of an item, oldest first."""
    if len(held) * sum(map(len, series.values())) > _MOST_LOOKS:
        return {}
    found = {}
    for jump in held:
        if not spans(jump.row, jump.last):
            continue
        movers = {m.seller: m for m in _movers(jump, held, series)} | {jump.seller: jump}
        publishers = {m.row.publisher for m in movers.values()}
        factors = [m.ratio for m in movers.values()]
        common = math.exp(sum(map(math.log, factors)) / len(factors))
        if min(len(movers), len(publishers)) >= rules().market.sellers and not slip(common):
            row, others = jump.row, sorted(s for s in movers if s != jump.seller)
            found[row] = (
                f"{row.item}: {row.price:g} {row.currency} of {row.date} after {jump.last.price:g} is let through: "
                f"{', '.join(others)} moved the same way"
            )
    return found


def _movers(jump: Jump, held: Sequence[Jump], series: Mapping[str, Sequence[PriceRow]]) -> Iterator[Jump]:
    """What other sellers' prices did over the same time, where it is the same way and more than little."""
    rent = rent_of(jump.row.item)
    if jump.row.unit not in RENT_UNITS:
        others: Iterable[Jump] = (j for j in held if j.row.item == jump.row.item and j.seller != jump.seller)
    else:
        of_rents = [rows for rows in series.values() if rent.seller and any(row.unit in RENT_UNITS for row in rows)]
        sold = [(rows, rent_of(rows[0].item)) for rows in of_rents]
        of_others = [rows for rows, r in sold if r.seller not in ("", rent.seller) and r.product == rent.product]
        others = (j for rows in of_others if (j := _over(rows, jump)) is not None)
    for other in others:
        same_way = (other.ratio - 1) * (jump.ratio - 1) > 0
        far = max(other.ratio, 1 / other.ratio) >= rules().market.moved
        if same_way and far and spans(other.row, other.last) and _near(other.row.date, jump.row.date):
            yield other


def _over(rows: Sequence[PriceRow], jump: Jump) -> Jump | None:
    """A seller's newest price near the day of a jump, against its price nearest to the day that the jump began from."""
    now = [
        r for r in rows if _near(r.date, jump.row.date) and r.date > jump.last.date and r.currency == jump.row.currency
    ]
    before = [r for r in rows if now and r.date < now[-1].date and r.currency == now[-1].currency and r.price > 0]
    near = [r for r in before if _near(r.date, jump.last.date)]
    if not near:
        return None
    return Jump(now[-1], min(near, key=lambda r: (abs(r.date - jump.last.date), r.date)))


def _near(one: date, other: date) -> bool:
    return abs(one - other) <= timedelta(days=rules().market.within_days)


def rent_of(item: str) -> Rent:
    """Seller and product that an item of rent names. The market for one GPU moves that for others, so GPUs are not told apart."""
    found, product = _RENT.fullmatch(item), product_named(item)
    seller = found.group(2).removesuffix(f"-{product}") if found else ""
    return Rent("" if seller in (*_PANELS, product) else seller, product)


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
    with writing(path):
        folder.mkdir(parents=True, exist_ok=True)
        write_atomically(path, _text([*kept, decision]))
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
