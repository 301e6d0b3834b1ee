"""The figures of the decision: the lead, the rule's amounts, the options, the framework, the calendar, what would turn it.

What each is called and rests on stands in `figures.yaml`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from itertools import combinations
from typing import Any

from fabricreport.base.formats import inside
from fabricreport.base.provenance import Traced, inputs_of
from fabricreport.base.vocabulary import CourseKind
from fabricreport.books.names import item_names
from fabricreport.ledger.bases import Statistic
from fabricreport.ledger.figures import Declaration, Index, Reckoning, figure, there
from fabricreport.sections.decision.actions import Gain, Kind, actions
from fabricreport.sections.decision.courses.figures import COURSE_INDEXES, CourseFigures
from fabricreport.sections.decision.market import GENERATION, SPEED, HeldPrice, Pair
from fabricreport.sections.decision.offers.figures import OFFER_INDEXES, OfferFigures
from fabricreport.sections.decision.reversals import Reversal
from fabricreport.sections.decision.sensitivity import Change, Unquoted
from fabricreport.sections.decision.turning import Edge, Turn, key_of, label_of
from fabricreport.sections.schedule import LEAD, STABLE, stable_label
from fabricreport.sections.tco.cost import network_pieces
from fabricreport.sections.tco.result import parts_of

ORDERS = (CourseKind.TAKE, CourseKind.STAGE_ONE)
"""Courses that order one option."""
TOLD_ALIKE = (Kind.TRIAL, Kind.PILOT, Kind.RENT_FIRST)
"""Steps that are courses of action, which other figures tell as exactly."""
IN_PLACE: Mapping[str, str] = {
    GENERATION: "the older option replaced by one of the newer generation",
    SPEED: "both options of one generation and one link speed",
}
"""What stands in the place of the two compared, by the key of the pair."""


class DecisionFigures(CourseFigures, OfferFigures):
    """How each figure of the decision is made, and lookups that several of them share."""

    # ---- the lead, and the rule's amounts

    @figure("decision.difference")
    def difference(self) -> Reckoning:
        return Reckoning(self.result.difference, parts=self.gap(self.result.verdict.runner_up).parts)

    @figure("decision.cash")
    def cash(self) -> Reckoning:
        return self.cash_gap(self.result.verdict.runner_up)

    @figure("decision.time")
    def time(self) -> Reckoning:
        return self.time_gap(self.result.verdict.runner_up)

    @figure("decision.probability")
    def probability(self) -> float:
        return self.result.verdict.probability

    @figure("decision.sure.act")
    def sure_act(self) -> Reckoning:
        found = self.result.information
        return Reckoning(there(self.result.sure).share, inputs=found.rests_on if found else ())

    @cached_property
    def apart(self) -> Mapping[frozenset[str], frozenset[str]]:
        """Ids of the inputs that tell two options apart, by the pair."""
        pairs = combinations(self.result.totals, 2)
        return {frozenset(pair): inputs_of(self.bills.gap(*pair)) for pair in pairs}

    @property
    def materiality_stated(self) -> bool:
        """Whether the client says what a material lead is."""
        return self.given.params.money.materiality_usd is not None

    def behind_close(self, *pair: str) -> Iterable[str]:
        """Ids of the inputs of what makes two options close: of this pair, or of the two compared."""
        if self.materiality_stated:
            return ("param:money.materiality_usd",)
        ids = self.apart.get(frozenset(pair), self.everything)
        return {*ids, "evidence:rule-material-share", "evidence:rule-network-share"}

    @property
    def behind_margin(self) -> Iterable[str]:
        """The same of the advised act: of an order and the other option that it is held against."""
        courses, other = self.result.courses, there(self.result.sure).other.partition(":")[2]
        return self.behind_close(*((courses.base, other) if courses.advised.kind in ORDERS else ()))

    @figure("decision.margin")
    def margin(self) -> float:
        return there(self.result.sure).margin

    @figure("decision.assumption_share")
    def assumption_share(self) -> float:
        return self.result.assumption_share

    @figure("decision.materiality")
    def materiality(self) -> Any:
        return self.result.verdict.materiality

    @property
    def networks(self) -> Iterator[Traced]:
        """What is paid to buy and run the networks of the two compared, piece by piece (draws,)."""
        for option in self.result.verdict.pair:
            yield from network_pieces(self.bills.parts[option]).values()

    @figure("decision.trifle")
    def trifle(self) -> Reckoning:
        return Reckoning(self.result.verdict.trifle, inputs=inputs_of(*self.networks))

    # ---- the plan, and the age of its prices

    @figure("decision.final_gpus")
    def final_gpus(self) -> float:
        return float(self.given.params.cluster.final_gpus)

    @cached_property
    def stale(self) -> tuple[str, ...]:
        """Ids of the prices behind the totals, and of the courses beside them, that are past their shelf life."""
        prices = sorted(i for i in self.result.relied_on if i.startswith("price:"))
        return tuple(i for i in prices if self.given.prices.by_id(i).stale)

    @figure("decision.stale_prices")
    def stale_prices(self) -> float:
        return float(len(self.stale))

    # ---- the options

    def with_choice(self, option: str) -> tuple[str, str]:
        """Ids of the advised option and of another: a gap above zero says that the first costs less."""
        return self.result.verdict.choice, option

    @figure("decision.total[option]")
    def total(self, option: str) -> Reckoning:
        return Reckoning(self.result.totals[option], parts=parts_of(self.bills.components[option]))

    @figure("decision.gap[option]")
    def gap(self, option: str) -> Reckoning:
        choice = self.result.verdict.choice
        return Reckoning(self.bills.gap(option, choice), parts=self.bills.gap_parts(option, choice))

    @figure("decision.cash_gap[option]")
    def cash_gap(self, option: str) -> Reckoning:
        choice = self.result.verdict.choice
        return Reckoning(self.bills.cash_gap(option, choice), parts=self.bills.gap_parts(option, choice)[0].parts)

    @figure("decision.time_gap[option]")
    def time_gap(self, option: str) -> Reckoning:
        choice = self.result.verdict.choice
        return Reckoning(self.bills.time_gap(option, choice), parts=self.bills.gap_parts(option, choice)[1].parts)

    def behind_wins(self, option: str) -> Iterable[str]:
        """Ids of the inputs that tell an option from any other."""
        return {i for pair, ids in self.apart.items() if option in pair for i in ids}

    @figure("decision.sure.wins[taken]")
    def sure_wins(self, option: str) -> float:
        return self.result.cheapest.shares[option]

    def has_error(self, option: str) -> bool:
        """Whether another sample may show another share in which an option is the cheapest."""
        return self.result.cheapest.errors.get(option, 0.0) > 0

    @figure("decision.cheapest_error[option]")
    def cheapest_error(self, option: str) -> float:
        return self.result.cheapest.errors[option]

    @figure("decision.besides.neighbours[crowded]")
    def besides_neighbours(self, option: str) -> Reckoning:
        return Reckoning(self.result.neighbours[option], inputs=inputs_of(self.bills.totals[option]))

    @figure("decision.ready[option]")
    def ready(self, option: str) -> Reckoning:
        weeks = self.bills.own[option].production_weeks
        return Reckoning(self.result.verdict.ready[option], inputs=inputs_of(weeks))

    # ---- what would turn it: each input's value in use, its points, and the chance that it lies beyond them

    @cached_property
    def turning(self) -> Mapping[str, tuple[Turn, ...]]:
        """Inputs that turn something within their range, by the input's id with a dot for the colon. A choice of the
        client's whose value is uncertain is there twice: as drawn and, last, as chosen."""
        found: dict[str, tuple[Turn, ...]] = {}
        for turn in (*self.result.turns.drawn, *self.result.turns.choices):
            if turn.points:
                found[key_of(turn.input_id)] = (*found.get(key_of(turn.input_id), ()), turn)
        return found

    def having(self, end: str) -> Mapping[str, tuple[Turn, Edge]]:
        """Those with a point (`break_even`, `edge` or `other_edge`), by the same key: the last turn with it, and the point."""
        each = ((key, turn) for key, turns in self.turning.items() for turn in turns)
        return {key: (turn, point) for key, turn in each for point in turn.points if point.end == end}

    def passing(self, end: str) -> Mapping[str, tuple[Turn, Edge]]:
        """Of the uncertain ones those with a point: these may lie beyond it."""
        drawn = self.result.turns.drawn
        return {key_of(turn.input_id): (turn, point) for turn in drawn for point in turn.points if point.end == end}

    @cached_property
    def changes(self) -> Mapping[str, Change]:
        """What would change the advice, by the same key."""
        return {key_of(change.turn.input_id): change for change in self.result.changes}

    def turning_name(self, key: str) -> str:
        """What an input that turns something is called within a name: an option's own weeks as every section calls them."""
        turn = self.turning[key][-1]
        own = self.result.own_unit(turn).option
        return inside(stable_label(self.names[own])) if own else label_of(self.given, turn.input_id)

    def counted(self, turn: Turn, value: float, inputs: Iterable[str], **base: Any) -> Reckoning:
        """A value of an input as this client counts it, and `base`, as far as it is not that of every value of the input."""
        own = self.result.own_unit(turn)
        of = STABLE if own.option else {"quantity": inside(label_of(self.given, turn.input_id))}
        return Reckoning(
            value,
            inputs=inputs,
            currency=turn.currency,
            digits=2 if own.option else None,
            base={**of, "about": (own.option or turn.input_id,), **base},
            words={"unit": own.unit, "middle": "Value" if turn.is_choice else "Mean"},
        )

    def counted_now(self, turn: Turn, inputs: Iterable[str]) -> Reckoning:
        """The value of an input that its points are told from: the mean, of a time too, or what the client set."""
        base = {} if turn.is_choice else {"statistic": Statistic.MEAN}
        return self.counted(turn, self.result.own_unit(turn).told(turn.in_use), inputs, **base)

    def behind_weeks(self, turn: Turn) -> frozenset[str]:
        """Ids of what the client's own weeks rest on beside the input; none of any other input."""
        option = self.result.own_unit(turn).option
        return inputs_of(self.bills.own[option].bring_up_weeks) if option else frozenset()

    def point(self, key: str, end: str, *, itself: bool = True) -> Reckoning:
        """A point of an input that has it; `itself`: whether the point rests on the input too."""
        turn, point = self.having(end)[key]
        rests_on = self.everything | {turn.input_id} if itself else self.everything - {turn.input_id}
        return self.counted(turn, self.result.own_unit(turn).told(point.at), rests_on | self.behind_weeks(turn))

    @figure("decision.in_use[turning]")
    def in_use(self, key: str) -> Reckoning:
        turn = self.turning[key][-1]
        return self.counted_now(turn, {turn.input_id} | self.behind_weeks(turn))

    @figure("decision.break_even[level]")
    def break_even(self, key: str) -> Reckoning:
        return self.point(key, "break_even", itself=False)

    @figure("decision.edge[edge]")
    def edge(self, key: str) -> Reckoning:
        return self.point(key, "edge")

    @figure("decision.other_edge[other_edge]")
    def other_edge(self, key: str) -> Reckoning:
        return self.point(key, "other_edge")

    def chance(self, key: str, end: str) -> Reckoning:
        """The chance that a drawn input lies beyond a point."""
        turn, point = self.passing(end)[key]
        return Reckoning(point.chance, inputs=(turn.input_id,), words={"side": point.side})

    @figure("decision.beyond[passing_level]")
    def beyond(self, key: str) -> Reckoning:
        return self.chance(key, "break_even")

    @figure("decision.beyond_edge[passing_edge]")
    def beyond_edge(self, key: str) -> Reckoning:
        return self.chance(key, "edge")

    @figure("decision.beyond_other_edge[passing_other]")
    def beyond_other_edge(self, key: str) -> Reckoning:
        return self.chance(key, "other_edge")

    @figure("decision.change.in_use[change]")
    def change_in_use(self, key: str) -> Reckoning:
        turn = self.changes[key].turn
        return self.counted_now(turn, (turn.input_id,))

    @figure("decision.change.at[change]")
    def change_at(self, key: str) -> Reckoning:
        turn, edge = self.changes[key].turn, self.changes[key].edge
        return self.counted(turn, self.result.own_unit(turn).told(edge.at), (turn.input_id,))

    @cached_property
    def reversals(self) -> Mapping[str, Reversal]:
        """What was set otherwise between the two compared, by key."""
        return {one.key: one for one in (self.result.reversals.tried if self.result.reversals else ())}

    def reversal(self, key: str) -> Reversal:
        """One of them."""
        return self.reversals[key]

    @figure("decision.reverses[reversal]")
    def reverses(self, key: str) -> float:
        return self.reversals[key].lead

    # ---- what nobody publishes a price for, and what a newer price is held of

    @cached_property
    def unquoted(self) -> Mapping[str, Unquoted]:
        """Items of the two compared that nobody publishes a price for and of which one turns the money, by item."""
        return {u.item: u for u in self.result.unquoted if u.level is not None}

    @figure("decision.price_level[unquoted]")
    def price_level(self, item: str) -> Reckoning:
        one = self.unquoted[item]
        return Reckoning(one.level, inputs=self.everything - {one.stands_in}, currency="USD")

    @cached_property
    def held(self) -> Mapping[str, HeldPrice]:
        """Prices beside which a newer one is held, by item."""
        return {one.price.item: one for one in self.result.held}

    def row(self, item: str, price: float | None, date: Any) -> Reckoning:
        """One of the two prices of an item, as the unit and the currency of its row tell it."""
        of = self.held[item].price
        words = {"unit": str(self.given.record(of.id)["unit"])}
        return Reckoning(float(price or 0.0), sources=(of.id,), currency=of.currency, date=str(date), words=words)

    @figure("decision.held.asked[held]")
    def held_asked(self, item: str) -> Reckoning:
        newer = self.held[item].held
        return self.row(item, newer.price, newer.date)

    @figure("decision.held.stands[held]")
    def held_stands(self, item: str) -> Reckoning:
        older = self.held[item].price
        return self.row(item, older.price, older.date)

    # ---- what is sold when: the lead in one generation of equipment, and what is bought later than prices hold

    @cached_property
    def pairs(self) -> Mapping[str, Pair]:
        """The pairs in one generation by key; none where the two compared are of one already."""
        return {pair.key: pair for pair in (self.result.mismatch.pairs if self.result.mismatch else ())}

    def behind_pair(self, key: str) -> Iterable[str]:
        """Ids of the inputs that the lead of a pair rests on."""
        return {*inputs_of(self.pairs[key].gap), "evidence:rule-generation-years"}

    @figure("decision.alike_lead[pair]")
    def alike_lead(self, key: str) -> Traced:
        return self.pairs[key].gap

    @figure("decision.alike_probability[pair]")
    def alike_probability(self, key: str) -> float:
        return self.pairs[key].probability

    @figure("decision.later_month")
    def later_month(self) -> float:
        return float(there(self.result.later).month)

    @figure("decision.later_share")
    def later_share(self) -> Any:
        return there(self.result.later).share

    # ---- what is to be done before signing

    @cached_property
    def gains(self) -> Mapping[str, Gain]:
        """What each step brings that brings anything, by its kind."""
        due = {str(one.action.kind): one.due for one in self.steps().todos}
        return {kind: one.worth for kind, one in due.items() if one.worth and one.pays}

    @figure("decision.worth[step]")
    def worth(self, step: str) -> Reckoning:
        gain = self.gains[step]
        return Reckoning(gain.usd, inputs=gain.rests_on, digits=3 if step in TOLD_ALIKE else 2)

    # ---- the calendar of the course advised

    @figure("decision.schedule.lead_range")
    def schedule_lead_range(self) -> Traced:
        return self.given.value(LEAD)

    @figure("decision.schedule.in_time")
    def schedule_in_time(self) -> Reckoning:
        return Reckoning(self.result.schedule.advised.chance, inputs=self.result.schedule.rests_on)

    @figure("decision.schedule.kept")
    def schedule_kept(self) -> Reckoning:
        return Reckoning(there(self.result.schedule.kept).chance, inputs=self.result.schedule.rests_on)

    @figure("decision.schedule.lead")
    def schedule_lead(self) -> Reckoning:
        return Reckoning(float(self.result.schedule.lead_weeks or 0), inputs=self.result.schedule.rests_on)


_INDEXES: Mapping[str, Index[DecisionFigures]] = {
    "option": Index(lambda at: at.result.totals, called=DecisionFigures.name),
    "taken": Index(lambda at: at.result.cheapest.shares, called=DecisionFigures.name),
    "crowded": Index(lambda at: at.result.neighbours, called=DecisionFigures.name),
    "turning": Index(lambda at: at.turning, called=DecisionFigures.turning_name),
    "level": Index(lambda at: at.having("break_even"), called=DecisionFigures.turning_name),
    "edge": Index(lambda at: at.having("edge"), called=DecisionFigures.turning_name),
    "other_edge": Index(lambda at: at.having("other_edge"), called=DecisionFigures.turning_name),
    "passing_level": Index(lambda at: at.passing("break_even"), called=DecisionFigures.turning_name),
    "passing_edge": Index(lambda at: at.passing("edge"), called=DecisionFigures.turning_name),
    "passing_other": Index(lambda at: at.passing("other_edge"), called=DecisionFigures.turning_name),
    "change": Index(lambda at: at.changes, called=DecisionFigures.turning_name),
    "reversal": Index(lambda at: at.reversals, called=lambda at, key: at.reversals[key].what),
    "unquoted": Index(lambda at: at.unquoted, called=lambda at, item: label_of(at.given, at.unquoted[item].stands_in)),
    "held": Index(lambda at: at.held, called=lambda _, item: item_names(item).row),
    "pair": Index(lambda at: at.pairs, tuple(IN_PLACE), lambda _, key: IN_PLACE[key]),
    "step": Index(lambda at: at.gains, tuple(Kind), lambda _, step: actions()[Kind(step)].brings),
}
FIGURES: Declaration[Any] = Declaration(
    "decision",
    DecisionFigures,
    {
        **_INDEXES,
        **COURSE_INDEXES,
        **OFFER_INDEXES,
    },
)
"""Every figure of the section."""
