"""What sellers have answered that a contract can hold them to: to each question the best value that was stated.

A value counts if its answer is what was asked for; of a range, the end that binds the seller; of a log, the busbw of a run
of the client's own size or a larger one.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from fabricreport.books.answers import Answer
from fabricreport.books.questions import Question
from fabricreport.inputs import Inputs
from fabricreport.sections.diligence.result import DiligenceResult

TERM = "diligence.term"
"""What the id of a value answered begins with, before the question's own."""
MOST = "most"
SPECIFIC = "specific"


@dataclass(frozen=True)
class Held:
    """A value that a seller has answered to a question, in the question's unit."""

    question: Question
    seller: str
    value: float


def held(given: Inputs, result: DiligenceResult) -> Mapping[str, Held]:
    """The best value answered to each question that a clause can hold, by question id."""
    found: dict[str, Held] = {}
    for one in _stated(int(given.params.cluster.gpus), result):
        best = found.get(one.question.id)
        if best is None or (one.value > best.value if one.question.best == MOST else one.value < best.value):
            found[one.question.id] = one
    return found


def _stated(gpus: int, result: DiligenceResult) -> Iterator[Held]:
    for judged in result.judged:
        for question_id, answer in judged.file.answers.items():
            question, finding = result.book.question(question_id), judged.findings[question_id]
            value = _value(answer, question, gpus)
            if question.best and finding.verdict == SPECIFIC and value is not None:
                yield Held(question, judged.file.provider, value)


def _value(answer: Answer, question: Question, gpus: int) -> float | None:
    """The value that binds the seller, None where there is none."""
    stated = answer.low if question.best == MOST else answer.high
    if stated is not None or answer.measured is None or question.check != "busbw":
        return stated
    return answer.measured.busbw_gbytes_per_s if answer.measured.gpus >= gpus else None
