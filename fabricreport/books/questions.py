"""The questions to put to sellers, each under one identifier, and the words by which answers are judged.

`evidence/questions.yaml` holds the questions, `evidence/wording.yaml` the words. A client's answer files are read by
`fabricreport.books.provider_answers`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache
from typing import Any

from fabricreport.evidence import read_yaml


class Proof(StrEnum):
    """What an answer rests on, firmest first."""

    CONTRACT = "contract"
    LOG = "log"
    RECORD = "record"
    STATEMENT = "statement"


@dataclass(frozen=True)
class Question:
    """One question to a seller, with what a good answer settles.

    `formerly` is another id under which it is still read. `title`: the question in a few words; `form` of a useful answer:
    text, number, table or document; `unit` of its value. `check` names the test of the answer, `to` whom it is put, `when`
    the condition for asking, `settles` patterns of input names, `contested` quantities, `guards` the question whose answer
    it tests. `commercial`: the answer is a price. `choices`: the short answers of which one is to be chosen. `accepts`: what a
    useful answer rests on; `effect`: what of the models it moves, '' where nothing; `clause`: what is to stand in the
    contract, sentence by sentence, each in the wordings of which the first whose figures exist is taken; `tests`: ids of the
    acceptance tests that hold the seller to it; `best`: whether the most or the least is the best of several values, '' where
    no clause holds one; `breach`: the promise of the acceptance test whose price breaking the clause costs, '' where none.
    """

    id: str
    formerly: str
    title: str
    source: str
    axis: str
    question: str
    why: str
    good: str
    red_flag: str
    form: str
    unit: str
    evidence: tuple[str, ...]
    check: str
    to: tuple[str, ...]
    when: str
    settles: tuple[str, ...]
    contested: tuple[str, ...]
    guards: str
    commercial: bool
    choices: tuple[str, ...] = ()
    accepts: tuple[Proof, ...] = ()
    effect: str = ""
    clause: tuple[tuple[str, ...], ...] = ()
    tests: tuple[str, ...] = ()
    best: str = ""
    breach: str = ""


@dataclass(frozen=True)
class Wording:
    """Words by which an answer is judged; see `evidence/wording.yaml`."""

    topology: tuple[str, ...]
    topology_unknown: tuple[str, ...]
    vague: tuple[str, ...]
    others_tune: tuple[str, ...]
    least_words: int


@lru_cache(maxsize=1)
def read_questions() -> tuple[Question, ...]:
    """Every question, in the order of the file."""
    return tuple(_question(row) for row in read_yaml("questions")["questions"])


@lru_cache(maxsize=1)
def known_ids() -> Mapping[str, str]:
    """The id of a question by every id under which it is read: its own, and what it was called before."""
    former = {q.formerly: q.id for q in read_questions() if q.formerly}
    return {**{q.id: q.id for q in read_questions()}, **former}


@lru_cache(maxsize=1)
def read_wording() -> Wording:
    """The words by which what sellers document and answer is judged."""
    rules = read_yaml("wording")
    return Wording(
        tuple(rules["topology_words"]),
        tuple(rules["topology_unknown"]),
        tuple(rules["vague_phrases"]),
        tuple(rules["others_tune"]),
        int(rules["least_words"]),
    )


def _question(row: Mapping[str, Any]) -> Question:
    return Question(
        row["id"],
        row.get("formerly", ""),
        row["title"],
        row["source"],
        row["axis"],
        row["question"],
        row["why"],
        row["good"],
        row["red_flag"],
        row["form"],
        row["unit"],
        tuple(row["evidence"]),
        row["check"],
        tuple(row["to"]),
        row.get("when", ""),
        tuple(row["settles"]),
        tuple(row.get("contested", ())),
        row.get("guards", ""),
        bool(row.get("commercial", False)),
        tuple(row.get("choices", ())),
        tuple(Proof(kind) for kind in row.get("accepts", ())),
        row.get("effect", ""),
        tuple((wording,) if isinstance(wording, str) else tuple(wording) for wording in row.get("clause", ())),
        tuple(row.get("tests", ())),
        row.get("best", ""),
        row.get("breach", ""),
    )
