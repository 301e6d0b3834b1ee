"""The list: what applies to a case, what is worth most first, who does it and by when."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date

from fabricreport.inputs import Inputs
from fabricreport.sections.client import one_node
from fabricreport.sections.decision.monday.conditions import CONDITIONS, Due, Facts, settled_by, unanswered, unsettled
from fabricreport.sections.decision.monday.kinds import NEVER_LEFT_OUT, Action, Kind, actions, most, roles
from fabricreport.sections.decision.result import DecisionResult
from fabricreport.sections.diligence.result import DiligenceResult
from fabricreport.sections.diligence.terms import Terms
from fabricreport.sections.schedule.calendar import Calendar, Step
from fabricreport.sections.tail_risk.result import TailResult
from fabricreport.vocabulary import CourseKind, Ground

READER = "reader"
SERVERS = "servers with their GPUs"
"""What quotes are asked of where no network between nodes is bought."""


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
    """The list, the calendar that its days come from, and the terms that its letters put.

    `settles`: the mark of the line that settles each input that would change the advice, by the input's id. `parted`: a percent
    of bandwidth costs other amounts on the two that may be ordered."""

    todos: tuple[Todo, ...]
    calendar: Calendar
    terms: Terms | None = None
    settles: Mapping[str, str] = field(default_factory=dict)
    parted: bool = False


def monday_of(given: Inputs, result: DecisionResult, tests: DiligenceResult, tail: TailResult) -> Monday:
    """What this client has to do before it signs."""
    at = Facts(given, result, tests, tail)
    calendar = result.schedule.advised
    found = applying(at)
    steps = settled_by(at, {one.kind for one in found})
    found += [left for kind in (Kind.OWN, Kind.RECORD) if (left := unsettled(at, kind, steps)) is not None]
    listed = shortened(ranked(found))
    todos = tuple(_todo(at, str(number), one, calendar) for number, one in enumerate(listed, start=1))
    marks = {one.action.kind: one.mark for one in todos}
    settles = {input_id: marks[kind] for input_id, kind in steps.items()}
    return Monday(todos, calendar, tests.terms, settles, at.apart("busbw", "price"))


def shortened(found: Sequence[Due]) -> list[Due]:
    """As many as the list holds, those worth least left out; none that the advice or what would change it points to."""
    spare = [one for one in found if one.kind not in NEVER_LEFT_OUT]
    kept = spare[: max(most() - (len(found) - len(spare)), 0)]
    return [one for one in found if one.kind in NEVER_LEFT_OUT or one in kept]


def network_matters(at: Facts) -> bool:
    """Whether the course advised needs a network, and the size is one at which it shows."""
    single = at.result.courses.single
    within = at.given.team.rented and single.total is not None and single.days is None
    if within or at.result.courses.advised.kind == CourseKind.SINGLE_NODE:
        return False
    return at.result.ground != Ground.SIZE and not one_node(at.given, int(at.given.params.cluster.final_gpus))


def applying(at: Facts) -> list[Due]:
    """Every action that applies, one of each kind."""
    kept = [kind for kind in CONDITIONS if network_matters(at) or not actions()[kind].network]
    found = [one for kind in kept if (one := CONDITIONS[kind](at)) is not None]
    if at.result.courses.advised.kind == CourseKind.SINGLE_NODE:
        found.append(Due(Kind.QUOTE, things=(SERVERS,)))
    if network_matters(at):
        rest = unanswered(at, frozenset(q for one in found for q in one.settles))
        found += [rest] if rest is not None else []
    return found


def ranked(found: list[Due]) -> list[Due]:
    """The same, those worth most first; what is not priced stands last, in the order of the file."""
    order = list(actions())
    return sorted(found, key=lambda one: (-one.worth.usd if one.worth else 0.0, order.index(one.kind)))


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
    situation = "rents" if given.team.rented else "builds"
    staffed = "staffed" if params.organisation.network_engineers > 0 else "unstaffed"
    name = names.get(situation) or names[staffed]
    return params.memo.to.partition(",")[0] if name == READER else name
