"""Importing prices: fetch, read, judge against the whole folder, and add to one CSV without losing anything.

Rows that fit are appended to `<folder>/<name>.csv` by atomic replace. Rows that do not fit are appended too, so that
nothing is lost: the book holds them each time it is read. Rows that are no prices go, with their reasons, to
`<folder>/quarantine/<name>.csv`, beside the held ones; the book does not read that folder.
"""

from __future__ import annotations

import csv
import io
import os
import re
import tempfile
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from fabricreport.books.feed_readers import Reading, feed_kind, read_csv_feed, read_gpu_hour_history, read_skypilot
from fabricreport.books.fetch import fetch_text, is_address
from fabricreport.books.price_files import read_price_file
from fabricreport.books.price_rules import COLUMNS, PriceRow, clean_text, rules
from fabricreport.books.prices import Held, PriceBook
from fabricreport.errors import InputError, Problem

KINDS = ("auto", "csv", "gpu-hour-history", "skypilot")


@dataclass(frozen=True)
class ImportReport:
    """What an import did: rows added, already known, held by the book, refused, and left out by reason."""

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

    @property
    def ok(self) -> bool:
        """True if nothing was refused or held."""
        return not self.refused and not self.held

    def as_dict(self) -> dict[str, Any]:
        """Plain values for `--json`."""
        return {
            "source": self.source, "kind": self.kind, "file": self.file, "ok": self.ok, "added": self.added,
            "known": self.known, "held": [h.as_dict() for h in self.held],
            "refused": [p.as_dict() for p in self.refused], "skipped": self.skipped,
            "newest": self.newest.isoformat() if self.newest else None, "quarantine_file": self.quarantine_file,
        }  # fmt: skip

    def text(self) -> str:
        """One line for each finding, a summary last."""
        lines = [f"refused: {p}" for p in self.refused]
        lines += [f"held: {h}" for h in self.held]
        lines += [f"left out: {count} rows: {reason}" for reason, count in sorted(self.skipped.items())]
        lines.append(
            f"{self.added} prices added to {self.file} from a {self.kind} feed, {self.known} already there, "
            f"{len(self.held)} held, {len(self.refused)} refused"
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
    timeout_s: float | None = None,
    largest_bytes: int | None = None,
) -> ImportReport:
    """Import a feed from a path or http(s) address into `<folder>/<name>.csv`.

    `name` defaults to the source's file name. A SkyPilot catalog has no dates and names no provider: `as_of` is
    needed, `provider` defaults to the file name. Raises `InputError` if the source cannot be read, is none of the
    known formats, or holds no price at all; single bad rows are reported instead.
    """
    source, folder = str(source), Path(folder)
    limits = rules()["feeds"]
    text = fetch_text(
        source,
        largest_bytes=largest_bytes or int(limits["largest_bytes"]),
        timeout_s=timeout_s or float(limits["timeout_s"]),
    )
    stem = _stem(source)
    reading, kind = _read(text, source, kind, provider or stem, as_of)
    if not reading.rows and not reading.refused:
        raise InputError(Problem("no price in it that we can use", clean_text(source)[:200], remedy=_why(reading)))
    if not reading.rows:
        raise InputError(reading.refused)
    target = folder / f"{_slug(name or stem)}.csv"
    folder.mkdir(parents=True, exist_ok=True)
    fresh, known, refused = _new_rows(reading.rows, folder, target)
    _append(target, fresh)
    held = _held_now(folder, fresh, target)
    bad = (*reading.refused, *refused)
    aside = _write_aside(folder, target, bad, held) if bad or held else ""
    newest = max(r.date for r in reading.rows)
    return ImportReport(
        clean_text(source), kind, str(target), len(fresh) - len(held), known, held, bad, dict(reading.skipped or {}),
        newest, aside,
    )  # fmt: skip


def _read(text: str, source: str, kind: str, provider: str, as_of: date | None) -> tuple[Reading, str]:
    shown = clean_text(source)[:200]
    if kind not in KINDS:
        raise InputError(Problem(f"unknown kind of feed; known: {', '.join(KINDS)}", shown, value=clean_text(kind)))
    found = feed_kind(text)
    if kind == "auto" and not found:
        remedy = "Known: our CSV, the GPU-hour history, SkyPilot's catalog; the first line must be the header."
        raise InputError(Problem("none of the known feed formats", shown, remedy=remedy))
    if kind not in ("auto", found):
        raise InputError(Problem(f"the header is not that of a {kind} feed", shown, remedy="Use --kind auto."))
    if found == "csv":
        return read_csv_feed(text, shown), found
    if found == "gpu-hour-history":
        return read_gpu_hour_history(text, shown), found
    if as_of is None:
        raise InputError(Problem("a SkyPilot catalog has no dates", shown, remedy="Say its date with --as-of."))
    return read_skypilot(text, shown, provider=provider, as_of=as_of), found


def _new_rows(rows: Sequence[PriceRow], folder: Path, target: Path) -> tuple[list[PriceRow], int, list[Problem]]:
    """Rows the folder does not have yet, the number it has, and those that may not go in."""
    there = [row for path in sorted(folder.glob("*.csv")) for row in read_price_file(path)[0]]
    have = {(r.item, r.date, r.source): r for r in there}
    fresh: list[PriceRow] = []
    refused: list[Problem] = []
    known = 0
    for row in rows:
        old = have.get((row.item, row.date, row.source))
        if old is None:
            fresh.append(row)
            have[row.item, row.date, row.source] = row
        elif old.cells() == row.cells():
            known += 1
        else:
            message = f"{row.item} on {row.date} is {row.price:g} here but {old.price:g} already, from the same source"
            refused.append(_refusal(row, target, message))
    upset = _upset(there, fresh)
    message = "older than a good price that it would put in doubt: a back-dated row may not do that"
    refused += [_refusal(r, target, f"{r.item} on {r.date}: {message}") for r in fresh if r.item in upset]
    return [r for r in fresh if r.item not in upset], known, refused


def _upset(there: Sequence[PriceRow], fresh: Sequence[PriceRow]) -> set[str]:
    """Items of which a price that is good today would be held once the fresh rows are in."""
    good = {(r.item, r.date, r.source) for r in PriceBook.of(there).rows}
    after = {(r.item, r.date, r.source) for r in PriceBook.of([*there, *fresh]).rows}
    return {item for item, _, _ in good - after}


def _refusal(row: PriceRow, target: Path, message: str) -> Problem:
    remedy = "The one already there stays in use."
    return Problem(message, row.file or str(target), row.line or None, "price", remedy=remedy)


def _held_now(folder: Path, fresh: Sequence[PriceRow], target: Path) -> tuple[Held, ...]:
    new = {(r.item, r.date, r.price) for r in fresh}
    held = PriceBook.read(folder).quarantine
    return tuple(h for h in held if h.file == str(target) and (h.item, h.date, h.price) in new)


def _append(target: Path, rows: Iterable[PriceRow]) -> None:
    try:
        before = target.read_text(encoding="utf-8-sig") if target.exists() else _lines([COLUMNS])
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(Problem("cannot be read as UTF-8", str(target))) from error
    added = _lines(r.cells() for r in rows)
    if added or not target.exists():
        _replace(target, before + ("" if before.endswith("\n") else "\n") + added)


def _write_aside(folder: Path, target: Path, refused: Sequence[Problem], held: Sequence[Held]) -> str:
    aside = folder / "quarantine" / target.name
    aside.parent.mkdir(exist_ok=True)
    head = ("kind", "item", "date", "price", "place", "reason")
    rows = [("refused", p.key, "", p.value, f"{p.file}:{p.line or ''}", p.message) for p in refused]
    rows += [
        (h.kind, h.item, h.date.isoformat() if h.date else "", "" if h.price is None else f"{h.price:.10g}",
         f"{Path(h.file).name}:{h.line}", h.message)
        for h in held
    ]  # fmt: skip
    before = aside.read_text(encoding="utf-8") if aside.exists() else _lines([head])
    seen = set(before.splitlines())
    _replace(aside, before + "".join(t for t in (_lines([r]) for r in rows) if t.rstrip("\n") not in seen))
    return str(aside)


def _lines(rows: Iterable[Sequence[str]]) -> str:
    """CSV text; a cell that a spreadsheet would run as a formula gets a leading apostrophe."""
    text = io.StringIO(newline="")
    for row in rows:
        cells = ["'" + c if c[:1] in ("=", "+", "-", "@", "\t", "\r") and not _is_number(c) else c for c in row]
        csv.writer(text, lineterminator="\n").writerow(cells)
    return text.getvalue()


def _replace(target: Path, text: str) -> None:
    """Write beside the target, flush to disk, rename over it: readers see the old file or the new one."""
    handle, scratch = tempfile.mkstemp(prefix=f".{target.stem}-", suffix=".tmp", dir=target.parent)
    try:
        with os.fdopen(handle, "w", encoding="utf-8", newline="") as out:
            out.write(text)
            out.flush()
            os.fsync(out.fileno())
        Path(scratch).chmod(0o644)
        Path(scratch).replace(target)
    except BaseException:
        Path(scratch).unlink(missing_ok=True)
        raise


def _stem(source: str) -> str:
    path = urlsplit(source).path if is_address(source) else source
    return Path(path).stem or "feed"


def _slug(name: str) -> str:
    slug = re.sub(r"[^a-z0-9_]+", "-", name.lower()).strip("-")[:80]
    if not slug:
        raise InputError(Problem("no usable name for the price file", value=clean_text(name), remedy="Give --name."))
    return slug


def _is_number(text: str) -> bool:
    return re.fullmatch(r"-?\d+(\.\d+)?(e[+-]?\d+)?", text, re.ASCII | re.IGNORECASE) is not None


def _why(reading: Reading) -> str:
    return "; ".join(f"{count} rows: {reason}" for reason, count in sorted((reading.skipped or {}).items()))[:400]
