"""The list: what applies to a case, what is worth most first, who does it and by when."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date

from fabricreport.inputs import Inputs
from fabricreport.sections.client import one_node, rented
from fabricreport.sections.decision.monday.conditions import CONDITIONS, Due, Facts, unanswered
from fabricreport.sections.decision.monday.kinds import Action, actions, most, roles
from fabricreport.sections.decision.result import DecisionResult
from fabricreport.sections.diligence.result import DiligenceResult
from fabricreport.sections.diligence.terms import Terms
from fabricreport.sections.schedule.calendar import Calendar, Step
from fabricreport.sections.tail_risk.result import TailResult
from fabricreport.vocabulary import Ground

READER = "reader"


@dataclass(frozen=True)
class Todo:
    """One line: what is due, its mark, who does it, whom it is put to ('' for nobody outside), by when, and of what is asked
    by when the answer is due."""

    mark: str
    action: Action
    due: Due
    who: str
    to: str
    by: date
    answer: date | None


@dataclass(frozen=True)
class Monday:
    """The list, the calendar that its days come from, and the terms that its letters put."""

    todos: tuple[Todo, ...]
    calendar: Calendar
    terms: Terms | None = None


def monday_of(given: Inputs, result: DecisionResult, tests: DiligenceResult, tail: TailResult) -> Monday:
    """What this client has to do before it signs."""
    at = Facts(given, result, tests, tail)
    calendar = result.schedule.advised
    todos = tuple(
        _todo(at, str(number), found, calendar) for number, found in enumerate(ranked(applying(at))[: most()], start=1)
    )
    return Monday(todos, calendar, tests.terms)


def network_matters(at: Facts) -> bool:
    """Whether there is a network, and the size is one at which it shows."""
    return at.result.ground != Ground.SIZE and not one_node(at.given, int(at.given.params.cluster.final_gpus))


def applying(at: Facts) -> list[Due]:
    """Every action that applies, one of each kind."""
    kept = [kind for kind in CONDITIONS if network_matters(at) or not actions()[kind].network]
    found = [one for kind in kept if (one := CONDITIONS[kind](at)) is not None]
    if network_matters(at):
        rest = unanswered(at, frozenset(q for one in found for q in one.settles))
        found += [rest] if rest is not None else []
    return found


def ranked(found: list[Due]) -> list[Due]:
    """The same, those worth most first; what is not priced stands last, in the order of the file."""
    order = list(actions())
    return sorted(found, key=lambda one: (one.worth is None, -(one.worth or 0.0), order.index(one.kind)))


def _todo(at: Facts, mark: str, found: Due, calendar: Calendar) -> Todo:
    """A line; what is sent is to be answered by the calendar's day, before anything is ordered."""
    action = actions()[found.kind]
    outside = "" if action.to == "client" else called(at.given, action.to)
    by = calendar.due_by(at.given.as_of, action.days, asks=bool(action.answer))
    answer = calendar.days[Step.ANSWERS] if action.answer else None
    return Todo(mark, action, found, called(at.given, action.who), outside, by, answer)


def called(given: Inputs, role: str) -> str:
    """What a role is called for this client."""
    params, names = given.params, roles()[role]
    situation = "rents" if rented(given) else "builds"
    staffed = "staffed" if params.organisation.network_engineers > 0 else "unstaffed"
    name = names.get(situation) or names[staffed]
    return params.memo.to.partition(",")[0] if name == READER else name
