"""What of a feed may go into a folder of prices: new rows, corrections of held ones, and what no model will use."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from fabricreport.books.prices.book import PriceBook, baseline
from fabricreport.books.prices.currency import PIVOT
from fabricreport.books.prices.files import read_price_file
from fabricreport.books.prices.rules import ALL_COLUMNS, PriceRow, rules
from fabricreport.errors import Problem
from fabricreport.located import did_you_mean

_Key = tuple[str, object, str]
_WORD = re.compile(rb"[a-z0-9]+(?:[-.][a-z0-9]+)*")
_LARGEST_BYTES = 4_000_000


@dataclass(frozen=True)
class Merge:
    """Rows to add, the number already there, held rows that a corrected one replaces, and rows that may not go in."""

    fresh: tuple[PriceRow, ...]
    known: int
    replaced: tuple[PriceRow, ...]
    refused: tuple[Problem, ...]


def merge(rows: Sequence[PriceRow], folder: Path, target: Path) -> Merge:
    """Compare a feed's rows with all files of a folder.

    A row of the same item, day and source as one in use must be equal to it; one that the book holds is replaced.
    """
    there = [row for path in sorted(folder.glob("*.csv")) for row in read_price_file(path)[0]]
    used = {_key(r) for r in PriceBook.of(there).rows}
    have: dict[_Key, list[PriceRow]] = defaultdict(list)
    for row in there:
        have[_key(row)].append(row)
    fresh: dict[_Key, PriceRow] = {}
    replaced: list[PriceRow] = []
    refused: list[Problem] = []
    known = 0
    for row in rows:
        key = _key(row)
        old = [fresh[key]] if key in fresh else have[key]
        if not old:
            fresh[key] = row
        elif all(o.cells() == row.cells() for o in old):
            known += 1
        elif key in fresh or key in used:
            refused.append(_refusal(row, target, _contradiction(row, old[0], twice=key in fresh)))
        else:
            fresh[key] = row
            replaced += old
    stay = [r for r in there if r not in replaced]
    upset = _upset(stay, list(fresh.values()))
    message = "older than a good price that it would put in doubt: a back-dated row may not do that"
    refused += [_refusal(r, target, f"{r.item} on {r.date}: {message}") for r in fresh.values() if r.item in upset]
    return Merge(
        tuple(r for r in fresh.values() if r.item not in upset),
        known,
        tuple(r for r in replaced if r.item not in upset),
        tuple(refused),
    )


def _key(row: PriceRow) -> _Key:
    return row.item, row.date, row.source


def _contradiction(row: PriceRow, old: PriceRow, *, twice: bool) -> str:
    """In which columns two rows of one item, day and source differ."""
    pairs = [(n, a, b) for n, a, b in zip(ALL_COLUMNS, row.cells(), old.cells(), strict=True) if a != b]
    differ = ", ".join(f"the {name} is {new or 'empty'} here but {was or 'empty'} there" for name, new, was in pairs)
    where = "given before in this feed" if twice else "there already"
    return f"{row.item} on {row.date} is {where}, from the same source: {differ}"


def _upset(there: Sequence[PriceRow], fresh: Sequence[PriceRow]) -> set[str]:
    """Items of which a price that is good today would be held once the fresh rows are in."""
    good = {_key(r) for r in PriceBook.of(there).rows}
    after = {_key(r) for r in PriceBook.of([*there, *fresh]).rows}
    return {item for item, _, _ in good - after}


def _refusal(row: PriceRow, target: Path, message: str) -> Problem:
    remedy = "The one already there stays in use."
    return Problem(message, row.file or str(target), row.line or None, remedy=remedy)


def unused_items(rows: Sequence[PriceRow], folder: Path, kind: str) -> tuple[str, ...]:
    """A note for each item that no model, option or params file names, so that a slip in a name is seen.

    GPU-hour feeds name items for every provider they know; only our own CSV is typed by hand.
    """
    shipped = {r.item for r in baseline()}
    odd = sorted({r.item for r in rows} - shipped - _rates()) if kind == "csv" else []
    named = _named_beside(folder) if odd else set()
    notes = []
    for item in odd:
        if item not in named:
            close = did_you_mean(item, sorted(shipped))
            guess = f" Did you mean '{close}'?" if close else " Name it in an option or in a params file to use it."
            notes.append(f"No model uses '{item}'.{guess}")
    return tuple(notes)


def _rates() -> set[str]:
    """The exchange rates between known currencies."""
    known = [c.lower() for c in (*rules().currencies, PIVOT)]
    return {f"fx-{a}-{b}" for a in known for b in known if a != b}


def _named_beside(folder: Path) -> set[str]:
    """Every word of the params, option and evidence files that are read together with this folder of prices."""
    around = folder.resolve().parent
    files = [
        p for part in (".", "options", "evidence") for end in ("yaml", "yml") for p in (around / part).glob(f"*.{end}")
    ]
    words: set[str] = set()
    for path in sorted(files):
        if path.is_file() and path.stat().st_size <= _LARGEST_BYTES:
            words |= {w.decode() for w in _WORD.findall(path.read_bytes())}
    return words
