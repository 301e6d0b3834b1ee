"""Figures of the courses of action: what each costs beside the plain one, and what that is made of.

What each is called and rests on stands in `figures.yaml`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fabricreport.base.formats import inside
from fabricreport.base.provenance import inputs_of
from fabricreport.base.vocabulary import CourseKind
from fabricreport.sections.client import planned_days
from fabricreport.sections.decision.context import DATE, HORIZON, DecisionContext
from fabricreport.sections.decision.courses.result import (
    TEST_OF,
    CoursesResult,
    Growing,
    Meeting,
    PricedCourse,
    SingleNode,
    Stop,
    clock_of,
)
from fabricreport.sections.declarations import Footing, Index, Reckoning, figure
from fabricreport.sections.tco.cost import CAUSES
from fabricreport.sections.tco.result import parts_of

_LEARNT = (str(CourseKind.OFFERS), str(CourseKind.PILOT))


class CourseFigures(DecisionContext):
    """What is asked of the courses of action, and how each of their figures is made."""

    @property
    def courses(self) -> CoursesResult:
        """What was found of them."""
        return self.result.courses

    @property
    def plain_option(self) -> str:
        """The name of the option that the courses are held against."""
        return self.names[self.courses.base]

    # ---- every course

    def priced(self, course: str) -> PricedCourse:
        """A course, by its key."""
        found = self.courses.row(course)
        assert found is not None
        return found

    def is_other_course(self, course: str) -> bool:
        """Whether it is another than the one that all are held against."""
        return not self.courses.is_base(self.priced(course))

    def behind_course(self, course: str) -> Footing:
        """What its cost beside the plain one rests on: where something is found out first, on what that is worth too."""
        if course not in _LEARNT:
            return (HORIZON,)
        known = self.result.information
        test = known.tried(TEST_OF[course]) if known else None
        return {HORIZON, *({*known.rests_on, *test.probe.entries} if known and test else self.everything)}

    @figure("decision.courses.against[course]")
    def course_against(self, course: str) -> Any:
        return self.priced(course).against

    @figure("decision.courses.ready[course]")
    def course_ready(self, course: str) -> Reckoning:
        found = self.priced(course)
        clock = clock_of(self.given, self.bills, found.course, self.courses.base)
        return Reckoning(found.ready, inputs={*inputs_of(clock.production), DATE})

    # ---- meeting the date, finding out, renting first

    @property
    def meets_date(self) -> bool:
        """Whether another course is likely to meet a date that the plain one is not."""
        return self.courses.meeting is not None

    @property
    def meeting(self) -> Meeting:
        """That course; asked for where there is one."""
        assert self.courses.meeting is not None
        return self.courses.meeting

    @figure("decision.courses.extra")
    def course_extra(self) -> Any:
        return self.meeting.extra

    @figure("decision.courses.late")
    def course_late(self) -> Any:
        return self.meeting.late

    @property
    def has_pilot(self) -> bool:
        """Whether a pilot is priced."""
        return self.courses.pilot is not None

    @figure("decision.courses.pilot_gpus")
    def course_pilot_gpus(self) -> int:
        return self.courses.pilot_gpus

    @property
    def rents_first(self) -> bool:
        """Whether renting first is priced."""
        return self.courses.rent_first is not None

    @figure("decision.courses.rent_months")
    def course_rent_months(self) -> Reckoning:
        assert self.courses.rent_first is not None
        weeks = self.bills.own[self.courses.base].production_weeks
        return Reckoning(self.courses.rent_first.months, inputs=inputs_of(weeks))

    # ---- a plan in stages

    @property
    def growing(self) -> Growing:
        """The plan; asked for where there is one."""
        assert self.courses.growing is not None
        return self.courses.growing

    def stop(self, stop: str) -> Stop:
        """The plan ended after a stage, by its number."""
        return self.growing.stops[int(stop)]

    def gpus_of_stop(self, stop: str, _: str) -> int:
        """How many GPUs it ends at."""
        return self.stop(stop).gpus

    @figure("decision.courses.stop_month[stop]")
    def stage_month(self, stop: str) -> int:
        return self.stop(stop).month

    @figure("decision.courses.stop_gpus[stop]")
    def stage_gpus(self, stop: str) -> int:
        return self.stop(stop).gpus

    @figure("decision.courses.paid[stop][staged]")
    def stage_paid(self, stop: str, option: str) -> Reckoning:
        found = self.stop(stop)
        return Reckoning(found.paid[option], parts=parts_of(found.causes.get(option, {})))

    @figure("decision.courses.wasted[stop][staged]")
    def stage_wasted(self, stop: str, option: str) -> Any:
        return self.stop(stop).wasted[option]

    @figure("decision.courses.left[staged]")
    def stage_left(self, option: str) -> Any:
        return self.growing.left[option]

    # ---- the same work in jobs within nodes

    @property
    def single(self) -> SingleNode:
        """What was found of it."""
        return self.courses.single

    @property
    def prices_nodes(self) -> bool:
        """Whether it is priced."""
        return self.single.total is not None

    @property
    def times_nodes(self) -> bool:
        """Whether its GPU time is known."""
        return self.single.time is not None

    @property
    def lengthens_runs(self) -> bool:
        """Whether a run takes longer so."""
        return self.single.days is not None

    @property
    def levels_rent(self) -> bool:
        """Whether there is a rent at which it costs as much as across nodes."""
        return self.single.level_rent is not None

    @property
    def idle_in_nodes(self) -> Any:
        """GPU time lost so, at its value (draws,)."""
        return self.single.total - self.single.cash

    @figure("decision.courses.single_part[paid]")
    def course_single_part(self, cause: str) -> Any:
        return self.single.causes[cause]

    @figure("decision.courses.single_idle")
    def course_single_idle(self) -> Any:
        return self.given.spread(self.idle_in_nodes)

    @figure("decision.courses.single_total")
    def course_single_total(self) -> Any:
        return self.single.total

    @figure("decision.courses.single_cash")
    def course_single_cash(self) -> Any:
        return self.given.spread(self.bills.paid[self.courses.base].total - self.single.cash)

    @figure("decision.courses.single_lost")
    def course_single_lost(self) -> Any:
        base = self.courses.base
        across = self.bills.totals[base] - self.bills.paid[base].total
        return self.given.spread(across - self.idle_in_nodes)

    @figure("decision.courses.single_time")
    def course_single_time(self) -> Any:
        return self.single.time

    @figure("decision.courses.single_days")
    def course_single_days(self) -> Any:
        return self.single.days

    @figure("decision.courses.run_days")
    def course_run_days(self) -> Any:
        return planned_days(self.given)

    @figure("decision.courses.single_rent")
    def course_single_rent(self) -> Reckoning:
        return Reckoning(self.single.level_rent, inputs=inputs_of(self.single.total))

    @figure("decision.courses.rent_hour")
    def course_rent_hour(self) -> Any:
        return self.single.rent


def _stops(at: CourseFigures) -> list[str]:
    growing = at.courses.growing
    return [str(number) for number in range(len(growing.stops))] if growing else []


COURSE_INDEXES: Mapping[str, Index[Any]] = {
    "course": Index(lambda at: [row.key for row in at.courses.rows]),
    "paid": Index(lambda at: at.single.causes, called=lambda _, cause: inside(CAUSES[cause])),
    "stop": Index(_stops),
    "staged": Index(
        lambda at: at.growing.left if at.courses.growing else (), called=lambda at, option: at.names[option]
    ),
}
"""What their ids run through."""
