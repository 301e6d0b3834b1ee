"""The guard of prices replayed: the table that names the rows behind the counts of each replay."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

from fabricreport.blocks import Column, Name, Row, Table
from fabricreport.books.names import item_names
from fabricreport.findings import capital
from fabricreport.validation.price_guard import FAULTS, HORIZONS, LATER, Replayed, replays

_HEADS = ("Replay", "Right prices held", "Wrong prices held", "Wrong prices let through")
_BY_NUMBER = "date"
"""The fault whose rows are too many to name here, and alike."""


def guard() -> Table:
    """Every replay: what was held and what was let through on a row's own day, by name."""
    rows, said = [], dict[str, object](when=Name(f"Held {list(HORIZONS)[LATER]}"))
    for one in replays().values():
        at = f"report.guard.{one.id}"
        names = {
            "title": capital(one.title),
            "held": _named(one.false_holds()),
            "caught": _by_fault(one.right_holds()),
            "missed": _by_fault(one.misses()),
        }
        said |= {f"{one.id}{part}": Name(text) for part, text in names.items()}
        cells = [f"{{{at}.{p}}}" + (f": {{{one.id}{p}}}" if names[p] else "") for p in ("held", "caught", "missed")]
        later = f" {{when}}: {{{at}.later}}." if one.false_holds() else ""
        rows.append(
            Row([f"{{{one.id}title}}: {{{at}.rows}} prices", f"{cells[0]}.{later}", *(f"{c}." for c in cells[1:])])
        )
    return Table([Column(head) for head in _HEADS], rows, said)


def _by_fault(found: Iterable[Replayed]) -> str:
    """Rows counted by what was wrong with them, and named unless they are many and alike."""
    rows = {fault: [r for r in found if r.wrong == fault] for fault in FAULTS}
    return "; ".join(
        f"{len(rows[fault])} {what}" + ("" if fault == _BY_NUMBER else f" ({_named(rows[fault])})")
        for fault, what in FAULTS.items()
        if rows[fault]
    )


def _named(found: Iterable[Replayed]) -> str:
    """Rows by seller, each with its GPUs: `Nebius H100/H200`."""
    gpus: dict[str, dict[str, None]] = defaultdict(dict)
    for r in found:
        gpu, _, seller = item_names(r.row.item).name.removeprefix("Hour of one ").rstrip(")").partition(" (")
        gpus[seller][gpu] = None
    return ", ".join(f"{seller} {'/'.join(of)}" for seller, of in gpus.items())
