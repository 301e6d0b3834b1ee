"""The questions to put to sellers, each under one identifier, and the words by which answers are judged.

`evidence/questions.yaml` holds the questions and its head explains each key, `evidence/wording.yaml` the words. A client's
answer files are read by `fabricreport.books.provider_answers`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from typing import Annotated, Literal

from pydantic import BeforeValidator, Field

from fabricreport.books.fields import CLOSED
from fabricreport.books.reader import shipped


class Proof(StrEnum):
    """What an answer rests on, firmest first."""

    CONTRACT = "contract"
    LOG = "log"
    RECORD = "record"
    STATEMENT = "statement"


Wordings = Annotated[
    tuple[str, ...], BeforeValidator(lambda found: (found,) if isinstance(found, str) else tuple(found))
]
"""A sentence of a clause: the first of its wordings whose figures exist is taken."""


ALLREDUCE = "T-ALLREDUCE"
"""The test whose place the one of the job's own exchange takes."""


@dataclass(frozen=True)
class Question:
    """One question to a seller, with what a good answer settles; the head of the file explains each key.

    `best` of several values is the most or the least, '' where no clause holds one. Lists that are left out are empty.
    """

    __pydantic_config__ = CLOSED
    id: str
    title: str
    source: str
    axis: Literal["workload", "maturity", "scale", "time", "contract"]
    question: str
    why: str
    good: str
    red_flag: str
    form: Literal["text", "number", "table", "document"]
    unit: str
    evidence: tuple[str, ...]
    check: str
    to: tuple[Literal["cloud", "builder"], ...]
    settles: tuple[str, ...]
    formerly: str = ""
    when: str = ""
    contested: tuple[str, ...] = ()
    guards: str = ""
    commercial: bool = False
    choices: tuple[str, ...] = ()
    accepts: tuple[Proof, ...] = ()
    effect: str = ""
    clause: tuple[Wordings, ...] = ()
    tests: tuple[str, ...] = ()
    best: Literal["", "most", "least"] = ""
    breach: str = ""

    def tests_of(self, exchange: str) -> tuple[str, ...]:
        """The tests that hold a seller to it: where its clause is on the exchange of the job, the test of that (its id)."""
        on_the_job = any("{exchange}" in wording for sentence in self.clause for wording in sentence)
        return tuple(exchange if on_the_job and test == ALLREDUCE else test for test in self.tests)


@dataclass(frozen=True)
class Questions:
    """The file of the questions."""

    __pydantic_config__ = CLOSED
    questions: tuple[Question, ...]


@dataclass(frozen=True)
class Wording:
    """Words by which what sellers document and answer is judged; see `evidence/wording.yaml`."""

    __pydantic_config__ = CLOSED
    topology: Annotated[tuple[str, ...], Field(alias="topology_words")]
    topology_unknown: tuple[str, ...]
    vague: Annotated[tuple[str, ...], Field(alias="vague_phrases")]
    others_tune: tuple[str, ...]
    least_words: int


def read_questions() -> tuple[Question, ...]:
    """Every question, in the order of the file."""
    return shipped("questions", Questions).questions


@cache
def known_ids() -> Mapping[str, str]:
    """The id of a question by every id under which it is read: its own, and what it was called before."""
    former = {q.formerly: q.id for q in read_questions() if q.formerly}
    return {**{q.id: q.id for q in read_questions()}, **former}


def read_wording() -> Wording:
    """The words by which what sellers document and answer is judged."""
    return shipped("wording", Wording)
