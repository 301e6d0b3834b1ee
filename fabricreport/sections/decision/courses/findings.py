"""What was found of the courses of action, named, and the words of their prose."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from fabricreport.books.names import whole_names
from fabricreport.evidence import read_yaml
from fabricreport.findings import Name, Named
from fabricreport.inputs import Inputs
from fabricreport.provenance import mean_of
from fabricreport.sections.client import time_lost
from fabricreport.sections.decision.courses.result import CoursesResult, PricedCourse
from fabricreport.sections.decision.finding import DecisionFinding as F
from fabricreport.sections.sites import links_assumed
from fabricreport.vocabulary import CourseKind

_ADVICE: Mapping[CourseKind, F] = {
    CourseKind.OFFERS: F.OFFERS_FIRST,
    CourseKind.PILOT: F.PILOT_FIRST,
    CourseKind.AHEAD: F.ORDER_AHEAD,
    CourseKind.SINGLE_NODE: F.SINGLE_NODES,
}
_IN_STAGES: Mapping[F, F] = {
    F.TAKE: F.SIGN_STAGE_ONE,
    F.SETTLE_FIRST: F.SETTLE_STAGE_ONE,
}


def advice(found: CoursesResult) -> F | None:
    """The advice in place of the plain one, or None where that is said as well."""
    return _ADVICE.get(found.advised.kind) if found.involved else None


def staged(found: CoursesResult, plainly: F) -> F:
    """What is said of a plan in stages, in the place of what is said of one order."""
    return _IN_STAGES.get(plainly, plainly) if found.plain.kind == CourseKind.STAGE_ONE else plainly


def course_findings(given: Inputs, found: CoursesResult) -> Iterator[F]:
    """What holds of the courses beside what is advised."""
    if links_assumed(given):
        yield F.HALLS_ASSUMED
    yield from _holding(found)
    if found.meeting is not None and not found.by_date:
        yield F.DATE_DEAR
        if given.params.money.price_of_delay_usd_per_day:
            yield F.DELAY_DEAR


def _holding(found: CoursesResult) -> Iterator[F]:
    if found.involved and _rents(found):
        yield F.RENT_FIRST_LATE if found.by_date else F.RENT_FIRST
    if len(found.rows) > 2 or (len(found.rows) > 1 and found.single.total is not None):
        yield F.COURSES
        if found.involved:
            yield F.COURSES_INVOLVED
        elif found.plain.kind != CourseKind.EITHER:
            yield F.COURSES_PLAIN
    if found.growing is not None:
        yield F.STAGES_PRICED


def _rents(found: CoursesResult) -> bool:
    return found.advised.kind == CourseKind.RENT_FIRST


def _side(row: PricedCourse | None, above: str, below: str) -> Name | None:
    """The word for a course that costs more than the one it is held against, or less; None without it."""
    return None if row is None else Name(_way(row.against, above, below))


def _way(amount: Any, above: str, below: str) -> str:
    return below if mean_of(amount) < 0 else above


def _in_time(found: CoursesResult) -> Named | None:
    """The cheapest course that meets the date, as the table calls it, and whether it costs more or less."""
    if found.meeting is None:
        return None
    kind = found.meeting.course.kind
    costs = Name(_way(found.meeting.extra, "more", "less"))
    return Named(read_yaml("courses")[kind]["name"], str(kind), costs=costs)


def course_words(given: Inputs, found: CoursesResult) -> Mapping[str, object]:
    """Words of the prose on courses."""
    names, priced = whole_names(given.options), bool(given.params.money.price_of_delay_usd_per_day)
    return {
        "base": names[found.base],
        "rent_costs": _side(found.row(CourseKind.RENT_FIRST), "more", "less"),
        "in_time": _in_time(found),
        "rents_first": _rents(found),
        "delay_priced": priced,
        "time_lost": Name(time_lost(given)),
        "ahead_adds": _side(found.row(CourseKind.AHEAD), "adds", "saves"),
    }
