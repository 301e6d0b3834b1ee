"""Filing quotes as prices: a file for each seller, and one with the spread where several sellers quoted the same item.

The price book takes the newest row of an item. So each quote is a row of its seller's file, and a row of
`several-quotes.csv` stands over those of one day: the median of the sellers' newest quotes that bind on that day, with the
lowest and the highest as its ends. That file follows from the sellers' files alone, and is made anew each time.
"""

from __future__ import annotations

import re
import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from hashlib import sha256
from pathlib import Path
from statistics import median

from fabricreport.books.prices.book import PriceBook
from fabricreport.books.prices.files import read_price_file
from fabricreport.books.prices.rules import ALL_COLUMNS, PriceRow, rules
from fabricreport.books.prices.settling import Held
from fabricreport.books.prices.store import write
from fabricreport.books.quotes.answers import Quote, comparable, seller_of
from fabricreport.errors import InputError, Problem
from fabricreport.vocabulary import Grade

PREFIX, SEVERAL = "quotes-", "several-quotes.csv"


@dataclass(frozen=True)
class Filed:
    """What an import did: quotes added and known already, files that changed, and the book's rows that are held."""

    added: int
    known: int
    files: tuple[str, ...]
    held: tuple[Held, ...]


def file_of(folder: Path, seller: str) -> Path:
    """The price file of a seller."""
    folded = unicodedata.normalize("NFKD", seller).encode("ascii", "ignore").decode("ascii").lower()
    slug = re.sub(r"[^a-z0-9]+", "-", folded).strip("-") or sha256(seller.encode()).hexdigest()[:8]
    return folder / f"{PREFIX}{slug}.csv"


def file_quotes(quotes: Sequence[Quote], folder: Path, shared: Path | None = None) -> Filed:
    """Add quotes of compatible pieces to the price files of a folder; the same quotes twice are filed once.

    `shared`: the folder that all clients share, where `folder` is one client's own. Nothing is written where a quote
    contradicts what is filed: `InputError` names every such row.
    """
    files = sellers_files(folder)
    before = {path: tuple(rows) for path, rows in files.items()}
    problems: list[Problem] = []
    added = known = 0
    for seller, rows in _by_seller(comparable(quotes)).items():
        target = file_of(folder, seller)
        there = files.setdefault(target, [])
        if owners := {seller_of(row.source) for row in there} - {seller}:
            message = f"holds the quotes of {sorted(owners)[0] or 'somebody else'}, and {seller} would share the file"
            problems.append(Problem(message, str(target), remedy="Write one of the two names otherwise."))
            continue
        for row in rows:
            same = [old for old in there if _line(old) == _line(row)]
            if not same:
                there.append(row)
                added += 1
            elif same[0].cells() == row.cells():
                known += 1
            else:
                message = f"{row.item} of {row.date} is filed already: {_difference(row, same[0])}"
                remedy = "A new quote has a new day; to correct a slip, delete the row there."
                problems.append(Problem(message, str(target), same[0].line or None, remedy=remedy))
    if problems:
        raise InputError(problems)
    ordered = {path: sorted(rows, key=lambda r: (r.item, r.date, r.source)) for path, rows in files.items()}
    changed = [path for path, rows in ordered.items() if path not in before or set(before[path]) != set(rows)]
    written = [path for path in changed if write(path, ordered[path])]
    several = folder / SEVERAL
    spread = spreads(row for rows in ordered.values() for row in rows)
    if (spread or several.exists()) and write(several, spread):
        written.append(several)
    ours = {str(path) for path in (*ordered, several)}
    book = PriceBook.read(shared or folder, folder if shared else None) if quotes else PriceBook(())
    held = tuple(h for h in book.quarantine if h.file in ours)
    return Filed(added, known, tuple(str(path) for path in written), held)


def sellers_files(folder: Path) -> dict[Path, list[PriceRow]]:
    """The rows of every seller's file of a folder; a malformed one raises, for it would be lost."""
    found: dict[Path, list[PriceRow]] = {}
    for path in sorted(folder.glob(f"{PREFIX}*.csv")):
        rows, malformed = read_price_file(path)
        if malformed:
            raise InputError([m.problem for m in malformed])
        found[path] = rows
    return found


def spreads(rows: Iterable[PriceRow]) -> list[PriceRow]:
    """A row for each item and day on which several quotes bind: the median of the sellers, and the ends of all quotes.

    It lapses with the first of them. Quotes in another unit or currency than the newest are left to the price book.
    """
    series: dict[str, list[PriceRow]] = defaultdict(list)
    for row in rows:
        series[row.item].append(row)
    found = []
    for item in sorted(series):
        for day in sorted({row.date for row in series[item]}):
            binding = _binding(series[item], day)
            if sum(len(of_seller) for of_seller in binding.values()) > 1:
                found.append(_spread(binding, day))
    return found


def _binding(rows: Sequence[PriceRow], day: date) -> dict[str, list[PriceRow]]:
    """By seller, the quotes of its newest day up to this one that bind on it, in the terms of the newest of all."""
    known = sorted((row for row in rows if row.date <= day), key=lambda r: (r.date, r.source))
    newest = {seller_of(row.source): row.date for row in known}
    terms = (known[-1].unit, known[-1].currency)
    found: dict[str, list[PriceRow]] = defaultdict(list)
    for row in known:
        seller = seller_of(row.source)
        if row.date == newest[seller] and row.expires >= day and (row.unit, row.currency) == terms:
            found[seller].append(row)
    return {seller: found[seller] for seller in sorted(found)}


def _spread(binding: Mapping[str, Sequence[PriceRow]], day: date) -> PriceRow:
    rows = [row for of_seller in binding.values() for row in of_seller]
    prices = [row.price for row in rows]
    source = f"Quotes of {'; '.join(binding)}, median of the sellers; low and high are the ends of {len(rows)} quotes"
    return PriceRow(
        item=rows[0].item, unit=rows[0].unit,
        price=median(median(row.price for row in of_seller) for of_seller in binding.values()),
        low=min(prices), high=max(prices), currency=rows[0].currency, date=day, expiry=min(r.expires for r in rows),
        source=source[: rules().longest_source], grade=str(Grade.QUOTE),
    )  # fmt: skip


def _by_seller(quotes: Sequence[Quote]) -> Mapping[str, list[PriceRow]]:
    """The rows of each seller; the same piece, quantity and day in two requests is one quote."""
    found: dict[str, list[PriceRow]] = defaultdict(list)
    for quote in sorted(quotes, key=lambda q: (q.seller, q.row.cells())):
        if all(row.cells() != quote.row.cells() for row in found[quote.seller]):
            found[quote.seller].append(quote.row)
    return found


def _line(row: PriceRow) -> tuple[str, date, str]:
    """What tells two quotes of a seller apart: the piece, the day, and for how many."""
    return row.item, row.date, row.source.partition(";")[0]


def _difference(new: PriceRow, old: PriceRow) -> str:
    """In which columns two rows differ."""
    pairs = [(n, a, b) for n, a, b in zip(ALL_COLUMNS, new.cells(), old.cells(), strict=True) if a != b]
    return ", ".join(f"the {name} is {is_ or 'empty'} here and {was or 'empty'} there" for name, is_, was in pairs)
