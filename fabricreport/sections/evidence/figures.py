"""The figures of the evidence section: what the advice rests on by grade, the age of its prices, what experts judged.

What each is called and rests on stands in `figures.yaml`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property

from fabricreport.base.uncertain import Judgement, Uncertain
from fabricreport.books.elicitation import ExpertFile, Question
from fabricreport.books.names import input_names
from fabricreport.books.prices.book import Price
from fabricreport.inputs.inputs import Inputs
from fabricreport.ledger.figures import Declaration, Footing, Index, Reckoning, figure
from fabricreport.ledger.numbers import GRADES
from fabricreport.models.judgement.elicitation import Score
from fabricreport.sections.evidence.result import EvidenceResult

_GRADES = tuple(str(grade) for grade in GRADES)
QUANTILES = ("p5", "p50", "p95")
"""What is asked of an expert, and told of a range that experts judged."""


def persons(given: Inputs) -> Mapping[str, tuple[ExpertFile, Score]]:
    """The experts with their scores, by a number that stands for them in ids."""
    found = given.elicited
    return {str(n): pair for n, pair in enumerate(zip(found.experts, found.scores, strict=True), start=1)}


def judgement(given: Inputs, person: str, asked: str) -> Judgement | None:
    """What a person stated of a question; None where there is nothing that counts."""
    return persons(given)[person][0].answers.get(asked)


@dataclass(frozen=True)
class EvidenceFigures:
    """What the figures of the evidence section are made from, and how each is made."""

    given: Inputs
    result: EvidenceResult

    # ---- what the advice rests on

    @cached_property
    def behind(self) -> Mapping[str, int]:
        """Inputs behind the advice by grade."""
        return Counter(str(self.given.record(i)["grade"]) for i in self.result.used)

    @cached_property
    def prices(self) -> Mapping[str, Price]:
        """The prices behind the advice, by item."""
        return {p.item: p for p in self.result.prices}

    @property
    def stale(self) -> Footing:
        """Ids of those that are out of date."""
        return [p.id for p in self.result.prices if p.stale]

    @figure("evidence.used")
    def used(self) -> int:
        return len(self.result.used)

    @figure("evidence.used[grade]")
    def used_of_grade(self, grade: str) -> int:
        return self.behind.get(grade, 0)

    @figure("evidence.prices")
    def all_prices(self) -> int:
        return len(self.result.prices)

    @figure("evidence.prices.stale")
    def stale_prices(self) -> int:
        return sum(p.stale for p in self.result.prices)

    @figure("evidence.prices.held")
    def held_prices(self) -> int:
        return len(self.given.prices.quarantine)

    @figure("evidence.age[price]")
    def age(self, item: str) -> Reckoning:
        return Reckoning(self.prices[item].age_days, sources=(self.prices[item].id,))

    @figure("evidence.contested.bearing")
    def bearing(self) -> int:
        return len(self.result.bearing)

    # ---- what each expert judged

    @cached_property
    def persons(self) -> Mapping[str, tuple[ExpertFile, Score]]:
        """The experts with their scores, by number."""
        return persons(self.given)

    def name(self, person: str) -> str:
        """Who it is."""
        return self.persons[person][0].expert

    @property
    def questions(self) -> Mapping[str, Question]:
        """The questions, where somebody answered them."""
        return self.given.elicited.asked.questions if self.given.elicited else {}

    def unit_asked(self, _: str, asked: str) -> str:
        """The unit that a question is asked in."""
        return self.questions[asked].unit

    def has_answered(self, person: str, asked: str) -> bool:
        """Whether a person stated something of a question that counts."""
        return judgement(self.given, person, asked) is not None

    def answer(self, person: str, asked: str, quantile: int) -> Reckoning:
        """One of the three quantiles that a person stated of a question."""
        found = self.persons[person][0]
        return Reckoning(found.answers[asked].quantiles[quantile], date=found.date)

    @figure("evidence.expert[person].weight")
    def weight(self, person: str) -> Reckoning:
        found, score = self.persons[person]
        return Reckoning(score.weight, date=found.date)

    @figure("evidence.expert[person].said[asked].p5")
    def said_p5(self, person: str, asked: str) -> Reckoning:
        return self.answer(person, asked, 0)

    @figure("evidence.expert[person].said[asked].p50")
    def said_p50(self, person: str, asked: str) -> Reckoning:
        return self.answer(person, asked, 1)

    @figure("evidence.expert[person].said[asked].p95")
    def said_p95(self, person: str, asked: str) -> Reckoning:
        return self.answer(person, asked, 2)

    # ---- the ranges of what they judged

    def unit_stated(self, stated: str) -> str:
        """The unit of an entry."""
        return self.given.evidence[stated].unit

    def entry(self, stated: str) -> Footing:
        """Its id as an input."""
        return (f"evidence:{stated}",)

    @property
    def ranges(self) -> Iterable[str]:
        """The entries that answers replace."""
        return self.given.elicited.figures()

    def library(self, stated: str) -> Uncertain:
        """Its range as shipped."""
        return self.given.shipped[stated].figure

    def pooled(self, stated: str) -> Uncertain:
        """Its range by calibration."""
        return self.given.elicited.figures()[stated]

    def equal(self, stated: str) -> Uncertain:
        """Its range with equal weights."""
        return self.given.elicited.figures(equally=True)[stated]

    @figure("evidence.elicited[stated].library.p5")
    def library_p5(self, stated: str) -> float:
        return self.library(stated).low

    @figure("evidence.elicited[stated].library.p50")
    def library_p50(self, stated: str) -> float:
        return self.library(stated).mode

    @figure("evidence.elicited[stated].library.p95")
    def library_p95(self, stated: str) -> float:
        return self.library(stated).high

    @figure("evidence.elicited[stated].pooled.p5")
    def pooled_p5(self, stated: str) -> float:
        return self.pooled(stated).low

    @figure("evidence.elicited[stated].pooled.p50")
    def pooled_p50(self, stated: str) -> float:
        return self.pooled(stated).mode

    @figure("evidence.elicited[stated].pooled.p95")
    def pooled_p95(self, stated: str) -> float:
        return self.pooled(stated).high

    @figure("evidence.elicited[stated].equal.p5")
    def equal_p5(self, stated: str) -> float:
        return self.equal(stated).low

    @figure("evidence.elicited[stated].equal.p50")
    def equal_p50(self, stated: str) -> float:
        return self.equal(stated).mode

    @figure("evidence.elicited[stated].equal.p95")
    def equal_p95(self, stated: str) -> float:
        return self.equal(stated).high


FIGURES = Declaration(
    "evidence",
    EvidenceFigures,
    {
        "grade": Index(lambda _: _GRADES, _GRADES),
        "price": Index(lambda at: at.prices, called=lambda at, item: input_names(at.given, f"price:{item}").phrase),
        "person": Index(lambda at: at.persons, called=EvidenceFigures.name),
        "asked": Index(lambda at: at.questions, called=lambda at, asked: at.questions[asked].short),
        "stated": Index(lambda at: at.ranges, called=lambda at, stated: at.given.evidence[stated].what),
    },
)
"""Every figure of the section."""
