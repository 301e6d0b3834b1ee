"""What sellers quote, filed as prices, one file a seller, with the spread of several; and what that moves, told.

The price book takes the newest row of an item. So each quote is a row of its seller's file, and a row of
`several-quotes.csv` stands over those of one day: the median of the sellers' newest quotes that bind on that day, with the
lowest and the highest as its ends. That file follows from the sellers' files alone, and is made anew each time.
"""

from __future__ import annotations

import re
import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import date
from hashlib import sha256
from pathlib import Path
from statistics import median
from typing import Any

from fabricreport.base.errors import InputError, Problem
from fabricreport.base.vocabulary import Grade
from fabricreport.books.prices.book import PriceBook
from fabricreport.books.prices.files import read_price_file, write
from fabricreport.books.prices.rules import ALL_COLUMNS, PriceRow, rules
from fabricreport.books.prices.settlement import Held
from fabricreport.books.quote_answers import (
    GENUINE,
    Quote,
    comparable,
    read_answers,
    read_form,
    seller_of,
    stated_lines,
)
from fabricreport.books.quotes import Line
from fabricreport.desk.quotes import PREFIX, SEVERAL


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
            same = [old for old in there if _quote_key(old) == _quote_key(row)]
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
        found[path] = list(rows)
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


def _quote_key(row: PriceRow) -> tuple[str, date, str]:
    """What tells two quotes of a seller apart: the piece, the day, and for how many."""
    return row.item, row.date, row.source.partition(";")[0]


def _difference(new: PriceRow, old: PriceRow) -> str:
    """In which columns two rows differ."""
    pairs = [(n, a, b) for n, a, b in zip(ALL_COLUMNS, new.cells(), old.cells(), strict=True) if a != b]
    return ", ".join(f"the {name} is {is_ or 'empty'} here and {was or 'empty'} there" for name, is_, was in pairs)


@dataclass(frozen=True)
class Moved:
    """A params file, its client's name, and the items of its memo of which another price is in use now."""

    params: str
    client: str
    items: tuple[str, ...]

    def __str__(self) -> str:
        return f"moves the memo of {self.client} ({self.params}): {', '.join(self.items)}"


@dataclass(frozen=True)
class QuotesReport:
    """What an import of quotes did: the form, the price folder, what was filed, and notes to whoever filed it.

    `moves`: the memos that prices move which all clients share; None for those of one client.
    """

    source: str
    folder: str
    filed: Filed
    sellers: tuple[str, ...]
    items: tuple[str, ...]
    notes: tuple[str, ...]
    moves: tuple[Moved, ...] | None = None

    @property
    def ok(self) -> bool:
        """Whether the price book uses all that was filed."""
        return not self.filed.held

    def as_dict(self) -> dict[str, Any]:
        """Plain values for `--json`."""
        return {
            "ok": self.ok, "source": self.source, "folder": self.folder, "added": self.filed.added,
            "known": self.filed.known, "files": list(self.filed.files), "sellers": list(self.sellers),
            "items": list(self.items), "held": [h.as_dict() for h in self.filed.held], "notes": list(self.notes),
            **({} if self.moves is None else {"moves": [asdict(moved) for moved in self.moves]}),
        }  # fmt: skip

    def text(self) -> str:
        """One line for each finding, a summary last."""
        lines = [f"held: {held}" for held in self.filed.held]
        lines += [f"note: {note}" for note in self.notes]
        lines += [f"wrote {file}" for file in self.filed.files]
        if self.moves is not None:
            lines += [*map(str, self.moves)] or ["moves no memo of the params beside these prices"]
        lines.append(
            f"{self.filed.added} quotes added to {self.folder} from {', '.join(self.sellers)}, "
            f"{self.filed.known} already there, {len(self.filed.held)} held"
        )
        return "\n".join(lines)


def import_quotes(
    source: Path,
    folder: Path,
    *,
    shared: Path | None = None,
    asked: Iterable[Line] | None,
    items: dict[str, dict[str, Line]],
    as_of: date | None,
) -> QuotesReport:
    """Read a filled form and file its quotes in a folder of prices; `InputError` names every fault, and nothing is filed.

    `asked`: the lines that the client's params make, None where no params are named: then the form's own rows say what
    was asked, of the `items` known by request. `as_of`: the memo's date, if it is known. `shared`: the prices of all
    clients, where `folder` holds those of one.
    """
    rows = read_form(source)
    quotes = read_answers(rows, stated_lines(rows, items) if asked is None else asked, as_of)
    filed = file_quotes(quotes, folder, shared)
    return QuotesReport(
        str(source), str(folder), filed, tuple(sorted({q.seller for q in quotes})),
        tuple(sorted({q.item for q in comparable(quotes)})), tuple(_notes(quotes, as_of)),
    )  # fmt: skip


def _notes(quotes: Sequence[Quote], as_of: date | None) -> Iterator[str]:
    late = sorted({q.item for q in comparable(quotes) if as_of is not None and q.row.date > as_of})
    if late:
        yield f"quoted after the memo's date {as_of}, so not used until `as_of` is later: {', '.join(late)}"
    early = sorted({q.item for q in quotes if as_of is not None and q.row.date < as_of})
    if early:
        yield f"quoted before the memo's date {as_of}: {', '.join(early)}; if it was asked for with that memo, mend the date"
    yield from _genuine(quotes)
    for quote in quotes:
        if quote.support_per_year is not None:
            share = f"{quote.support_per_year * 100:.3g} % of the price a year"
            yield f"{quote.item}, {quote.seller}: support at {share}; to count it, override the option's rate of support"


def _genuine(quotes: Sequence[Quote]) -> Iterator[str]:
    """Modules of the switch's own maker, which the price files hold as a multiple of compatible ones."""
    for item in sorted({q.item for q in quotes if q.brand == GENUINE}):
        prices = {brand: [q.row.price for q in quotes if q.item == item and q.brand == brand]
                  for brand in (GENUINE, *{q.brand for q in quotes} - {GENUINE, ""})}  # fmt: skip
        others = [p for brand, found in prices.items() if brand != GENUINE for p in found]
        times = f": {median(prices[GENUINE]) / median(others):.3g} times the compatible ones" if others else ""
        yield f"{item}: genuine modules are not filed as the item{times}; override evidence:optic-genuine-factor with it"
