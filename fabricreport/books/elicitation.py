"""The questions put to experts: quantities nobody has published, and seeds whose answers are known."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from fabricreport.books.evidence import read_evidence
from fabricreport.evidence import read_yaml


@dataclass(frozen=True)
class Question:
    """A quantity asked of an expert as P5, P50 and P95; `short` is how tables name it.

    `replaces` are the entries that take the pooled answer; with `times` it is a multiple of that question's quantity.
    """

    id: str
    short: str
    ask: str
    unit: str
    replaces: tuple[str, ...] = ()
    times: str = ""


@dataclass(frozen=True)
class Seed(Question):
    """A question whose answer is known, and where from."""

    answer: float = 0.0
    source: str = ""
    publisher: str = ""
    address: str = ""
    date: str = ""
    grade: str = ""
    entry: str = ""


@dataclass(frozen=True)
class Questionnaire:
    """All that is asked, and how many seeds must count."""

    questions: Mapping[str, Question]
    seeds: Mapping[str, Seed]
    least_seeds: int

    @property
    def replaced(self) -> tuple[str, ...]:
        """Ids of the entries that answers can replace."""
        return tuple(entry for q in self.questions.values() for entry in q.replaces)


@lru_cache(maxsize=1)
def read_questionnaire() -> Questionnaire:
    """The shipped questions; `ValueError` if a multiple is of no question, or of one that is a multiple itself."""
    data = read_yaml("elicitation")
    questions = {row["id"]: Question(**{**row, "replaces": tuple(row["replaces"])}) for row in data["questions"]}
    for question in questions.values():
        if question.times and (question.times not in questions or questions[question.times].times):
            raise ValueError(f"{question.id} is a multiple of {question.times}, which is no quantity of its own")
    seeds = {row["id"]: _seed(row) for row in data["seeds"]}
    return Questionnaire(questions, seeds, int(data["least_seeds"]))


def _seed(row: Mapping[str, Any]) -> Seed:
    """A seed with its answer: its own, or that of the library's entry it names, as shipped."""
    if "entry" not in row:
        return Seed(**row)
    found = read_evidence().require(row["entry"], asked_by=row["id"])
    told = {name: getattr(found, name) for name in ("source", "publisher", "address", "date", "grade")}
    return Seed(**row, **told, answer=found.figure.mode)
