"""How sure the advised act is: every act by draw, with what it leads to, beside the best other one known beforehand."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fabricreport.models.judgement.comparison import Verdict
from fabricreport.models.judgement.sure import Sure, following, sure
from fabricreport.provenance import plain
from fabricreport.sections.decision.courses import buying
from fabricreport.sections.decision.courses.result import TEST_OF, CoursesResult, Learning, PricedCourse
from fabricreport.sections.decision.information.knowledge import Knowledge
from fabricreport.sections.decision.information.study import Information
from fabricreport.sections.decision.offers.study import OffersResult
from fabricreport.sections.tco.bills import Bills
from fabricreport.vocabulary import CourseKind

Draws = NDArray[np.float64]
_TAKE = f"{CourseKind.TAKE}:"
RENTS = "rents"
"""The test (`evidence/information.yaml`) that asking sellers for binding rents is."""


@dataclass(frozen=True)
class _Acts:
    """What the acts of one client that owns are made of: amounts are held against the option that the courses are."""

    bills: Bills
    courses: CoursesResult
    known: Information | None
    knowing: Knowledge
    dated: bool

    def take(self, option: str) -> Draws:
        """Taking an option now, and what it costs to be later than a date that was stated."""
        weeks = self.bills.own[option].bring_up_weeks
        late = buying.lateness(self.bills, option, weeks).hours if self.dated else 0.0
        return self._drawn(self.bills.gap(option, self.courses.base) + late)

    def learn(self, row: PricedCourse, learning: Learning) -> Draws:
        """What finding out costs, the wait, and the option that is then taken by what was found."""
        able = [o for o in row.course.options if o in self.knowing.options]
        test = self.known.tried(TEST_OF[row.kind]) if self.known else None
        spent = self._drawn(learning.cost + learning.waiting)
        if test is None or not able:
            return spent + self.take(self.courses.base)
        costs = np.column_stack([self.take(o) for o in able])
        return spent + following(self.knowing.led_to(test.shows, able), costs)

    def beforehand(self) -> Iterator[tuple[str, Draws]]:
        """Acts that say beforehand what is taken: every option, and the courses that find nothing out."""
        yield from ((f"{_TAKE}{o}", self.take(o)) for o in self.knowing.options)
        for row in self.courses.rows:
            if row.ranked and row.kind not in (CourseKind.TAKE, *TEST_OF):
                yield row.key, self._drawn(row.against + (row.late.hours if self.dated else 0.0))

    def advised(self, others: Mapping[str, Draws]) -> tuple[str, Draws | None]:
        """The key of the advised act, and what it costs; None where that is not known."""
        kind = self.courses.advised.kind
        if kind in (CourseKind.TAKE, CourseKind.STAGE_ONE):
            return f"{_TAKE}{self.courses.base}", self.take(self.courses.base)
        key = str(CourseKind.OFFERS if kind == CourseKind.EITHER else kind)
        learning = {str(CourseKind.OFFERS): self.courses.offers, str(CourseKind.PILOT): self.courses.pilot}.get(key)
        row = self.courses.row(key)
        return key, self.learn(row, learning) if row and learning else others.get(key)

    def _drawn(self, amount: Any) -> Draws:
        """An amount by draw."""
        return np.broadcast_to(plain(amount), (len(self.knowing.costs),))


def sure_of(
    bills: Bills,
    verdict: Verdict,
    found: CoursesResult,
    known: Information | None,
    knowing: Knowledge,
    *,
    dated: bool,
    close: Callable[[str, str], float],
) -> Sure | None:
    """How sure the advised act is: of two options the margin is what makes these two `close`, as where another is advised;
    else what makes the two compared so.

    Of a client that rents, the act is to ask the sellers to ask first. None where there is no other act.
    """
    if not knowing.choice:
        return None
    if knowing.offers is not None:
        others: dict[str, Draws] = dict(zip(knowing.options, knowing.costs.T, strict=True))
        key, act = RENTS, _asking(knowing, knowing.offers, known, others)
    else:
        acts = _Acts(bills, found, known, knowing, dated)
        others = dict(acts.beforehand())
        key, act = acts.advised(others)
    others.pop(key, None)

    def margin(other: str) -> float:
        options = [one.removeprefix(_TAKE) for one in (key, other) if one.startswith(_TAKE)]
        return close(*options) if len(options) > 1 else verdict.materiality

    return sure(act, others, margin) if act is not None and others else None


def _asking(
    knowing: Knowledge, offers: OffersResult, known: Information | None, now: Mapping[str, Draws]
) -> Draws | None:
    """Asking the sellers to ask first before one of them is signed with, where `now` is signing as each is priced now."""
    asked = [o for o in offers.asked if o in now]
    test = known.tried(RENTS) if known else None
    if test is None or not asked:
        return None
    chosen = knowing.led_to(test.shows, asked)
    return plain(test.cost) + following(chosen, np.column_stack([now[o] for o in asked]))
