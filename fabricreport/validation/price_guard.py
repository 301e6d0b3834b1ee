"""The guard of prices tried on the rents we have had: which right rows it holds, and which wrong ones it lets through.

Three histories are replayed: the shipped one as it is now; the one entered before the corrections of November 2026
(`data/price_replay.csv`), with the rents of autumn 2026 after it and no word of any product; and the same with each row
saying of what product it is. A row counts from the day of its price: most were read long after it. It is judged on that day,
again 45 days later when other sellers have been seen, and once more with all rows known. Nothing is judged by the prices
shipped with the package, which were corrected in hindsight. A row is wrong if it has been corrected since.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, timedelta
from functools import cache
from typing import Any

from fabricreport.base.errors import InputError
from fabricreport.base.project import RENTS
from fabricreport.base.yaml_files import read_rows
from fabricreport.books.prices.files import read_price_file
from fabricreport.books.prices.rules import COLUMNS, RENT_UNITS, SPOT, PriceRow, parse_row
from fabricreport.books.prices.settlement import settled, without_duplicates
from fabricreport.ledger.facts import capital

NAME = "price-guard"
AUTUMN = date(2026, 8, 22)
"""The first day of the rents of autumn 2026 that were entered in November."""
HORIZONS: Mapping[str, int | None] = {"on its own day": 0, "45 days later": 45, "with all known": None}
"""When a row is judged: how many days after its own, or with all that came later."""
OWN, LATER, LAST = range(len(HORIZONS))
FAULTS = {
    "spot": "spot prices told as on demand",
    "two-products": "prices between two products",
    "median": "medians made of such rows",
    "date": "list prices with a false date",
}
"""What was wrong with a row, by the word in the file."""
_RUNS = {
    "now": "the history as it is now",
    "unlabelled": "the history as entered before, then autumn 2026, no product named",
    "labelled": "the same, each row naming its product",
}


@dataclass(frozen=True)
class Replayed:
    """A row, what was wrong with it ('' nothing) and why, and as what it was held at each horizon ('' let through)."""

    row: PriceRow
    wrong: str
    why: str
    held: tuple[str, ...]


@dataclass(frozen=True)
class Replay:
    """One history replayed."""

    id: str
    title: str
    rows: tuple[Replayed, ...]

    def false_holds(self, at: int = OWN) -> tuple[Replayed, ...]:
        """Right rows that were held at a horizon."""
        return tuple(r for r in self.rows if not r.wrong and r.held[at])

    def right_holds(self, at: int = OWN) -> tuple[Replayed, ...]:
        """Wrong rows that were held at a horizon."""
        return tuple(r for r in self.rows if r.wrong and r.held[at])

    def misses(self, at: int = OWN) -> tuple[Replayed, ...]:
        """Wrong rows that were let through at a horizon."""
        return tuple(r for r in self.rows if r.wrong and not r.held[at])


@cache
def replays() -> Mapping[str, Replay]:
    """Every history replayed, by its id."""
    now, before = _now(), _before()
    autumn = [row for row in now if row.read is not None and row.date >= AUTUMN]
    found = {
        "now": _replayed(now),
        "unlabelled": _replayed([replace(r, product="", sold_by="", network="") for r in (*before, *autumn)]),
        "labelled": _replayed([*before, *autumn], _refused()),
    }
    return {i: Replay(i, _RUNS[i], rows) for i, rows in found.items()}


def _now() -> list[PriceRow]:
    """The shipped rents, but for those of which nobody states a day: these are never used."""
    rows, _ = read_price_file(RENTS)
    return [row for row in rows if row.unit in RENT_UNITS and not row.undated]


def _before() -> list[PriceRow]:
    """The rents as they stood before they were corrected, in the order of their dates."""
    entered = _entered()
    gone = {(row.item, row.date) for row in entered}
    gone |= {(f"{row.item}-{SPOT}", row.date) for row, fault in entered.items() if fault["wrong"] == SPOT}
    kept = [row for row in _now() if row.read is None and (row.item, row.date) not in gone]
    return sorted([*kept, *entered], key=lambda row: (row.date, row.item))


@cache
def _entered() -> Mapping[PriceRow, Mapping[str, str]]:
    """The rows that are no more, as they were entered, with what was wrong with each."""
    return {parse_row({c: cells[c] for c in COLUMNS}): cells for cells in read_rows("price_replay")}


def _refused() -> dict[PriceRow, str]:
    """The rows of before that no file may hold once they name the product that they are of."""
    found = {}
    for row, cells in _entered().items():
        try:
            parse_row({c: cells[c] for c in (*COLUMNS, "product")})
        except InputError:
            found[row] = "mixed products"
    return found


def _replayed(rows: Iterable[PriceRow], refused: Mapping[PriceRow, str] | None = None) -> tuple[Replayed, ...]:
    """Rows in the order of their dates, judged at every horizon; those refused by their file judge no others."""
    refused = refused or {}
    told = [replace(row, read=None, file="", line=0) for row in rows]
    kept, _, _ = without_duplicates([row for row in told if row not in refused])
    held = [_held(kept, days) for days in HORIZONS.values()]
    found = []
    for row in sorted([*kept, *refused], key=lambda row: (row.date, row.item)):
        fault = _entered().get(row, {"wrong": "", "why": ""})
        as_what = tuple(refused.get(row) or kinds.get(row, "") for kinds in held)
        found.append(Replayed(row, fault["wrong"], fault["why"], as_what))
    return tuple(found)


def _held(rows: Sequence[PriceRow], days: int | None) -> dict[PriceRow, str]:
    """The rows that are held so many days after their own, each with what was known then, and as what."""
    found = dict[PriceRow, str]()
    for day in sorted({row.date for row in rows}) if days is not None else [None]:
        seen = [row for row in rows if day is None or row.date <= day + timedelta(days=days or 0)]
        _, held, _ = settled(seen, frozenset(), {}, ())
        found |= {h.row: h.kind for h in held if h.row is not None and day in (None, h.row.date)}
    return found


# ---- as text and as plain data


def guard_dict() -> dict[str, Any]:
    """The replay for `--json`."""
    return {"model": NAME, "horizons": [*HORIZONS], "replays": [_plain(one) for one in replays().values()]}


def _plain(one: Replay) -> dict[str, Any]:
    odd = [r for r in one.rows if r.wrong or any(r.held)]
    cases = [
        {
            "item": r.row.item,
            "date": r.row.date.isoformat(),
            "price": r.row.price,
            "currency": r.row.currency,
            "wrong": r.wrong,
            "why": r.why,
            "held": [*r.held],
        }
        for r in odd
    ]
    return {"id": one.id, "history": one.title, "rows": len(one.rows), "cases": cases}


def guard_text() -> str:
    """The replay for a terminal: every right row held and every wrong one, by name."""
    return "\n".join(_lines(replays().values()))


def _lines(found: Iterable[Replay]) -> Iterator[str]:
    title = "Guard of prices, replayed"
    yield from (title, "=" * len(title), f"Rents by the day of their price, judged {', '.join(HORIZONS)}")
    for one in found:
        wrong = sum(bool(r.wrong) for r in one.rows)
        yield f"{capital(one.title)}: {len(one.rows)} rows, {wrong} of them wrong"
        for label, rows in (("right rows held", one.false_holds), ("wrong rows let through", one.misses)):
            yield f"  {label}: {', '.join(f'{len(rows(at))} {when}' for at, when in enumerate(HORIZONS))}"
        groups: dict[str, list[Replayed]] = defaultdict(list)
        for r in one.rows:
            if r.wrong or any(r.held):
                groups[f"{'WRONG' if r.wrong else 'right'}, {_outcome(r)}" + (f" ({r.why})" if r.why else "")].append(r)
        for outcome, rows_of in groups.items():
            yield f"  {outcome}:"
            yield from (f"    {r.row.item}, {r.row.price:g} {r.row.currency} of {r.row.date}" for r in rows_of)


def _outcome(r: Replayed) -> str:
    if len({*r.held}) == 1:
        return f"held ({r.held[0]})" if r.held[0] else "let through"
    return ", ".join(
        f"{f'held ({kind})' if kind else 'let through'} {when}" for when, kind in zip(HORIZONS, r.held, strict=True)
    )
