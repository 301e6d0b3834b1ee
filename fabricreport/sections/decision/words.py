"""What may be found of a decision, named (`when=finding.opens_clear`), and the words of its calendar, courses and offers."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from enum import StrEnum
from typing import Any

from fabricreport.base.formats import inside, listed
from fabricreport.base.provenance import mean_of
from fabricreport.base.vocabulary import CourseKind, Ground
from fabricreport.base.yaml_files import read_yaml
from fabricreport.books.names import whole_names
from fabricreport.books.sellers import RANKED, Kind, Offer, first_question
from fabricreport.inputs.inputs import Inputs
from fabricreport.ledger.facts import Name, Named
from fabricreport.ledger.numbers import FigureOf
from fabricreport.scenario import is_given
from fabricreport.sections.client import time_lost
from fabricreport.sections.decision.courses.result import ASKS, CoursesResult, PricedCourse
from fabricreport.sections.decision.offers.judgements import Judged, Open
from fabricreport.sections.decision.offers.study import Bid, OffersResult
from fabricreport.sections.decision.result import DecisionResult
from fabricreport.sections.decision.tables import asking, conditions
from fabricreport.sections.schedule import Step, told
from fabricreport.sections.sites import links_assumed
from fabricreport.sections.stance import direction


class DecisionFinding(StrEnum):
    """What may be true of a decision; those of one group exclude each other."""

    # what is offered
    BIDS = "a buyer: sellers quote the pieces of an option"
    # the date
    UNDATED = "no date was stated"
    TOO_LATE = "the course advised is not likely to meet the date stated, nor is either of two networks that is ordered at once"
    TOO_LATE_ALONE = "it is not, and no two networks are held against each other"
    LATE_BY_ASKING = "it is not, for it asks first: one of the two, ordered at once, is"
    LATE_CHOICE = "it is not, and the one of the two not advised is"
    LATE_RENT = "machines that are rented first would meet it"
    LATE_MOVE = "nor would they"
    LATE_BUT_FOR_LEAD = "it hangs on a lead time that is assumed"
    LEAD_ASSUMED = "what the course advised waits for is delivered when we assume it is"
    # the advice
    TAKE = "take the choice, as it stands"
    SETTLE_FIRST = "take the choice once the figures named are settled"
    ASK_BOTH = "ask for offers on both"
    ON_PRICE = "take whichever offer is better"
    TAKE_SMALL = "so few GPUs: take what costs least"
    SIGN_STAGE_ONE = "take the choice, and sign for the first stage alone"
    SETTLE_STAGE_ONE = "the same, once the figures named are settled"
    OFFERS_FIRST = "ask for offers on both before choosing"
    PILOT_FIRST = "run a pilot on both before choosing"
    OFFERS_SHOW = "offers on both are asked for, and what they show is worth more than its noise"
    PILOT_SHOWS = "a pilot is run, and what it shows is"
    ORDER_AHEAD = "take the choice, and order the fabric of every stage now"
    SINGLE_NODES = "keep each job within a node"
    RENT_FIRST = "rent first, for its cost"
    RENT_FIRST_LATE = "rent first, for the date"
    DATE_DEAR = "what would meet the date costs more than being late"
    DELAY_DEAR = "so it does, and a price of delay is stated"
    # why
    NEAR_BY_DATE = "a close lead, decided by the date"
    NEAR_BY_STATED = "a close lead, decided by something else that the client stated"
    ALSO_TIED = "more options than the two compared tie with the choice, which is advised"
    TIE_SETTLED = "and what the client stated prefers the choice to one of its own side that costs less"
    BARRED = "a requirement of contract takes options out of the advice"
    # courses of action
    COURSES = "courses beside taking an option are priced"
    HALLS_ASSUMED = "and links between halls are, of an assumed length or rate"
    COURSES_PLAIN = "and none takes the place of the plain one"
    COURSES_INVOLVED = "and one takes the place of the plain one"
    STAGES_PRICED = "a plan in stages is priced to the end of each"
    NOT_TAKEN = "jobs within nodes are advised: the courses with a network between them are what was not taken"
    # cash and time
    TURNS_DRAWN = "uncertain inputs turn the advice or the order of the two compared"
    # the framework
    MONEY_AND_FRAMEWORK_PART = "the framework leans away from an advice that money or the client decided"
    FRAMEWORK_APART = "so it does, or would if it weighed what the bill counts as well"
    # what would change the answer
    QUOTE_TURNS = "a quote of such an item can turn the money"
    ANSWERS_TURNED = "the answers of sellers change what is advised"
    # what to read with care
    JUDGES_MISSED = "experts were asked, and all missed the known answers by more than chance explains"
    LISTING_TURNS = "without an option whose switch has one listed price, another course is advised"
    OLDER_GPU = "the GPUs that are bought are of an older generation than their maker has on sale"
    GENERATION_TURNS = "a clear lead that the other side has in one generation"
    LATER = "equipment is bought later than prices hold"
    STALE = "prices used are past their shelf life"
    STOOD_IN = "the price files lack an item that the package's own price stands in for"
    # what to do before signing
    MONDAY_LISTED = "there is something to do before signing"
    MONDAY_MORE = "and more than page one has room for"
    # the annex
    OPTIONS_TOLD = "a network is advised, or neither of two: jobs within nodes are not"
    LIMIT_STATED = "the client states the amount below which a lead is close"
    LIMIT_RULED = "the client does not, and the rule sets it"
    FEW_GPUS = "the client plans so few GPUs that the rule of size comes near"
    ASSUMED = "keys were left out"
    # reasons beyond money
    BEYOND_STATED = "the client orders what counts beyond money, and one option comes first by that order"


_HALF, _NINE_IN_TEN = 0.5, 0.9


def schedule_findings(result: DecisionResult) -> Iterator[DecisionFinding]:
    """Whether a date binds, whether the course advised meets it, and what makes production earlier where it does not."""
    found = result.schedule
    if found.assumes_lead:
        yield DecisionFinding.LEAD_ASSUMED
    if found.advised.due is None:
        yield DecisionFinding.UNDATED
        return
    if found.advised.in_time:
        return
    yield _late(result)
    yield _sooner(result)
    if found.lead_weeks is not None:
        yield DecisionFinding.LATE_BUT_FOR_LEAD


def _late(result: DecisionResult) -> DecisionFinding:
    """How the date is missed: by all there is, by asking first, or by the one of two that is advised."""
    kind, networks = result.courses.advised.kind, len(result.totals) > 1 and result.ground != Ground.SIZE
    if not networks or result.in_nodes:
        return DecisionFinding.TOO_LATE_ALONE
    if not result.in_time:
        return DecisionFinding.TOO_LATE
    return DecisionFinding.LATE_BY_ASKING if kind in ASKS else DecisionFinding.LATE_CHOICE


def _sooner(result: DecisionResult) -> DecisionFinding:
    """What makes production earlier: machines that are rented until then, or a seller with stock."""
    rented = result.schedule.courses.get(CourseKind.RENT_FIRST)
    return DecisionFinding.LATE_RENT if rented is not None and rented.in_time else DecisionFinding.LATE_MOVE


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
        **_production_days(result),
        "order_day": Name(told(found.advised.days[Step.ORDER])),
        "deliver_by": Name(told(found.promised(rented=given.team.rented))),
        "agreed_day": Name(told(due if due and found.bought.in_time else found.bought.safe)),
        "at_once": names[result.in_time[0]] if result.in_time else None,
    }


def _production_days(result: DecisionResult) -> Mapping[str, Name]:
    """The days by which half and nine in ten of the outcomes on each of the two compared are in production."""
    found, (choice, rival) = result.schedule, result.verdict.pair
    return {
        f"{whose}{word}": Name(told(found.met_by(found.clocks[option].production, share)))
        for whose, option in (("", choice), ("rival_", rival))
        for word, share in (("half_day", _HALF), ("late_day", _NINE_IN_TEN))
    }


_ADVICE: Mapping[CourseKind, DecisionFinding] = {
    CourseKind.OFFERS: DecisionFinding.OFFERS_FIRST,
    CourseKind.PILOT: DecisionFinding.PILOT_FIRST,
    CourseKind.AHEAD: DecisionFinding.ORDER_AHEAD,
    CourseKind.SINGLE_NODE: DecisionFinding.SINGLE_NODES,
}
_IN_STAGES: Mapping[DecisionFinding, DecisionFinding] = {
    DecisionFinding.TAKE: DecisionFinding.SIGN_STAGE_ONE,
    DecisionFinding.SETTLE_FIRST: DecisionFinding.SETTLE_STAGE_ONE,
}


def advice(found: CoursesResult) -> DecisionFinding | None:
    """The advice in place of the plain one, or None where that is said as well."""
    return _ADVICE.get(found.advised.kind) if found.involved else None


def staged(found: CoursesResult, plainly: DecisionFinding) -> DecisionFinding:
    """What is said of a plan in stages, in the place of what is said of one order."""
    return _IN_STAGES.get(plainly, plainly) if found.plain.kind == CourseKind.STAGE_ONE else plainly


def course_findings(given: Inputs, found: CoursesResult) -> Iterator[DecisionFinding]:
    """What holds of the courses beside what is advised."""
    if links_assumed(given):
        yield DecisionFinding.HALLS_ASSUMED
    yield from _holding(found)
    if found.meeting is not None and not found.by_date:
        yield DecisionFinding.DATE_DEAR
        if given.params.money.price_of_delay_usd_per_day:
            yield DecisionFinding.DELAY_DEAR


def _holding(found: CoursesResult) -> Iterator[DecisionFinding]:
    if found.involved and _rents(found):
        yield DecisionFinding.RENT_FIRST_LATE if found.by_date else DecisionFinding.RENT_FIRST
    if len(found.rows) > 2 or (len(found.rows) > 1 and found.single.total is not None):
        yield DecisionFinding.COURSES
        if found.involved:
            yield DecisionFinding.COURSES_INVOLVED
        elif found.plain.kind != CourseKind.EITHER:
            yield DecisionFinding.COURSES_PLAIN
    if found.growing is not None:
        yield DecisionFinding.STAGES_PRICED


def _rents(found: CoursesResult) -> bool:
    return found.advised.kind == CourseKind.RENT_FIRST


def _side(row: PricedCourse | None, above: str, below: str) -> Name | None:
    """The word for a course that costs more than the one it is held against, or less; None without it."""
    return None if row is None else Name(_way(row.against, above, below))


def _way(amount: Any, above: str, below: str) -> str:
    return below if mean_of(amount) < 0 else above


def _in_time(found: CoursesResult) -> Named | None:
    """The cheapest course that meets the date, as the table calls it, and whether it costs more or less."""
    if found.meeting is None:
        return None
    kind = found.meeting.course.kind
    costs = Name(_way(found.meeting.extra, "more", "less"))
    return Named(read_yaml("courses")[kind]["name"], str(kind), costs=costs)


def course_words(given: Inputs, found: CoursesResult) -> Mapping[str, object]:
    """Words of the prose on courses, and whether the size of the model that fits in a node, or not, is ours."""
    sized = given.params.workload.kind == "hpc-simulation" or is_given(
        given.params, "workload.model_parameters_billion"
    )
    names, priced = whole_names(given.options), bool(given.params.money.price_of_delay_usd_per_day)
    return {
        "base": names[found.base],
        "model_assumed": None if sized else Name("assumed"),
        "rent_costs": _side(found.row(CourseKind.RENT_FIRST), "more", "less"),
        "in_time": _in_time(found),
        "rents_first": _rents(found),
        "delay_priced": priced,
        "time_lost": Name(time_lost(given)),
        "ahead_adds": _side(found.row(CourseKind.AHEAD), "adds", "saves"),
    }


def cheaper_courses(given: Inputs, found: CoursesResult, figure: FigureOf) -> tuple[Named, ...]:
    """What costs less on average than the plain course and does not take its place, terms apart: options by their names."""
    names, known = whole_names(given.options), read_yaml("courses")
    if found.involved or found.plain.kind == CourseKind.EITHER:
        return ()
    return tuple(
        Named(names[row.course.options[0]] if row.kind == CourseKind.TAKE else inside(known[row.kind]["name"]), row.key)
        for row in found.rows
        if not (found.is_base(row) or row.kind == CourseKind.DAMAGES)
        and figure(f"decision.courses.against.{row.key}").sign < 0
    )


_KINDS: Mapping[Kind, str] = {Kind.OFFER: "offered", Kind.TERM: "term", Kind.ON_DEMAND: "on-demand", Kind.LIST: "list"}
_AGAINST = {"less": "more than", "more": "less than", "same": "from"}
"""A positive gap is what a lead prints as: there the first is said to cost less."""


def offer_words(given: Inputs, result: DecisionResult, figure: FigureOf) -> Mapping[str, object]:
    """The words of the sentences on offers; None where there are none."""
    offers, names = result.offers, whole_names(given.options)

    def of(said: Callable[[OffersResult], object]) -> object:
        return said(offers) if offers else None

    return {
        "first_offer": of(lambda found: _named(figure, found.best)),
        "second_offer": of(lambda found: _named(figure, found.next)),
        "unranked": of(lambda found: Name("open") if found.unranked else None),
        "asked_new": of(lambda found: None if found.having(Open.OLD) else _unranked(found)),
        "asked_old": of(lambda found: _unranked(found) if found.having(Open.OLD) else None),
        "assumed_terms": of(_assumed) or (),
        "termed": of(_termed) or (),
        "moved": of(lambda found: tuple(Named(found.judged[o].offer.seller, o) for o in found.moved)) or (),
        "slow_sellers": of(lambda found: _names(found.published.slow)),
        "price_kinds": of(lambda found: Name(_kinds(found))),
        "undated": of(lambda found: _undated(figure, found)) or (),
        "bids": tuple(_bid(names, figure, b, key) for key, b in result.bids.items()),
        "late_sellers": of(lambda found: _sellers(found, found.pick.late)),
        "refusing": of(lambda found: _names([j.offer.seller for j in found.judged.values() if j.reach.barred])),
        "unpriced_sellers": of(
            lambda found: _names([name for name in found.published.unpriced if name not in found.published.undated])
        ),
        "apart_sellers": of(lambda found: _names([f"{o.seller} ({_why_apart(o)})" for o in found.published.apart])),
    }


def _unranked(found: OffersResult) -> Name | None:
    """All sellers to ask where what is published does not tell which is the cheapest."""
    return _sellers(found, found.asked if found.unranked else ())


def _termed(found: OffersResult) -> tuple[Named, ...]:
    """Sellers who publish what a term takes off, each with the entry or price that says so."""
    told = {o: t for o, t in found.terms.items() if not t.assumed and t.behind}
    return tuple(
        Named(
            found.judged[o].offer.seller,
            o,
            sources=tuple(sorted(t.behind)),
            fixed=Name("fixed") if t.share.fixed else None,
        )
        for o, t in told.items()
    )


def _assumed(found: OffersResult) -> tuple[Named, ...]:
    """Sellers who publish none, in one name; its figures are those of the first."""
    ids = [o for o, t in found.terms.items() if t.assumed]
    return (Named(listed([found.judged[o].offer.seller for o in ids]), ids[0]),) if ids else ()


def _names(names: Sequence[str]) -> Name | None:
    """Names as a sentence lists them; None where there are none."""
    return Name(listed(names)) if names else None


def _sellers(found: OffersResult, offers: Sequence[str]) -> Name | None:
    """Who makes these offers, likewise."""
    return _names([found.judged[o].offer.seller for o in offers])


def _undated(figure: FigureOf, found: OffersResult) -> tuple[Named, ...]:
    """Sellers with a price of a day unknown, and that price."""
    return tuple(
        Named(name, entry, price=figure(entry), sources=(entry,)) for name, entry in found.published.undated.items()
    )


def _kinds(found: OffersResult) -> str:
    """What sorts of price stand in the table."""
    return " or ".join(dict.fromkeys(_KINDS[j.offer.kind] for j in found.judged.values()))


def _named(figure: FigureOf, judged: Judged | None) -> Named | None:
    """A seller, with its price and every question that has to be answered before it is signed with; None without one."""
    if judged is None:
        return None
    asks = Name(" ".join(first_question(what) for what in conditions(judged)))
    first = Name(first_question(asking(judged))) if judged.open else None
    return Named(judged.offer.seller, judged.offer.id, asks=asks, first_ask=first, price=figure(judged.price))


def _bid(names: Mapping[str, str], figure: FigureOf, bid: Bid, key: str) -> Named:
    """A seller of pieces, and whether its prices make the bill less, more, or leave it the same."""
    way = _AGAINST[direction(figure(f"decision.bids.gap.{key}"))]
    return Named(bid.offer.seller, key, option=Name(names[bid.option]), way=way)


def _why_apart(offer: Offer) -> str:
    """Why no term can be had at a price: it is a spot or a marketplace price, or the host decides on the network."""
    return "network by host" if offer.kind in RANKED else str(offer.kind)
