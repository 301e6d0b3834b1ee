"""The terms to write into the contract, as drafts: what each question asks for, and the best value that sellers stated.

A value counts if its answer is what was asked for; of a range, the end that binds the seller; of a log, the busbw of a run
of the client's own size or a larger one.

Every sentence of a clause stands in `data/questions.yaml`; which of its wordings holds is decided here, by the figures
that there are: what a seller has answered, else our own, else none.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from fabricreport.books.answers import Answer
from fabricreport.books.sellers import Question
from fabricreport.inputs.inputs import Inputs
from fabricreport.ledger.numbers import INPUT_KINDS, Number
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


CREDITED = ("busbw", "latency", "interruptions", "detection")
"""What a seller credits at its price; for what comes late it pays damages."""
OF_ONE = (
    "diligence.pass.",
    *(f"diligence.price.{name}" for name in CREDITED),
    "diligence.starts.",
    "diligence.credit_most",
)
OF_RIVAL = "diligence.rival."
WORDS = ("option", "rival", "exchange")
"""Fields of a wording that are no figures."""
_FIELD = re.compile(r"\{([^{}]+)\}")
_EITHER = re.compile(r"(\{([^{}]+)\}) on \{option\} or \{([^{}]+)\} on \{rival\}")
"""A figure of either network, which is said once where both print the same."""


@dataclass(frozen=True)
class Clause:
    """One clause as it stands for this client.

    `text`: a template of the blocks; `figures`: ids of the figures it holds; `seller`: whose answer it holds to, '' where the
    figures are ours; `breach`: what the seller pays who breaks it, on the option tested and, where the course is open, on its rival.
    """

    question: Question
    text: str
    figures: tuple[str, ...]
    seller: str
    breach: tuple[Number, ...]


def clauses(given: Inputs, result: DiligenceResult) -> tuple[Clause, ...]:
    """The clauses of the questions that this client puts, in the order of their ids."""
    asked = sorted((p.question for p in result.questions), key=lambda q: q.id)
    return tuple(found for q in asked if (found := clause(given, result, q)) is not None)


def clause(given: Inputs, result: DiligenceResult, question: Question) -> Clause | None:
    """The clause of one question, None where it has none, its first sentence has no wording for this client, or none of the tests
    that would prove it is in the plan."""
    said = [_wording(given, result, sentence) for sentence in question.clause]
    untested = bool(question.tests and result.plan.tests) and not planned(result, question)
    if not said or not said[0] or untested:
        return None
    text = _EITHER.sub(lambda found: _once(result, found), " ".join(filter(None, said)))
    figures = tuple(dict.fromkeys(i for i in fields_of(text) if i not in WORDS))
    term = held(given, result).get(question.id)
    seller = term.seller if term and f"{TERM}.{question.id}" in figures else ""
    return Clause(question, text, figures, seller, tuple(_breach(result, question)))


def _once(result: DiligenceResult, found: re.Match[str]) -> str:
    """The figure of either network, once where both print the same."""
    own, other = (result.numbers[found[n]].text for n in (2, 3))
    return found[1] if own == other else found[0]


def planned(result: DiligenceResult, question: Question) -> list[str]:
    """The tests of a question that a plan holds."""
    plans = [plan for plan in (result.plan, result.plan_of_rival) if plan]
    return [test for test in question.tests_of(result.terms.exchange.test) if any(plan.of(test) for plan in plans)]


def fields_of(text: str) -> tuple[str, ...]:
    """The fields of a template, in order."""
    return tuple(_FIELD.findall(text))


def _wording(given: Inputs, result: DiligenceResult, wordings: tuple[str, ...]) -> str:
    """The first wording that can be said to this client, '' where there is none."""
    return next((w for w in wordings if _can_be_said(given, result, fields_of(w))), "")


def _can_be_said(given: Inputs, result: DiligenceResult, fields: tuple[str, ...]) -> bool:
    """Whether every figure is there and comes to something; where no option is advised, those of one go with the other's."""
    of_one = any(i.startswith(OF_ONE) for i in fields) and not any(i.startswith(OF_RIVAL) for i in fields)
    if of_one and result.promises_of_rival:
        return False
    return all(_there(given, result, i) for i in fields if i not in WORDS)


def _there(given: Inputs, result: DiligenceResult, figure_id: str) -> bool:
    number = given.figure(figure_id) if figure_id.startswith(INPUT_KINDS) else result.numbers.get(figure_id)
    return number is not None and number.value > 0


def _breach(result: DiligenceResult, question: Question) -> Iterator[Number]:
    if not question.breach:
        return
    told, paid = set(), "price" if question.breach in CREDITED else "damages"
    for start in (f"diligence.{paid}", f"diligence.rival.{paid}"):
        number = result.numbers.get(f"{start}.{question.breach}")
        if number is not None and number.value > 0 and number.text not in told:
            told.add(number.text)
            yield number
