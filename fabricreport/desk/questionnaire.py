"""What a questionnaire holds, whatever it is written as, where it stands on a sheet, and the questionnaire as YAML."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from fabricreport.base.errors import InputError, Problem
from fabricreport.base.text import clean_text, visible
from fabricreport.base.yaml_files import quoted
from fabricreport.books.answers import LONGEST_ANSWER, MEASURED
from fabricreport.books.fields import CLOSED
from fabricreport.books.reader import shipped
from fabricreport.books.sellers import Proof, Question
from fabricreport.books.workbooks import letter_of

_DRIVE_LENGTH = 2


@dataclass(frozen=True)
class Questionnaire:
    """The questions for one seller. `cluster`: what is asked for; `fabrics`: ids for which a seller may speak."""

    provider: str
    cluster: str
    fabrics: tuple[str, ...]
    questions: tuple[Question, ...]


@dataclass(frozen=True)
class HeadCell:
    """What stands before and behind a cell of the form's head."""

    __pydantic_config__ = CLOSED
    label: str
    note: str


@dataclass(frozen=True)
class Column:
    """A column of the form: its head, its width in characters, and what is said beside a cell that is filled in."""

    __pydantic_config__ = CLOSED
    head: str
    width: int
    note: str = ""


@dataclass(frozen=True)
class FormWords:
    """The words and the limits of the form; the file explains each key."""

    __pydantic_config__ = CLOSED
    title: str
    groups: Mapping[str, str]
    cluster: str
    stages: str
    stage: str
    head: Mapping[str, HeadCell]
    columns: Mapping[str, Column]
    measured: tuple[str, ...]
    proofs: Mapping[str, str]
    read_first: tuple[str, ...]
    yaml_head: str
    yaml_notes: Mapping[str, str]
    longest_name: int
    most_rows: int
    largest_file_bytes: int
    largest_unpacked_bytes: int


def wording() -> FormWords:
    """The words and the limits of the form, `data/questionnaire.yaml`."""
    return shipped("questionnaire", FormWords)


def provider_name(text: str) -> str:
    """A seller's name as we keep it, or an `InputError`.

    Refused are hidden, control and bidi characters, more than the longest name, and what is a path: parts `.` or `..`, a
    root or a drive. Everything else may stand in a name, and does nothing.
    """
    most = wording().longest_name
    name = clean_text(text.strip(), key="provider", max_chars=most, one_line=True)
    if not name:
        raise InputError(Problem("the provider needs a name", key="provider", remedy="For example: Example Cloud."))
    parts = name.replace("\\", "/").split("/")
    drive = len(parts) > 1 and len(parts[0]) == _DRIVE_LENGTH and parts[0][0].isalpha() and parts[0][1] == ":"
    if drive or parts[0] in ("", "~") or {".", ".."} & {part.strip() for part in parts}:
        raise InputError(Problem("is a path", key="provider", value=visible(name), remedy="Write the name alone."))
    return name


def in_groups(questions: Iterable[Question]) -> tuple[Question, ...]:
    """The questions in the order of the form: by group, then by number."""
    groups = list(wording().groups)
    return tuple(sorted(questions, key=lambda q: (groups.index(group_of(q)), q.id)))


def group_of(question: Question) -> str:
    """The letters of a question's group."""
    return question.id.split("-")[1]


def proofs_told() -> str:
    """What an answer may rest on, each with its meaning."""
    return ". ".join(f"{proof}: {wording().proofs[proof]}" for proof in Proof)


def takes_benchmark(question: Question) -> bool:
    """Whether the figures of a benchmark belong to the answer."""
    return question.check in wording().measured


SHEET, GUIDE, LISTS = "Answers", "Read first", "Lists"
COLUMNS: tuple[str, ...] = tuple(wording().columns)
"""Columns of the table, in their order: what is asked, then what a seller fills in."""
TO_FILL = COLUMNS[COLUMNS.index("answer") :]
HEAD_ROWS: dict[str, int] = {key: row for row, key in enumerate(wording().head, start=2)}
"""The row of what is told once, by its key."""
TABLE_ROW = len(HEAD_ROWS) + 2
"""The row of the table's head."""
LETTERS = {column: letter_of(n) for n, column in enumerate(COLUMNS)}


_WIDTH = 118


def as_yaml(form: Questionnaire) -> bytes:
    """The form; what is left as it is counts as not answered."""
    return ("\n".join(_lines(form)) + "\n").encode("utf-8")


def _lines(form: Questionnaire) -> Iterator[str]:
    words = wording()
    head = words.yaml_head.format(title=words.title, longest_answer=LONGEST_ANSWER, cluster=form.cluster)
    for line in head.splitlines():
        yield f"# {line}".rstrip()
    for proof in Proof:
        yield f"#   {proof:<10} {words.proofs[proof]}"
    yield f"provider: {quoted(form.provider)}"
    notes = words.yaml_notes
    yield f"date:            # {notes['date']}"
    yield f"answered_by:     # {notes['answered_by']}"
    yield from _comment(f"{notes['fabric']} {', '.join(form.fabrics)}", indent="")
    yield "fabric:"
    yield "answers:"
    last = ""
    for question in form.questions:
        group = group_of(question)
        if group != last:
            yield ""
            yield f"  # ==== {words.groups[group]}"
        last = group
        yield ""
        yield from _entry(question)


def _entry(question: Question) -> Iterator[str]:
    columns = wording().columns
    yield from _comment(f"{question.title}. {question.question}")
    yield from _comment(f"{columns['why'].head}: {question.why}")
    yield from _comment(f"{columns['good'].head}: {question.good}")
    yield f"  - question: {question.id}"
    yield "    answer:"
    if question.unit:
        yield "    # value:"
        yield f"    # unit: {question.unit}"
    if question.choices:
        yield f"    # choice:        # {' | '.join(question.choices)}"
    accepts = ", ".join(question.accepts)
    yield f"    # evidence:      # {' | '.join(Proof)}; we look for: {accepts}"
    yield "    # document:"
    if takes_benchmark(question):
        yield f"    # measured: {{{', '.join(f'{key}: ...' for key in MEASURED)}}}"


def _comment(text: str, indent: str = "  ") -> Iterator[str]:
    lead = f"{indent}# "
    yield from textwrap.wrap(text, _WIDTH, initial_indent=lead, subsequent_indent=lead, break_on_hyphens=False)
