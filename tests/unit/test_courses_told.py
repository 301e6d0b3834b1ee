"""What is told of courses of action, on results constructed for it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from bench import SHIPPED, case
from rows import rows

from fabricreport.base.provenance import Traced
from fabricreport.base.vocabulary import CourseKind
from fabricreport.models.judgement.comparison import Course
from fabricreport.sections.decision.courses.result import CoursesResult, OneNode, PricedCourse, RentFirst, SingleNode
from fabricreport.sections.decision.words import DecisionFinding as F
from fabricreport.sections.decision.words import advice, course_findings, staged

pytestmark = pytest.mark.slow


# ---- findings on constructed results

_NONE = Traced(np.zeros(4))


def constructed(kind: CourseKind, plainly: CourseKind = CourseKind.TAKE, **more: Any) -> CoursesResult:
    rows = tuple(
        PricedCourse(key, Course(k, ("a",)), Traced(np.full(4, against)), 0.9)
        for key, k, against in (
            ("choice", CourseKind.TAKE, 0.0),
            ("rival", CourseKind.TAKE, 5.0),
            ("rent-first", CourseKind.RENT_FIRST, -9.0),
        )
    )
    bare = {
        "by_date": False,
        "pilot_gpus": 0,
        "meeting": None,
        "rent_first": RentFirst("a", 3, _NONE, _NONE),
        "single": SingleNode(OneNode.NOT_ASKED),
    }
    plain, advised = (Course(what, ("a",)) for what in (plainly, kind))
    return CoursesResult(base="a", plain=plain, advised=advised, rows=rows, **{**bare, **more})


def told(courses: CoursesResult, name: str = "example") -> Iterator[F]:
    return course_findings(case(name).inputs, courses)


@rows(
    ("kind", "advises"),
    [
        (CourseKind.TAKE, None),
        (CourseKind.OFFERS, F.OFFERS_FIRST),
        (CourseKind.PILOT, F.PILOT_FIRST),
        (CourseKind.RENT_FIRST, None),
        (CourseKind.AHEAD, F.ORDER_AHEAD),
        (CourseKind.SINGLE_NODE, F.SINGLE_NODES),
    ],
)
def test_the_course_that_is_advised_is_told(kind: CourseKind, advises: F | None) -> None:
    courses = constructed(kind)
    assert advice(courses) == advises
    holds, plain = set(told(courses)), kind == CourseKind.TAKE
    assert (F.COURSES_PLAIN in holds, F.COURSES_INVOLVED in holds) == (plain, not plain)
    assert (F.RENT_FIRST in holds) == (kind == CourseKind.RENT_FIRST)


def test_renting_first_for_the_date_is_said_so() -> None:
    courses = constructed(CourseKind.RENT_FIRST, by_date=True)
    holds = set(told(courses))
    assert F.RENT_FIRST_LATE in holds and F.RENT_FIRST not in holds


def test_a_plan_in_stages_is_signed_for_its_first_alone() -> None:
    one, staged_plan = constructed(CourseKind.TAKE), constructed(CourseKind.STAGE_ONE, CourseKind.STAGE_ONE)
    for plainly, in_stages in ((F.TAKE, F.SIGN_STAGE_ONE), (F.SETTLE_FIRST, F.SETTLE_STAGE_ONE)):
        assert (staged(one, plainly), staged(staged_plan, plainly)) == (plainly, in_stages)
    assert staged(staged_plan, F.ASK_BOTH) == F.ASK_BOTH


def test_links_between_halls_that_nobody_stated_are_said_to_be_assumed() -> None:
    holds = {name for name in SHIPPED if F.HALLS_ASSUMED in set(told(case(name).decision().courses, name))}
    assert holds == {"kestrel-lab"}


def test_a_single_node_is_asked_for_no_offers() -> None:
    courses = case("one node").decision().courses
    assert {row.key for row in courses.rows} <= {"choice", "rival"}
    assert courses.advised == courses.plain
