"""One memo, one comparison: every section must have compared the same two options and state the same lead.

Each block carries what its section's case says of the comparison (`Case.compared`). A section that was run on another
case, or that works the lead out for itself, is told here with the two cells that part.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from fabricreport.blocks.nodes import Headline
from fabricreport.memo.document.gather import Compared, Gathered

REMEDY = "The comparison is made once, by the case: run every section on the same params, and quote its figures."
PARTS = {"choice": "the advised option", "rival": "its rival", "lead": "the lead"}


def disagreements(found: Gathered) -> Iterator[str]:
    """Every section, figure or headline that names another option, rival or amount than the first block does."""
    if not found.compared:
        return
    first = found.compared[0]
    yield from _marks(first, found)
    yield from _figures(first, found)
    yield from _headlines(first, found)


def _marks(first: Compared, found: Gathered) -> Iterator[str]:
    told: set[tuple[str, str]] = set()
    for other in found.compared:
        for part, words in PARTS.items():
            if other.mark.get(part) != first.mark.get(part) and (other.section, part) not in told:
                told.add((other.section, part))
                yield _fault(words, first.mark.get(part), first, other.mark.get(part), other.section, other.where)


def _figures(first: Compared, found: Gathered) -> Iterator[str]:
    """Ledger numbers that state the lead, against the first block's."""
    for number_id in first.mark.get("stated_as", ()):
        entry = found.ledger.get(number_id)
        if entry is not None and entry.get("text") != first.mark.get("lead"):
            where = found.ledger_where[number_id]
            yield _fault(f"the lead as {number_id}", first.mark.get("lead"), first, entry.get("text"), "", where)


def _headlines(first: Compared, found: Gathered) -> Iterator[str]:
    """The advice that the command line and `refresh` report, against the first block's."""
    for piece in found.pieces:
        for node in piece.nodes:
            choice = node.data.get("choice") if isinstance(node, Headline) else None
            if choice is not None and choice != first.mark.get("choice"):
                words = "the advised option of the headline"
                yield _fault(words, first.mark.get("choice"), first, choice, piece.section, piece.where)


def _fault(words: str, expected: Any, first: Compared, found: Any, section: str, where: str) -> str:
    second = f"the section {section} ({where})" if section else where
    return f"{where}: {words} is {found} in {second} and {expected} in the section {first.section} ({first.where}). {REMEDY}"
