"""Figures of the courses of action: what each costs beside the plain one, and what that is made of."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from fabricreport.figures import FigureSpec, Footing, Index
from fabricreport.provenance import inputs_of, plain
from fabricreport.sections.client import planned_days
from fabricreport.sections.decision.courses.result import Clause, Growing, Learning, PricedCourse
from fabricreport.sections.decision.figure_context import DecisionFigures, EachSpec, Spec
from fabricreport.vocabulary import CourseKind

PairSpec = FigureSpec[DecisionFigures, str, str]
_DATE = "param:organisation.time_to_production_weeks"
_LEARNT = (str(CourseKind.OFFERS), str(CourseKind.PILOT))
_ADDS: dict[str, tuple[str, ...]] = {
    CourseKind.OFFERS: ("evidence:course-tender-weeks",),
    CourseKind.PILOT: ("evidence:course-pilot-weeks",),
    CourseKind.RENT_FIRST: ("evidence:rented-bring-up-factor",),
}
_HORIZON = ("param:money.horizon_months",)
_RUN = ("param:workload.run_days",)
_TEST_OF = {CourseKind.OFFERS: "quotes", CourseKind.PILOT: "pilot"}


def _row(at: DecisionFigures, key: str) -> PricedCourse:
    row = at.result.courses.row(key)
    assert row is not None
    return row


def _learning(at: DecisionFigures, kind: str) -> Learning:
    found = at.result.courses.offers if kind == CourseKind.OFFERS else at.result.courses.pilot
    assert found is not None
    return found


def _learnt(at: DecisionFigures) -> tuple[str, ...]:
    found = {_LEARNT[0]: at.result.courses.offers, _LEARNT[1]: at.result.courses.pilot}
    return tuple(kind for kind, learning in found.items() if learning is not None)


def _behind(at: DecisionFigures, kind: str) -> Footing:
    known = at.result.information
    test = known.tried(_TEST_OF[CourseKind(kind)]) if known else None
    return {*known.rests_on, *test.probe.entries} if known and test else at.everything


def _growing(at: DecisionFigures) -> Growing:
    assert at.result.courses.growing is not None
    return at.result.courses.growing


_ROWS = (
    EachSpec(
        "decision.courses.against[course]",
        "usd",
        label=lambda at, key: f"Cost of the course {key} less that of {at.names[at.result.courses.base]} as it stands",
        rule="difference of present values over the horizon, draw by draw; what is found out counts by its mean",
        value=lambda at, key: _row(at, key).against,
        inputs=lambda at, key: (*_HORIZON, *(_behind(at, key) if key in _LEARNT else ())),
        central="mean",
        when=lambda at, key: not at.result.courses.is_base(_row(at, key)),
    ),
    EachSpec(
        "decision.courses.ready[course]",
        "share",
        label=lambda _, key: f"Chance of being stable by the client's date on the course {key}",
        rule="share of draws with weeks to stable, and weeks waited before, ≤ weeks to production",
        value=lambda at, key: _row(at, key).ready,
        inputs=lambda at, key: {
            *inputs_of(at.bills.own[_row(at, key).course.options[0]].bring_up_weeks),
            *_ADDS.get(key, ()),
            _DATE,
        },
        digits=2,
    ),
)


_LEARNING = (
    EachSpec(
        "decision.courses.waiting[learning]",
        "usd",
        label=lambda _, kind: f"What the wait costs: {kind}",
        rule="weeks by which the date is missed and was not before × a week's hours at value less cost, and price of delay",
        value=lambda at, kind: at.given.spread(_learning(at, kind).waiting),
        inputs=_HORIZON,
        central="mean",
        digits=2,
    ),
    Spec(
        "decision.courses.pilot_gpus",
        "gpus",
        label="GPUs of a pilot on each fabric",
        rule="those of the library, or the first stage's where it has fewer",
        value=lambda at: float(at.result.courses.pilot_gpus),
        inputs=("evidence:test-pilot-nodes", "param:cluster.gpus"),
        when=lambda at: at.result.courses.pilot is not None,
    ),
)


def _rent(name: str, label: str, rule: str) -> Spec:
    return Spec(
        f"decision.courses.{name}",
        "usd",
        label=label,
        rule=rule,
        value=lambda at: getattr(at.result.courses.rent_first, name),
        inputs=("evidence:course-rent-first-months",),
        central="mean",
        when=lambda at: at.result.courses.rent_first is not None,
    )


_RENT = (
    _rent(
        "rent",
        "Rent of the first months",
        "present GPU-hours of these months × (market rent + share of their time lost × value of a lost hour)",
    ),
    _rent("after", "Cost from the purchase on", "the bill over the rest of the horizon, bought at its month"),
)


def _term(
    name: str, unit: str, label: str, rule: str, value: Callable[[Clause], Any], inputs: tuple[str, ...]
) -> EachSpec:
    """A figure of the clause on an option."""
    return EachSpec(
        f"decision.courses.{name}[clause]",
        unit,
        label=lambda at, option: f"{label}: {at.names[option]}",
        rule=rule,
        value=lambda at, option: value(at.result.courses.clauses[option]),
        inputs=lambda at, option: {*inputs_of(at.result.courses.clauses[option].paid), *inputs},
        central="mean",
        digits=2,
    )


_PROMISED = ("evidence:course-damages-promised", _DATE)
_SHARE = ("evidence:course-damages-share", *_PROMISED)
_CAP = ("evidence:course-damages-cap", *_SHARE)
_CLAUSES = (
    _term(
        "promised",
        "week",
        "Week by which stable is promised",
        "percentile of weeks to stable, in whole weeks, and no later than the client's date",
        lambda c: c.promised_weeks,
        _PROMISED,
    ),
    _term(
        "per_week",
        "usd",
        "Damages for each week after it",
        "share × mean loss of a week: GPUs × hours × (1 − productivity) × value, and the price of delay from the date on",
        lambda c: float(np.mean(plain(c.usd_per_week))),
        _SHARE,
    ),
    _term("cap", "usd", "Most that is paid", "share of the fabric of the first stage", lambda c: c.cap_usd, _CAP),
    _term(
        "clause_worth",
        "usd",
        "What the clause is worth",
        "mean over the draws of min(weeks late × sum for a week, cap)",
        lambda c: c.paid,
        _CAP,
    ),
    _term(
        "weeks_cost",
        "usd",
        "P95 of what the weeks until stable cost",
        "95th percentile of weeks to stable × loss of a week",
        lambda c: float(np.quantile(plain(c.weeks_cost), 0.95)),
        _PROMISED,
    ),
    _term(
        "weeks_left",
        "usd",
        "The same with the clause",
        "95th percentile of weeks to stable × loss of a week − damages",
        lambda c: float(np.quantile(plain(c.weeks_cost) - plain(c.paid), 0.95)),
        _CAP,
    ),
)


def _stopped(what: str, label: str, rule: str) -> PairSpec:
    """What a plan has cost that ends after a stage."""
    return PairSpec(
        f"decision.courses.{what}[stop][staged]",
        "usd",
        label=lambda at, number, option: f"{label} {_growing(at).stops[int(number)].gpus}: {at.names[option]}",
        rule=rule,
        value=lambda at, number, option: getattr(_growing(at).stops[int(number)], what)[option],
        inputs=_HORIZON,
        central="mean",
    )


_STAGES = (
    EachSpec(
        "decision.courses.stop_month[stop]",
        "count",
        label=lambda _, number: f"Month of stage {number}",
        rule="as planned",
        value=lambda at, number: float(_growing(at).stops[int(number)].month),
        inputs=("param:cluster.trajectory",),
    ),
    EachSpec(
        "decision.courses.stop_gpus[stop]",
        "gpus",
        label=lambda _, number: f"GPUs after stage {number}",
        rule="as planned",
        value=lambda at, number: float(_growing(at).stops[int(number)].gpus),
        inputs=("param:cluster.gpus", "param:cluster.trajectory"),
    ),
    _stopped(
        "paid",
        "Paid where the plan ends at GPUs",
        "present value of the bill to the end of the horizon with no later stage, before lost time",
    ),
    _stopped(
        "wasted",
        "Of it for growth that did not come, at GPUs",
        "the same less that of the least fabric for this stage and those before it",
    ),
    EachSpec(
        "decision.courses.first_fabric[staged]",
        "usd",
        label=lambda at, option: f"Fabric of the first stage: {at.names[option]}",
        rule="purchase price of what the first stage needs of the fabric",
        value=lambda at, option: _growing(at).first[option],
        inputs=("param:cluster.gpus",),
        central="mean",
    ),
    EachSpec(
        "decision.courses.first_whole[staged]",
        "usd",
        label=lambda at, option: f"Fabric and servers of the first stage: {at.names[option]}",
        rule="purchase price of what the first stage needs, servers included",
        value=lambda at, option: _growing(at).whole[option],
        inputs=("param:cluster.gpus",),
        central="mean",
    ),
    EachSpec(
        "decision.courses.left[staged]",
        "usd",
        label=lambda at, option: f"Fabric left to buy after the first stage: {at.names[option]}",
        rule="present value of what the later stages add to the fabric",
        value=lambda at, option: _growing(at).left[option],
        inputs=("param:cluster.trajectory",),
        central="mean",
    ),
)
_SINGLE = (
    Spec(
        "decision.courses.single_time",
        "x",
        label="GPU time of the same work in jobs within nodes, over that across nodes",
        rule="useful share of running time across nodes ÷ that within nodes, at equal work",
        value=lambda at: at.result.courses.single.time,
        inputs=("param:cluster.gpus", "param:cluster.gpus_per_node", "evidence:course-small-gpus"),
        central="mean",
        when=lambda at: at.result.courses.single.time is not None,
    ),
    Spec(
        "decision.courses.single_days",
        "day",
        label="Days of one run within a node",
        rule="days planned × nodes of the job × GPU time of the same work within a node over that across nodes",
        value=lambda at: at.result.courses.single.days,
        inputs=("param:cluster.gpus", "param:cluster.gpus_per_node", *_RUN),
        central="mean",
        digits=2,
        when=lambda at: at.result.courses.single.days is not None,
    ),
    Spec(
        "decision.courses.run_days",
        "day",
        label="Days of one run as planned",
        rule="as stated, or the tokens at the central efficiency",
        value=lambda at: planned_days(at.given),
        inputs=_RUN,
        digits=2,
        when=lambda at: at.result.courses.single.days is not None,
    ),
)


def _meets(name: str, label: str, rule: str) -> Spec:
    return Spec(
        f"decision.courses.{name}",
        "usd",
        label=label,
        rule=rule,
        value=lambda at: getattr(at.result.courses.meeting, name),
        inputs=(_DATE, *_HORIZON),
        central="mean",
        digits=2,
        when=lambda at: at.result.courses.meeting is not None,
    )


_MEETING = (
    _meets(
        "extra",
        "What it costs more to meet the date",
        "difference of present values, draw by draw, no price of delay in it",
    ),
    _meets(
        "late",
        "What being late costs that this saves",
        "weeks beyond the date × a week's hours at value less cost, and the price of delay",
    ),
)
_LEVEL = (
    Spec(
        "decision.courses.single_rent",
        "usd/gpu-hour",
        label="Rent of nodes without a fast network at which the same work costs as much",
        rule="mean rent × mean cost across nodes ÷ mean cost within nodes",
        value=lambda at: at.result.courses.single.level_rent,
        inputs=lambda at: inputs_of(at.result.courses.single.total),
        when=lambda at: at.result.courses.single.level_rent is not None,
    ),
    Spec(
        "decision.courses.rent_hour",
        "usd/gpu-hour",
        label="Rent across nodes that it stands beside",
        rule="mean of the draws of the market's rent",
        value=lambda at: at.result.courses.single.rent,
        central="mean",
        when=lambda at: at.result.courses.single.level_rent is not None,
    ),
)
COURSES = (*_LEVEL, *_ROWS, *_MEETING, *_LEARNING, *_RENT, *_CLAUSES, *_STAGES, *_SINGLE)
"""Every figure of the courses of action."""
COURSE_INDEXES: dict[str, Index[DecisionFigures]] = {
    "course": Index(lambda at: [row.key for row in at.result.courses.rows]),
    "learning": Index(_learnt, _LEARNT),
    "clause": Index(lambda at: at.result.courses.clauses),
    "stop": Index(lambda at: map(str, range(len(growing.stops))) if (growing := at.result.courses.growing) else ()),
    "staged": Index(lambda at: at.result.courses.growing.left if at.result.courses.growing else ()),
}
"""What their ids run through."""
