"""What a questionnaire holds, whatever it is written as: the seller, what is asked for, and the questions in their order."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from fabricreport.books.fields import CLOSED
from fabricreport.books.questions import Proof, Question
from fabricreport.books.reader import shipped
from fabricreport.errors import InputError, Problem
from fabricreport.hostile_text import clean_text, visible

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
    """The words and the limits of the form, `evidence/questionnaire.yaml`."""
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
