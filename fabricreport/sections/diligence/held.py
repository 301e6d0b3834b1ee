"""What sellers have answered that a contract can hold them to: to each question the best value that was stated.

A value counts if its answer is what was asked for; of a range, the end that binds the seller; of a log, the busbw of a run
of the client's own size or a larger one.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from fabricreport.books.answers import Answer
from fabricreport.books.questions import Question
from fabricreport.figures import FigureSpec, Index, TakenSpec
from fabricreport.inputs import Inputs
from fabricreport.sections.client import stages_of
from fabricreport.sections.diligence.result import DiligenceResult
from fabricreport.sections.diligence.terms import DAMAGES_CAP, SHARE, Credit, Damages, Terms

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


# ---- figures


def _planned_gpus(at: Any) -> float:
    return float(max(gpus for _, gpus in stages_of(at.given)))


_GROWTH = ("param:cluster.gpus", "param:cluster.trajectory")
EachSpec = FigureSpec[Any, str]


def _late(at: Any, late: str) -> Damages:
    found: Damages = getattr(at.result.terms, late)
    return found


def _credited(terms: Terms | None) -> Credit:
    assert terms is not None, "asked for where there is a credit"
    return terms.credits[1]


TERMS = (
    TakenSpec[Any, str]("diligence.damages[late]", lambda at, late: at.result.terms.damages[late]),
    TakenSpec[Any]("diligence.price.delivery", lambda at: at.result.terms.loss["delivery"]),
    EachSpec(
        "diligence.share[late]",
        "share",
        label=lambda _, late: f"Share of the loss that is paid: {late}",
        rule="as agreed, where nothing caps it",
        value=lambda at, late: _late(at, late).share,
        inputs=(SHARE,),
        when=lambda at, late: _late(at, late).by_share,
    ),
    FigureSpec[Any](
        "diligence.cap",
        "share",
        label="Share of the price of the network at which damages end",
        rule="as agreed",
        value=lambda at: at.given.central(DAMAGES_CAP),
        inputs=(DAMAGES_CAP,),
        when=lambda at: at.result.terms.weeks is not None and at.result.terms.weeks.cap is not None,
    ),
    FigureSpec[Any](
        "diligence.cap_servers",
        "share",
        label="Share of the price of the servers at which damages end, where they are ordered without a network",
        rule="as agreed",
        value=lambda at: at.given.central(DAMAGES_CAP),
        inputs=(DAMAGES_CAP,),
        when=lambda at: at.result.terms.weeks is None and at.result.terms.delivery.cap is not None,
    ),
    TakenSpec[Any](
        "diligence.credit_most",
        lambda at: _credited(at.result.terms).most,
        lambda at: 1 in at.result.terms.credits,
    ),
    TakenSpec[Any](
        "diligence.rival.credit_most",
        lambda at: _credited(at.result.terms_of_rival).most,
        lambda at: at.result.terms_of_rival is not None and 1 in at.result.terms_of_rival.credits,
    ),
    EachSpec(
        f"{TERM}[term]",
        lambda at, question: at.held[question].question.unit,
        label=lambda at, question: (
            f"{at.held[question].seller} on “{at.held[question].question.title}”, as it can be held to it"
        ),
        rule="the best of what was answered in the form asked for; of a range, the end that binds the seller",
        value=lambda at, question: at.held[question].value,
        inputs=lambda at, _: at.listed,
        digits=6,
    ),
    FigureSpec[Any](
        "diligence.planned",
        "gpus",
        label="Most GPUs of the plan",
        rule="the largest size within the horizon",
        value=_planned_gpus,
        inputs=_GROWTH,
    ),
    FigureSpec[Any](
        "diligence.ordered",
        "gpus",
        label="GPUs of the first of several orders",
        rule="the first size, where the network is accepted at several",
        value=lambda at: float(at.given.params.cluster.gpus),
        inputs=_GROWTH,
        when=lambda at: len(at.result.floors) > 1,
    ),
)
TERM_INDEX = {
    "term": Index[Any](lambda at: at.held),
    "late": Index[Any](lambda at: at.result.terms.damages),
}
