"""Figures of what experts judged: their weights, what each stated of each question, and the pooled ranges beside ours."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from fabricreport.books.elicitation import Question
from fabricreport.books.expert_answers import ExpertFile
from fabricreport.elicited import GRADE
from fabricreport.figures import FigureSpec
from fabricreport.inputs import Inputs
from fabricreport.models.judgement.elicitation import Score
from fabricreport.uncertain import Judgement, Uncertain
from fabricreport.vocabulary import Grade

PersonSpec = FigureSpec[Any, str]
SaidSpec = FigureSpec[Any, str, str]
FILES = ("param:elicited",)
QUANTILES = ("p5", "p50", "p95")


def persons(given: Inputs) -> Mapping[str, tuple[ExpertFile, Score]]:
    """The experts with their scores, by a number that stands for them in ids."""
    found = given.elicited
    return {str(n): pair for n, pair in enumerate(zip(found.experts, found.scores, strict=True), start=1)}


def questions_shown(given: Inputs) -> Mapping[str, Question]:
    """The questions, where somebody answered them."""
    return given.elicited.asked.questions if given.elicited else {}


def judgement(given: Inputs, person: str, asked: str) -> Judgement | None:
    """What a person stated of a question; None where there is nothing that counts."""
    return persons(given)[person][0].answers.get(asked)


def _stated(name: str) -> SaidSpec:
    """One quantile of what one person stated of one question."""

    def value(at: Any, person: str, asked: str) -> float:
        return float(getattr(judgement(at.given, person, asked), name))

    return SaidSpec(
        f"evidence.expert[person].said[asked].{name}",
        lambda at, _, asked: questions_shown(at.given)[asked].unit,
        label=lambda at, person, asked: (
            f"{questions_shown(at.given)[asked].short}: {name.upper()} of {persons(at.given)[person][0].expert}"
        ),
        rule="as the expert stated it",
        value=value,
        inputs=FILES,
        grade=GRADE,
        date=lambda at, person, _: persons(at.given)[person][0].date,
        when=lambda at, person, asked: judgement(at.given, person, asked) is not None,
    )


def _ends(whose: str, name: str, rule: str, figure: Callable[[Inputs, str], Uncertain], grade: str) -> PersonSpec:
    """One quantile of the range of an entry that experts judged."""
    end = {"p5": "low", "p50": "mode", "p95": "high"}[name]
    return PersonSpec(
        f"evidence.elicited[stated].{whose}.{name}",
        lambda at, stated: at.given.evidence[stated].unit,
        label=lambda at, stated: f"{at.given.evidence[stated].what}: {name.upper()}, {rule}",
        rule=rule,
        value=lambda at, stated: float(getattr(figure(at.given, stated), end)),
        inputs=(lambda _, stated: (f"evidence:{stated}",))
        if whose == "pooled"
        else ()
        if whose == "library"
        else FILES,
        sources=lambda _, stated: (f"evidence:{stated}",),
        grade=grade,
    )


_RANGES: tuple[tuple[str, str, Callable[[Inputs, str], Uncertain], Grade], ...] = (
    ("library", "as this memo assumes it", lambda given, i: given.shipped[i].figure, Grade.ASSUMPTION),
    ("pooled", "pooled by calibration", lambda given, i: given.elicited.figures()[i], GRADE),
    ("equal", "pooled with equal weights", lambda given, i: given.elicited.figures(equally=True)[i], GRADE),
)

ELICITED = (
    PersonSpec(
        "evidence.expert[person].weight",
        "share",
        label=lambda at, person: f"Weight, {persons(at.given)[person][0].expert}",
        rule="calibration × information, as a share of all",
        value=lambda at, person: float(persons(at.given)[person][1].weight),
        inputs=FILES,
        grade=GRADE,
        date=lambda at, person: persons(at.given)[person][0].date,
        digits=2,
    ),
    *(_stated(name) for name in QUANTILES),
    *(_ends(whose, name, rule, figure, grade) for whose, rule, figure, grade in _RANGES for name in QUANTILES),
)
"""Every figure of what experts judged."""
