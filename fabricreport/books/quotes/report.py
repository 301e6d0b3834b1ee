"""Importing a filled form, and what there is to tell of it: what was filed, what was not and why, what was said besides."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from datetime import date
from pathlib import Path
from statistics import median
from typing import Any

from fabricreport.books.quotes.answers import GENUINE, Quote, comparable, read_answers, stated_lines
from fabricreport.books.quotes.filing import Filed, file_quotes
from fabricreport.books.quotes.form import Line
from fabricreport.books.quotes.sheets import read_form


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
