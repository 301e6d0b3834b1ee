"""Tables of the risk: dates, shares of time lost, stress cases, what moves them, levers, faults, and the cards."""

from __future__ import annotations

from fabricreport.base.vocabulary import Question
from fabricreport.blocks import RANGE, Column, Name, Row, Table
from fabricreport.books.names import whole_names
from fabricreport.inputs.inputs import Inputs
from fabricreport.sections.tail_risk.result import TailResult


def _compared(result: TailResult) -> tuple[str, ...]:
    """The two fabrics side by side, InfiniBand first; the only one where there is no pair."""
    return result.pair or (result.focus,)


def dates(given: Inputs, result: TailResult) -> Table | None:
    """How late a run on each option may be and what that costs, the most punctual first; None where the body shows it."""
    if given.params.asked == Question.BUY_ONCE:
        return None
    names, figures = whole_names(given.options), result.numbers
    asked = ("late", "finish_p90", "overrun_p90", "overrun_es95")
    ranked = sorted(names, key=lambda o: figures[f"tail_risk.late.{o}"].value)
    rows = [Row([names[o], *(figures[f"tail_risk.{a}.{o}"] for a in asked)]) for o in ranked]
    heads = (
        "Option",
        "Run late",
        "Run, one in ten above",
        "Overrun, one in ten above",
        "Overrun, worst twentieth",
    )
    return Table([Column(h) for h in heads], rows)


def stress(result: TailResult) -> Table:
    """What each stress case costs, the dearest first."""
    rows = [
        Row(
            [
                f"{case.title} {{cite {', '.join(case.sources)}}}" if case.sources else Name(case.title),
                *(
                    result.numbers[f"tail_risk.stress.{case.id}.{what}"]
                    for what in ("loss", "delay", "gpu_hours", "usd", "usd")
                ),
            ]
        )
        for case in result.stress
    ]
    heads = [
        Column("Case"),
        Column("Loss while it lasts", decimals=1),
        Column("Time lost", decimals=1),
        Column("GPU-hours"),
        Column("Cost"),
        Column(RANGE, style="spread"),
    ]
    return Table(heads, rows)


def faults(given: Inputs, result: TailResult) -> Table:
    """Faults expected in a year on the fabrics side by side, by kind and together."""
    names, figures = whole_names(given.options), result.numbers
    rows = [
        Row([Name(law.label), names[o], *[figures[f"tail_risk.events.{law.kind}.{o}"]] * 2])
        for o in _compared(result)
        for law in result.subjects[o].risk.incidents
    ]
    rows += [
        Row(["All faults of the network", names[o], *[figures[f"tail_risk.incidents.{o}"]] * 2], role="total")
        for o in _compared(result)
    ]
    heads = [
        Column("Fault"),
        Column("Option"),
        Column("Expected a year", decimals=2),
        Column(RANGE, style="spread", decimals=2),
    ]
    return Table(heads, rows)
