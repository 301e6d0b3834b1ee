"""What an edition keeps of what it was made from, so that a later run can say why a number moved.

    inputs/params.json           the params as the run was given them, the date in force among them
    inputs/library.json          the package's evidence as it was, one entry to a line
    inputs/prices/*.csv          every row of the price files that is a price, in use or held
    inputs/evidence, options     the client's own, as they are
    inputs/<slug>/prices/*.csv   the client's own prices
    inputs/<path>                offers, answers, experts' forms and measurements that the params name

It is laid out as the folder of a params file, so whatever reads one reads it again.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import Any

from fabricreport.books.evidence import read_entries, read_evidence
from fabricreport.books.evidence_entry import EvidenceEntry
from fabricreport.books.prices.files import read_price_file
from fabricreport.books.prices.rules import PriceRow
from fabricreport.books.prices.store import table_text
from fabricreport.given import Given, read_given, read_prices
from fabricreport.memo.editions.manifest import MANIFEST, read_output, read_sealed
from fabricreport.memo.run.snapshot import OWN, Snapshot

INPUTS = "inputs"
PARAMS_JSON = "params.json"
LIBRARY = "library.json"
PRICES = "prices"


def keep_inputs(folder: Path, snapshot: Snapshot) -> None:
    """Write `inputs/` into the folder of an edition that is being made."""
    kept = folder / INPUTS
    (kept / PRICES).mkdir(parents=True)
    (kept / LIBRARY).write_text(_listed(read_evidence().values()), encoding="utf-8")
    if not any(file.kind == PRICES for file in snapshot.files):
        (kept / PRICES / "none.csv").write_bytes(table_text([]).encode())
    for file in snapshot.files:
        target, source = kept / file.name, snapshot.folder / file.name
        target.parent.mkdir(parents=True, exist_ok=True)
        is_table = file.kind in (PRICES, OWN) and file.name.endswith(".csv")
        target.write_bytes(table_text(read_price_file(source)[0]).encode() if is_table else source.read_bytes())


def read_kept(edition: Path) -> Given:
    """What an edition was made from, as a case is opened with it; `ValueError` where it is damaged.

    Evidence that the package has gained since is there too; what it had then stands as it was.
    """
    kept = _whole(edition)
    given = read_given(kept / PARAMS_JSON, shared=kept)
    if given.library is None:
        return given
    return replace(given, library=given.library.restated(read_entries(kept / LIBRARY)))


def prices_of(edition: Path, slug: str, day: date) -> dict[str, PriceRow]:
    """The row of each item that counted in an edition; none where it does not hold them, or is damaged."""
    try:
        kept = _whole(edition)
        return read_prices(kept, slug, kept).in_use(day)
    except (OSError, ValueError):
        return {}


def _whole(edition: Path) -> Path:
    """The folder `inputs/` of an edition, as it was published; `ValueError` says that it, or the manifest, is damaged."""
    for entry in read_sealed(edition / MANIFEST)["outputs"]:
        if entry["name"].startswith(f"{INPUTS}/"):
            read_output(edition, entry["name"])
    return edition / INPUTS


def _listed(entries: Iterable[EvidenceEntry]) -> str:
    lines = [json.dumps(_own_keys(entry), ensure_ascii=False, allow_nan=False) for entry in entries]
    return "[\n" + ",\n".join(lines) + "\n]\n"


def _own_keys(entry: EvidenceEntry) -> dict[str, Any]:
    """An entry as its file states it; where the file lies is no business of a reader."""
    return {key: value for key, value in entry.as_dict().items() if key not in ("file", "line")}
