"""The figures of the evidence section: what the advice rests on by grade, the age of its prices, what experts judged."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from fabricreport.books.prices.book import Price
from fabricreport.figures import Declaration, FigureSpec, Index
from fabricreport.inputs import Inputs
from fabricreport.ledger import GRADES
from fabricreport.sections.evidence.elicited_figures import ELICITED, persons, questions_shown
from fabricreport.sections.evidence.result import EvidenceResult

_GRADES = tuple(str(grade) for grade in GRADES)


@dataclass(frozen=True)
class EvidenceFigures:
    """What the figures of the evidence section are made from."""

    given: Inputs
    result: EvidenceResult

    @cached_property
    def behind(self) -> Mapping[str, int]:
        """Inputs behind the advice by grade."""
        return Counter(str(self.given.record(i)["grade"]) for i in self.result.used)

    @cached_property
    def prices(self) -> Mapping[str, Price]:
        """The prices behind the advice, by item."""
        return {p.item: p for p in self.result.prices}


Spec = FigureSpec[EvidenceFigures]
EachSpec = FigureSpec[EvidenceFigures, str]


def _count(
    name: str,
    label: str,
    rule: str,
    value: Callable[[EvidenceFigures], int],
    sources: Callable[[EvidenceFigures], Iterable[str]] = lambda _: (),
) -> Spec:
    """A count of things of this memo; it tells of its `sources` without depending on their values."""
    return Spec(
        f"evidence.{name}",
        "count",
        label=label,
        rule=rule,
        value=lambda at: float(value(at)),
        sources=sources,
        counted=True,
    )


_BEHIND = "count of evidence and prices behind the totals compared, offers, the dates and the pass values"

FIGURES: Declaration[Any] = Declaration(
    "evidence",
    (
        _count("used", "Inputs behind the advice", _BEHIND, lambda at: len(at.result.used)),
        EachSpec(
            "evidence.used[grade]",
            "count",
            label=lambda _, grade: f"Inputs behind the advice graded {grade}",
            rule=_BEHIND,
            value=lambda at, grade: float(at.behind.get(grade, 0)),
            counted=True,
        ),
        _count("prices", "Prices behind the advice", _BEHIND, lambda at: len(at.result.prices)),
        _count(
            "prices.stale",
            "Prices behind the advice that are out of date",
            "count of prices that expire within two weeks of the memo's date, or have",
            lambda at: sum(p.stale for p in at.result.prices),
            lambda at: [p.id for p in at.result.prices if p.stale],
        ),
        _count(
            "prices.held",
            "Price rows held back",
            "count of rows that a rule refused",
            lambda at: len(at.given.prices.quarantine),
        ),
        EachSpec(
            "evidence.age[price]",
            "day",
            label=lambda _, item: f"Age of the price of {item}",
            rule="memo's date − date of the price",
            value=lambda at, item: float(at.prices[item].age_days),
            sources=lambda at, item: (at.prices[item].id,),
        ),
        _count(
            "contested.bearing",
            "Contested quantities that bear on this case",
            "count by relevance",
            lambda at: len(at.result.bearing),
        ),
        *ELICITED,
    ),
    {
        "grade": Index(lambda _: _GRADES, _GRADES),
        "price": Index(lambda at: at.prices),
        "person": Index(lambda at: persons(at.given)),
        "asked": Index(lambda at: questions_shown(at.given)),
        "stated": Index(lambda at: at.given.elicited.figures()),
    },
)
"""Every figure of the section."""
