"""How sure we are of the act that is advised, with what it then leads to."""

from __future__ import annotations

from typing import Any

import numpy as np

from fabricreport.models.judgement.comparison import Course, Verdict
from fabricreport.models.judgement.sureness import stands
from fabricreport.provenance import plain
from fabricreport.sections.decision.courses.result import TEST_OF, CoursesResult, Learning, PricedCourse
from fabricreport.sections.decision.information.knowledge import Draws, Knowledge
from fabricreport.sections.decision.information.study import Information
from fabricreport.vocabulary import CourseKind

_SAME_DEED = {CourseKind.STAGE_ONE: CourseKind.TAKE, CourseKind.EITHER: CourseKind.OFFERS}
"""Courses that are carried out as another one that is priced: the first stage of what is taken, and offers on both."""


def sure_of(
    verdict: Verdict, courses: CoursesResult, information: Information | None, knowledge: Knowledge
) -> float | None:
    """Share of the draws in which the advised act costs at most the margin of close more than the best other one there.

    None where the advised course is not priced, or nothing else is.
    """
    acts = [row for row in courses.rows if row.ranked]
    advised = next((row for row in acts if _is(row, courses.advised)), None)
    if advised is None or courses.base not in knowledge.options:
        return None
    against = knowledge.costs - knowledge.costs[:, [knowledge.options.index(courses.base)]]
    others = [_met(row, courses, information, knowledge, against) for row in acts if row is not advised]
    others += [against[:, n] for n, o in enumerate(knowledge.options) if advised.course != Course(CourseKind.TAKE, (o,))]
    met = _met(advised, courses, information, knowledge, against)
    return stands(met, others, verdict.materiality) if others else None


def _is(row: PricedCourse, course: Course) -> bool:
    kind = _SAME_DEED.get(course.kind, course.kind)
    return row.kind == kind and {*row.course.options} == {*course.options}


def _met(
    row: PricedCourse, courses: CoursesResult, information: Information | None, knowledge: Knowledge, against: Draws
) -> Any:
    """What an act costs in each draw against the base, lateness included; of one that finds out first, that of the option
    which it then takes."""
    learning: Learning | None = {CourseKind.OFFERS: courses.offers, CourseKind.PILOT: courses.pilot}.get(row.kind)
    test = information.tried(TEST_OF[row.kind]) if learning and information else None
    if learning is None or test is None:
        return plain(row.against) + plain(row.late.hours)
    found = against[np.arange(len(against)), knowledge.taken(test.noises)]
    return found + plain(learning.cost) + plain(learning.waiting)
