"""What is to be done before signing, a line each."""

from __future__ import annotations

from fabricreport.blocks import Column, Name, Row, Table
from fabricreport.blocks.phrases import Phrase
from fabricreport.sections.decision.monday.study import Monday, Todo
from fabricreport.sections.decision.monday.words import named

UNPRICED = "protects, not priced"


def todo(monday: Monday) -> Table:
    """What to do, who does it, by when, and what it is worth."""
    rows = [
        Row([Name(one.mark), _said(one, "do"), Name(_who(one)), Name(_by(one)), _worth(one)]) for one in monday.todos
    ]
    return Table([Column(h) for h in ("", "Do", "Who", "By", "Worth")], rows)


def _said(one: Todo, part: str) -> Phrase:
    return Phrase(one.action.kind, f"{part}-either" if part in one.due.either else part, named(one))


def _who(one: Todo) -> str:
    return f"{one.who}, with {one.to}" if one.to else one.who


def _by(one: Todo) -> str:
    day = str(named(one).said["by"])
    if one.answer is not None:
        return f"{day}; answers by {named(one).said['answer']}"
    return f"{day}, as a draft term" if one.action.contract else day


def _worth(one: Todo) -> Phrase | str:
    return UNPRICED if one.due.worth is None else _said(one, "choice" if one.due.choice else "worth")
