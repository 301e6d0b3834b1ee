"""What sellers have answered that a contract can hold them to: to each question the best value that was stated.

A value counts if its answer is what was asked for; of a range, the end that binds the seller; of a log, the busbw of a run
of the client's own size or a larger one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from fabricreport.books.answers import Answer
from fabricreport.books.questions import Question
from fabricreport.figures import FigureSpec, Index
from fabricreport.inputs import Inputs
from fabricreport.sections.client import stages_of
from fabricreport.sections.damages import PROMISED, SHARE, Terms
from fabricreport.sections.diligence.promises import Promise
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


# ---- figures


def _planned_gpus(at: Any) -> float:
    return float(max(gpus for _, gpus in stages_of(at.given)))


_GROWTH = ("param:cluster.gpus", "param:cluster.trajectory")
EachSpec = FigureSpec[Any, str]
_WEEKS = "weeks"
"""The promise of the weeks until stable."""


def _promised(
    figure_id: str,
    whose: str,
    damages: Callable[[DiligenceResult], Terms | None],
    promises: Callable[[DiligenceResult], tuple[Promise, ...]],
) -> FigureSpec[Any]:
    """The week from which damages run, as the decision prices it."""

    def weeks(at: Any) -> float:
        found = damages(at.result)
        return 0.0 if found is None else found.promised_weeks

    def behind(at: Any) -> set[str]:
        return {*PROMISED, *(i for p in promises(at.result) if p.id == _WEEKS for i in p.passes.inputs)}

    return FigureSpec[Any](
        figure_id,
        "week",
        label=f"Week by which stable is promised{whose}",
        rule="percentile of weeks to stable, in whole weeks, and no later than the client's date",
        value=weeks,
        inputs=behind,
        digits=2,
        when=lambda at: damages(at.result) is not None,
    )


TERMS = (
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
        "diligence.grown",
        "gpus",
        label="GPUs of the last of several stages",
        rule="the largest size within the horizon, where the network is accepted at several",
        value=_planned_gpus,
        inputs=_GROWTH,
        when=lambda at: len(at.result.floors) > 1,
    ),
    FigureSpec[Any](
        "diligence.damages",
        "usd/week",
        label="Liquidated damages for each week beyond the one promised",
        rule="share × mean loss of a week: GPUs × hours × (1 − productivity) × value, and the price of delay from the date on",
        value=lambda at: at.result.damages.per_week,
        inputs=SHARE,
        central="mean",
        digits=2,
        when=lambda at: at.result.damages is not None,
    ),
    _promised("diligence.promised", "", lambda at: at.damages, lambda at: at.promises),
    _promised(
        "diligence.rival.promised", ": the rival", lambda at: at.damages_of_rival, lambda at: at.promises_of_rival
    ),
)
TERM_INDEX = {"term": Index[Any](lambda at: at.held)}
