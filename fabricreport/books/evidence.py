"""The evidence book: every figure the models or the text use, with its source, date, unit and grade.

Shipped entries live in `fabricreport/evidence/library/*.yaml`; a client adds files of the same form in
`params/evidence/`. Reading is strict and reports every fault of every file at once, with file and line.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, ValuesView
from dataclasses import replace
from functools import lru_cache
from pathlib import Path

from fabricreport.books.evidence_entry import EvidenceEntry
from fabricreport.books.reader import judged
from fabricreport.books.references import Reference, shipped_references
from fabricreport.errors import InputError, Problem
from fabricreport.evidence import ROOT
from fabricreport.located import did_you_mean, shown_path
from fabricreport.strict_yaml import inspect_yaml
from fabricreport.uncertain import Replaced, Uncertain

LIBRARY = ROOT / "library"


class EvidenceBook(Mapping[str, EvidenceEntry]):
    """Every entry by id, in the order of the files."""

    def __init__(self, entries: Iterable[EvidenceEntry]) -> None:
        self._entries = {entry.id: entry for entry in entries}

    def __getitem__(self, key: str) -> EvidenceEntry:
        return self._entries[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._entries)

    def __len__(self) -> int:
        return len(self._entries)

    def values(self) -> ValuesView[EvidenceEntry]:
        """Every entry, without asking for each by its id."""
        return self._entries.values()

    def central(self, key: str) -> float:
        """The central value of a figure in its unit: its number, its mode, or the middle of its range."""
        return self.require(key).figure.central

    def contested(self, quantity: str) -> tuple[EvidenceEntry, ...]:
        """The entries that name this contested quantity, side by side and in file order."""
        return tuple(entry for entry in self.values() if entry.contested == quantity)

    def sources(self) -> tuple[str, ...]:
        """The distinct source titles, sorted."""
        return tuple(sorted({entry.source for entry in self.values()}))

    def without_source(self, source: str) -> EvidenceBook:
        """The book if this source were withdrawn: its title (all sections of it) or its address."""
        kept = (e for e in self.values() if not e.source.startswith(source) and e.address != source)
        return EvidenceBook(kept)

    def with_figures(self, figures: Mapping[str, tuple[Uncertain, Replaced | None]]) -> EvidenceBook:
        """The book with other figures in force, by entry id; an id it does not hold is passed over."""
        other = EvidenceBook(())
        other._entries = {
            **self._entries,
            **{i: self._entries[i].with_figure(*given) for i, given in figures.items() if i in self._entries},
        }
        return other

    def restated(self, entries: Iterable[EvidenceEntry]) -> EvidenceBook:
        """The book with these entries in it, in place of others of their ids."""
        return EvidenceBook({**self._entries, **{entry.id: entry for entry in entries}}.values())

    def require(self, key: str, *, asked_by: str = "") -> EvidenceEntry:
        """The entry, or an `InputError` that names who asked for it and the nearest id."""
        if key in self:
            return self[key]
        problem = Problem(
            "no evidence entry has this id",
            key=asked_by,
            value=key,
            suggestion=did_you_mean(key, self),
            remedy="`fabricreport evidence` lists the ids.",
        )
        raise InputError(problem)

    def check_references(self, references: Iterable[Reference] | None = None) -> tuple[Problem, ...]:
        """Every figure that cites an entry this book does not have.

        Without an argument the shipped data files are checked (claims, contested quantities, context,
        providers and the others); entries derived from a missing entry are always named.
        """
        cited = shipped_references() if references is None else tuple(references)
        own = tuple(
            Reference(parent, entry.file, entry.line, entry.id)
            for entry in self.values()
            for parent in entry.derived_from
        )
        return tuple(
            Problem(
                "rests on evidence that is missing",
                ref.file,
                ref.line or None,
                ref.cited_by,
                ref.evidence_id,
                "Put the entry back, or withdraw this figure.",
                did_you_mean(ref.evidence_id, self),
            )
            for ref in (*own, *cited)
            if ref.evidence_id not in self
        )


def read_evidence(extra_dir: Path | None = None) -> EvidenceBook:
    """The shipped library and the client's folder of YAML files; `InputError` with every fault found."""
    return _shipped_book() if extra_dir is None else _book(extra_dir)


@lru_cache(maxsize=1)
def _shipped_book() -> EvidenceBook:
    return _book(None)


def _book(extra_dir: Path | None) -> EvidenceBook:
    shipped, faults = _shipped()
    problems = list(faults)
    extra: list[EvidenceEntry] = []
    if extra_dir is not None:
        if not extra_dir.is_dir():
            raise InputError(Problem("the evidence folder does not exist", str(extra_dir)))
        extra = _read_folder(extra_dir, problems)
        _refuse_duplicates(extra, {entry.id: entry for entry in shipped}, problems)
    book = EvidenceBook([*shipped, *extra])
    problems.extend(book.check_references(()))
    if problems:
        raise InputError(problems)
    return book


@lru_cache(maxsize=1)
def _shipped() -> tuple[tuple[EvidenceEntry, ...], tuple[Problem, ...]]:
    """The library and its faults; read once, because nobody edits it while a memo is built."""
    problems: list[Problem] = []
    entries = _read_folder(LIBRARY, problems)
    _refuse_duplicates(entries, {}, problems)
    return tuple(entries), tuple(problems)


def read_entries(path: Path) -> tuple[EvidenceEntry, ...]:
    """The entries of one file; `InputError` with every fault found."""
    problems: list[Problem] = []
    entries = _read_file(path, path.name, problems)
    if problems:
        raise InputError(problems)
    return tuple(entries)


def _read_folder(folder: Path, problems: list[Problem]) -> list[EvidenceEntry]:
    paths = sorted([*folder.glob("*.yaml"), *folder.glob("*.yml")])
    named = {path: path.name if folder == LIBRARY else shown_path(path) for path in paths}
    return [entry for path in paths for entry in _read_file(path, named[path], problems)]


def _read_file(path: Path, name: str, problems: list[Problem]) -> list[EvidenceEntry]:
    tree, found = inspect_yaml(path, max_nodes=50_000)
    problems.extend(found)
    if tree is None:
        return []
    if not isinstance(tree.data, list):
        problems.append(tree.problem((), "must be a list of entries", remedy="Begin each entry with `- id:`."))
        return []
    entries: list[EvidenceEntry] = []
    for index in range(len(tree.data)):
        entry, faults = judged(tree, EvidenceEntry, at=(index,))
        problems += faults
        if entry is not None:
            entries.append(replace(entry, file=name, line=tree.line_of((index,))))
    return entries


def _refuse_duplicates(
    entries: Iterable[EvidenceEntry], shipped: Mapping[str, EvidenceEntry], problems: list[Problem]
) -> None:
    first: dict[str, EvidenceEntry] = {}
    for entry in entries:
        if entry.id in shipped:
            remedy = "Choose another id, or change the shipped figure under `overrides` in the params file."
            problems.append(
                Problem("this id is shipped with the package", entry.file, entry.line, "id", entry.id, remedy)
            )
        elif entry.id in first:
            at = first[entry.id]
            problems.append(
                Problem(f"is given twice, first in {at.file}:{at.line}", entry.file, entry.line, "id", entry.id)
            )
        else:
            first[entry.id] = entry
