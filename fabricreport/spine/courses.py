"""Courses of action as a memo's body tells them: of the two compared both go by name."""

from __future__ import annotations

from collections.abc import Sequence

from fabricreport.books.names import whole_names
from fabricreport.findings import Name, joined
from fabricreport.inputs import Inputs
from fabricreport.sections.decision.turning_words import course_told
from fabricreport.spine.called import body_names, text_called
from fabricreport.vocabulary import CourseKind


def either_of(course: str) -> set[str]:
    """The options of which a course takes either; none where it takes one."""
    kind, _, options = course.partition(":")
    return set(options.split("+")) if kind == CourseKind.EITHER else set()


def course_of(given: Inputs, course: str, pair: Sequence[str]) -> Name:
    """A course of action in words, by its id, with options as the body calls them."""
    told = course_told(given, course, pair)
    if either_of(course) == set(pair):
        names = whole_names(given.priced_options.values())
        told = Name("take the better offer of ", joined((names[o] for o in pair), " or "))
    return Name(text_called(body_names(given, pair[0], pair[1]), told))
