"""Which course of action is advised: the printed rule, over courses that are priced on the same draws.

Money is the spine here too. A course that takes more doing than the plain one has to earn it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from fabricreport.models.judgement.comparison import Course


@dataclass(frozen=True)
class Offered:
    """A course: its mean cost `against` an order at once of the option that the courses are held against, whether it can be `carried_out` at a cost that is known,
    and its chance of being ready by the client's date. `late`: what the weeks beyond that date cost on average, as far as
    `against` has it not."""

    course: Course
    against: float
    ready: float
    carried_out: bool = True
    late: float = 0.0


@dataclass(frozen=True)
class Advised:
    """The course that is advised, and whether it is so for the client's date rather than its cost.

    `in_time`: the cheapest course that is likely to meet a date which the plain one is not likely to meet, advised or not.
    """

    course: Course
    by_date: bool = False
    in_time: Course | None = None


def advised(
    plain: Offered,
    others: Sequence[Offered],
    *,
    materiality: float,
    ready_probability: float,
    date_stated: bool,
) -> Advised:
    """The plain course, unless another one of those that can be carried out costs less by at least the materiality, and less
    than an order at once: where the plain one is to ask first, a costly wait makes no other way to wait worth its cost.

    Where the client stated a date, a course that is not likely to meet it never takes the place of one that is; and where
    the plain one is not likely to, the cheapest of those that are is advised, unless it costs more beside the plain one
    than the lateness that it saves. Then, and where none is likely to, the date is what has to move, and money alone advises.
    """
    able = [o for o in others if o.carried_out]
    ready = [o for o in able if not date_stated or o.ready >= ready_probability]
    in_time: Course | None = None
    if date_stated and plain.ready < ready_probability:
        if ready:
            best = _cheapest(ready)
            if best.against - plain.against <= plain.late - best.late:
                return Advised(best.course, by_date=True, in_time=best.course)
            in_time = best.course
        ready = able
    most = min(plain.against, 0.0)
    cheaper = [o for o in ready if o.against < most and plain.against - o.against >= materiality]
    return Advised(_cheapest(cheaper).course if cheaper else plain.course, in_time=in_time)


def _cheapest(courses: Sequence[Offered]) -> Offered:
    return min(courses, key=lambda o: o.against + o.late)
