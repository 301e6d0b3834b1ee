"""What `fabricreport prices` prints, as values first and text second, and the settling of a held row."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any

from fabricreport.base.errors import InputError, Problem
from fabricreport.base.locations import did_you_mean
from fabricreport.books.prices.book import SHIPPED, Price, PriceBook
from fabricreport.books.prices.rules import RENT_UNITS, PriceRow
from fabricreport.books.prices.settlement import Decision, Held, Verdict, decided, record, rent_of

STALE_LINES = 20  # a long history holds many prices nobody uses: the text names a screenful, the JSON all


@dataclass(frozen=True)
class PriceListing:
    """Prices as of a day; with one item asked for, its history too."""

    as_of: date
    prices: tuple[Price, ...]
    history: tuple[PriceRow, ...] = ()
    held: tuple[Held, ...] = ()

    def as_dict(self) -> dict[str, Any]:
        """Plain values for `--json`."""
        return {
            "as_of": self.as_of.isoformat(),
            "prices": [p.as_dict() for p in self.prices],
            "history": [dict(zip(("date", "price", "grade", "source"), _old(r), strict=True)) for r in self.history],
            "held": [h.as_dict() for h in self.held],
        }

    def text(self) -> str:
        """A plain-text table; prices that are stale, shipped with the package, or older than a held one are marked."""
        rows = [
            (p.item, f"{p.price:,.10g}", _range(p), p.currency, p.unit, p.date.isoformat(), f"{p.age_days} d",
             p.grade, ", ".join(m for m, on in _marks(p) if on))
            for p in self.prices
        ]  # fmt: skip
        head = ("item", "price", "range", "in", "per", "date", "age", "grade", "mark")
        blocks = [f"Prices as of {self.as_of}", text_table(head, rows, right=(1, 2, 6))]
        if self.history:
            blocks += ["", "History", text_table(("date", "price", "grade", "source"), [_old(r) for r in self.history])]
        blocks += [str(h) for h in self.held]
        return "\n".join(blocks)


@dataclass(frozen=True)
class PriceReport:
    """The state of a price folder: `ok` is False if a row is malformed; held and stale prices are warnings."""

    folder: str
    as_of: date
    rows: int
    items: int
    problems: tuple[Problem, ...]
    quarantine: tuple[Held, ...]
    stale: tuple[Price, ...]
    future: tuple[PriceRow, ...]
    undated: tuple[PriceRow, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def ok(self) -> bool:
        """True if every row could be read as a price."""
        return not self.problems

    @property
    def exit_code(self) -> int:
        """0, or 2 if a row is malformed."""
        return 0 if self.ok else 2

    def as_dict(self) -> dict[str, Any]:
        """Plain values for `--json`."""
        return {
            "folder": self.folder, "as_of": self.as_of.isoformat(), "ok": self.ok, "rows": self.rows,
            "items": self.items, "problems": [p.as_dict() for p in self.problems],
            "quarantine": [h.as_dict() for h in self.quarantine], "stale": [p.as_dict() for p in self.stale],
            "future": [{"item": r.item, "date": r.date.isoformat()} for r in self.future],
            "undated": [r.item for r in self.undated], "notes": list(self.notes),
        }  # fmt: skip

    def text(self) -> str:
        """One line for each finding, a summary last."""
        lines = [f"error: {p}" for p in self.problems]
        lines += [f"held: {h}" for h in self.quarantine if not h.is_fault]
        old = [f"stale: {p.item} of {p.date}, good until {p.expiry} ({p.age_days} days old)" for p in self.stale]
        lines += old[:STALE_LINES]
        if len(old) > STALE_LINES:
            lines.append(f"stale: {len(old) - STALE_LINES} more; --json lists them all")
        lines += [
            f"not yet used: {r.item} is dated {r.date}"
            + (f", read on {r.read}" if r.read else "")
            + f": after {self.as_of}"
            for r in self.future
        ]
        lines += [f"note: {note}" for note in self.notes]
        held = len(self.quarantine)
        lines.append(
            f"{self.rows} prices of {self.items} items in {self.folder} as of {self.as_of}: {len(self.problems)} "
            f"errors, {held} held, {len(self.stale)} out of date, {len(self.undated)} undated, {len(self.future)} not yet used"
        )
        return "\n".join(lines)


def unlabelled(rows: Iterable[PriceRow]) -> list[str]:
    """For each file whose rents do not say of what product they are or when their page was read, a doubt, once."""
    silent: dict[str, dict[str, int]] = {}
    for row in rows:
        if row.unit in RENT_UNITS and row.file not in ("", SHIPPED) and rent_of(row.item).seller:
            missing = silent.setdefault(row.file, {"product": 0, "read": 0})
            missing["product"] += not row.labelled
            missing["read"] += row.read is None
    said = {"product": "of what product it is", "read": "when its page was read"}
    return [
        f"{file}: rents here do not say {' or '.join(said[k] for k, n in counts.items() if n)} "
        f"({max(counts.values())} of the rows in use): taken as unknown"
        for file, counts in silent.items()
        if any(counts.values())
    ]


def show_prices(folder: str | Path, as_of: date, item: str | None = None) -> PriceListing:
    """The prices in use on a day (all, or one item with its history); an unknown item raises `InputError`."""
    book = PriceBook.read(folder)
    view = book.at(as_of)
    if item is None:
        return PriceListing(as_of, tuple(view.values()), (), view.quarantine)
    item = item.removeprefix("price:")
    held = tuple(h for h in view.quarantine if h.item == item)
    past = tuple(r for r in book.history(item) if r.date <= as_of)
    return PriceListing(as_of, (view[item],), past, held)


def check_prices(folder: str | Path, as_of: date) -> PriceReport:
    """Read a price folder and report malformed, held, stale and not yet valid rows."""
    whole = PriceBook.read(folder)
    book, view = whole.known(as_of), whole.at(as_of)
    stale = tuple(p for p in view.stale if not p.stand_in)
    fresh = [row for row in book.in_use(as_of).values() if row.expires >= as_of]
    notes = (*(f"the market moved: {note}" for note in book.notes), *unlabelled(fresh))
    return PriceReport(
        str(folder), as_of, len(book.rows), len(book.items), whole.problems, book.quarantine, stale, whole.waiting(as_of),
        book.undated, notes,
    )  # fmt: skip


def text_table(head: Sequence[str], rows: Iterable[Sequence[str]], right: Sequence[int] = ()) -> str:
    """Columns padded to the widest cell; columns in `right` are aligned to the right."""
    table = [tuple(head), *(tuple(r) for r in rows)]
    widths = [max(len(r[n]) for r in table) for n in range(len(head))]
    lines = []
    for row in table:
        cells = [c.rjust(w) if n in right else c.ljust(w) for n, (c, w) in enumerate(zip(row, widths, strict=True))]
        lines.append("  ".join(cells).rstrip())
    lines.insert(1, "  ".join("-" * w for w in widths))
    return "\n".join(lines)


def _range(price: Price) -> str:
    if price.low is None and price.high is None:
        return ""
    ends = (price.low if price.low is not None else price.price, price.high if price.high is not None else price.price)
    return f"{ends[0]:,.10g} to {ends[1]:,.10g}"


def _marks(price: Price) -> tuple[tuple[str, bool], ...]:
    return ("STALE", price.stale), ("NEWER HELD", bool(price.quarantined)), ("SHIPPED", bool(price.stand_in))


def _old(row: PriceRow) -> tuple[str, str, str, str]:
    return row.date.isoformat(), f"{row.price:g}", row.grade, row.source


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
