"""Tables in the bodies of memos: each a few rows of what the sections derive in full."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import astuple, replace

from fabricreport.base.formats import NBSP
from fabricreport.base.vocabulary import CourseKind
from fabricreport.blocks import Column, Row, Table
from fabricreport.blocks.tables import Cell
from fabricreport.blocks.template import PhraseCell
from fabricreport.bodies import views
from fabricreport.bodies.choose_provider import SHOWN, chooses_network, day, last_day, needs_network, to_ask, turning
from fabricreport.bodies.views import Told, body_names, text_called
from fabricreport.books.names import Names, input_names, option_names, whole_names
from fabricreport.books.sellers import offer_terms
from fabricreport.inputs.inputs import Inputs
from fabricreport.ledger.facts import Name, capital, joined
from fabricreport.ledger.numbers import FigureOf, Number
from fabricreport.models.money.offers import Standing
from fabricreport.sections.decision.actions import PAGE_ONE
from fabricreport.sections.decision.courses.result import CHOICE, RIVAL
from fabricreport.sections.decision.offers.judgements import Judged, Open
from fabricreport.sections.decision.offers.study import OffersResult
from fabricreport.sections.decision.result import DecisionResult
from fabricreport.sections.decision.sensitivity import MOST, Change, course_told, share_cell
from fabricreport.sections.decision.steps import Monday
from fabricreport.sections.decision.tables import WORTH_HEAD, network_name, tiers, todo, where_of
from fabricreport.sections.decision.turning import key_of
from fabricreport.sections.decision.words import ready_apart
from fabricreport.sections.diligence.plan.result import Plan
from fabricreport.sections.diligence.result import DiligenceResult
from fabricreport.sections.diligence.tables import shown, size_text
from fabricreport.sections.schedule import Step
from fabricreport.sections.schedule import told as dated
from fabricreport.sections.tail_risk.result import TailResult
from fabricreport.sections.tco.result import TcoResult


def either_of(course: str) -> set[str]:
    """The options of which a course takes either; none where it takes one."""
    kind, _, options = course.partition(":")
    return set(options.split("+")) if kind == CourseKind.EITHER else set()


def course_of(given: Inputs, course: str, pair: Sequence[str]) -> Name:
    """A course of action in words, by its id, with options as the body calls them."""
    told = course_told(given, course, pair)
    if either_of(course) == set(pair):
        names = whole_names(given.all_options.values())
        told = Name("take the better offer of ", joined((names[o] for o in pair), " or "))
    return Name(text_called(body_names(given, pair[0], pair[1]), told))


MOST_REVERSALS = 8
_DATES = {
    "late": "A run ends late",
    "delay_p90": "One run in ten is later than planned by",
    "fabric_lost": "GPU time lost to the network beside its normal step",
}
_STEPS = {
    Step.ORDER: "Ordered",
    Step.DELIVERY: "All delivered",
    Step.POWER_ON: "Powered on",
    Step.STABLE: "Runs stably",
    Step.PRODUCTION: "In production",
}


def changes(given: Inputs, result: DecisionResult, monday: Monday) -> Table:
    """What would change the advice: what we reckon with, the value at which another option is advised, and who can tell, by
    which step."""
    pair = result.verdict.pair
    courses = dict.fromkeys(change.edge.course for change in result.changes)
    words = {course: f"course_{n}" for n, course in enumerate(courses)}
    rows = [
        _change(given, result, change, words[change.edge.course], monday.settles[change.turn.input_id])
        for change in result.changes
    ]
    heads = ("What", "On average", "Another is advised", "Who can tell you")
    return Table([Column(h) for h in heads], rows, {words[c]: course_of(given, c, pair) for c in courses})


def _change(given: Inputs, result: DecisionResult, change: Change, course: str, step: str) -> Row:
    key = key_of(change.turn.input_id)
    place = f"{change.edge.side} {{decision.change.at.{key}}}: {{{course}}}"
    told = (f"{{decision.change.in_use.{key}}}", place, f"{change.turn.settled['who']} (step {step})")
    return Row([Name(input_names(given, change.turn.input_id).row), told[0], told[1], Name(told[2])])


def flips(given: Inputs, result: DecisionResult) -> Table:
    """Where the advice changes most often: the value and the course beyond it, and how often it lies there."""
    courses = dict.fromkeys(edge.course for _, edge in result.flips)
    words = {course: f"course_{n}" for n, course in enumerate(courses)}
    rows = [
        Row(
            [
                Name(input_names(given, turn.input_id).row),
                f"{turn.told(edge.side)} {{decision.{edge.end}.{key}}}: {{{words[edge.course]}}}",
                f"{{decision.{edge.beyond}.{key}:of100}}",
            ]
        )
        for turn, edge in result.flips
        for key in [key_of(turn.input_id)]
    ]
    pair = result.verdict.pair
    names = body_names(given, *pair)
    told = {words[c]: Name(text_called(names, course_told(given, c, pair))) for c in courses}
    return Table([Column(h) for h in ("What", "Another is advised", _whole("In outcomes"))], rows, told)


def reverses(given: Inputs, result: DecisionResult) -> Table:
    """What was set otherwise between the two compared: those that reverse their order marked and first, then the nearest."""
    found = result.reversals
    assert found is not None, "asked for where two are compared"
    names = body_names(given, *result.verdict.pair)
    rows = [
        Row(
            [Name(capital(one.what)), Name(names[one.cheaper].row), f"{{decision.reverses.{one.key}:abs}}"],
            role="winner" if one in found.reversing else "normal",
        )
        for one in found.tried[:MOST_REVERSALS]
    ]
    return Table([Column("Set otherwise"), Column("Cheaper then"), Column("By")], rows)


def more_actions(monday: Monday) -> Table:
    """The steps that page one has no room for."""
    return todo(replace(monday, todos=monday.todos[PAGE_ONE:]))


def options(given: Inputs, result: DecisionResult, figure: FigureOf) -> Table:
    """Every option, the cheapest first: its total, what it costs more than the choice in cash, in time and in all, and how
    often it is in time where that tells options apart, else how often it is the cheapest."""
    choice, short, apart = result.verdict.choice, _short(given, result), ready_apart(given, result)
    totals = {o: figure(f"decision.total.{o}") for o in result.totals}
    rows = [
        Row(
            [
                Name(short[o].row),
                totals[o],
                *(
                    None if o == choice else figure(f"decision.{part}.{o}")
                    for part in ("cash_gap", "time_gap", "gap", "gap")
                ),
                figure(f"decision.ready.{o}") if apart else share_cell(result.cheapest, o),
            ],
            role="winner" if o == choice and not result.verdict.open else "normal",
        )
        for o in sorted(totals, key=lambda o: totals[o].value)
    ]
    more = (Column("More cash"), Column("More time"), Column("More in all"))
    heads = (Column("Option"), Column("Total"), *more, Column("Nine times in ten", style="spread"))
    return Table([*heads, Column("In time" if apart else "Cheapest in")], rows)


def _short(given: Inputs, result: DecisionResult) -> dict[str, Names]:
    """What sentences call the options."""
    return option_names(given.options, *result.verdict.pair)


def dates(given: Inputs, result: DecisionResult, tail: TailResult) -> Table:
    """The calendar, weeks and a run, with each of the two compared in a column of its own, the choice first."""
    short = _short(given, result)
    pair = tuple(dict.fromkeys(result.verdict.pair))
    weeks = [
        Row(["Weeks until it runs stably, at the median", *(tail.numbers[f"tail_risk.weeks.{o}"] for o in pair)]),
        Row(["The same, nine times in ten", *(f"{{tail_risk.weeks.{o}:spread}}" for o in pair)]),
    ]
    met = [Row(["In time", *(f"{{decision.ready.{o}:of100}}" for o in pair)])] if given.params.dated else []
    rows = [Row([what, *(tail.numbers[f"tail_risk.{name}.{o}"] for o in pair)]) for name, what in _DATES.items()]
    heads = [Column(""), *(Column(Name(short[o].row), style="mixed") for o in pair)]
    return Table(heads, [*calendar(result, pair), *met, *weeks, *rows])


def calendar(result: DecisionResult, pair: Sequence[str]) -> list[Row]:
    """The day of each step on each of these options, ordered at once."""
    courses = result.schedule.courses
    found = [courses[key] for key, _ in zip((CHOICE, RIVAL), pair, strict=False)]
    return [Row([what, *(Name(dated(one.days[step])) for one in found)]) for step, what in _STEPS.items()]


def within(result: DecisionResult) -> Table:
    """The day of each step of the work within nodes, for which no network is tuned."""
    days = result.schedule.advised.days
    rows = [Row([what, Name(dated(days[step]))]) for step, what in _STEPS.items() if step != Step.STABLE]
    return Table([Column(""), Column("Day", style="mixed")], rows)


def levers(tail: TailResult, shown: Sequence[str]) -> Table:
    """What each of the measures saves in the first year, with its range, and what it costs."""
    labels = {lever.id: lever.label for lever in tail.levers}
    number = tail.numbers
    rows = [
        Row(
            [
                Name(labels[v]),
                *[number[f"tail_risk.lever.{v}.saved"]] * 2,
                number[f"tail_risk.lever.{v}.cost"],
            ]
        )
        for v in shown
    ]
    return Table(
        [Column("Measure"), Column("Saves"), Column("Nine times in ten", style="spread"), Column("Costs")], rows
    )


TESTED = ("allreduce", "alltoall")
"""Exchanges told of beside the one that the credit rests on, by their names in logs; the second where the job sends it."""


def stages(result: TcoResult) -> Table:
    """What is bought at each stage on either network: switches, and what they and their links cost.

    With two networks side by side also where the other one may no longer be chosen once the stage is bought.
    """
    owned = result.ownership
    assert owned is not None, "asked for where the plan is priced in stages"
    number, options = result.numbers, tuple(dict.fromkeys((result.choice, result.rival)))
    closed = closes_off([len(build.sites) for build in owned.builds[result.choice]]) if len(options) > 1 else ()
    rows: list[Row] = [
        Row(
            [
                number[f"tco.stage.month.{n}.{result.choice}"],
                number[f"tco.stage.gpus.{n}.{result.choice}"],
                *(number[f"tco.stage.{what}.{n}.{o}"] for o in options for what in ("bought", "price")),
                *closed[n : n + 1],
            ]
        )
        for n in range(len(owned.builds[result.choice]))
    ]
    whole: list[Cell] = ["All", ""]
    for option in options:
        whole += [number[f"tco.count.switches.{option}"], number[f"tco.fabric_capex.{option}"]]
    heads = [Column("Month"), Column("Size")]
    for word in ("{choice}", "{rival}")[: len(options)]:
        heads += [Column(f"{word} switches"), Column(f"{word} cost", decimals=1)]
    if closed:
        heads, whole = [*heads, Column("Fixes the kind at")], [*whole, ""]
    return Table(heads, [*rows, Row(whole, role="total")])


def closes_off(sites: Sequence[int]) -> list[Name]:
    """Where each stage closes off another kind of network, from the number of sites in use: one that begins has chosen."""
    several = sites[-1] > 1
    begun = [later > before for before, later in zip([-1, *sites], sites, strict=False)]
    first = ("first site" if sites[0] == 1 else "first sites") if several else "all stages"
    return [Name((first if n == 0 else "next site") if new else "–") for n, new in enumerate(begun)]


def acceptance(given: Inputs, result: DiligenceResult) -> Table:
    """Bandwidths to show on all GPUs of a network at each size; for either option where the course is open."""
    plans = [plan for plan in (result.plan, result.plan_of_rival) if plan is not None and plan.tests]
    sizes = list(dict.fromkeys(test.gpus for test in result.plan.tests))
    short = option_names(given.options)
    rows, messages = [], set()
    for plan in plans:
        for title, bars in _bandwidths(plan, result.terms.exchange.measures).items():
            messages |= {size for _, size in bars}
            shown_bars = {gpus: bar for (gpus, _), bar in bars.items()}
            named = [Name(short[plan.option].short)] if len(plans) > 1 else []
            rows.append(Row([*named, Name(title), *(shown_bars.get(gpus) for gpus in sizes)]))
    heads = [*([Column("Network")] if len(plans) > 1 else []), Column("Exchange among all GPUs")]
    columns = [*heads, *(Column(Name(f"{gpus:,} GPUs"), style="mixed") for gpus in sizes)]
    return Table(columns, rows, {"message": Name(" or ".join(size_text(size) for size in sorted(messages)))})


def _bandwidths(plan: Plan, exchange: str) -> Mapping[str, Mapping[tuple[int, int], Number]]:
    """The bandwidth that each collective has to show at each stage, by its title, by GPUs and message size."""
    found: dict[str, dict[tuple[int, int], Number]] = {}
    left = {*TESTED, exchange}
    for test in plan.tests:
        if test.measures not in left and test.title not in found:
            continue
        if test.by_step is False and test.measures != TESTED[0]:
            continue
        if test.unit != "gbytes/s" or not all(size for _, size in test.bars):
            continue
        left.discard(test.measures)
        bar = shown(test)
        size = next(size for (_, size), number in test.bars.items() if number is bar)
        found.setdefault(test.title, {})[(test.gpus, size)] = bar
    return found


def _found(case: Told) -> OffersResult:
    found = case.decision().offers
    assert found is not None, "asked for where there are offers"
    return found


def _month(case: Told, judged: Judged) -> str:
    """The month of a price, and that it is out of date where no dagger at a published price says so."""
    price = case.inputs.prices.by_id(judged.price)
    unmarked = Open.OLD in judged.open and not (price.stale and _found(case).listed)
    return _whole(f"{price.date:%b %Y}, old" if unmarked else f"{price.date:%b %Y}")


def _whole(text: str) -> str:
    """The same, kept on one line."""
    return text.replace(" ", NBSP)


def _dated(case: Told, judged: dict[str, Judged]) -> Iterator[tuple[str, str, Judged, str]]:
    """Each offer with its price and its month, as a cell, and the word for the month."""
    for n, (offer, one) in enumerate(judged.items()):
        item = one.price.removeprefix("price:")
        held = f"{{decision.held.stands.{item}:bare}} or {{decision.held.asked.{item}:bare}}, held"
        spanned = case.inputs.prices.by_id(one.price).spanned
        yield offer, held if spanned else f"{{{one.price}:bare}} ({{month_{n}}})", one, f"month_{n}"


def offers(case: Told) -> Table:
    """The cheapest offers: seller, rent, product with its network, topology and the whole work.

    Of a published price it is told whether it holds the network, of an offer what to ask first.
    """
    found, networked = _found(case), needs_network(case)
    taken = found.pick.standing == Standing.TAKE
    judged = dict(list(found.judged.items())[:SHOWN])
    words: dict[str, object] = {word: Name(_month(case, one)) for _, _, one, word in _dated(case, judged)}
    rows = []

    for n, (offer, price, one, _) in enumerate(_dated(case, judged)):
        words[f"where_{n}"] = Name(_where(case, one))
        rows.append(
            Row(
                [
                    Name(one.offer.seller),
                    price,
                    f"{{where_{n}}}{tiers(one.offer)}",
                    *([_held(one)] if found.listed and networked else []),
                    *(["no" if Open.TOPOLOGY in one.open else "yes"] if networked else []),
                    case.figure(f"decision.offers.total.{offer}"),
                    *([] if found.listed else [Name(to_ask(case, one, "short"))]),
                ],
                role="winner" if taken and offer == found.pick.first else "normal",
            )
        )
    held, asked = (("In the rent?",), ()) if found.listed else ((), ("Ask first",))
    product = ("Network on", *held, "Topology") if networked else ("Product",)
    heads = (*product, "Cost", *asked)
    columns = [Column("Seller"), Column("Rent, {money}"), *(Column(h) for h in heads)]
    return Table(columns, rows, {**words, "money": Name(str(case.inputs.params.money.currency))})


def _where(case: Told, judged: Judged) -> str:
    """The product of an offer, with its network where the offers differ in it."""
    mixed = len({j.offer.fabric for j in _found(case).judged.values()}) > 1
    sold = where_of(judged.offer)
    return f"{network_name(case.inputs, judged.offer.fabric)}, {sold}" if mixed else sold


def renter_changes(case: Told) -> Table:
    """What would change the answer: what is assumed, where it changes, how likely that is, and what settles it."""
    said = offer_terms().turns
    rows = [Row([PhraseCell(text) for text in astuple(said[kind])]) for kind in turning(case)]
    return Table(
        [Column(h) for h in ("What", _whole("So far"), "It changes at", "Of outcomes", "Settled by")], rows[:MOST]
    )


def before(case: Told) -> Table:
    """What to do before signing: the lines worth most, each with the day it has to be done by."""
    rows = [Row([*row.cells[:2], row.cells[-2], row.cells[-1]]) for row in _steps(case, one_day=True)[:PAGE_ONE]]
    return Table([Column(h) for h in ("", "Do", _whole("Done by"), WORTH_HEAD)], rows)


def after(case: Told) -> Table:
    """The lines that page one has no room for, each with who does it and by when."""
    return Table([Column(h) for h in ("", "Do", "Who", "By", WORTH_HEAD)], _steps(case)[PAGE_ONE:])


def _steps(case: Told, one_day: bool = False) -> list[Row]:
    """What to do, who does it, by when (`one_day`: the day of its end alone) and what it is worth."""
    monday, reader = case.monday(), case.inputs.params.memo.to.partition(",")[0]
    rows = []
    for one, row in zip(monday.todos, todo(monday).rows, strict=True):
        who = Name("you" if one.who == reader else one.who)
        by = f"{day(one.by)}, answer {day(one.answer)}" if one.answer else day(one.by)
        by = f"draft by {by}" if one.action.contract else by
        rows.append(Row([*row.cells[:2], who, Name(day(one.answer or one.by) if one_day else by), row.cells[-1]]))
    return rows


def results(case: Told) -> Table:
    """Until when each price is good, what it comes to, and in how many outcomes it costs least; where the order is open, in
    place of the day, between which ends, by which it is told who may."""
    found = _found(case)
    ends = ("least", "most") if found.unranked else ()
    rows = [
        Row(
            [
                Name(one.offer.seller),
                *([] if ends else [Name(last_day(case, one))]),
                case.figure(f"decision.offers.useful_hour.{offer}"),
                *[case.figure(f"decision.offers.total.{offer}")] * 2,
                *(case.figure(f"decision.offers.{end}.{offer}") for end in ends),
                case.figure(f"decision.offers.cheapest.{offer}"),
            ]
        )
        for offer, one in found.judged.items()
    ]
    if found.market is not None:
        rows.append(_market(case, ends))
    until = [] if ends else [_whole("Good until")]
    columns = [*(Column(h) for h in ("Seller", *until, "Useful hour", "Whole work"))]
    columns.append(Column("Nine in ten", style="spread"))
    columns += [Column(end.capitalize()) for end in ends]
    return Table([*columns, Column("Costs least in")], rows)


def _market(case: Told, ends: Sequence[str]) -> Row:
    """The market's mean rent for the term, as a second figure: nobody offers it."""
    total = case.figure("decision.offers.market_total")
    until = [None] * (0 if ends else 1)
    hour = case.figure("decision.offers.market_useful_hour")
    return Row([Name("Market, mean"), *until, hour, total, total, *(None for _ in ends), None])


def _held(judged: Judged) -> str:
    """Whether a price holds its network."""
    if judged.offer.with_network:
        return "yes"
    return "no, beside it" if Open.EXTRA in judged.open else "not said"


def test(case: Told) -> Table:
    """What the network has to pass; of either of two where both may still be chosen."""
    tests = case.diligence()
    weighed = tests if chooses_network(case) else replace(tests, promises_of_rival=())
    return views.contract_table(case.inputs, case.decision(), weighed)
