"""What the calendar of the course advised comes to, named, and the days that prose prints."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from fabricreport.books.names import whole_names
from fabricreport.findings import Name
from fabricreport.inputs import Inputs
from fabricreport.sections.decision.courses.weeks import ASKS
from fabricreport.sections.decision.finding import DecisionFinding as F
from fabricreport.sections.decision.result import DecisionResult
from fabricreport.sections.schedule.calendar import Step
from fabricreport.sections.schedule.days import told
from fabricreport.vocabulary import CourseKind, Ground

_HALF = 0.5


def schedule_findings(result: DecisionResult) -> Iterator[F]:
    """Whether a date binds, whether the course advised meets it, and what makes production earlier where it does not."""
    found = result.schedule
    if found.assumes_lead:
        yield F.LEAD_ASSUMED
    if found.advised.due is None:
        yield F.UNDATED
        return
    if found.advised.in_time:
        return
    yield _late(result)
    yield _sooner(result)
    if found.lead_weeks is not None:
        yield F.LATE_BUT_FOR_LEAD


def _late(result: DecisionResult) -> F:
    """How the date is missed: by all there is, by asking first, or by the one of two that is advised."""
    kind, networks = result.courses.advised.kind, len(result.totals) > 1 and result.ground != Ground.SIZE
    if not networks or result.in_nodes:
        return F.TOO_LATE_ALONE
    if not result.in_time:
        return F.TOO_LATE
    return F.LATE_BY_ASKING if kind in ASKS else F.LATE_CHOICE


def _sooner(result: DecisionResult) -> F:
    """What makes production earlier: machines that are rented until then, or a seller with stock."""
    rented = result.schedule.courses.get(CourseKind.RENT_FIRST)
    return F.LATE_RENT if rented is not None and rented.in_time else F.LATE_MOVE


def ready_apart(given: Inputs, result: DecisionResult) -> bool:
    """Whether a date was stated that some options meet more often than others, as it is told."""
    return given.params.dated and len({result.numbers[f"decision.ready.{o}"].text for o in result.totals}) > 1


def schedule_words(given: Inputs, result: DecisionResult) -> Mapping[str, object]:
    """The days that prose prints, and the one of two that is in time where the course advised is not."""
    found, names = result.schedule, whole_names(given.options)
    due = found.advised.due
    return {
        "ready_apart": Name("apart") if ready_apart(given, result) else None,
        "production_by": Name(told(due)) if due else None,
        "safe_day": Name(told(found.advised.safe)),
        "half_day": Name(told(found.met_by(found.clocks[result.verdict.choice].production, _HALF))),
        "order_day": Name(told(found.advised.days[Step.ORDER])),
        "deliver_by": Name(told(found.last_delivery)),
        "agreed_day": Name(told(due if due and found.bought.in_time else found.bought.safe)),
        "at_once": names[result.in_time[0]] if result.in_time else None,
    }
