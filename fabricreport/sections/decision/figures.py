"""The figures of the decision: the lead, the rule's amounts, the options, the framework, what would turn it."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Any

from fabricreport.base_rules import rule_of
from fabricreport.bases import middle_of
from fabricreport.figures import Declaration, Index
from fabricreport.formats import inside
from fabricreport.models.judgement.sure import Sure
from fabricreport.provenance import inputs_of
from fabricreport.sections.decision.changes import Change
from fabricreport.sections.decision.courses.figures import COURSE_INDEXES, COURSES
from fabricreport.sections.decision.figure_context import DATE, HORIZON, DecisionContext, EachSpec, Spec
from fabricreport.sections.decision.held_figures import HELD
from fabricreport.sections.decision.market_figures import PAIRS, alike_figures, later_figures, pairs_of
from fabricreport.sections.decision.monday.figures import INDEXES, MONDAY
from fabricreport.sections.decision.neighbours import NEIGHBOURS
from fabricreport.sections.decision.offers.figures import OFFERS, bid_lines, offers_in
from fabricreport.sections.decision.schedule_figures import SCHEDULE
from fabricreport.sections.decision.turning import Turn, label_of
from fabricreport.sections.decision.unquoted_figures import RERUN, UNQUOTED
from fabricreport.sections.schedule.days import stable_label
from fabricreport.sections.schedule.own_weeks import OwnUnit
from fabricreport.sections.tco.bills import parts_of
from fabricreport.vocabulary import CourseKind

ORDERS = (CourseKind.TAKE, CourseKind.STAGE_ONE)
"""Courses that order one option."""
IN_USE, WEEKS = "in_use", "tail_risk.weeks"
_IN_USE = "Value in use"
_OWN = "; weeks until a network runs stably are the client's own, by its size, its switches and its team"
_RECKONED = "mean of the input, of a time the median, or the client's choice" + _OWN


def _sure(at: DecisionContext) -> Sure:
    """How sure the act is; asked for where there is another."""
    assert at.result.sure is not None
    return at.result.sure


def _behind_close(at: DecisionContext, pair: Collection[str] = ()) -> Iterable[str]:
    """Ids of the inputs of what makes two options close: of this pair, or of the two compared."""
    if at.materiality_stated:
        return ("param:money.materiality_usd",)
    ids = at.apart.get(frozenset(pair), at.everything)
    return {*ids, "evidence:rule-material-share", "evidence:rule-network-share"}


def _behind_margin(at: DecisionContext) -> Iterable[str]:
    """The same of the advised act: of an order and the other option that it is held against."""
    courses, other = at.result.courses, _sure(at).other.partition(":")[2]
    return _behind_close(at, (courses.base, other) if courses.advised.kind in ORDERS else ())


_LEAD = (
    Spec(
        "decision.difference",
        "usd",
        label=lambda at: f"Total cost of {at.rival} less that of {at.choice}",
        rule="mean over the same outcomes of total cost(runner-up) − total cost(choice), present value over the horizon",
        value=lambda at: at.result.difference,
        inputs=(HORIZON,),
        central="mean",
        parts=lambda at: at.bills.gap_parts(at.result.verdict.runner_up, at.result.verdict.choice),
        compares=lambda at: at.compared,
    ),
    Spec(
        "decision.cash",
        "usd",
        label=lambda at: f"Cash paid for {at.rival} less that for {at.choice}",
        rule="the causes of the difference that somebody is paid for, outcome by outcome",
        value=lambda at: at.bills.cash_gap(at.result.verdict.runner_up, at.result.verdict.choice),
        inputs=(HORIZON,),
        central="mean",
        parts=lambda at: at.bills.gap_parts(at.result.verdict.runner_up, at.result.verdict.choice)[0].parts,
        compares=lambda at: at.compared,
    ),
    Spec(
        "decision.time",
        "usd",
        label=lambda at: f"GPU time lost on {at.rival} less that lost on {at.choice}, at its value",
        rule="the causes of the difference that are GPU time × value of a GPU-hour, or a price of delay, outcome by outcome",
        value=lambda at: at.bills.time_gap(at.result.verdict.runner_up, at.result.verdict.choice),
        inputs=(HORIZON,),
        central="mean",
        parts=lambda at: at.bills.gap_parts(at.result.verdict.runner_up, at.result.verdict.choice)[1].parts,
        compares=lambda at: at.compared,
    ),
    Spec(
        "decision.probability",
        "share",
        label=lambda at: f"Share of outcomes in which {at.choice} costs less than {at.rival}",
        rule="count of outcomes with a lower total cost ÷ all outcomes",
        value=lambda at: at.result.verdict.probability,
        inputs=lambda at: at.everything,
        digits=2,
        compares=lambda at: at.compared,
    ),
    Spec(
        "decision.sure.act",
        "share",
        label="Share of outcomes in which the advised act costs little more than the best other one",
        rule="share of outcomes in which the act, with what it leads to (of offers the one that they show to be the cheaper), costs at "
        "most what we call close more than the other act of the lowest mean cost",
        value=lambda at: _sure(at).share,
        inputs=lambda at: {*at.everything, *(at.result.information.rests_on if at.result.information else ())},
        digits=2,
        when=lambda at: at.result.sure is not None,
    ),
    Spec(
        "decision.margin",
        "usd",
        label="What the advised act may cost more than the best other one and still stand",
        rule="what makes the two options close, or where either is no option the two compared",
        value=lambda at: _sure(at).margin,
        inputs=_behind_margin,
        digits=2,
        when=lambda at: at.result.sure is not None,
    ),
    Spec(
        "decision.assumption_share",
        "share",
        label="Share of the difference's explained spread that rests on assumptions",
        rule="sum of squared rank correlations of inputs graded assumption ÷ sum over all inputs",
        value=lambda at: at.result.assumption_share,
        inputs=lambda at: at.everything,
        digits=2,
    ),
    Spec(
        "decision.materiality",
        "usd",
        label="Lead below which the choice is close",
        rule=lambda at: (
            "as the params state it"
            if at.materiality_stated
            else "the largest of a share of the sum of what the lines of the two bills differ by, the standard deviation of "
            "that difference which quotes leave, and a share of what the dearer network costs to buy and run"
        ),
        value=lambda at: at.result.verdict.materiality,
        inputs=_behind_close,
        digits=2,
    ),
    Spec(
        "decision.trifle",
        "usd",
        label="Worth of knowing everything below which a close choice does not matter",
        rule="a share of what the dearer of the two networks costs to buy and run",
        value=lambda at: at.result.verdict.trifle,
        inputs=lambda at: {*inputs_of(*at.networks), "evidence:rule-trifling-share"},
        digits=2,
    ),
)

_PAGE = (
    Spec(
        "decision.final_gpus",
        "gpus",
        label="GPUs at the end of the plan",
        rule="as stated in the params",
        value=lambda at: float(at.given.params.cluster.final_gpus),
        inputs=("param:cluster.gpus",),
    ),
    Spec(
        "decision.stale_prices",
        "count",
        label="Prices used that are out of date",
        rule="count of prices behind the total costs that expire within two weeks of the memo's date, or have",
        value=lambda at: float(len(at.stale)),
        inputs=lambda at: at.stale,
        counted=True,
    ),
)

_OPTIONS = (
    EachSpec(
        "decision.total[option]",
        "usd",
        label=lambda at, option: f"Total cost of {at.names[option]} over the horizon",
        rule="mean over the outcomes of the present value of network, servers or rent, power, space, support, staff and lost GPU time",
        value=lambda at, option: at.result.totals[option],
        central="mean",
        parts=lambda at, option: parts_of(at.bills.components[option]),
    ),
    EachSpec(
        "decision.gap[option]",
        "usd",
        label=lambda at, option: f"Total cost of {at.names[option]} less that of {at.choice}",
        rule="difference of total costs, outcome by outcome",
        value=lambda at, option: at.bills.gap(option, at.result.verdict.choice),
        inputs=(HORIZON,),
        central="mean",
        parts=lambda at, option: at.bills.gap_parts(option, at.result.verdict.choice),
        compares=lambda at, option: (at.result.verdict.choice, option),
    ),
    EachSpec(
        "decision.cash_gap[option]",
        "usd",
        label=lambda at, option: f"Cash paid for {at.names[option]} less that for {at.choice}",
        rule="the causes of the difference that somebody is paid for, outcome by outcome",
        value=lambda at, option: at.bills.cash_gap(option, at.result.verdict.choice),
        inputs=(HORIZON,),
        central="mean",
        parts=lambda at, option: at.bills.gap_parts(option, at.result.verdict.choice)[0].parts,
        compares=lambda at, option: (at.result.verdict.choice, option),
    ),
    EachSpec(
        "decision.time_gap[option]",
        "usd",
        label=lambda at, option: f"GPU time lost on {at.names[option]} less that lost on {at.choice}, at its value",
        rule="the causes of the difference that are GPU time × value of a GPU-hour, or a price of delay, outcome by outcome",
        value=lambda at, option: at.bills.time_gap(option, at.result.verdict.choice),
        inputs=(HORIZON,),
        central="mean",
        parts=lambda at, option: at.bills.gap_parts(option, at.result.verdict.choice)[1].parts,
        compares=lambda at, option: (at.result.verdict.choice, option),
    ),
    EachSpec(
        "decision.sure.wins[option]",
        "share",
        label=lambda at, option: (
            f"Share of outcomes in which {at.names[option]} is the cheapest of the options that may be taken"
        ),
        rule="count of outcomes with the lowest total cost ÷ all outcomes",
        value=lambda at, option: at.result.cheapest.shares[option],
        inputs=lambda at, option: {i for pair, ids in at.apart.items() if option in pair for i in ids},
        digits=2,
        when=lambda at, option: option in at.result.cheapest.shares,
    ),
    EachSpec(
        "decision.cheapest_error[option]",
        "share",
        label=lambda at, option: f"Sampling error of the share of outcomes in which {at.names[option]} is the cheapest",
        rule=(
            "from the spread over twenty independently scrambled hypercubes, scaled to the outcomes of the memo: a fresh "
            "hypercube as large lies within two errors of the share in nineteen of twenty cases"
        ),
        value=lambda at, option: at.result.cheapest.errors[option],
        inputs=lambda at, _: at.everything,
        digits=1,
        when=lambda at, option: at.result.cheapest.errors.get(option, 0.0) > 0,
    ),
    EachSpec(
        "decision.besides.neighbours[option]",
        "usd",
        label=lambda at, option: f"What other tenants' traffic costs on {at.names[option]}",
        rule="the model run again on the same outcomes: total cost − total cost without such traffic",
        value=lambda at, option: at.result.neighbours[option],
        inputs=lambda at, option: {*inputs_of(at.bills.totals[option]), NEIGHBOURS},
        central="mean",
        when=lambda at, option: option in at.result.neighbours,
    ),
    EachSpec(
        "decision.ready[option]",
        "share",
        label=lambda at, option: (
            f"Chance that {at.names[option]}, ordered at once, is in production by the client's date"
        ),
        rule="share of outcomes in which all weeks from the memo's date to production are at most those to the client's date",
        value=lambda at, option: at.result.verdict.ready[option],
        inputs=lambda at, option: {*inputs_of(at.bills.own[option].production_weeks), DATE},
        digits=2,
    ),
)


def _label(at: DecisionContext, turn: Turn, name: str, what: str) -> str:
    """The name of a value of an input: an option's own weeks in use have the one that every section calls them by."""
    option = at.result.own_unit(turn).option
    if not option:
        return f"{what}: {label_of(at.given, turn.input_id)}"
    weeks = stable_label(at.names[option])
    return weeks if name == IN_USE else f"{what}: {inside(weeks)}"


def _behind(at: DecisionContext, turn: Turn) -> frozenset[str]:
    """What the client's own weeks rest on beside the input."""
    option = at.result.own_unit(turn).option
    return inputs_of(at.bills.own[option].bring_up_weeks) if option else frozenset()


def _digits(at: DecisionContext, turn: Turn) -> int:
    return 2 if at.result.own_unit(turn).option else 3


def _base(at: DecisionContext, turn: Turn, name: str) -> Mapping[str, Any]:
    """What is told of an input: of an option's own weeks the base that every section tells them by."""
    unit = at.result.own_unit(turn)
    statistic = {"statistic": middle_of(unit.unit)} if name == IN_USE and not turn.is_choice else {}
    own = rule_of(WEEKS) if unit.option else {"quantity": inside(label_of(at.given, turn.input_id))}
    return {**own, "about": (unit.option or turn.input_id,), **statistic}


def _point(
    name: str, what: str, rule: str, inputs: Callable[[DecisionContext, frozenset[str]], frozenset[str]]
) -> EachSpec:
    """A value of an input; `inputs`: what it rests on, given the input itself."""

    def turn(at: DecisionContext, key: str) -> Turn:
        found = at.point(key, name)
        assert found is not None
        return found

    def value(at: DecisionContext, key: str) -> float:
        found = turn(at, key)
        own = at.result.own_unit(found)
        return own.in_use if name == IN_USE else own.told(float(getattr(found, name)))

    return EachSpec(
        f"decision.{name}[turning]",
        lambda at, key: at.result.own_unit(turn(at, key)).unit,
        label=lambda at, key: _label(at, turn(at, key), name, what),
        rule=rule,
        value=value,
        inputs=lambda at, key: inputs(at, frozenset({turn(at, key).input_id})) | _behind(at, turn(at, key)),
        digits=lambda at, key: _digits(at, turn(at, key)),
        currency=lambda at, key: turn(at, key).currency,
        when=lambda at, key: at.point(key, name) is not None,
        base=lambda at, key: _base(at, turn(at, key), name),
    )


def _beyond(name: str, point: str, where: Callable[[Turn], str]) -> EachSpec:
    """The chance that an input lies beyond one of its points."""
    return EachSpec(
        f"decision.{name}[drawn]",
        "share",
        label=lambda at, key: (
            f"Chance that it lies {where(at.drawn[key])}: {label_of(at.given, at.drawn[key].input_id)}"
        ),
        rule="share of the input's values on that side",
        value=lambda at, key: getattr(at.drawn[key], name),
        inputs=lambda at, key: {*at.everything, at.drawn[key].input_id},
        digits=2,
        when=lambda at, key: (
            key in at.turning and None not in (getattr(at.drawn[key], point), getattr(at.drawn[key], name))
        ),
    )


def _beyond_edge(edge: str) -> EachSpec:
    return _beyond(
        f"beyond_{edge}",
        edge,
        lambda turn: f"{next(side for name, _, side, *_ in turn.edges if name == edge)} where the advice changes",
    )


_TURNING = (
    _point(IN_USE, _IN_USE, _RECKONED, lambda _, own: own),
    _point(
        "break_even",
        "Where the money is level",
        RERUN + "mean difference zero" + _OWN,
        lambda at, own: at.everything - own,
    ),
    _point(
        "edge",
        "Where the advice changes",
        RERUN + "the first value at which another course is advised" + _OWN,
        lambda at, own: at.everything | own,
    ),
    _point(
        "other_edge",
        "Where the advice changes on the other side",
        RERUN + "as on the first",
        lambda at, own: at.everything | own,
    ),
    _beyond("beyond", "break_even", lambda turn: f"{turn.side} its break-even"),
    _beyond_edge("edge"),
    _beyond_edge("other_edge"),
)


def _change(name: str, what: str, rule: str, value: Callable[[Change, OwnUnit], float]) -> EachSpec:
    """A value of an input that would change the advice, as this client counts it."""
    return EachSpec(
        f"decision.change.{name}[change]",
        lambda at, key: at.result.own_unit(at.changes[key].turn).unit,
        label=lambda at, key: _label(at, at.changes[key].turn, name, what),
        rule=rule,
        value=lambda at, key: value(at.changes[key], at.result.own_unit(at.changes[key].turn)),
        inputs=lambda at, key: (frozenset() if name == IN_USE else at.everything) | {at.changes[key].turn.input_id},
        currency=lambda at, key: at.changes[key].turn.currency,
        digits=lambda at, key: _digits(at, at.changes[key].turn),
        base=lambda at, key: _base(at, at.changes[key].turn, name),
    )


_CHANGES = (
    _change(IN_USE, _IN_USE, _RECKONED, lambda _, own: own.in_use),
    _change(
        "at",
        "Where another option is advised",
        RERUN + "the nearest value at which another option is advised" + _OWN,
        lambda change, own: own.told(change.edge.at),
    ),
)
_REVERSES = (
    EachSpec(
        "decision.reverses[reversal]",
        "usd",
        label=lambda at, key: f"Total cost of {at.rival} less that of {at.choice}: {at.reversals[key].what}",
        rule=lambda at, key: f"the model run again on the same outcomes, {at.reversals[key].what}: mean difference",
        value=lambda at, key: at.reversals[key].lead,
        inputs=lambda at, key: at.reversals[key].behind,
        compares=lambda at, key: (at.reversals[key].choice, at.reversals[key].rival),
    ),
)

_ALIKE: tuple[EachSpec, ...] = alike_figures(DecisionContext)
_LATER: tuple[Spec, ...] = later_figures(DecisionContext)

FIGURES = Declaration(
    "decision",
    (
        *(*_LEAD, *_PAGE, *_OPTIONS, *_TURNING, *UNQUOTED, *_ALIKE, *_LATER),
        *OFFERS,
        *HELD,
        *_CHANGES,
        *_REVERSES,
        *COURSES,
        *MONDAY,
        *SCHEDULE,
    ),
    {
        "option": Index(lambda at: at.result.totals),
        "drawn": Index(lambda at: at.drawn),
        "turning": Index(lambda at: at.turning),
        "unquoted": Index(lambda at: at.unquoted),
        "held": Index(lambda at: at.held),
        "change": Index(lambda at: at.changes),
        "reversal": Index(lambda at: at.reversals),
        "stale": Index(lambda at: at.result.monday.stale),
        "offer": Index(offers_in),
        "bid": Index(lambda at: at.result.bids),
        "line": Index(bid_lines),
        "pair": Index(lambda at: pairs_of(at), PAIRS),
        **INDEXES,
        **COURSE_INDEXES,
    },
)
"""Every figure of the section."""
