"""The courses of action of a case: each priced on the draws of the bills, and the one that the printed rule advises."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from fabricreport.chain import Chain
from fabricreport.inputs import Inputs
from fabricreport.models.judgement.comparison import Comparison, Course, expected_order
from fabricreport.models.judgement.courses import Offered, advised
from fabricreport.provenance import plain
from fabricreport.sections.client import rented
from fabricreport.sections.decision.courses import buying
from fabricreport.sections.decision.courses.result import (
    CHOICE,
    KIN,
    RIVAL,
    CoursesResult,
    Growing,
    Late,
    Learning,
    Meeting,
    PricedCourse,
    RentFirst,
    SingleNode,
)
from fabricreport.sections.decision.courses.single_node import single_node
from fabricreport.sections.decision.information.study import Information
from fabricreport.sections.decision.inputs import Judge, near_kin
from fabricreport.sections.tco.bills import Bills
from fabricreport.vocabulary import CourseKind, Ground

_QUOTES, _PILOT = "quotes", "pilot"
"""The tests (`evidence/information.yaml`) that two courses begin with."""
_TENDER, _TRIAL = "evidence:course-tender-weeks", "evidence:course-pilot-weeks"
"""How long each waits for what it shows."""


@dataclass(frozen=True)
class _Found:
    """What was priced, before it is put in rows."""

    offers: Learning | None = None
    pilot: Learning | None = None
    rent_first: RentFirst | None = None
    growing: Growing | None = None


def courses_of(
    given: Inputs, base: Chain, comparison: Comparison, judge: Judge, known: Information | None
) -> CoursesResult:
    """Every course of action that is priced for a case, and the one that is advised."""
    bills, verdict = base.bills, comparison.verdict
    pair = tuple(dict.fromkeys((verdict.choice, verdict.runner_up)))
    committing = judge.committing(bills)
    held = expected_order({o: bills.totals[o] for o in pair})[0] if verdict.open else verdict.choice
    able = all(o in committing for o in pair)
    owned = able and not rented(given) and verdict.decided_by != Ground.SIZE
    found = _owned(given, bills, pair, held, known) if owned else _Found()
    clauses = {o: buying.clause(given, bills, o) for o in pair} if owned else {}
    single = single_node(given, base, held)
    rows = tuple(_rows(given, bills, comparison, judge, held, found, clauses, single))
    the_plain = _plain(comparison, staged=found.growing is not None)
    ready = max(verdict.ready[o] for o in pair)
    late = buying.lateness(bills, held, bills.own[held].bring_up_weeks)
    chosen = advised(
        Offered(the_plain, _plain_against(the_plain, found.offers), ready, late=_mean(late.hours)),
        [
            Offered(r.course, _mean(r.against), r.ready, late=_mean(r.late.hours))
            for r in rows
            if r.ranked and r.kind in _RANKED
        ],
        materiality=verdict.materiality,
        ready_probability=judge.rule.ready_probability,
        date_stated=judge.weighing.date_stated,
    )
    return CoursesResult(
        base=held,
        plain=the_plain,
        advised=chosen.course,
        by_date=chosen.by_date,
        rows=rows,
        offers=found.offers,
        pilot=found.pilot,
        pilot_gpus=_pilot_gpus(given, found.pilot),
        meeting=_meeting(given, rows, chosen.in_time, late),
        rent_first=found.rent_first,
        clauses=clauses,
        growing=found.growing,
        single=single,
    )


_RANKED = (
    CourseKind.OFFERS,
    CourseKind.PILOT,
    CourseKind.RENT_FIRST,
    CourseKind.AHEAD,
    CourseKind.SINGLE_NODE,
)
"""Courses that may be advised in place of the plain one; which option is taken is for the comparison to say."""


def _mean(amount: Any) -> float:
    return float(np.mean(plain(amount)))


def _pilot_gpus(given: Inputs, pilot: Learning | None) -> int:
    """GPUs of a pilot on each fabric; none where there is no pilot."""
    cluster = given.params.cluster
    nodes = given.central("evidence:test-pilot-nodes")
    return int(min(nodes * cluster.gpus_per_node, cluster.gpus)) if pilot is not None else 0


def _meeting(given: Inputs, rows: Sequence[PricedCourse], in_time: Course | None, late: Late) -> Meeting | None:
    """What it takes to meet the date where the plain course is not likely to."""
    row = next((r for r in rows if r.course == in_time), None)
    if row is None:
        return None
    saved = late.delay - row.late.delay
    return Meeting(row.course, given.spread(row.against + saved), given.spread(late.total - row.late.total))


def _plain(comparison: Comparison, *, staged: bool) -> Course:
    """The plain course: what the comparison advises, for the first stage alone where the plan has several."""
    found = comparison.verdict.course
    return Course(CourseKind.STAGE_ONE, found.options) if staged and found.kind == CourseKind.TAKE else found


def _plain_against(course: Course, offers: Learning | None) -> float:
    """Mean cost of the plain course against taking the option it is held against: what two offers tell, if it is to ask."""
    if course.kind != CourseKind.EITHER or offers is None:
        return 0.0
    return float(np.mean(plain(offers.net)))


def _owned(given: Inputs, bills: Bills, pair: Sequence[str], held: str, known: Information | None) -> _Found:
    """What an owner may do beside signing."""
    common = bills.common
    months = int(given.central("evidence:course-rent-first-months"))
    tests = known if len(pair) > 1 else None
    grows = common.stages[-1][1] > common.stages[0][1]
    return _Found(
        offers=buying.learning(given, bills, held, tests.tried(_QUOTES), _TENDER) if tests else None,
        pilot=buying.learning(given, bills, held, tests.tried(_PILOT), _TRIAL) if tests else None,
        rent_first=buying.rent_first(given, bills, held, months) if 0 < months < common.months else None,
        growing=buying.growing(given, bills, pair, held) if grows else None,
    )


def _rows(
    given: Inputs,
    bills: Bills,
    comparison: Comparison,
    judge: Judge,
    held: str,
    found: _Found,
    clauses: Any,
    single: SingleNode,
) -> Iterator[PricedCourse]:
    verdict, allowed = comparison.verdict, judge.weeks_allowed
    total, weeks = bills.totals[held], bills.own[held].bring_up_weeks
    pair = (verdict.choice, verdict.runner_up)

    def ready(later: Any = 0.0, factor: Any = 1.0) -> float:
        return float(np.mean(plain(given.spread(weeks * factor + later)) <= allowed))

    def about(kind: CourseKind, *options: str) -> Course:
        return Course(kind, options or (pair if verdict.open else (held,)))

    kin = near_kin(judge, bills, verdict)
    taken = dict(zip((CHOICE, RIVAL), dict.fromkeys(pair), strict=False)) | ({KIN: kin} if kin else {})
    for key, option in taken.items():
        yield PricedCourse(
            key, about(CourseKind.TAKE, option), given.spread(bills.gap(option, held)), verdict.ready[option]
        )
    for kind, learning, wait in (
        (CourseKind.OFFERS, found.offers, _TENDER),
        (CourseKind.PILOT, found.pilot, _TRIAL),
    ):
        if learning is not None:
            net = given.spread(learning.net)
            yield PricedCourse(str(kind), about(kind, *pair), net, ready(given.value(wait)))
    if found.rent_first is not None:
        against = found.rent_first.total - total
        factor = given.value("evidence:rented-bring-up-factor")
        kind, late = CourseKind.RENT_FIRST, buying.lateness(bills, held, weeks * factor)
        yield PricedCourse(str(kind), about(kind), against, ready(factor=factor), late=late)
    if held in clauses:
        kind = CourseKind.DAMAGES
        yield PricedCourse(str(kind), about(kind), -clauses[held].paid, verdict.ready[held], ranked=False)
    if found.growing is not None:
        kind = CourseKind.AHEAD
        late = buying.lateness(bills, held, weeks)
        yield PricedCourse(str(kind), about(kind), found.growing.ahead, verdict.ready[held], late=late)
    if single.total is not None:
        kind = CourseKind.SINGLE_NODE
        yield PricedCourse(str(kind), about(kind), given.spread(single.total - total), 1.0, ranked=single.soon)
