"""What is found of the courses of action, and when each step of one is met, on one clock for all of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date, timedelta
from enum import StrEnum
from math import ceil, floor
from typing import Any

import numpy as np

from fabricreport.base.provenance import inputs_of, plain
from fabricreport.base.units import DAYS_PER_WEEK
from fabricreport.base.vocabulary import CourseKind
from fabricreport.inputs.inputs import Inputs
from fabricreport.models.information import Estimate
from fabricreport.models.judgement.comparison import Course
from fabricreport.sections.arrivals import hired, in_nodes
from fabricreport.sections.diligence.terms import Damages
from fabricreport.sections.schedule import LEAD, Calendar, Clock, Step, calendar_of, quantile, working_day_until
from fabricreport.sections.tco.result import Bills

CHOICE, RIVAL, KIN = "choice", "rival", "kin"
"""Keys of the rows of the two options compared and of the choice's near kin; any other course goes by its own kind."""
TEST_OF: Mapping[str, str] = {CourseKind.OFFERS: "quotes", CourseKind.PILOT: "pilot"}
"""The test (`data/information.yaml`) that a course begins with."""
WAIT_OF: Mapping[str, str] = {
    CourseKind.OFFERS: "evidence:course-tender-weeks",
    CourseKind.PILOT: "evidence:course-pilot-weeks",
}
"""The entry of the weeks that it waits for what the test shows."""
RENTED_WEEKS = "evidence:rented-bring-up-factor"
"""The entry of the weeks until a rented network is stable, as a factor of those of one that is bought."""


@dataclass(frozen=True)
class Late:
    """What being later than the client's date costs (draws,): the `delay` at the client's price, which totals have in them,
    and the `hours` not had at their value less their cost, which they have not."""

    delay: Any = 0.0
    hours: Any = 0.0

    @property
    def total(self) -> Any:
        """Both."""
        return self.delay + self.hours


@dataclass(frozen=True)
class PricedCourse:
    """A course of action: what it costs `against` the plain one ((draws,), or a mean where only that is known), and its
    chance of being `ready` by the client's date. `ranked`: whether its cost is known in full, so that it may be advised.
    `late`: what it costs where it is later than that."""

    key: str
    course: Course
    against: Any
    ready: float
    ranked: bool = True
    late: Late = Late()

    @property
    def kind(self) -> CourseKind:
        """What is done."""
        return self.course.kind


@dataclass(frozen=True)
class Meeting:
    """The cheapest course that is likely to meet the date where the plain one is not: what it costs `extra` before any
    price of delay, and what being `late` costs that it saves, both (draws,)."""

    course: Course
    extra: Any
    late: Any


@dataclass(frozen=True)
class Learning:
    """Finding something out before one of the two is taken: what it is worth on average, what it costs, and the wait.

    Worth and `cost` are those of the test (`TEST_OF`) among what could be found out, `waiting` alone is the course's;
    both (draws,)."""

    worth: Estimate
    cost: Any
    waiting: Any

    @property
    def net(self) -> Any:
        """Cost less worth: below zero where finding out pays."""
        return self.cost + self.waiting - self.worth.value


@dataclass(frozen=True)
class Clause:
    """Damages on one option: the terms for weeks until stable, and what is `paid` by draw."""

    terms: Damages
    paid: Any


@dataclass(frozen=True)
class RentFirst:
    """Renting first and taking an option later: for how many months, the rent, and what is paid and lost from then on, by draw."""

    option: str
    months: int
    rent: Any
    after: Any

    @property
    def total(self) -> Any:
        """Cost over the same horizon (draws,)."""
        return self.rent + self.after


@dataclass(frozen=True)
class Stop:
    """A plan that ends after a stage: what was paid to the end of the horizon, before lost time, and what of it was for
    growth that did not come; by option id. `causes`: what `paid` is the sum of."""

    month: int
    gpus: int
    paid: Mapping[str, Any]
    wasted: Mapping[str, Any]
    causes: Mapping[str, Mapping[str, Any]]


@dataclass(frozen=True)
class Growing:
    """A plan in stages: ending after each of them, and by option id what of the fabric is `left` to buy after the first
    (present value); `ahead`: what ordering all of the fabric at the start adds. All (draws,)."""

    stops: tuple[Stop, ...]
    left: Mapping[str, Any]
    ahead: Any


class OneNode(StrEnum):
    """Whether the same work can be done in jobs within single nodes."""

    PRICED = "priced"
    NO_ROOM = "the model has no room in the memory of a node"
    ONE_RUN = "one run cannot be cut into jobs of its own"
    NO_MODEL = "no memory of a simulation is known"
    NOT_ASKED = "not asked: a single node already, a larger client, or jobs of stated sizes"


@dataclass(frozen=True)
class SingleNode:
    """The same work in jobs within nodes: whether it can be, what it costs (draws,) and what of that is paid (`cash`), and GPU
    time for the same work over that across nodes (draws,). `level_rent`: of a renter the mean rent at which both cost the same, beside the `rent` across nodes.
    `days`: what a run takes within a node (draws,), None where it takes no longer than now; `soon`: whether that is soon
    enough for the course to be advised. `causes`: of an owner what is paid, by cause. `memory`: where a model that is trained has
    no room, the GB that it takes at the least in a node, and those that a node has for it."""

    standing: OneNode
    total: Any = None
    time: Any = None
    level_rent: Any = None
    rent: Any = None
    days: Any = None
    soon: bool = True
    cash: Any = None
    causes: Mapping[str, Any] = field(default_factory=dict)
    memory: tuple[float, float] | None = None


@dataclass(frozen=True, kw_only=True)
class Beside:
    """What a client may do beside signing, each priced on its own; `clauses` by option id."""

    single: SingleNode
    offers: Learning | None = None
    pilot: Learning | None = None
    rent_first: RentFirst | None = None
    clauses: Mapping[str, Clause] = field(default_factory=dict)
    growing: Growing | None = None


@dataclass(frozen=True, kw_only=True)
class CoursesResult(Beside):
    """Every course of action that is priced, the plain one, and the one that is advised.

    `base`: the option whose cost the others are held against. `by_date`: the advised course is so for the client's date.
    `meeting`: what it takes to meet a date that the plain course is not likely to meet; None where it does or nothing can.
    """

    base: str
    plain: Course
    advised: Course
    by_date: bool
    rows: tuple[PricedCourse, ...]
    pilot_gpus: int
    meeting: Meeting | None

    @property
    def involved(self) -> bool:
        """Whether more is advised than the plain course."""
        return self.advised.id != self.plain.id

    def is_base(self, row: PricedCourse) -> bool:
        """Whether a row is the one that the others are held against."""
        return row.kind == CourseKind.TAKE and row.course.options == (self.base,)

    def row(self, key: str) -> PricedCourse | None:
        """The row of that key, if it is priced."""
        return next((row for row in self.rows if row.key == key), None)

    def told_as(self, row: PricedCourse) -> str:
        """What `data/courses.yaml` has a row under."""
        staged = self.growing is not None
        if row.kind == CourseKind.DAMAGES:
            return "stage-one-damages" if staged else row.kind
        if row.kind == CourseKind.SINGLE_NODE and self.single.days is not None:
            return "single-run"
        return CourseKind.STAGE_ONE if staged and row.kind == CourseKind.TAKE else row.kind


ASKS = (CourseKind.OFFERS, CourseKind.EITHER, CourseKind.PILOT)
"""Courses of an owner that order only once they have an answer."""


def clock_of(given: Inputs, bills: Bills, course: Course, option: str) -> Clock:
    """When each step of a course is met, (draws,); `option`: the one that is taken in the end."""
    own = bills.own[option]
    arrival, stable = own.arrival, own.bring_up_weeks
    if course.kind == CourseKind.RENT_FIRST:
        arrival, stable = hired(given), stable * given.value(RENTED_WEEKS)
    elif course.kind == CourseKind.SINGLE_NODE:
        arrival, stable = in_nodes(given), 0.0
    wait: Any = 0.0
    if course.kind in ASKS and not given.team.rented:
        wait = given.value(WAIT_OF.get(course.kind, WAIT_OF[CourseKind.OFFERS]))
    ordered = wait + arrival.order
    delivered = ordered + arrival.lead
    powered = delivered + arrival.installation
    steps = (wait, ordered, delivered, powered, powered + stable, wait + arrival.production(stable))
    return Clock(*(given.spread(weeks) for weeks in steps))


@dataclass(frozen=True)
class Kept:
    """The last working `day` of delivery or of hand-over with which the client's date is met by the share wanted, and the `chance` of
    meeting it then."""

    day: date
    chance: float


@dataclass(frozen=True)
class Schedule:
    """`advised`: the calendar of the course advised, and the inputs it `rests_on`; `bought`: of what is bought for good, which is
    ordered at once where one rents first; `courses`: of every course that is priced, by its key. `kept`: by when all has to be delivered; None where no date binds, or no day is early enough. `lead_weeks`: the
    weeks from order to delivery with which a date is met that is not otherwise, where they lie in the range assumed.
    `delivery`: weeks (draws,) from the memo's date until all that is bought has come. `as_of`: that date.
    `clocks`: of every option, asked for first where the course advised asks, else ordered at once."""

    advised: Calendar
    bought: Calendar
    rests_on: frozenset[str]
    courses: Mapping[str, Calendar]
    kept: Kept | None
    lead_weeks: int | None
    delivery: Any
    as_of: date
    clocks: Mapping[str, Clock]

    def met_by(self, weeks: Any, share: float) -> date:
        """The day by which this share of the outcomes has taken a step that takes them so many weeks from the memo's date."""
        return self.as_of + timedelta(days=ceil(quantile(weeks, share) * DAYS_PER_WEEK))

    @property
    def last_delivery(self) -> date:
        """The last day of delivery with which the client's date is met; where it is not met, the one that is reckoned with."""
        return self.kept.day if self.kept and self.bought.in_time else self.bought.days[Step.DELIVERY]

    def promised(self, *, rented: bool) -> date:
        """The day that a seller is asked to promise: of a hand-over the last, else the one reckoned with if that is earlier."""
        return self.last_delivery if rented else min(self.last_delivery, self.bought.days[Step.DELIVERY])

    def late_weeks(self, *, rented: bool) -> Any:
        """Weeks (draws,) that all is delivered later than on that day; below zero where it is earlier."""
        return plain(self.delivery) - (self.promised(rented=rented) - self.as_of).days / DAYS_PER_WEEK

    @property
    def assumes_lead(self) -> bool:
        """Whether what the advised course waits for is delivered when we assume it is."""
        return LEAD in self.rests_on


def schedule_of(given: Inputs, bills: Bills, found: CoursesResult) -> Schedule:
    """The calendars of a case's courses of action."""
    due, share = given.params.schedule.production_by, float(given.params.schedule.share_wanted)

    def clock(course: Course) -> Clock:
        return clock_of(given, bills, course, course.options[0] if course.kind == CourseKind.TAKE else found.base)

    def calendar(of: Clock) -> Calendar:
        return calendar_of(given.as_of, of, share, due)

    def taken(option: str) -> Clock:
        asks = found.advised.kind in ASKS
        return clock_of(given, bills, found.advised if asks else Course(CourseKind.TAKE, (option,)), option)

    advised = clock(found.advised)
    ours = calendar(advised)
    rents_first = found.advised.kind == CourseKind.RENT_FIRST
    bought = clock(Course(CourseKind.TAKE, (found.base,))) if rents_first else advised
    return Schedule(
        ours,
        calendar(bought),
        inputs_of(advised.production),
        {row.key: calendar(clock(row.course)) for row in found.rows},
        _kept(given, bought, share),
        None if ours.in_time else _lead(given, advised, share),
        bought.delivery,
        given.as_of,
        {option: taken(option) for option in bills.own},
    )


def _kept(given: Inputs, clock: Clock, share: float) -> Kept | None:
    allowed, after = given.params.weeks_allowed, _after_delivery(clock)
    if np.isinf(allowed):
        return None
    day = working_day_until(given.as_of + timedelta(days=floor((allowed - quantile(after, share)) * DAYS_PER_WEEK)))
    if day <= given.as_of:
        return None
    chance = float(np.mean(after <= allowed - (day - given.as_of).days / DAYS_PER_WEEK))
    return Kept(day, chance)


def _lead(given: Inputs, clock: Clock, share: float) -> int | None:
    """Whole weeks from order to delivery, within the range assumed, with which the date is met; None where none are, or the
    weeks are no assumption."""
    if LEAD not in inputs_of(clock.delivery):
        return None
    most = floor(given.params.weeks_allowed - quantile(_after_delivery(clock) + plain(clock.order), share))
    return most if most >= given.uncertain(LEAD).low else None


def _after_delivery(clock: Clock) -> Any:
    """Weeks from delivery to production (draws,)."""
    return plain(clock.production) - plain(clock.delivery)
