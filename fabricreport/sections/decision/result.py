"""What the decision finds, each part made when it is first asked for."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from functools import cached_property
from typing import Any

import numpy as np

from fabricreport.base.provenance import Traced, inputs_of, plain
from fabricreport.base.text import Shown
from fabricreport.base.uncertain import exactly
from fabricreport.base.vocabulary import NEITHER, STATED, Confidence, CourseKind, Grade, Ground
from fabricreport.ledger.bases import is_time
from fabricreport.ledger.numbers import Number
from fabricreport.models.information import Estimate
from fabricreport.models.judgement.choice import Sure, swings
from fabricreport.models.judgement.comparison import Course, Rule, Verdict, reached
from fabricreport.models.judgement.framework import FrameworkResult, leaning
from fabricreport.sections.arrivals import OwnUnit, own_weeks
from fabricreport.sections.client import side_by_side
from fabricreport.sections.decision.advice import Advice, action_of, rivals_of
from fabricreport.sections.decision.courses.result import CoursesResult, Schedule, schedule_of
from fabricreport.sections.decision.courses.study import courses_of, sure_of
from fabricreport.sections.decision.information import Information, Knowledge, information_of
from fabricreport.sections.decision.inputs import first_of, near_kin, sums_of
from fabricreport.sections.decision.market import HeldPrice, Later, Mismatch, held_of, later_of, mismatch_of
from fabricreport.sections.decision.offers.study import Bid, OffersResult, bid_of
from fabricreport.sections.decision.reversals import (
    Prior,
    Reversals,
    corners_of,
    equal_priors,
    leads_with,
    priors_of,
    reversals_of,
    without_each,
)
from fabricreport.sections.decision.sensitivity import (
    LEAST,
    MOST,
    Change,
    Cheapest,
    Unquoted,
    changes_of,
    cheapest_of,
    stale_of,
    unquoted_of,
)
from fabricreport.sections.decision.turning import Edge, Search, Turn, Turns, turned_by_one, turns_of

NEIGHBOURS = "evidence:noisy-neighbour-time-share"
GROUNDS = (Ground.SIZE, Ground.DEADLINE, *STATED)
"""What may decide besides money."""


class DecisionResult(Shown):
    """The decision of a case, from its chain, the comparison made on its bills, and what could be found out.

    Each part is made when it is first asked for: the verdict needs few of them.
    """

    def __init__(
        self,
        search: Search,
        knowledge: Callable[[], Knowledge],
        figures: Callable[[DecisionResult], Mapping[str, Number]],
    ) -> None:
        self._figures = figures
        self._search, self._base, self._given = search, search.base, search.base.given
        self._bills, self._comparison, self._knowledge = search.base.bills, search.comparison, knowledge
        self._sides = {o.id: o.side for o in self._given.options}

    @cached_property
    def advice(self) -> Advice:
        """The advice in short."""
        found, course, offers = self.verdict, self.courses.advised, self.offers
        return Advice(
            action_of(self._given, course, found.pair, offers), course.id, offers.pick.first if offers else "",
            str(found.confidence), str(found.decided_by), self.sure.share if self.sure else None,
            rivals_of(self._given, self.totals, self._comparison, offers),
        )  # fmt: skip

    @property
    def facts(self) -> Mapping[str, str]:
        """What it shows of itself."""
        return self.advice.facts

    @cached_property
    def verdict(self) -> Verdict:
        """The comparison's verdict, at most leaning where one input, equal priors, a listing or a generation turn it, and where
        the act that is advised stands in fewer outcomes than are asked of the two compared."""
        found = self._comparison.verdict
        if found.confidence != Confidence.CLEAR:
            return found
        if turned_by_one(self._search, self.rule.turning_share):
            return found.capped_by("input")
        if self.with_equal_priors is not None and self.with_equal_priors < 0:
            return found.capped_by("priors")
        if self.turned_without:
            return found.capped_by("listing")
        if self.mismatch is not None and self.mismatch.turns(found.lead):
            return found.capped_by("generation")
        return found.capped_by("act") if self.stands_in_few else found

    @property
    def stands_in_few(self) -> bool:
        """Whether the act that is advised stands in fewer outcomes than a clear lead needs."""
        return self.offers is None and self.sure is not None and not reached(self.sure.share, self.rule)

    @property
    def rule(self) -> Rule:
        """The printed rule."""
        return self._comparison.rule

    @property
    def difference(self) -> Traced:
        """The runner-up's total cost less the choice's (draws,): positive means the choice is cheaper."""
        return self._comparison.lead

    @property
    def totals(self) -> Mapping[str, Traced]:
        """Total cost of each option (draws,)."""
        return self._bills.totals

    @cached_property
    def framework(self) -> FrameworkResult:
        """The framework's view."""
        return self._search.judge.framework

    @property
    def parts(self) -> bool:
        """Whether the framework leans away from the family of an option that is advised over the other."""
        return self._apart(self.framework.leans_to)

    @property
    def argued_apart(self) -> bool:
        """Whether it would, if it weighed also what the bill counts."""
        return self._apart(leaning(self.framework.argued))

    def _apart(self, side: str) -> bool:
        return not self.verdict.open and side not in (NEITHER, self._sides[self._comparison.choice])

    @cached_property
    def turns(self) -> Turns:
        """What would turn the answer, each input moved alone."""
        return turns_of(self._search)

    @cached_property
    def unquoted(self) -> tuple[Unquoted, ...]:
        """Items of the two compared that nobody publishes a price for."""
        return unquoted_of(self._search)

    @cached_property
    def held(self) -> tuple[HeldPrice, ...]:
        """Prices beside which a newer one is held until somebody settles it."""
        return held_of(self._search, self.offers)

    @cached_property
    def without(self) -> Mapping[str, Verdict]:
        """The verdict with each option left out whose switch has one listed price."""
        return without_each(self._given, self._bills)

    @cached_property
    def mismatch(self) -> Mismatch | None:
        """The two compared in one generation, where they are of different ones."""
        return mismatch_of(self._base, self._comparison)

    @cached_property
    def corners(self) -> Mapping[str, Traced]:
        """The lead under each convention of licences."""
        return corners_of(self._base, self._comparison)

    @cached_property
    def reversals(self) -> Reversals | None:
        """What reverses the order of the two compared; None where nothing is compared, or a network is rented."""
        return reversals_of(self._search, self.corners, self.mismatch, self.verdict.materiality)

    @cached_property
    def later(self) -> Later | None:
        """What is bought when today's prices no longer hold."""
        return later_of(self._given, self._bills, self.verdict.choice)

    @cached_property
    def information(self) -> Information | None:
        """What could be found out first; None where nothing is left to choose."""
        return information_of(self._given, self._bills, self._knowledge(), self._comparison.verdict.pair)

    @cached_property
    def courses(self) -> CoursesResult:
        """The courses of action, and the one that is advised."""
        return courses_of(self._given, self._base, self._comparison, self._search.judge, self.information)

    @cached_property
    def sure(self) -> Sure | None:
        """How sure the advised act is, beside the best other one; None without one."""
        judge = self._search.judge
        return sure_of(
            self._bills, self._comparison.verdict, self.courses, self.information, self._knowledge(),
            dated=judge.weighing.date_stated, close=lambda a, b: judge.close(self._bills, a, b),
        )  # fmt: skip

    @cached_property
    def stale(self) -> Mapping[str, float]:
        """How far each price that is out of date moves the mean total cost of the choice between its P5 and its P95, by item,
        the widest first."""
        return stale_of(self._search)

    def knowing(self, ids: Collection[str]) -> Estimate:
        """What it is worth to the choice to know these inputs."""
        return self._knowledge().worth(ids)

    @cached_property
    def schedule(self) -> Schedule:
        """When each step of the course advised, and of the others, is met."""
        return schedule_of(self._given, self._bills, self.courses)

    @cached_property
    def priors(self) -> tuple[Prior, ...]:
        """The inputs stated by kind of fabric."""
        return priors_of(self._given, self._base.reached_by, self.verdict.pair)

    @cached_property
    def with_equal_priors(self) -> float | None:
        """The mean lead if both fabrics had the same priors, the worse of the two ways; None where no prior is theirs alone."""
        found = equal_priors(self._search)
        return min(leads_with(self._search, found)) if found else None

    @cached_property
    def kin(self) -> str:
        """An option of the choice's family too close to tell from it, or ''."""
        return near_kin(self._search.judge, self.verdict)

    @property
    def offers(self) -> OffersResult | None:
        """Of a client that rents, what sellers offer or publish."""
        return self._knowledge().offers

    @cached_property
    def bids(self) -> Mapping[str, Bid]:
        """Of a client that buys, its bills at the prices of those who offer."""
        offers = () if self._given.team.rented else self._given.offers
        return {offer.id: bid_of(self._base, offer) for offer in offers if offer.items}

    @cached_property
    def cheapest(self) -> Cheapest:
        """How often each option is the cheapest of those that may be taken."""
        return cheapest_of(self._search)

    @cached_property
    def assumption_share(self) -> float:
        """Share of the difference's explained spread that rests on assumptions."""
        given, ids = self._given, sorted(i for i in inputs_of(self.difference) if not i.startswith("claim:"))
        found = swings(self.difference, {i: given.draw(i) for i in ids})
        known = sum(s.share_of_variance for s in found)
        ours = sum(s.share_of_variance for s in found if given.record(s.input_id)["grade"] == Grade.ASSUMPTION)
        return ours / known if known else 0.0

    @cached_property
    def neighbours(self) -> Mapping[str, Any]:
        """What other tenants' traffic costs on each option (draws,), the model run again without it; empty without tenants."""
        if not side_by_side(self._given) or NEIGHBOURS not in self._search.fast.reached_by:
            return {}
        quiet = self._search.fast.replacing({NEIGHBOURS: exactly(0.0)}).bills
        return {o: plain(total) - plain(quiet.totals[o]) for o, total in self.totals.items()}

    @cached_property
    def beyond_first(self) -> str:
        """The option that the client's order of criteria beyond money puts first; '' where none is stated, or none is alone."""
        return first_of(sums_of(self._given, self._search.judge.advisable(self._bills)))

    @cached_property
    def numbers(self) -> Mapping[str, Number]:
        """The figures by id, each made when it is first asked for."""
        return self._figures(self)

    @property
    def turned_without(self) -> tuple[str, ...]:
        """The options among them without which another course is advised; of several on one listing the choice, or the first."""
        listed = {o.id: o.pieces["switch"].price for o in self._given.options}
        now = self._comparison.verdict
        turned = [o for o, left in self.without.items() if left.course.id != now.course.id]
        first: dict[str, str] = {}
        for option in sorted(turned, key=lambda o: o != now.choice):
            first.setdefault(listed[option], option)
        return tuple(first.values())

    @property
    def nearest_quote(self) -> Unquoted | None:
        """The item without a price whose quote may turn the money soonest: its level is nearest to what stands in."""
        turning = [u for u in self.unquoted if u.level is not None]
        return min(turning, key=lambda u: abs((u.level or 0.0) / u.in_use - 1), default=None)

    @property
    def in_time(self) -> tuple[str, ...]:
        """Of the two compared, those that are likely to be ready by the client's date."""
        return tuple(o for o in dict.fromkeys(self.verdict.pair) if self.verdict.likely(o, self.rule))

    @property
    def ground(self) -> str:
        """What the advice stands on: one of `GROUNDS`, or the class where money (or nothing) decides."""
        return self.verdict.decided_by if self.verdict.decided_by in GROUNDS else self.verdict.confidence

    @property
    def in_nodes(self) -> bool:
        """Whether jobs within nodes are advised, which need no network between them; a renter is told which offer to take."""
        return self.offers is None and self.courses.advised.kind == CourseKind.SINGLE_NODE

    @property
    def joins_nodes(self) -> bool:
        """Whether what is advised joins nodes by a network: not where jobs within them are advised, nor for a renter whose work
        takes no longer within nodes."""
        single = self.courses.single
        rents_none = self.offers is not None and single.total is not None and single.days is None
        return not (self.in_nodes or rents_none)

    @cached_property
    def behind(self) -> frozenset[str]:
        """Ids of every input behind the totals, or behind the cost within nodes and across them where that is advised."""
        if self.in_nodes:
            return inputs_of(self.courses.single.total, self.totals[self.courses.base])
        return inputs_of(*self.totals.values())

    @cached_property
    def relied_on(self) -> frozenset[str]:
        """The same, and of the other courses that the advice is held against: of an owner the rent is one."""
        return self.behind if self.in_nodes else self.behind | inputs_of(*(row.against for row in self.courses.rows))

    def changing(self, turn: Turn) -> tuple[Edge, ...]:
        """The edges of an input at which something else is advised than now; none where no network is advised at all."""
        if self.in_nodes:
            return ()
        now = {self.verdict.course.id, self.courses.plain.id, self.courses.advised.id}
        either = CourseKind.OFFERS in (self.courses.plain.kind, self.courses.advised.kind)
        if either:  # asking for offers on both is to take the better of the two
            now.add(Course(CourseKind.EITHER, self.verdict.pair).id)
        return tuple(edge for edge in turn.edges if edge.course not in now)

    def turns_to(self, turn: Turn) -> tuple[Edge, ...]:
        """The same; where sellers offer either network, a turn to one of them is no change."""
        return () if self.offers is not None and self.verdict.open else self.changing(turn)

    @cached_property
    def flips(self) -> tuple[tuple[Turn, Edge], ...]:
        """The inputs whose draws change the advice most often, the likeliest first, each with its likelier edge."""
        changing = ((turn, self.changing(turn)) for turn in self.turns.uncertain)
        found = ((turn, max(edges, key=lambda edge: edge.odds)) for turn, edges in changing if edges)
        told = (one for one in found if one[1].odds >= LEAST)
        return tuple(sorted(told, key=lambda one: -one[1].odds))[:MOST]

    @property
    def turning_beyond_body(self) -> tuple[Turn, ...]:
        """Inputs that turn the money or the advice, less those that the body tells; where hours are offered it tells of none."""
        if self.in_nodes:
            return ()
        found = tuple(t for t in self.turns.turning if t.level or self.changing(t))
        if self.offers is not None:  # where either network may be taken, a turn to one of them is no change
            return () if self.verdict.open else found
        told = {change.turn.input_id for change in self.changes}
        return tuple(t for t in found if t.input_id not in told)

    @cached_property
    def changes(self) -> tuple[Change, ...]:
        """What would change the advice, and is worth knowing; of a renter, or where no network decides, nothing is told."""
        small = self.verdict.decided_by == Ground.SIZE
        if small or self.in_nodes or self.offers is not None or self.verdict.choice == self.verdict.runner_up:
            return ()
        return changes_of(self._search, self.turns.drawn, self._knowledge().worth)

    def own_unit(self, turn: Turn) -> OwnUnit:
        """How values of an input are told to this client."""
        if turn.is_choice or not is_time(turn.unit):
            return OwnUnit(turn.unit, 1.0)
        draws = plain(self._given.own(turn.input_id))
        weeks = {o: own.bring_up_weeks for o, own in self._bills.own.items()}
        return own_weeks(turn.input_id, draws, weeks, self.verdict.pair) or OwnUnit(turn.unit, 1.0)

    def drawn_point(self, turn: Turn) -> tuple[Edge, str]:
        """The point at which an input is drawn to turn the advice, else the money, and the end of the id of its value."""
        edge = turn.edges[0] if turn.edges else turn.points[0]
        told = {(c.turn.input_id, c.edge.course, c.edge.side) for c in self.changes}
        return edge, "change.at" if (turn.input_id, edge.course, edge.side) in told else edge.end

    def dearest_cause(self, components: Mapping[str, Mapping[str, Any]], option: str) -> str:
        """The cause by which an option exceeds the choice most, on the mean of the draws."""
        mine, theirs = components[self.verdict.choice], components[option]
        zero = np.zeros(1)
        gaps = {
            c: float(plain(theirs.get(c, zero)).mean() - plain(mine.get(c, zero)).mean()) for c in {**mine, **theirs}
        }
        return max(gaps, key=lambda c: gaps[c])
