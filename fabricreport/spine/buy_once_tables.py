"""Tables in the body of a memo about one purchase: each a few rows of what the sections derive in full."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from fabricreport.blocks import Column, Name, Row, Table
from fabricreport.books.names import Names, input_names, option_names
from fabricreport.inputs import Inputs
from fabricreport.ledger import FigureOf
from fabricreport.provenance import inputs_of
from fabricreport.sections.decision.cheapest import share_cell
from fabricreport.sections.decision.monday.kinds import Kind
from fabricreport.sections.decision.monday.study import Monday, Todo
from fabricreport.sections.decision.monday.tables import todo
from fabricreport.sections.decision.result import DecisionResult
from fabricreport.sections.decision.turning import Edge, Turn, key_of
from fabricreport.sections.tail_risk.result import TailResult
from fabricreport.spine.buy_once_read import MOST_CHANGES, of_weeks
from fabricreport.spine.courses import course_of

MOST_ACTIONS = 5
ALWAYS = frozenset({Kind.ACCEPTANCE, Kind.BOTH})
"""What to do that page one never leaves out: the acceptance test, and to ask for the two offers that decide."""
_DATES = {
    "not_ready": "Not stable within {param:organisation.time_to_production_weeks} of power-on",
    "late": "A run ends late",
    "delay_p90": "One run in ten is later than planned by",
    "fabric_lost": "GPU time that the network takes",
}


def changes(given: Inputs, result: DecisionResult) -> Table:
    """What would change the answer: our value, where it turns, how likely that is, and what settles it."""
    edges = result.edges(MOST_CHANGES)
    pair = (result.verdict.choice, result.verdict.runner_up)
    courses = dict.fromkeys(edge.course for _, edge in edges)
    words = {course: f"course_{n}" for n, course in enumerate(courses)}
    rows = [_change(given, turn, edge, words[edge.course], _settled(given, result, turn)) for turn, edge in edges]
    heads = ("What", "We assume", "It turns", "Chance", "Settled")
    return Table([Column(h) for h in heads], rows, {words[c]: course_of(given, c, pair) for c in courses})


def _change(given: Inputs, turn: Turn, edge: Edge, course: str, settled: str) -> Row:
    key = key_of(turn.input_id)
    ranged = "" if edge.chance is None else f" ({{decision.range.{key}:spread}})"
    place = f"{turn.told(edge.side)} {{decision.{edge.end}.{key}}}: {{{course}}}"
    chance = "yours to set" if edge.chance is None else f"{{decision.beyond_{edge.end}.{key}:of100}}"
    told = (f"{{decision.in_use.{key}}}{ranged}", place, chance)
    return Row([Name(input_names(given, turn.input_id).row), *told, Name(settled)])


def _settled(given: Inputs, result: DecisionResult, turn: Turn) -> str:
    """When it is settled, and of the weeks of a network that may not be bought, on what condition."""
    pair = (result.verdict.choice, result.verdict.runner_up)
    of = [o for o in pair if turn.input_id in inputs_of(result.totals[o])]
    if of_weeks(turn) and len(of) == 1 and (result.verdict.open or of[0] != result.verdict.choice):
        return f"before signing, if {_short(given, result)[of[0]].phrase} is offered too"
    return turn.settled["when"]


def actions(monday: Monday) -> Table:
    """What to do before signing: those worth most, with those that are never left out, numbered as they stand here."""
    shown = (replace(one, mark=str(number)) for number, one in enumerate(_shown(monday.todos), 1))
    return todo(replace(monday, todos=tuple(shown)))


def _shown(todos: Sequence[Todo]) -> list[Todo]:
    kept = [one for one in todos if one.action.kind in ALWAYS]
    others = [one for one in todos if one not in kept][: MOST_ACTIONS - len(kept)]
    return [one for one in todos if one in kept or one in others]


def options(given: Inputs, result: DecisionResult, figure: FigureOf) -> Table:
    """Every option, the cheapest first: its total, what it costs more than the choice in cash, in time and in all, and how
    often it is the cheapest."""
    choice, short = result.verdict.choice, _short(given, result)
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
                share_cell(result.cheapest, o),
                figure(f"decision.ready.{o}"),
            ],
            role="winner" if o == choice and not result.verdict.open else "normal",
        )
        for o in sorted(totals, key=lambda o: totals[o].value)
    ]
    more = (Column("More cash"), Column("More time"), Column("More in all"))
    heads = (Column("Option"), Column("Total"), *more, Column("Nine times in ten", style="spread"))
    return Table([*heads, Column("Cheapest in"), Column("Stable in time")], rows)


def _short(given: Inputs, result: DecisionResult) -> dict[str, Names]:
    """What sentences call the options."""
    return option_names(given.options, result.verdict.choice, result.verdict.runner_up)


def dates(given: Inputs, result: DecisionResult, tail: TailResult) -> Table:
    """Weeks, the date and a run, with each of the two compared in a column of its own, the choice first."""
    short = _short(given, result)
    pair = tuple(dict.fromkeys((result.verdict.choice, result.verdict.runner_up)))
    weeks = [
        Row(["Weeks until it runs stably, at the median", *(tail.numbers[f"tail_risk.weeks.{o}"] for o in pair)]),
        Row(["The same, nine times in ten", *(f"{{tail_risk.weeks.{o}:spread}}" for o in pair)]),
    ]
    rows = [Row([what, *(tail.numbers[f"tail_risk.{name}.{o}"] for o in pair)]) for name, what in _DATES.items()]
    return Table([Column(""), *(Column(Name(short[o].row), style="mixed") for o in pair)], [*weeks, *rows])


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
