"""Figures of the courses of action: what each costs beside the plain one, and what that is made of."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from fabricreport.figures import Footing, Index
from fabricreport.formats import inside
from fabricreport.provenance import inputs_of
from fabricreport.sections.client import planned_days
from fabricreport.sections.decision.courses.result import (
    TEST_OF,
    CoursesResult,
    Growing,
    PricedCourse,
    SingleNode,
    Stop,
)
from fabricreport.sections.decision.courses.weeks import clock_of
from fabricreport.sections.decision.figure_context import DATE, HORIZON, DecisionContext, EachSpec, PairSpec, Spec
from fabricreport.sections.tco.bills import parts_of as bill_parts
from fabricreport.sections.tco.cost import CAUSES
from fabricreport.vocabulary import CourseKind

_LEARNT = (str(CourseKind.OFFERS), str(CourseKind.PILOT))
_RUN = ("param:workload.run_days",)
Found = TypeVar("Found")


def _priced(found: Found | None) -> Found:
    """A course, or what belongs to one; asked for where it is priced."""
    assert found is not None
    return found


def _row(at: DecisionContext, key: str) -> PricedCourse:
    return _priced(at.result.courses.row(key))


def _behind(at: DecisionContext, kind: str) -> Footing:
    known = at.result.information
    test = known.tried(TEST_OF[kind]) if known else None
    return {*known.rests_on, *test.probe.entries} if known and test else at.everything


def _growing(at: DecisionContext) -> Growing:
    return _priced(at.result.courses.growing)


_ROWS = (
    EachSpec(
        "decision.courses.against[course]",
        "usd",
        label=lambda at, key: f"Cost of the course {key} less that of {at.names[at.result.courses.base]} as it stands",
        rule="difference of present values over the horizon, outcome by outcome; what is found out counts by its mean",
        value=lambda at, key: _row(at, key).against,
        inputs=lambda at, key: (HORIZON, *(_behind(at, key) if key in _LEARNT else ())),
        central="mean",
        when=lambda at, key: not at.result.courses.is_base(_row(at, key)),
    ),
    EachSpec(
        "decision.courses.ready[course]",
        "share",
        label=lambda _, key: f"Chance of production by the client's date on the course {key}",
        rule="share of outcomes in which all weeks from the memo's date to production are at most those to the client's date",
        value=lambda at, key: _row(at, key).ready,
        inputs=lambda at, key: {
            *inputs_of(clock_of(at.given, at.bills, _row(at, key).course, at.result.courses.base).production),
            DATE,
        },
        digits=2,
    ),
)


_LEARNING = (
    Spec(
        "decision.courses.pilot_gpus",
        "gpus",
        label="GPUs of a pilot on each network",
        rule="those of the library, or the first stage's where it has fewer",
        value=lambda at: float(at.result.courses.pilot_gpus),
        inputs=("evidence:test-pilot-nodes", "param:cluster.gpus"),
        when=lambda at: at.result.courses.pilot is not None,
    ),
    Spec(
        "decision.courses.rent_months",
        "month",
        label="Months that are rented before the purchase takes over",
        rule="months from the first use of what is rented to production on what is bought, rounded up; no fewer than the library’s",
        value=lambda at: float(_priced(at.result.courses.rent_first).months),
        inputs=lambda at: {
            "evidence:course-rent-first-months",
            "param:schedule.share_wanted",
            *inputs_of(at.bills.own[at.result.courses.base].production_weeks),
        },
        when=lambda at: at.result.courses.rent_first is not None,
    ),
)


def _amount(
    name: str,
    label: str,
    rule: str,
    value: Callable[[CoursesResult], Any],
    inputs: tuple[str, ...],
    priced: Callable[[CoursesResult], bool],
    *,
    digits: int = 3,
) -> Spec:
    """An amount of money of one course, (draws,), where it is priced."""
    return Spec(
        f"decision.courses.{name}",
        "usd",
        label=label,
        rule=rule,
        value=lambda at: value(at.result.courses),
        inputs=inputs,
        central="mean",
        digits=digits,
        when=lambda at: priced(at.result.courses),
    )


def _rents(found: CoursesResult) -> bool:
    return found.rent_first is not None


def _meets(found: CoursesResult) -> bool:
    return found.meeting is not None


_MET_BY = (DATE, HORIZON)
_MEETING = (
    _amount(
        "extra",
        "What it costs more to meet the date",
        "difference of present values, outcome by outcome, no price of delay in it",
        lambda found: _priced(found.meeting).extra,
        _MET_BY,
        _meets,
        digits=2,
    ),
    _amount(
        "late",
        "What being late costs that this saves",
        "weeks beyond the date × a week's hours at value less cost, and the price of delay",
        lambda found: _priced(found.meeting).late,
        _MET_BY,
        _meets,
        digits=2,
    ),
)


def _stop(name: str, unit: str, label: str, value: Callable[[Stop], int], inputs: tuple[str, ...]) -> EachSpec:
    """What a stage is planned as, by its number."""
    return EachSpec(
        f"decision.courses.{name}[stop]",
        unit,
        label=lambda _, number: f"{label} {number}",
        rule="as planned",
        value=lambda at, number: float(value(_growing(at).stops[int(number)])),
        inputs=inputs,
    )


def _stopped(
    name: str,
    label: str,
    rule: str,
    value: Callable[[Stop], Mapping[str, Any]],
    causes: Callable[[Stop], Mapping[str, Mapping[str, Any]]] = lambda _: {},
) -> PairSpec:
    """What a plan has cost that ends after a stage; `causes`: what that is the sum of, by option."""
    return PairSpec(
        f"decision.courses.{name}[stop][staged]",
        "usd",
        label=lambda at, number, option: f"{label} {_growing(at).stops[int(number)].gpus}: {at.names[option]}",
        rule=rule,
        value=lambda at, number, option: value(_growing(at).stops[int(number)])[option],
        inputs=(HORIZON,),
        central="mean",
        parts=lambda at, number, option: bill_parts(causes(_growing(at).stops[int(number)]).get(option, {})),
    )


def _staged(name: str, label: str, rule: str, value: Callable[[Growing], Mapping[str, Any]], planned: str) -> EachSpec:
    """What an option's stages cost to buy; `planned`: the key of the params that sizes them."""
    return EachSpec(
        f"decision.courses.{name}[staged]",
        "usd",
        label=lambda at, option: f"{label}: {at.names[option]}",
        rule=rule,
        value=lambda at, option: value(_growing(at))[option],
        inputs=(planned,),
        central="mean",
    )


_GPUS, _LATER = "param:cluster.gpus", "param:cluster.trajectory"
_STAGES = (
    _stop("stop_month", "count", "Month of stage", lambda stop: stop.month, (_LATER,)),
    _stop("stop_gpus", "gpus", "GPUs after stage", lambda stop: stop.gpus, (_GPUS, _LATER)),
    _stopped(
        "paid",
        "Paid where the plan ends at GPUs",
        "present value of the bill to the end of the horizon with no later stage, before lost time",
        lambda stop: stop.paid,
        lambda stop: stop.causes,
    ),
    _stopped(
        "wasted",
        "Of it for growth that did not come, at GPUs",
        "the same less that of the least network for this stage and those before it",
        lambda stop: stop.wasted,
    ),
    _staged(
        "first_whole",
        "Network and servers of the first stage",
        "purchase price of what the first stage needs, servers included",
        lambda growing: growing.whole,
        _GPUS,
    ),
    _staged(
        "left",
        "Network left to buy after the first stage",
        "present value of what the later stages add to the network",
        lambda growing: growing.left,
        _LATER,
    ),
)
_NODE = (_GPUS, "param:cluster.gpus_per_node")


def _single(at: DecisionContext) -> SingleNode:
    return at.result.courses.single


def _across(at: DecisionContext) -> tuple[Any, Any]:
    """What is paid for the same work across nodes on the option held against, and the time lost there at its value."""
    base = at.result.courses.base
    paid = at.bills.paid[base].total
    return paid, at.bills.totals[base] - paid


def _within(name: str, label: str, rule: str, value: Callable[[DecisionContext], Any]) -> Spec:
    """An amount of the work in jobs within nodes, where that is priced."""
    return Spec(
        f"decision.courses.{name}",
        "usd",
        label=lambda at: label.format(base=at.names[at.result.courses.base]),
        rule=rule,
        value=value,
        inputs=(HORIZON,),
        central="mean",
        when=lambda at: _single(at).total is not None,
    )


_SINGLE = (
    EachSpec(
        "decision.courses.single_part[paid]",
        "usd",
        label=lambda _, cause: f"Of the work in jobs within nodes: {inside(CAUSES[cause])}",
        rule="present value of what is paid for the servers and to run them",
        value=lambda at, cause: _single(at).causes[cause],
        inputs=(HORIZON,),
        central="mean",
    ),
    _within(
        "single_idle",
        "GPU time lost in jobs within nodes, at its value",
        "GPU time × value of a GPU-hour; below zero where jobs within nodes do more in an hour than those across them",
        lambda at: at.given.spread(_single(at).total - _single(at).cash),
    ),
    _within(
        "single_total",
        "Cost of the work in jobs within nodes over the horizon",
        "present value of what is paid and of GPU time lost at its value",
        lambda at: _single(at).total,
    ),
    _within(
        "single_cash",
        "Cash paid for the same work across nodes on {base} less that within nodes",
        "present value of all that is paid across nodes less that of servers, power, space and support, outcome by outcome",
        lambda at: at.given.spread(_across(at)[0] - _single(at).cash),
    ),
    _within(
        "single_lost",
        "GPU time lost across nodes on {base} less that lost in jobs within nodes, at its value",
        "GPU time × value of a GPU-hour, and the price of delay if one is stated, outcome by outcome",
        lambda at: at.given.spread(_across(at)[1] - (_single(at).total - _single(at).cash)),
    ),
    Spec(
        "decision.courses.single_time",
        "x",
        label="GPU time of the same work in jobs within nodes, over that across nodes",
        rule="useful share of running time across nodes ÷ that within nodes, at equal work",
        value=lambda at: _single(at).time,
        inputs=(*_NODE, "evidence:course-small-gpus"),
        central="mean",
        when=lambda at: _single(at).time is not None,
    ),
    Spec(
        "decision.courses.single_days",
        "day",
        label="Days of one run within a node",
        rule="days planned × nodes of the job × GPU time of the same work within a node over that across nodes",
        value=lambda at: _single(at).days,
        inputs=(*_NODE, *_RUN),
        digits=2,
        when=lambda at: _single(at).days is not None,
    ),
    Spec(
        "decision.courses.run_days",
        "day",
        label="Planned length of one run",
        rule="as stated, or the tokens at the central efficiency",
        value=lambda at: planned_days(at.given),
        inputs=_RUN,
        digits=2,
        when=lambda at: _single(at).days is not None,
    ),
)
_LEVEL = (
    Spec(
        "decision.courses.single_rent",
        "usd/gpu-hour",
        label="Rent of nodes without a fast network at which the same work costs as much",
        rule="mean rent × mean cost across nodes ÷ mean cost within nodes",
        value=lambda at: _single(at).level_rent,
        inputs=lambda at: inputs_of(_single(at).total),
        when=lambda at: _single(at).level_rent is not None,
    ),
    Spec(
        "decision.courses.rent_hour",
        "usd/gpu-hour",
        label="Rent across nodes that it stands beside",
        rule="mean of the outcomes of the rent",
        value=lambda at: _single(at).rent,
        central="mean",
        when=lambda at: _single(at).level_rent is not None,
    ),
)
COURSES = (*_LEVEL, *_ROWS, *_MEETING, *_LEARNING, *_STAGES, *_SINGLE)
"""Every figure of the courses of action."""
COURSE_INDEXES: dict[str, Index[DecisionContext]] = {
    "course": Index(lambda at: [row.key for row in at.result.courses.rows]),
    "paid": Index(lambda at: at.result.courses.single.causes),
    "stop": Index(lambda at: map(str, range(len(growing.stops))) if (growing := at.result.courses.growing) else ()),
    "staged": Index(lambda at: at.result.courses.growing.left if at.result.courses.growing else ()),
}
"""What their ids run through."""
