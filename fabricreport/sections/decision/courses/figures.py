"""Figures of the courses of action: what each costs beside the plain one, and what that is made of.

What each is called and rests on stands in `figures.yaml`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fabricreport.base.formats import inside
from fabricreport.base.provenance import inputs_of
from fabricreport.base.vocabulary import CourseKind
from fabricreport.base.yaml_files import read_yaml
from fabricreport.ledger.figures import Footing, Index, Reckoning, figure, there
from fabricreport.sections.client import planned_days
from fabricreport.sections.decision.context import DATE, HORIZON, DecisionContext
from fabricreport.sections.decision.courses.result import (
    TEST_OF,
    CoursesResult,
    PricedCourse,
    Stop,
    clock_of,
)
from fabricreport.sections.decision.sensitivity import VERB
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
        return there(self.courses.row(course))

    def course_name(self, course: str) -> str:
        """What is done on it, as its table calls that."""
        row = self.priced(course)
        name = str(read_yaml("courses")[self.courses.told_as(row)]["name"])
        verb = VERB[self.given.params.money.acquisition]
        return name.replace("{verb}", verb).replace("{option}", self.names[row.course.options[0]])

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

    @figure("decision.courses.extra")
    def course_extra(self) -> Any:
        return there(self.courses.meeting).extra

    @figure("decision.courses.late")
    def course_late(self) -> Any:
        return there(self.courses.meeting).late

    @figure("decision.courses.pilot_gpus")
    def course_pilot_gpus(self) -> int:
        return self.courses.pilot_gpus

    @figure("decision.courses.rent_months")
    def course_rent_months(self) -> Reckoning:
        weeks = self.bills.own[self.courses.base].production_weeks
        return Reckoning(there(self.courses.rent_first).months, inputs=inputs_of(weeks))

    # ---- a plan in stages

    def stop(self, stop: str) -> Stop:
        """The plan ended after a stage, by its number."""
        return there(self.courses.growing).stops[int(stop)]

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
        return there(self.courses.growing).left[option]

    # ---- the same work in jobs within nodes

    @property
    def idle_in_nodes(self) -> Any:
        """GPU time lost so, at its value (draws,)."""
        return self.courses.single.total - self.courses.single.cash

    @figure("decision.courses.single_part[paid]")
    def course_single_part(self, cause: str) -> Any:
        return self.courses.single.causes[cause]

    @figure("decision.courses.single_idle")
    def course_single_idle(self) -> Any:
        return self.given.spread(self.idle_in_nodes)

    @figure("decision.courses.single_total")
    def course_single_total(self) -> Any:
        return self.courses.single.total

    @figure("decision.courses.single_cash")
    def course_single_cash(self) -> Any:
        return self.given.spread(self.bills.paid[self.courses.base].total - self.courses.single.cash)

    @figure("decision.courses.single_lost")
    def course_single_lost(self) -> Any:
        base = self.courses.base
        across = self.bills.totals[base] - self.bills.paid[base].total
        return self.given.spread(across - self.idle_in_nodes)

    @figure("decision.courses.single_needs")
    def course_single_needs(self) -> float:
        return there(self.courses.single.memory)[0]

    @figure("decision.courses.single_holds")
    def course_single_holds(self) -> float:
        return there(self.courses.single.memory)[1]

    @figure("decision.courses.single_time")
    def course_single_time(self) -> Any:
        return self.courses.single.time

    @figure("decision.courses.single_days")
    def course_single_days(self) -> Any:
        return self.courses.single.days

    @figure("decision.courses.run_days")
    def course_run_days(self) -> Any:
        return planned_days(self.given)

    @figure("decision.courses.single_rent")
    def course_single_rent(self) -> Reckoning:
        return Reckoning(self.courses.single.level_rent, inputs=inputs_of(self.courses.single.total))

    @figure("decision.courses.rent_hour")
    def course_rent_hour(self) -> Any:
        return self.courses.single.rent


def _stops(at: CourseFigures) -> list[str]:
    growing = at.courses.growing
    return [str(number) for number in range(len(growing.stops))] if growing else []


COURSE_INDEXES: Mapping[str, Index[Any]] = {
    "course": Index(lambda at: [row.key for row in at.courses.rows], called=CourseFigures.course_name),
    "paid": Index(lambda at: at.courses.single.causes, called=lambda _, cause: inside(CAUSES[cause])),
    "stop": Index(_stops),
    "staged": Index(
        lambda at: at.courses.growing.left if at.courses.growing else (), called=lambda at, option: at.names[option]
    ),
}
"""What their ids run through."""
