"""The evidence book: every figure the models or the text use, with its source, date, unit and grade, and who cites it.

Deleting a source must name every figure that loses its footing, so the citations are read from the files
themselves and not from a list somebody keeps.

Shipped entries live in `fabricreport/data/library/*.yaml`; a client adds files of the same form in
`params/evidence/`. Reading is strict and reports every fault of every file at once, with file and line.
"""

from __future__ import annotations

import dataclasses
import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date as Date
from functools import cache, lru_cache
from pathlib import Path
from typing import Annotated, Any, Self

from pydantic import AfterValidator, BeforeValidator, Field, PlainValidator, model_validator

from fabricreport.base.bounds import bound_of
from fabricreport.base.errors import InputError, Problem
from fabricreport.base.locations import did_you_mean, shown_path
from fabricreport.base.uncertain import SHAPES, Replaced, Uncertain
from fabricreport.base.units import unit_problem
from fabricreport.base.vocabulary import Grade
from fabricreport.base.yaml_files import ROOT, inspect_yaml
from fabricreport.books.fields import CLOSED, Fault, Id, Unwritten, one_of, refusal, written
from fabricreport.books.reader import judged

CLIENTS_WORD = Grade.CONTRACT
"""The grade of a figure that the client put in place of the library's."""
UNDATED = "undated"
GRADES = tuple(Grade)
_LEFT_OUT_IF_EMPTY = ("contested", "base", "group", "derived_from", "searched", "file", "line")
_DAY = re.compile(r"(\d{4})(?:-(\d{2})(?:-(\d{2}))?)?")
_SEEN = 'A (read in the primary), B (in a text that quotes it), D (derived) or "-" (an assumption).'


@lru_cache(maxsize=4096)
def _day(text: str) -> Date | None:
    """The first day of a year or month, or the day; None for what is none."""
    match = _DAY.fullmatch(text)
    if match is None:
        return None
    year, month, day = (int(part or 1) for part in match.groups())
    try:
        return Date(year, month, day)
    except ValueError:
        return None


def _filled(text: str) -> str:
    if not text.strip():
        raise refusal(Fault("is empty"))
    return text


def _unit(unit: str) -> str:
    if wrong := unit_problem(unit):
        raise refusal(Fault(wrong[0], suggestion=wrong[1]))
    return unit


def _dated(text: str) -> str:
    if text != UNDATED and _day(text) is None:
        remedy = f"Write YYYY, YYYY-MM or YYYY-MM-DD. If the source gives none: {UNDATED}."
        raise refusal(Fault("is not a date", remedy=remedy))
    return text


def _read(text: str) -> str:
    if _day(text) is None or len(text) != len("YYYY-MM-DD"):
        raise refusal(Fault("is not a day", remedy="Write YYYY-MM-DD."))
    return text


def _value(found: Any) -> Uncertain | str:
    """A number or a range that rises; words, which the unit has to allow."""
    if isinstance(found, str):
        return found
    if isinstance(found, dict) and set(found) not in map(set, SHAPES.values()):
        raise refusal(
            Fault(
                f"has the wrong keys: {', '.join(found)}", remedy="Write {low, high}, {low, mode, high} or {p5, p95}."
            )
        )
    numbers = found if isinstance(found, dict) else {"": found}
    for key, number in numbers.items():
        if isinstance(number, bool) or not isinstance(number, int | float) or not math.isfinite(number):
            raise refusal(Fault("must be a finite number", (key,) if key else ()))
    rising = [numbers[key] for key in ("low", "p5", "mode", "high", "p95") if key in numbers]
    if rising != sorted(rising):
        raise refusal(Fault(f"must rise from low to high, and is {rising}"))
    return Uncertain.of(found)


Filled = Annotated[str, AfterValidator(_filled)]


@dataclass(frozen=True, kw_only=True)
class EvidenceEntry:
    """One figure or fact and where it comes from.

    `value` is a figure or, with the unit `text`, a fact in words. `date` is the figure's own date or "undated"; `read` is
    the day the source was read. `contested` names the quantity on which sources disagree, `base` what this source's
    figure is measured on; `derived_from` lists the entries it was computed from; `searched` says where a better figure was
    looked for. `replaced` tells whose figure stands here in place of the library's.
    """

    __pydantic_config__ = CLOSED
    id: Annotated[Id, Field(description="Lower-case words joined by hyphens.")]
    what: Annotated[Filled, Field(description="The figure in one line of words.")]
    value: Annotated[
        Uncertain | str,
        PlainValidator(_value),
        Field(description="A number, {low, high}, {low, mode, high}, {p5, p95}, or words with `unit: text`."),
    ]
    unit: Annotated[str, AfterValidator(_unit), Field(description="Such as us, gbits/s, w, share, usd/gpu-hour.")]
    date: Annotated[
        str,
        AfterValidator(_dated),
        BeforeValidator(lambda found: str(found) if type(found) is int else found),  # a year is typed without quotes
        Field(description=f"The figure's own date, YYYY, YYYY-MM or YYYY-MM-DD, or {UNDATED}."),
    ]
    source: Annotated[Filled, Field(description="The title of the document.")]
    publisher: str = ""
    address: str = ""
    read: Annotated[str, AfterValidator(_read), Field(description="The day you read it, YYYY-MM-DD.")]
    grade: Annotated[str, one_of(lambda: GRADES, "a grade"), Field(description=f"One of {', '.join(GRADES)}.")]
    seen: Annotated[str, written("[ABD-]", "A, B, D or -"), Field(description=_SEEN)]
    interest: str = ""
    use: Annotated[Filled, Field(description="What the memo takes it for.")]
    contested: Id = ""
    base: str = ""
    group: Id = ""
    derived_from: Annotated[tuple[str, ...], Field(description="Ids of entries.")] = ()
    searched: Annotated[str, Field(description="The day and where a better figure was looked for, and not found.")] = ""
    file: Unwritten[str] = ""
    line: Unwritten[int] = 0
    replaced: Unwritten[Replaced | None] = None

    @model_validator(mode="after")
    def agreeing(self) -> Self:
        """Grade, publisher and how it was seen agree; so do its days, and its value and unit."""
        if faults := [*self._faults_of_source(), *self._faults_of_value()]:
            raise refusal(*faults)
        return self

    def _faults_of_source(self) -> Iterator[Fault]:
        ours, day = self.grade == Grade.ASSUMPTION, None if self.date == UNDATED else _day(self.date)
        if (self.seen == "-") != ours:
            remedy = '`seen: "-"` belongs to `grade: assumption`, and only there.'
            yield Fault("and grade disagree", ("seen",), remedy)
        if not ours and not self.publisher.strip():
            yield Fault("is missing", ("publisher",), "Add `publisher:` who published it.")
        if self.contested and not self.base:
            yield Fault("a contested figure must say what it is measured on", ("base",), "Add `base:`.")
        if day and (read := _day(self.read)) and day > read:
            remedy = "Write YYYY, YYYY-MM or YYYY-MM-DD."
            yield Fault(f"is after the day it was read, {self.read}", ("date",), remedy)

    def _faults_of_value(self) -> Iterator[Fault]:
        if self.unit == "text":
            if not isinstance(self.value, str) or not self.value.strip():
                yield Fault("must be words, as its unit is text", ("value",), "Write it in words, or mend `unit`.")
        elif isinstance(self.value, str):
            remedy = "Write a number, or `unit: text` for a fact in words."
            yield Fault(f"must be a number in {self.unit}", ("value",), remedy)
        else:
            remedy = "For a signed difference use `unit: relative`, for a multiple `x`." if self.unit == "share" else ""
            told, bound = self.value.written(), bound_of(self.unit)
            for key, number in told.items() if isinstance(told, dict) else [("", told)]:
                if wrong := bound.fault(number):
                    yield Fault(wrong, ("value", key) if key else ("value",), remedy)

    @property
    def figure(self) -> Uncertain:
        """The figure; `TypeError` for a fact in words."""
        if isinstance(self.value, str):
            raise TypeError(f"evidence {self.id} is text: it has no number to draw")
        return self.value

    @property
    def kind(self) -> str:
        """The form of the value: number, text, range, pert or interval."""
        return "text" if isinstance(self.value, str) else self.value.kind

    @property
    def low(self) -> float:
        """Lower end: the number itself, `low` or `p5`; not a number for a text."""
        return math.nan if isinstance(self.value, str) else self.value.low

    @property
    def high(self) -> float:
        """Upper end: the number itself, `high` or `p95`; not a number for a text."""
        return math.nan if isinstance(self.value, str) else self.value.high

    @property
    def mid(self) -> float:
        """The number, the mode of a PERT, the middle of a range, the median of a lognormal (normal) interval."""
        return math.nan if isinstance(self.value, str) else self.value.central

    def with_figure(self, value: Uncertain, replaced: Replaced | None = None) -> EvidenceEntry:
        """The entry with another figure in force; one that restates the library's keeps its grade."""
        if replaced is None or replaced.restates:
            return dataclasses.replace(self, value=value, replaced=replaced)
        grade, date = replaced.grade or CLIENTS_WORD, replaced.date or self.date
        return dataclasses.replace(self, value=value, replaced=replaced, grade=grade, date=date)

    def as_dict(self) -> dict[str, Any]:
        """The entry for `--json`: the file's own keys, without empty optional ones."""
        facts = {f.name: getattr(self, f.name) for f in dataclasses.fields(self)}
        value = self.value if isinstance(self.value, str) else self.value.written()
        facts |= {"derived_from": list(self.derived_from), "value": value}
        facts.pop("replaced")
        return {k: v for k, v in facts.items() if k not in _LEFT_OUT_IF_EMPTY or v}


_CITATION = re.compile(r"\bevidence:(?![a-z0-9-]*[*{])([a-z0-9]+(?:-[a-z0-9]+)*)")  # a pattern over ids cites none
_OWNER = re.compile(r"^\s*(?:-\s+|\{\s*)*id:\s*[\"']?([A-Za-z0-9][A-Za-z0-9.-]*)")


@dataclass(frozen=True)
class Reference:
    """One citation: the evidence id, the file and 1-based line that cite it, and the entry it stands in."""

    evidence_id: str
    file: str
    line: int
    cited_by: str


def references_in(path: Path) -> tuple[Reference, ...]:
    """The citations of one YAML file, each with the id of the nearest entry above it."""
    found: list[Reference] = []
    owner = path.stem
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
        match = _OWNER.match(line)
        if match:
            owner = match.group(1)
        if not line.lstrip().startswith("#"):
            found.extend(Reference(cited, path.name, number, owner) for cited in _CITATION.findall(line))
    return tuple(found)


@cache
def shipped_references() -> tuple[Reference, ...]:
    """The citations of every YAML file shipped under `fabricreport/evidence`, read once."""
    return tuple(ref for path in sorted(ROOT.rglob("*.yaml")) for ref in references_in(path))


LIBRARY = ROOT / "library"


class EvidenceBook(dict[str, EvidenceEntry]):
    """Every entry by id, in the order of the files. Read-only."""

    def __init__(self, entries: Iterable[EvidenceEntry]) -> None:
        super().__init__({entry.id: entry for entry in entries})

    def central(self, key: str) -> float:
        """The central value of a figure in its unit: its number, its mode, or the middle of its range."""
        return self.require(key).figure.central

    def with_figures(self, figures: Mapping[str, tuple[Uncertain, Replaced | None]]) -> EvidenceBook:
        """The book with other figures in force, by entry id; an id it does not hold is passed over."""
        changed = {i: self[i].with_figure(*given) for i, given in figures.items() if i in self}
        return EvidenceBook((self | changed).values())

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
    return _shipped_book() if extra_dir is None else _book(extra_dir, *_shipped())


def evidence_as_it_was(kept: Path, extra_dir: Path | None) -> EvidenceBook:
    """The book of a library that was kept in a file, its entries as `as_dict` gives them, and of a client's folder.

    An entry that only today's library has is in it too, for today's code may ask for it; not one on which sources
    disagree, which would count among them. `InputError` with every fault found.
    """
    problems: list[Problem] = []
    library = _read_file(kept, kept.name, problems)
    return _book(extra_dir, library, problems, [entry for entry in _shipped()[0] if not entry.contested])


@lru_cache(maxsize=1)
def _shipped_book() -> EvidenceBook:
    return _book(None, *_shipped())


def _book(
    extra_dir: Path | None,
    library: Sequence[EvidenceEntry],
    faults: Iterable[Problem],
    otherwise: Sequence[EvidenceEntry] = (),
) -> EvidenceBook:
    """A library with a client's entries; `otherwise` are in it where neither has one of that id."""
    problems = list(faults)
    extra: list[EvidenceEntry] = []
    if extra_dir is not None:
        if not extra_dir.is_dir():
            raise InputError(Problem("the evidence folder does not exist", str(extra_dir)))
        extra = _read_folder(extra_dir, problems)
        _refuse_duplicates(extra, {entry.id: entry for entry in library}, problems)
    book = EvidenceBook([*otherwise, *library, *extra])
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
