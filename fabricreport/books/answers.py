"""What a seller answered, as its fields; `books.provider_answers` reads it from a file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from fabricreport.books.questions import Proof


@dataclass(frozen=True)
class Log:
    """Figures of a benchmark log that a seller quotes: AllReduce over `gpus`, message size in MiB, GB/s."""

    gpus: int
    size_mib: float
    busbw_gbytes_per_s: float
    algbw_gbytes_per_s: float | None


@dataclass(frozen=True)
class Answer:
    """One answer: the words, and what came with them. `low` and `high` are equal for a single value.

    `choice` is one of the question's choices, '' where none is stated; `evidence` what the seller says it rests on, None
    where it does not say.
    """

    question: str
    text: str
    low: float | None
    high: float | None
    unit: str
    document: str
    measured: Log | None
    line: int
    choice: str = ""
    evidence: Proof | None = None


@dataclass(frozen=True)
class AnswerFile:
    """What one seller answered, when and through whom. `fabric`: for which one it speaks, '' where it does not say."""

    provider: str
    date: str
    answered_by: str
    answers: Mapping[str, Answer]
    file: str
    fabric: str = ""
