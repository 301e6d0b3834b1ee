"""When each step of a course of action is met, and what it hangs on where the client's date is not."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, timedelta
from math import ceil, floor
from typing import Any

import numpy as np

from fabricreport.durations import DAYS_PER_WEEK
from fabricreport.inputs import Inputs
from fabricreport.models.judgement.comparison import Course
from fabricreport.provenance import inputs_of, plain
from fabricreport.sections.decision.courses.result import CoursesResult
from fabricreport.sections.decision.courses.weeks import ASKS, clock_of
from fabricreport.sections.schedule.arrival import LEAD
from fabricreport.sections.schedule.calendar import Calendar, Clock, Step, calendar_of, quantile
from fabricreport.sections.schedule.days import working_day_until
from fabricreport.sections.tco.bills import Bills
from fabricreport.vocabulary import CourseKind


@dataclass(frozen=True)
class Kept:
    """The last working `day` of delivery or of hand-over with which the client's date is met by the share wanted, and the `chance` of
    meeting it then."""

    day: date
    chance: float


@dataclass(frozen=True)
class Schedule:
    """`advised`: the calendar of the course advised, and the inputs it `rests_on`; `bought`: of what is bought for good, which is
    ordered at once where one rents first; `courses`: of every course that is priced, by its key. `kept`: by when all has to be delivered; None where no date binds, or no day is early enough. `lead_weeks`: the
    weeks from order to delivery with which a date is met that is not otherwise, where they lie in the range assumed.
    `delivery`: weeks (draws,) from the memo's date until all that is bought has come. `as_of`: that date.
    `clocks`: of every option, asked for first where the course advised asks, else ordered at once."""

    advised: Calendar
    bought: Calendar
    rests_on: frozenset[str]
    courses: Mapping[str, Calendar]
    kept: Kept | None
    lead_weeks: int | None
    delivery: Any
    as_of: date
    clocks: Mapping[str, Clock]

    def met_by(self, weeks: Any, share: float) -> date:
        """The day by which this share of the outcomes has taken a step that takes them so many weeks from the memo's date."""
        return self.as_of + timedelta(days=ceil(quantile(weeks, share) * DAYS_PER_WEEK))

    @property
    def last_delivery(self) -> date:
        """The last day of delivery with which the client's date is met; where it is not met, the one that is reckoned with."""
        return self.kept.day if self.kept and self.bought.in_time else self.bought.days[Step.DELIVERY]

    @property
    def late_weeks(self) -> Any:
        """Weeks (draws,) that all is delivered later than on the last day that is asked for; below zero where it is earlier."""
        return plain(self.delivery) - (self.last_delivery - self.as_of).days / DAYS_PER_WEEK

    @property
    def assumes_lead(self) -> bool:
        """Whether what the advised course waits for is delivered when we assume it is."""
        return LEAD in self.rests_on


def schedule_of(given: Inputs, bills: Bills, found: CoursesResult) -> Schedule:
    """The calendars of a case's courses of action."""
    due, share = given.params.schedule.production_by, float(given.params.schedule.share_wanted)

    def clock(course: Course) -> Clock:
        return clock_of(given, bills, course, course.options[0] if course.kind == CourseKind.TAKE else found.base)

    def calendar(of: Clock) -> Calendar:
        return calendar_of(given.as_of, of, share, due)

    def taken(option: str) -> Clock:
        asks = found.advised.kind in ASKS
        return clock_of(given, bills, found.advised if asks else Course(CourseKind.TAKE, (option,)), option)

    advised = clock(found.advised)
    ours = calendar(advised)
    rents_first = found.advised.kind == CourseKind.RENT_FIRST
    bought = clock(Course(CourseKind.TAKE, (found.base,))) if rents_first else advised
    return Schedule(
        ours,
        calendar(bought),
        inputs_of(advised.production),
        {row.key: calendar(clock(row.course)) for row in found.rows},
        _kept(given, bought, share),
        None if ours.in_time else _lead(given, advised, share),
        bought.delivery,
        given.as_of,
        {option: taken(option) for option in bills.own},
    )


def _kept(given: Inputs, clock: Clock, share: float) -> Kept | None:
    allowed, after = given.params.weeks_allowed, _after_delivery(clock)
    if np.isinf(allowed):
        return None
    day = working_day_until(given.as_of + timedelta(days=floor((allowed - quantile(after, share)) * DAYS_PER_WEEK)))
    if day <= given.as_of:
        return None
    chance = float(np.mean(after <= allowed - (day - given.as_of).days / DAYS_PER_WEEK))
    return Kept(day, chance)


def _lead(given: Inputs, clock: Clock, share: float) -> int | None:
    """Whole weeks from order to delivery, within the range assumed, with which the date is met; None where none are, or the
    weeks are no assumption."""
    if LEAD not in inputs_of(clock.delivery):
        return None
    most = floor(given.params.weeks_allowed - quantile(_after_delivery(clock) + plain(clock.order), share))
    return most if most >= given.uncertain(LEAD).low else None


def _after_delivery(clock: Clock) -> Any:
    """Weeks from delivery to production (draws,)."""
    return plain(clock.production) - plain(clock.delivery)
