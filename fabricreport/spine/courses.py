"""Courses of action as a memo's body tells them: of the two compared both go by name."""

from __future__ import annotations

from collections.abc import Sequence

from fabricreport.findings import Name
from fabricreport.inputs import Inputs
from fabricreport.sections.decision.turning_words import course_told
from fabricreport.spine.short import Shortened
from fabricreport.vocabulary import CourseKind


def either_of(course: str) -> set[str]:
    """The options of which a course takes either; none where it takes one."""
    kind, _, options = course.partition(":")
    return set(options.split("+")) if kind == CourseKind.EITHER else set()


def course_of(given: Inputs, course: str, pair: Sequence[str]) -> str:
    """A course of action in words, by its id, with options by their short names."""
    names = {o.id: o.name for o in given.priced_options.values()}
    both = either_of(course) == set(pair)
    told = (
        f"take the better offer of {' or '.join(names[o] for o in pair)}" if both else course_told(given, course, pair)
    )
    return str(Shortened(given, pair[0], pair[1]).words({"course": Name(told)})["course"])
