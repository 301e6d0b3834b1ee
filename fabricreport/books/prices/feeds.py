"""Importing prices: fetch, read, judge against the whole folder, and add to one CSV without losing anything.

Rows that fit are appended to `<folder>/<name>.csv` by atomic replace. Rows that do not fit are appended too, so that
nothing is lost: the book holds them each time it is read. Rows that are no prices go, with their reasons, to
`<folder>/quarantine/<name>.csv`, beside the held ones; the book does not read that folder. A row that the book holds
gives way to a corrected one of the same item, day and source, and moves there too.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from fabricreport.base.errors import InputError, Problem
from fabricreport.base.files import writing
from fabricreport.base.locations import did_you_mean
from fabricreport.books.prices.book import PriceBook, baseline
from fabricreport.books.prices.currency import PIVOT
from fabricreport.books.prices.feed_readers import (
    Reading,
    feed_kind,
    fetch_text,
    header_fault,
    read_csv_feed,
    read_gpu_hour_history,
    read_skypilot,
)
from fabricreport.books.prices.files import append, drop_rows, read_price_file, set_aside
from fabricreport.books.prices.rules import ALL_COLUMNS, FeedRules, PriceRow, clean_text, rules
from fabricreport.books.prices.settlement import Held
from fabricreport.books.prices.web import is_address, shown

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


KINDS = ("auto", "csv", "gpu-hour-history", "skypilot")


@dataclass(frozen=True)
class ImportReport:
    """What an import did: rows added, already known, held by the book, refused, and left out by reason.

    `replaced` counts held rows that gave way to a corrected one; `notes` tell of prices that nothing will use.
    """

    source: str
    kind: str
    file: str
    added: int
    known: int
    held: tuple[Held, ...]
    refused: tuple[Problem, ...]
    skipped: dict[str, int] = field(default_factory=dict)
    newest: date | None = None
    quarantine_file: str = ""
    replaced: int = 0
    notes: tuple[str, ...] = ()

    @property
    def ok(self) -> bool:
        """True if nothing was refused or held."""
        return not self.refused and not self.held

    def as_dict(self) -> dict[str, Any]:
        """Plain values for `--json`."""
        held, refused = [h.as_dict() for h in self.held], [p.as_dict() for p in self.refused]
        newest = self.newest.isoformat() if self.newest else None
        return vars(self) | {"ok": self.ok, "held": held, "refused": refused, "newest": newest}

    def text(self) -> str:
        """One line for each finding, a summary last."""
        lines = [f"refused: {p}" for p in self.refused]
        lines += [f"held: {h}" for h in self.held]
        lines += [f"left out: {count} rows: {reason}" for reason, count in sorted(self.skipped.items())]
        lines += [f"note: {note}" for note in self.notes]
        lines.append(
            f"{self.added} prices added to {self.file} from a {self.kind} feed, {self.known} already there, "
            f"{len(self.held)} held, {len(self.refused)} refused"
            + (f", {self.replaced} held ones replaced" if self.replaced else "")
        )
        return "\n".join(lines)


def import_prices(
    source: str,
    kind: str = "auto",
    *,
    folder: str | Path,
    name: str | None = None,
    as_of: date | None = None,
    provider: str | None = None,
    limits: FeedRules | None = None,
    text: str | None = None,
) -> ImportReport:
    """Import a feed from a path or http(s) address into `<folder>/<name>.csv`.

    `name` defaults to the source's file name. A SkyPilot catalog has no dates and names no provider: `as_of` is
    needed, `provider` defaults to the file name. `text` is what the source holds, where that is known. Raises `InputError`
    if it cannot be read, is none of the known formats, or holds no price at all; single bad rows are reported instead.
    """
    source, folder = str(source), Path(folder)
    text = fetch_text(source, limits or rules().feeds) if text is None else text
    stem = _stem(source)
    reading, kind = _read(text, source, kind, provider or stem, as_of)
    if not reading.rows and not reading.refused:
        raise InputError(Problem("no price in it that we can use", shown(source), line=1, remedy=_why(reading)))
    if not reading.rows:
        raise InputError(reading.refused)
    target = folder / f"{_slug(name or stem)}.csv"
    with writing(target):
        return _store(reading, target, shown(source), kind)


def _store(reading: Reading, target: Path, source: str, kind: str) -> ImportReport:
    """Add a reading to the folder of `target`; the report."""
    folder = target.parent
    folder.mkdir(parents=True, exist_ok=True)
    merged = merge(reading.rows, folder, target)
    bad = (*reading.refused, *merged.refused)
    aside = set_aside(folder, target, bad, (), merged.replaced) if bad or merged.replaced else ""
    drop_rows(merged.replaced)
    append(target, merged.fresh)
    held = _held_now(folder, merged.fresh, target)
    if held:
        aside = set_aside(folder, target, (), held, ())
    return ImportReport(
        source, kind, str(target), len(merged.fresh) - len(held), merged.known, held, bad, dict(reading.skipped or {}),
        max(r.date for r in reading.rows), aside, len(merged.replaced), unused_items(merged.fresh, folder, kind),
    )  # fmt: skip


def _read(text: str, source: str, kind: str, provider: str, as_of: date | None) -> tuple[Reading, str]:
    named = shown(source)
    if kind not in KINDS:
        raise InputError(Problem(f"unknown kind of feed; known: {', '.join(KINDS)}", named, value=clean_text(kind)))
    found = feed_kind(text)
    if not found:
        message, remedy = header_fault(text)
        raise InputError(Problem(message, named, 1, remedy=remedy))
    if kind not in ("auto", found):
        raise InputError(Problem(f"the header is not that of a {kind} feed", named, 1, remedy="Use --kind auto."))
    if found == "csv":
        return read_csv_feed(text, named), found
    if found == "gpu-hour-history":
        return read_gpu_hour_history(text, named), found
    if as_of is None:
        raise InputError(Problem("a SkyPilot catalog has no dates", named, remedy="Say its date with --as-of."))
    return read_skypilot(text, named, provider=provider, as_of=as_of), found


def _held_now(folder: Path, fresh: Sequence[PriceRow], target: Path) -> tuple[Held, ...]:
    new = {(r.item, r.date, r.price) for r in fresh}
    held = PriceBook.read(folder).quarantine
    return tuple(h for h in held if h.file == str(target) and (h.item, h.date, h.price) in new)


def _stem(source: str) -> str:
    path = urlsplit(source).path if is_address(source) else source
    return Path(path).stem or "feed"


def _slug(name: str) -> str:
    slug = re.sub(r"[^a-z0-9_]+", "-", name.lower()).strip("-")[:80]
    if not slug:
        raise InputError(Problem("no usable name for the price file", value=clean_text(name), remedy="Give --name."))
    return slug


def _why(reading: Reading) -> str:
    return "; ".join(f"{count} rows: {reason}" for reason, count in sorted((reading.skipped or {}).items()))[:400]
