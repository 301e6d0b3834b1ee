"""Weeks from the memo's date to each step of a course of action: one clock for all of them."""

from __future__ import annotations

from typing import Any

from fabricreport.inputs import Inputs
from fabricreport.models.judgement.comparison import Course
from fabricreport.sections.decision.courses.result import RENTED_WEEKS, WAIT_OF
from fabricreport.sections.schedule.arrival import hired, in_nodes
from fabricreport.sections.schedule.calendar import Clock
from fabricreport.sections.tco.bills import Bills
from fabricreport.vocabulary import CourseKind

ASKS = (CourseKind.OFFERS, CourseKind.EITHER, CourseKind.PILOT)
"""Courses of an owner that order only once they have an answer."""


def clock_of(given: Inputs, bills: Bills, course: Course, option: str) -> Clock:
    """When each step of a course is met, (draws,); `option`: the one that is taken in the end."""
    own = bills.own[option]
    arrival, stable = own.arrival, own.bring_up_weeks
    if course.kind == CourseKind.RENT_FIRST:
        arrival, stable = hired(given), stable * given.value(RENTED_WEEKS)
    elif course.kind == CourseKind.SINGLE_NODE:
        arrival, stable = in_nodes(given), 0.0
    wait: Any = 0.0
    if course.kind in ASKS and not given.team.rented:
        wait = given.value(WAIT_OF.get(course.kind, WAIT_OF[CourseKind.OFFERS]))
    ordered = wait + arrival.order
    delivered = ordered + arrival.lead
    powered = delivered + arrival.installation
    steps = (wait, ordered, delivered, powered, powered + stable, wait + arrival.production(stable))
    return Clock(*(given.spread(weeks) for weeks in steps))
