"""What is to be done before signing, a line each."""

from __future__ import annotations

from datetime import date

from fabricreport.blocks import Column, Name, Row, Table
from fabricreport.blocks.phrases import Phrase
from fabricreport.formats import NBSP
from fabricreport.provenance import mean_of
from fabricreport.sections.decision.monday.kinds import PAGE_ONE
from fabricreport.sections.decision.monday.study import Monday, Todo
from fabricreport.sections.decision.monday.words import named

UNPRICED = "not priced"
TRIFLE, TRIFLE_USD = "next to nothing", 100.0
"""What a step is said to be worth below an amount that nobody would act on."""
WORTH_HEAD = "Worth on average"


def todo(monday: Monday) -> Table:
    """What to do, who does it, by when, and what it is worth."""
    rows = [Row([Name(one.mark), _said(one), Name(_who(one)), Name(_by(one)), _worth(one)]) for one in monday.todos]
    return Table([Column(h) for h in ("", "Do", "Who", "By", WORTH_HEAD)], rows)


def first_steps(monday: Monday) -> Table:
    """The steps that page one has room for: what to have done by which day, and what it is worth."""
    rows = [
        Row([Name(one.mark), _said(one), Name(_short_day(one.answer or one.by)), _worth(one)])
        for one in monday.todos[:PAGE_ONE]
    ]
    return Table([Column(h) for h in ("", "Do", "Done by", WORTH_HEAD)], rows)


def _said(one: Todo) -> Phrase:
    several = one.action.several if one.due.networks else ""
    return Phrase(several or one.action.does, {"todo": named(one)})


def _who(one: Todo) -> str:
    return f"{one.who}, with {one.to}" if one.to else one.who


def _by(one: Todo) -> str:
    day = _day(one.by)
    if one.answer is not None:
        return f"{day}, answers {_day(one.answer)}"
    return f"{day}, as a draft term" if one.action.contract else day


def _day(day: date) -> str:
    return NBSP.join((str(day.day), f"{day:%b}", str(day.year)))


def _short_day(day: date) -> str:
    return f"{day.day}{NBSP}{day:%B}"


def _worth(one: Todo) -> str:
    if one.due.worth is None:
        return UNPRICED
    return Name(TRIFLE) if mean_of(one.due.worth.usd) < TRIFLE_USD else f"{{decision.worth.{one.action.kind}}}"
