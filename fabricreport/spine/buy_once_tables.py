"""Tables in the body of a memo about one purchase: each a few rows of what the sections derive in full."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from fabricreport.blocks import Column, Name, Row, Table
from fabricreport.books.names import Names, input_names, option_names, whole_names
from fabricreport.findings import capital
from fabricreport.inputs import Inputs
from fabricreport.ledger import FigureOf
from fabricreport.sections.decision.changes import Change
from fabricreport.sections.decision.cheapest import share_cell
from fabricreport.sections.decision.courses.result import CHOICE, RIVAL
from fabricreport.sections.decision.monday.kinds import PAGE_ONE
from fabricreport.sections.decision.monday.study import Monday
from fabricreport.sections.decision.monday.tables import todo
from fabricreport.sections.decision.result import DecisionResult
from fabricreport.sections.decision.schedule_words import ready_apart
from fabricreport.sections.decision.turning import key_of
from fabricreport.sections.schedule.calendar import Step
from fabricreport.sections.schedule.days import told as dated
from fabricreport.sections.tail_risk.result import TailResult
from fabricreport.spine.courses import course_of

MOST_REVERSALS = 8
_DATES = {
    "late": "A run ends late",
    "delay_p90": "One run in ten is later than planned by",
    "fabric_lost": "GPU time that the network takes",
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
    pair = (result.verdict.choice, result.verdict.runner_up)
    courses = dict.fromkeys(change.edge.course for change in result.changes)
    words = {course: f"course_{n}" for n, course in enumerate(courses)}
    rows = [
        _change(given, result, change, words[change.edge.course], monday.settles[change.turn.input_id])
        for change in result.changes
    ]
    heads = ("What", "We reckon with", "Another is advised", "Who can tell you")
    return Table([Column(h) for h in heads], rows, {words[c]: course_of(given, c, pair) for c in courses})


def _change(given: Inputs, result: DecisionResult, change: Change, course: str, step: str) -> Row:
    key = key_of(change.turn.input_id)
    place = f"{change.edge.side} {{decision.change.at.{key}}}: {{{course}}}"
    told = (f"{{decision.change.in_use.{key}}}", place, f"{change.turn.settled['who']} (step {step})")
    return Row([Name(input_names(given, change.turn.input_id).row), told[0], told[1], Name(told[2])])


def reverses(given: Inputs, result: DecisionResult) -> Table:
    """What was set otherwise between the two compared: those that reverse their order marked and first, then the nearest."""
    found = result.reversals
    assert found is not None, "asked for where two are compared"
    names = whole_names(given.all_options.values())
    rows = [
        Row(
            [Name(capital(one.what)), Name(names[one.cheaper]), f"{{decision.reverses.{one.key}:abs}}"],
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
    return option_names(given.options, result.verdict.choice, result.verdict.runner_up)


def dates(given: Inputs, result: DecisionResult, tail: TailResult) -> Table:
    """The calendar, weeks and a run, with each of the two compared in a column of its own, the choice first."""
    short = _short(given, result)
    pair = tuple(dict.fromkeys((result.verdict.choice, result.verdict.runner_up)))
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
                number[f"tail_risk.lever.{v}.saved"],
                f"{{tail_risk.lever.{v}.saved:spread}}",
                number[f"tail_risk.lever.{v}.cost"],
            ]
        )
        for v in shown
    ]
    return Table(
        [Column("Measure"), *(Column(head, style="mixed") for head in ("Saves", "Nine times in ten", "Costs"))], rows
    )
