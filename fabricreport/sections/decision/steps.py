"""The list of what to do before signing: what applies, what is worth most first, who does it and by when, in words too."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date

from fabricreport.base.vocabulary import CourseKind, Ground
from fabricreport.inputs.inputs import Inputs
from fabricreport.ledger.facts import Name, Named, joined
from fabricreport.sections.client import one_node
from fabricreport.sections.decision.actions import (
    CONDITIONS,
    NEVER_LEFT_OUT,
    Action,
    Due,
    Facts,
    Kind,
    actions,
    addressed,
    most,
    roles,
    sellers_asked,
    settled_by,
    unanswered,
    unsettled,
)
from fabricreport.sections.decision.result import DecisionResult
from fabricreport.sections.diligence.result import DiligenceResult
from fabricreport.sections.diligence.terms import Terms
from fabricreport.sections.schedule import Calendar, Step, told
from fabricreport.sections.tail_risk.result import TailResult

READER = "reader"
SERVERS = "servers with their GPUs"
"""What quotes are asked of where no network between nodes is bought."""


@dataclass(frozen=True)
class Todo:
    """One line: what is due, its mark, who does it, whom it is put to ('' for nobody outside) and by name, by when, and of what
    is asked by when the answer is due."""

    mark: str
    action: Action
    due: Due
    who: str
    to: str
    by: date
    answer: date | None
    sellers: str = ""


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
    return sorted(found, key=lambda one: (*((0, -one.worth.usd) if one.worth else (1, 0.0)), order.index(one.kind)))


def _todo(at: Facts, mark: str, found: Due, calendar: Calendar) -> Todo:
    """A line; what is sent is to be answered by the calendar's day, before anything is ordered, and a term is agreed with it."""
    action = actions()[found.kind]
    outside = "" if action.to == "client" else called(at.given, action.to)
    early = calendar.due_by(at.given.as_of, action.days, asks=bool(action.answer))
    by = calendar.days[Step.ORDER] if action.contract else early
    answer = calendar.days[Step.ANSWERS] if action.answer else None
    return Todo(mark, action, found, called(at.given, action.who), outside, by, answer, _sellers(at, found, action))


def _sellers(at: Facts, found: Due, action: Action) -> str:
    """The sellers that a renter's line is put to, by name; '' where none is known, or it is put to nobody outside."""
    if not at.given.team.rented or action.to == "client":
        return ""
    named_ones = found.things if found.kind in (Kind.RENTS, Kind.TOPOLOGY) else sellers_asked(at)
    return addressed(named_ones, contract=action.contract) if named_ones else ""


def called(given: Inputs, role: str) -> str:
    """What a role is called for this client."""
    params, names = given.params, roles()[role]
    situation = "rents" if given.team.rented else "builds"
    staffed = "staffed" if params.organisation.network_engineers > 0 else "unstaffed"
    name = names.get(situation) or names[staffed]
    return params.memo.to.partition(",")[0] if name == READER else name


CAPPED = ("delivery_cap", "delivery_cap_servers")
"""What damages for a late delivery end at: a share of the network's price, or of the servers'."""
BETTER = ("better_by", "better_by_one", "better_by_two")
"""Offers are compared by a sum: a percent of bandwidth in it has no cost, one, or one for each of two."""
CREDITED = ("credited", "credited_either")
"""From where bandwidth is credited: of one network, or of either of two."""


def named(one: Todo) -> Named:
    """A line as its sentences name it: what it is about (all of it, as a list too, the first and the last), to whom, the day, and
    whether its letter names several networks."""
    things = one.due.things
    return Named(
        one.mark,
        one.due.key,
        things=joined(things, last=" and "),
        listed=joined(things, "; "),
        networks=joined(one.due.networks, last=" and "),
        first=Name(things[0] if things else ""),
        last=Name(things[-1] if things else ""),
        to=Name(one.sellers or one.to or one.who),
        by=Name(told(one.by)),
        answer=Name(told(one.answer or one.by)),
        either=Name("either") if one.due.either or one.due.networks else None,
    )


def monday_words(monday: Monday) -> Mapping[str, object]:
    """Words for every kind of action, each with the one line of its kind or none, and those that choose in its letter."""
    found: dict[str, object] = {word_of(kind): () for kind in Kind}
    found |= {"exchange": Name(monday.terms.exchange.name if monday.terms else "")}
    found |= {"networked": Name("networked") if monday.terms and monday.terms.weeks else None}
    found |= dict.fromkeys((*BETTER, *CAPPED, *CREDITED), ())
    for one in monday.todos:
        kind, line = one.action.kind, (named(one),)
        found[word_of(kind)] = line
        if kind in (Kind.QUOTE, Kind.RENTS) and monday.terms and monday.terms.weeks:
            found |= dict.fromkeys(_better(monday), line)
        if kind == Kind.DELIVERY and monday.terms and monday.terms.delivery.cap is not None:
            found[CAPPED[0] if monday.terms.weeks else CAPPED[1]] = line
        if kind == Kind.ACCEPTANCE and monday.terms and monday.terms.credits:
            found[CREDITED[one.due.either]] = line
    return found


def _better(monday: Monday) -> tuple[str, ...]:
    """The words of the sum that offers are compared by."""
    if monday.terms is None or not monday.terms.credits:
        return BETTER[:1]
    return BETTER[0], BETTER[2 if monday.parted else 1]


def word_of(kind: Kind) -> str:
    """The word under which a line of this kind is found."""
    return f"todo_{kind.replace('-', '_')}"
