"""Every quantity has one base in a memo: one name has one base, and one quantity on one base has one name and one value.

A second base of a quantity stands under a name of its own, which says which base it is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from fabricreport.bases import told
from fabricreport.ledger import Record
from fabricreport.memo.document.gather import Gathered

BASE_REMEDY = "Say the base in its label, or print one of the two."
VALUE_REMEDY = "Quote one of the two in both places, or say under `base` in `figures.yaml` in what they differ."


def base_remarks(found: Gathered) -> Iterator[str]:
    """Figures that share a name and differ in their base, or share all of a base and differ in name or value."""
    entries = [entry for entry in found.ledger.values() if entry.get("base")]
    for one, other in _apart(entries, lambda e: str(e["label"]), _named):
        bases = f"“{told(one['base'])}” and “{told(other['base'])}”"
        said = f"“{one['label']}” is {one['text']} and {other['text']}, of two things or on two bases: {bases}"
        yield f"{_places(found, one, other)}: {said}. {BASE_REMEDY}"
    for one, other in _apart(entries, _quantity, lambda e: str(e["label"])):
        said = f"“{one['label']}”, {one['text']}, and “{other['label']}”, {other['text']}"
        yield f"{_places(found, one, other)}: one quantity on one base has two names: {said}. {VALUE_REMEDY}"


def _apart(
    entries: list[Record], same: Callable[[Record], str], told_as: Callable[[Record], str]
) -> Iterator[tuple[Record, Record]]:
    """Each pair of entries that are the same and are not told alike: every other one beside the first."""
    first: dict[str, Record] = {}
    for entry in entries:
        one = first.setdefault(same(entry), entry)
        if told_as(one) != told_as(entry):
            yield one, entry


def _whole(base: Record) -> str:
    return repr(sorted(base.items()))


def _named(entry: Record) -> str:
    """What one name may stand for: a base and a value, whatever the figure is said to be about."""
    return f"{_whole({**entry['base'], 'about': ()})} {entry['text']}"


def _quantity(entry: Record) -> str:
    """The base and the unit: the same quantity may be told in weeks and in dollars."""
    return f"{_whole(entry['base'])} {entry['unit']}"


def _places(found: Gathered, one: Record, other: Record) -> str:
    return " and ".join(f"{e['id']} ({found.ledger_where.get(str(e['id']), '')})" for e in (one, other))
