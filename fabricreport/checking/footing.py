"""What a missing source takes with it: every figure of a case that rests on an entry the books no longer hold.

The shipped library has an index of its ids (`evidence/library_index.txt`). If one is gone, the analyses are run once
more with a placeholder in its place, only to learn from the provenance which figures would lose their footing.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from fabricreport.books.evidence import EvidenceBook, EvidenceEntry
from fabricreport.errors import Problem
from fabricreport.evidence import read_lines

if TYPE_CHECKING:
    from fabricreport.case import Case

_PLACEHOLDERS = (0.5, 30.0)
"""Values put in a missing entry's place, a small and a large one, so that no comparison hides it; never printed."""


class _Propped(EvidenceBook):
    """The book with placeholders where an entry is missing."""

    def __init__(self, book: EvidenceBook, missing: tuple[str, ...], value: float) -> None:
        super().__init__(book.values())
        self._props = {i: _placeholder(i, value) for i in missing}

    def __getitem__(self, key: str) -> EvidenceEntry:
        return self._props[key] if key in self._props else super().__getitem__(key)

    def __contains__(self, key: object) -> bool:
        return key in self._props or super().__contains__(key)


def _placeholder(entry_id: str, value: float) -> EvidenceEntry:
    return EvidenceEntry(
        entry_id, "missing", value, "count", "2026-11-20", "missing", "", "", "2026-11-20", "assumption", "-", "", ""
    )


def missing_entries(case: Case) -> tuple[str, ...]:
    """Ids of the shipped library's index that the case's evidence does not hold."""
    return tuple(i for i in read_lines("library_index") if i not in case.evidence)


def lost_footing(case: Case) -> tuple[Problem, ...]:
    """One problem for each missing entry that names every figure resting on it; none if nothing is missing."""
    missing = missing_entries(case)
    return tuple(_problems(case, missing)) if missing else ()


def _problems(case: Case, missing: tuple[str, ...]) -> Iterator[Problem]:
    resting, failed = _resting(case, missing)
    for entry_id in missing:
        figures = resting.get(f"evidence:{entry_id}", ())
        what = (
            f"is missing, and {len(figures)} figures lose their footing: {', '.join(figures)}"
            if figures
            else "is missing"
        )
        yield Problem(what, key=f"evidence:{entry_id}", remedy="Put the entry back into the library.")
    for analysis in failed:
        names = ", ".join(missing)
        yield Problem(
            f"cannot be computed without {names}", key=analysis, remedy="Put the entries back into the library."
        )


def _resting(case: Case, missing: tuple[str, ...]) -> tuple[dict[str, tuple[str, ...]], tuple[str, ...]]:
    """Figure ids by the missing input they rest on, and the analyses that no placeholder could carry."""
    from fabricreport.case import ANALYSES, Case

    found: dict[str, dict[str, None]] = {}
    carried: set[str] = set()
    for value in _PLACEHOLDERS:
        book = _Propped(case.evidence, missing, value)
        propped = Case(case.params, case.folder, book, case.price_book, case.all_options)
        for analysis in ANALYSES:
            try:
                numbers = propped.result(analysis).numbers
            except (ArithmeticError, LookupError, TypeError, ValueError):
                continue
            carried.add(analysis)
            for number in numbers.values():
                for input_id in number.inputs:
                    found.setdefault(input_id, {})[number.id] = None
    failed = tuple(a for a in ANALYSES if a not in carried)
    return {i: tuple(ids) for i, ids in found.items()}, failed
