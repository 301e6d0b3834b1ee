"""When each step of a course of action is met, and what it hangs on where the client's date is not."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import floor

from fabricreport.inputs import Inputs
from fabricreport.models.judgement.comparison import Course
from fabricreport.provenance import inputs_of, plain
from fabricreport.sections.decision.courses.result import CoursesResult
from fabricreport.sections.decision.courses.weeks import clock_of
from fabricreport.sections.schedule.arrival import LEAD
from fabricreport.sections.schedule.calendar import Calendar, Clock, calendar_of, quantile
from fabricreport.sections.tco.bills import Bills
from fabricreport.vocabulary import CourseKind


@dataclass(frozen=True)
class Schedule:
    """`advised`: the calendar of the course advised, and the inputs it `rests_on`; `courses`: of every course that is priced, by
    its key. `sooner`: the key of the course in production first, where that is before the one advised; `''` where none is.
    `lead_weeks`: the weeks from order to delivery with which the client's date is met, where they lie in the range assumed."""

    advised: Calendar
    rests_on: frozenset[str]
    courses: Mapping[str, Calendar]
    sooner: str
    lead_weeks: int | None

    @property
    def none_in_time(self) -> bool:
        """Whether no course meets the client's date."""
        return not any(one.in_time for one in (self.advised, *self.courses.values()))


def schedule_of(given: Inputs, bills: Bills, found: CoursesResult) -> Schedule:
    """The calendars of a case's courses of action."""
    due, share = given.params.schedule.production_by, float(given.params.schedule.share_wanted)

    def taken(course: Course) -> str:
        return course.options[0] if course.kind == CourseKind.TAKE else found.base

    def calendar(clock: Clock) -> Calendar:
        return calendar_of(given.as_of, clock, share, due)

    clocks = {row.key: clock_of(given, bills, row.course, taken(row.course)) for row in found.rows}
    courses = {key: calendar(clock) for key, clock in clocks.items()}
    advised = clock_of(given, bills, found.advised, taken(found.advised))
    ours = calendar(advised)
    first = min(courses, key=lambda key: courses[key].safe)
    return Schedule(
        ours,
        inputs_of(advised.production),
        courses,
        first if courses[first].safe < ours.safe else "",
        None if ours.in_time else _lead(given, advised, share),
    )


def _lead(given: Inputs, clock: Clock, share: float) -> int | None:
    """Whole weeks from order to delivery, within the range assumed, with which the date is met; None where none are, or the
    weeks are no assumption."""
    if LEAD not in inputs_of(clock.delivery):
        return None
    others = plain(clock.production) - plain(clock.delivery) + plain(clock.order)
    most = floor(given.params.weeks_allowed - quantile(others, share))
    return most if most >= given.uncertain(LEAD).low else None
