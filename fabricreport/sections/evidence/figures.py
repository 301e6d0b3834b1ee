"""The figures of the evidence section: what the advice rests on by grade, the age of its prices, what experts judged.

What each is called and rests on stands in `figures.yaml`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property

from fabricreport.base.uncertain import Judgement, Uncertain
from fabricreport.base.vocabulary import Grade
from fabricreport.books.elicitation import ExpertFile, Question
from fabricreport.books.names import input_names
from fabricreport.books.prices.book import Price
from fabricreport.inputs.inputs import Inputs
from fabricreport.ledger.bases import Statistic
from fabricreport.ledger.figures import Declaration, Footing, Index, Reckoning, figure
from fabricreport.ledger.numbers import GRADES
from fabricreport.models.judgement.elicitation import Score
from fabricreport.sections.evidence.result import EvidenceResult

_GRADES = tuple(str(grade) for grade in GRADES)
_STATISTICS = {"p5": Statistic.P5, "p50": Statistic.MEDIAN, "p95": Statistic.P95}
QUANTILES = tuple(_STATISTICS)
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

    @figure("evidence.used_rest")
    def used_rest(self) -> int:
        return len(self.result.used) - self.behind.get(Grade.ASSUMPTION, 0) - self.behind.get(Grade.SECONDARY, 0)

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

    def unit_asked(self, _: str, asked: str, __: str) -> str:
        """The unit that a question is asked in."""
        return self.questions[asked].unit

    def has_answered(self, person: str, asked: str, _: str) -> bool:
        """Whether a person stated something of a question that counts."""
        return judgement(self.given, person, asked) is not None

    @figure("evidence.expert[person].weight")
    def weight(self, person: str) -> Reckoning:
        found, score = self.persons[person]
        return Reckoning(score.weight, date=found.date)

    @figure("evidence.expert[person].said[asked][quantile]")
    def said(self, person: str, asked: str, quantile: str) -> Reckoning:
        found = self.persons[person][0]
        value = found.answers[asked].quantiles[QUANTILES.index(quantile)]
        return Reckoning(value, date=found.date, base={"about": (person, asked), "statistic": _STATISTICS[quantile]})

    # ---- the ranges of what they judged

    def unit_stated(self, stated: str, _: str) -> str:
        """The unit of an entry."""
        return self.given.evidence[stated].unit

    def entry(self, stated: str, _: str) -> Footing:
        """Its id as an input."""
        return (f"evidence:{stated}",)

    @property
    def ranges(self) -> Iterable[str]:
        """The entries that answers replace."""
        return self.given.elicited.figures()

    def end(self, stated: str, found: Uncertain, quantile: str) -> Reckoning:
        """One of the three quantiles of a range."""
        value = (found.low, found.mode, found.high)[QUANTILES.index(quantile)]
        return Reckoning(value, base={"about": (stated,), "statistic": _STATISTICS[quantile]})

    @figure("evidence.elicited[stated].library[quantile]")
    def library(self, stated: str, quantile: str) -> Reckoning:
        return self.end(stated, self.given.shipped[stated].figure, quantile)

    @figure("evidence.elicited[stated].pooled[quantile]")
    def pooled(self, stated: str, quantile: str) -> Reckoning:
        return self.end(stated, self.given.elicited.figures()[stated], quantile)

    @figure("evidence.elicited[stated].equal[quantile]")
    def equal(self, stated: str, quantile: str) -> Reckoning:
        return self.end(stated, self.given.elicited.figures(equally=True)[stated], quantile)


FIGURES = Declaration(
    "evidence",
    EvidenceFigures,
    {
        "grade": Index(lambda _: _GRADES, _GRADES),
        "price": Index(lambda at: at.prices, called=lambda at, item: input_names(at.given, f"price:{item}").phrase),
        "person": Index(lambda at: at.persons, called=EvidenceFigures.name),
        "asked": Index(lambda at: at.questions, called=lambda at, asked: at.questions[asked].short),
        "quantile": Index(lambda _: QUANTILES, QUANTILES, lambda _, quantile: quantile.upper()),
        "stated": Index(lambda at: at.ranges, called=lambda at, stated: at.given.evidence[stated].what),
    },
)
"""Every figure of the section."""
