"""Laws of what there is to do, on forty clients drawn at random: one worth a step, and a step for all that is open.

`make laws` asks all of them, `make test` one, by the commit.
"""

from __future__ import annotations

import json
import re

import bench
import pytest
from test_close_laws import client

from fabricreport.base.vocabulary import CourseKind
from fabricreport.sections.decision.actions import NEVER_LEFT_OUT, Kind, most
from fabricreport.sections.decision.words import DecisionFinding as D

pytestmark = [pytest.mark.slow]
LETTERS = re.findall(
    r"%%say each=todo in (todo_\w+)",
    "".join(
        "".join(cell["source"])
        for cell in json.loads((bench.ROOT / "notebooks/decision.ipynb").read_text(encoding="utf-8"))["cells"]
    ),
)
"""The words that the notebook's letters go through."""
ASKED = {
    D.ASK_BOTH: {Kind.QUOTE},
    D.OFFERS_FIRST: {Kind.QUOTE},
    D.PILOT_FIRST: {Kind.PILOT},
    D.RENT_FIRST: {Kind.RENT_FIRST},
    D.RENT_FIRST_LATE: {Kind.RENT_FIRST},
    D.SINGLE_NODES: {Kind.TRIAL},
    D.TAKE: {Kind.ACCEPTANCE, Kind.CLAUSE},
}
"""What page one advises or makes a condition, and the steps that it takes."""


@pytest.mark.parametrize("seed", range(40))
@pytest.mark.laws(1)
def test_all_that_is_open_has_a_step_each_step_one_letter_and_one_worth(seed: int) -> None:
    case = client(seed)[0]
    monday, result, told = case.monday(), case.decision(), case.spoken("decision")
    marks = [one.mark for one in monday.todos]
    kinds = {one.action.kind for one in monday.todos}
    letters = [str(letter) for word in LETTERS for letter in told.words[word]]  # type: ignore[attr-defined]
    assert sorted(letters) == sorted(marks) == sorted(set(marks)), "a letter for each step, and the reverse"
    assert len(marks) <= max(most(), len(NEVER_LEFT_OUT))
    assert {change.turn.input_id for change in result.changes} == set(monday.settles)
    assert set(monday.settles.values()) <= set(marks), "what would change the advice has a step that settles it"
    for finding, steps in ASKED.items():
        if finding in told.findings and case.diligence().promises:
            assert steps <= kinds, f"{finding.name} is advised, and its steps are {sorted(kinds)}"
    worth = [one.due.worth.usd if one.due.worth else 0.0 for one in monday.todos]
    assert worth == sorted(worth, reverse=True)
    for one in monday.todos:
        figure = result.numbers.get(f"decision.worth.{one.action.kind}")
        assert (figure is not None) == one.due.pays
        assert figure is None or (one.due.worth is not None and figure.value == pytest.approx(one.due.worth.usd))
    for question in (q for one in monday.todos if one.action.kind == Kind.ANSWERS for q in one.due.settles):
        before = case.figure(f"diligence.informs.{question}")
        assert result.numbers["decision.worth.answers"].text == before.text, (
            "an answer costs nothing: one worth on every page"
        )
    cheaper, rows = {row.key for row in told.words["cheaper_courses"]}, result.courses.rows  # type: ignore[attr-defined]
    for row in rows if told.findings.courses_plain else ():
        against = None if result.courses.is_base(row) else result.numbers[f"decision.courses.against.{row.key}"]
        if against is not None and row.kind != CourseKind.DAMAGES:
            assert (row.key in cheaper) == (against.sign < 0), (
                "what is said to cost less is what the table has below zero"
            )
    if result.courses.advised.kind == CourseKind.SINGLE_NODE:
        assert not kinds & {Kind.CLAUSE, Kind.WEEKS, Kind.ACCEPTANCE, Kind.TUNER}, "no step is of a network not bought"


@pytest.mark.parametrize("seed", range(40))
@pytest.mark.laws(1)
def test_all_that_tie_are_asked_for_an_offer(seed: int) -> None:
    case = client(seed)[0]
    verdict, quotes = case.decision().verdict, [t for t in case.monday().todos if t.action.kind == Kind.QUOTE]
    assert verdict.tied[0] == verdict.choice
    close = verdict.confidence.close or verdict.choice == verdict.runner_up
    assert (verdict.runner_up in verdict.tied) == close
    if quotes and len(verdict.tied) > 1 and case.decision().courses.advised.kind != CourseKind.SINGLE_NODE:
        names = {o.id: o.name for o in case.options}
        assert {names[o] for o in verdict.tied} <= {str(n) for n in quotes[0].due.networks}
