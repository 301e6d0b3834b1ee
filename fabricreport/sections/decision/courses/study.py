"""The courses of action of a case: each priced on the draws of the bills, the one that the printed rule advises, and how sure that is."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fabricreport.base.provenance import mean_of, plain
from fabricreport.base.vocabulary import CourseKind, Ground
from fabricreport.inputs.inputs import Inputs
from fabricreport.models.judgement.choice import Offered, Sure, advised, following, sure
from fabricreport.models.judgement.comparison import Comparison, Course, Verdict, expected_order
from fabricreport.sections.chain import Chain
from fabricreport.sections.client import one_node
from fabricreport.sections.decision.courses import alternatives
from fabricreport.sections.decision.courses.alternatives import single_node
from fabricreport.sections.decision.courses.result import (
    CHOICE,
    KIN,
    RIVAL,
    TEST_OF,
    Beside,
    Clause,
    CoursesResult,
    Late,
    Learning,
    Meeting,
    PricedCourse,
    SingleNode,
    clock_of,
)
from fabricreport.sections.decision.information import Information, Knowledge
from fabricreport.sections.decision.inputs import Judge, near_kin
from fabricreport.sections.decision.offers.study import OffersResult
from fabricreport.sections.tco.result import Bills


@dataclass(frozen=True)
class _Held:
    """A case whose courses are priced, and the `option` that each is held against."""

    given: Inputs
    bills: Bills
    judge: Judge
    verdict: Verdict
    option: str

    @property
    def pair(self) -> tuple[str, ...]:
        """The two compared; one where only one is."""
        return tuple(dict.fromkeys(self.verdict.pair))

    def ready(self, weeks: Any) -> float:
        """Chance that production begins by the client's date where it begins so many weeks after the memo's."""
        return float(np.mean(plain(self.given.spread(weeks)) <= self.judge.weeks_allowed))

    def late(self, weeks: Any) -> Late:
        """What it costs that it begins after the client's date."""
        return alternatives.lateness(self.bills, self.option, weeks)

    def about(self, kind: CourseKind, *options: str) -> Course:
        """A course on these options; if none is named, on the one held, or on both where none is advised over the other."""
        return Course(kind, options or (self.pair if self.verdict.open else (self.option,)))


def courses_of(
    given: Inputs, base: Chain, comparison: Comparison, judge: Judge, known: Information | None
) -> CoursesResult:
    """Every course of action that is priced for a case, and the one that is advised; `known`: what could be found out."""
    at = _held(given, base.bills, comparison, judge)
    single = single_node(given, base, at.option)
    found = _owned(at, single, known) if _buys(at) else Beside(single=single)
    rows = tuple(_rows(at, found))
    the_plain = _plain(comparison, staged=found.growing is not None)
    weeks = clock_of(given, base.bills, the_plain, at.option).production
    late = at.late(base.bills.own[at.option].production_weeks)  # what a wait adds is in the cost of asking
    chosen = advised(
        Offered(
            the_plain,
            _plain_against(the_plain, found.offers),
            at.ready(weeks),
            late=mean_of(late.hours),
        ),
        [
            Offered(r.course, mean_of(r.against), r.ready, late=mean_of(r.late.hours))
            for r in rows
            if r.ranked and r.kind in _RANKED
        ],
        materiality=at.verdict.materiality,
        ready_probability=judge.rule.ready_probability,
        date_stated=judge.weighing.date_stated,
    )
    tuned = chosen.course.kind != CourseKind.SINGLE_NODE  # else nobody promises weeks until a network is stable
    return CoursesResult(
        **vars(found if tuned else replace(found, clauses={})),
        base=at.option,
        plain=the_plain,
        advised=chosen.course,
        by_date=chosen.by_date,
        rows=tuple(row for row in rows if tuned or row.kind != CourseKind.DAMAGES),
        pilot_gpus=_pilot_gpus(given, found.pilot),
        meeting=_meeting(given, rows, chosen.in_time, late),
    )


def _held(given: Inputs, bills: Bills, comparison: Comparison, judge: Judge) -> _Held:
    """The case, its courses held against the choice, or where none is advised over the other the cheaper of the two."""
    verdict = comparison.verdict
    found = _Held(given, bills, judge, verdict, verdict.choice)
    return replace(found, option=expected_order({o: bills.totals[o] for o in found.pair})[0]) if verdict.open else found


def _buys(at: _Held) -> bool:
    """Whether the client is one who owns, and the fabric is worth a course of its own."""
    return not at.given.team.rented and at.verdict.decided_by != Ground.SIZE


_RANKED = (
    CourseKind.OFFERS,
    CourseKind.PILOT,
    CourseKind.RENT_FIRST,
    CourseKind.AHEAD,
    CourseKind.SINGLE_NODE,
)
"""Courses that may be advised in place of the plain one; which option is taken is for the comparison to say."""


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
    return mean_of(offers.net)


def _owned(at: _Held, single: SingleNode, known: Information | None) -> Beside:
    """What an owner may do beside signing."""
    given, bills, common = at.given, at.bills, at.bills.common
    months = alternatives.months_of_rent(given, bills, at.option)
    tests = known if len(at.pair) > 1 else None
    grows = common.stages[-1][1] > common.stages[0][1]
    return Beside(
        single=single,
        offers=alternatives.learning(given, bills, at.option, CourseKind.OFFERS, tests) if tests else None,
        pilot=alternatives.learning(given, bills, at.option, CourseKind.PILOT, tests) if tests else None,
        rent_first=alternatives.rent_first(given, bills, at.option, months) if 0 < months < common.months else None,
        clauses=_clauses(at),
        growing=alternatives.growing(given, bills, at.pair, at.option) if grows else None,
    )


def _clauses(at: _Held) -> Mapping[str, Clause]:
    """Damages on either of the two, in one unit of time; none where the first order is one node, in which nothing is tuned."""
    if one_node(at.given, int(at.given.params.cluster.gpus)):
        return {}
    found: dict[str, Clause] = {}
    for option in at.pair:
        unit = next(iter(found.values())).terms.unit if found else ""
        found[option] = alternatives.clause(at.given, at.bills, option, unit=unit)
    return found


def _rows(at: _Held, found: Beside) -> Iterator[PricedCourse]:
    """A row for each course that is priced, the two compared first."""
    yield from _taken(at)
    for kind, learning in ((CourseKind.OFFERS, found.offers), (CourseKind.PILOT, found.pilot)):
        if learning is not None:
            course = at.about(kind, *at.pair)
            ready = at.ready(clock_of(at.given, at.bills, course, at.option).production)
            yield PricedCourse(str(kind), course, at.given.spread(learning.net), ready)
    total, in_time = at.bills.totals[at.option], at.verdict.ready[at.option]
    if found.rent_first is not None:
        course = at.about(CourseKind.RENT_FIRST)
        weeks = clock_of(at.given, at.bills, course, at.option).production
        yield PricedCourse(
            str(course.kind), course, found.rent_first.total - total, at.ready(weeks), late=at.late(weeks)
        )
    if at.option in found.clauses:
        kind = CourseKind.DAMAGES
        yield PricedCourse(str(kind), at.about(kind), -found.clauses[at.option].paid, in_time, ranked=False)
    if found.growing is not None:
        kind = CourseKind.AHEAD
        late = at.late(at.bills.own[at.option].production_weeks)
        yield PricedCourse(str(kind), at.about(kind), found.growing.ahead, in_time, late=late)
    if found.single.total is not None:
        course, against = at.about(CourseKind.SINGLE_NODE), at.given.spread(found.single.total - total)
        weeks = clock_of(at.given, at.bills, course, at.option).production
        yield PricedCourse(str(course.kind), course, against, at.ready(weeks), ranked=found.single.soon)


def _taken(at: _Held) -> Iterator[PricedCourse]:
    """The two compared as they stand, and the near kin of the choice."""
    kin = near_kin(at.judge, at.verdict)
    taken = dict(zip((CHOICE, RIVAL), at.pair, strict=False)) | ({KIN: kin} if kin else {})
    for key, option in taken.items():
        against = at.given.spread(at.bills.gap(option, at.option))
        yield PricedCourse(key, at.about(CourseKind.TAKE, option), against, at.verdict.ready[option])


Draws = NDArray[np.float64]
_TAKE = f"{CourseKind.TAKE}:"
RENTS = "rents"
"""The test (`data/information.yaml`) that asking sellers for binding rents is."""


@dataclass(frozen=True)
class _Acts:
    """What the acts of one client that owns are made of: amounts are held against the option that the courses are."""

    bills: Bills
    courses: CoursesResult
    known: Information | None
    knowing: Knowledge
    dated: bool

    def take(self, option: str) -> Draws:
        """Taking an option now, and what it costs to be later than a date that was stated."""
        weeks = self.bills.own[option].bring_up_weeks
        late = alternatives.lateness(self.bills, option, weeks).hours if self.dated else 0.0
        return self._drawn(self.bills.gap(option, self.courses.base) + late)

    def learn(self, row: PricedCourse, learning: Learning) -> Draws:
        """What finding out costs, the wait, and the option that is then taken by what was found."""
        able = [o for o in row.course.options if o in self.knowing.options]
        test = self.known.tried(TEST_OF[row.kind]) if self.known else None
        spent = self._drawn(learning.cost + learning.waiting)
        if test is None or not able:
            return spent + self.take(self.courses.base)
        costs = np.column_stack([self.take(o) for o in able])
        return spent + following(self.knowing.led_to(test.shows, able), costs)

    def beforehand(self) -> Iterator[tuple[str, Draws]]:
        """Acts that say beforehand what is taken: every option, and the courses that find nothing out."""
        yield from ((f"{_TAKE}{o}", self.take(o)) for o in self.knowing.options)
        for row in self.courses.rows:
            if row.ranked and row.kind not in (CourseKind.TAKE, *TEST_OF):
                yield row.key, self._drawn(row.against + (row.late.hours if self.dated else 0.0))

    def advised(self, others: Mapping[str, Draws]) -> tuple[str, Draws | None]:
        """The key of the advised act, and what it costs; None where that is not known."""
        kind = self.courses.advised.kind
        if kind in (CourseKind.TAKE, CourseKind.STAGE_ONE):
            return f"{_TAKE}{self.courses.base}", self.take(self.courses.base)
        key = str(CourseKind.OFFERS if kind == CourseKind.EITHER else kind)
        learning = {str(CourseKind.OFFERS): self.courses.offers, str(CourseKind.PILOT): self.courses.pilot}.get(key)
        row = self.courses.row(key)
        return key, self.learn(row, learning) if row and learning else others.get(key)

    def _drawn(self, amount: Any) -> Draws:
        """An amount by draw."""
        return np.broadcast_to(plain(amount), (len(self.knowing.costs),))


def sure_of(
    bills: Bills,
    verdict: Verdict,
    found: CoursesResult,
    known: Information | None,
    knowing: Knowledge,
    *,
    dated: bool,
    close: Callable[[str, str], float],
) -> Sure | None:
    """How sure the advised act is: of two options the margin is what makes these two `close`, as where another is advised;
    else what makes the two compared so.

    Of a client that rents, the act is to ask the sellers to ask first. None where there is no other act.
    """
    if not knowing.choice:
        return None
    if knowing.offers is not None:
        others: dict[str, Draws] = dict(zip(knowing.options, knowing.costs.T, strict=True))
        key, act = RENTS, _asking(knowing, knowing.offers, known, others)
    else:
        acts = _Acts(bills, found, known, knowing, dated)
        others = dict(acts.beforehand())
        key, act = acts.advised(others)
    others.pop(key, None)

    def margin(other: str) -> float:
        options = [one.removeprefix(_TAKE) for one in (key, other) if one.startswith(_TAKE)]
        return close(*options) if len(options) > 1 else verdict.materiality

    return sure(act, others, margin) if act is not None and others else None


def _asking(
    knowing: Knowledge, offers: OffersResult, known: Information | None, now: Mapping[str, Draws]
) -> Draws | None:
    """Asking the sellers to ask first before one of them is signed with, where `now` is signing as each is priced now."""
    asked = [o for o in offers.asked if o in now]
    test = known.tried(RENTS) if known else None
    if test is None or not asked:
        return None
    chosen = knowing.led_to(test.shows, asked)
    return plain(test.cost) + following(chosen, np.column_stack([now[o] for o in asked]))
