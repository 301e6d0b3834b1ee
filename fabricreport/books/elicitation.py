"""The questions put to experts: quantities nobody has published, and seeds whose answers are known."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache
from typing import Annotated, Self

from pydantic import model_validator

from fabricreport.books.evidence import read_evidence
from fabricreport.books.fields import CLOSED, Fault, Id, Keyed, refusal
from fabricreport.books.reader import shipped


@dataclass(frozen=True, kw_only=True)
class Question:
    """A quantity asked of an expert as P5, P50 and P95; `short` is how tables name it.

    `replaces` are the entries that take the pooled answer; with `times` it is a multiple of that question's quantity.
    """

    __pydantic_config__ = CLOSED
    id: Id
    short: str
    ask: str
    unit: str
    replaces: tuple[str, ...] = ()
    times: str = ""


@dataclass(frozen=True, kw_only=True)
class Seed(Question):
    """A question whose answer is known, and where from: told here, or by the entry of the library that it names."""

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

    __pydantic_config__ = CLOSED
    questions: Annotated[Mapping[str, Question], Keyed("id")]
    seeds: Annotated[Mapping[str, Seed], Keyed("id")]
    least_seeds: int

    @model_validator(mode="after")
    def agreeing(self) -> Self:
        """A multiple is of a question that is none itself."""
        known = self.questions
        wrong = [i for i, q in enumerate(known.values()) if q.times and (q.times not in known or known[q.times].times)]
        if wrong:
            remedy = "Name a question without `times`."
            raise refusal(*(Fault("is no quantity of its own", ("questions", i, "times"), remedy) for i in wrong))
        return self

    @property
    def replaced(self) -> tuple[str, ...]:
        """Ids of the entries that answers can replace."""
        return tuple(entry for q in self.questions.values() for entry in q.replaces)


@cache
def read_questionnaire() -> Questionnaire:
    """The shipped questions; a seed that names an entry of the library has its answer as shipped."""
    asked = shipped("elicitation", Questionnaire)
    return replace(asked, seeds={seed.id: _answered(seed) for seed in asked.seeds.values()})


def _answered(seed: Seed) -> Seed:
    if not seed.entry:
        return seed
    found = read_evidence().require(seed.entry, asked_by=seed.id)
    told = {name: getattr(found, name) for name in ("source", "publisher", "address", "date", "grade")}
    return replace(seed, **told, answer=found.figure.mode)
