"""Words of the prose on what is to be done before signing."""

from __future__ import annotations

from collections.abc import Mapping

from fabricreport.findings import Name, Named, joined
from fabricreport.sections.decision.monday.kinds import Kind
from fabricreport.sections.decision.monday.study import Monday, Todo
from fabricreport.sections.schedule.days import told

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
        to=Name(one.to or one.who),
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
