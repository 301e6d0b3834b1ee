"""Words of the prose on what is to be done before signing."""

from __future__ import annotations

from collections.abc import Mapping

from fabricreport.findings import Name, Named, joined
from fabricreport.sections.decision.monday.kinds import PARTING, Kind
from fabricreport.sections.decision.monday.study import Monday, Todo
from fabricreport.sections.schedule.days import told

CAPPED = ("delivery_cap", "delivery_cap_servers")
"""Words of what damages for a late delivery end at: a share of the network's price, or of the servers'."""
BETTER = ("better_by_time", "better_by_one", "better_by_two")


def named(one: Todo) -> Named:
    """A line as its sentences name it: what it is about (all of it, as a list too, the first and the last), to whom, and the day."""
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
    )


def monday_words(monday: Monday) -> Mapping[str, object]:
    """Words for every kind of action, each with the one line of its kind or none.

    A letter is that of one network, or of either of two where their amounts part.
    """
    found: dict[str, object] = {word_of(kind): () for kind in Kind}
    found |= {letter_of(kind, either=either): () for kind in Kind for either in {False, kind in PARTING}}
    credit = "letter_credit"
    found |= {"exchange": Name(monday.terms.exchange.name if monday.terms else ""), credit: (), f"{credit}_either": ()}
    found |= dict.fromkeys((*BETTER, *CAPPED), ())
    for one in monday.todos:
        if one.action.kind in (Kind.QUOTE, Kind.RENTS) and monday.terms and monday.terms.weeks:
            found[_better(monday)] = (named(one),)
        if one.action.kind == Kind.DELIVERY and monday.terms and monday.terms.delivery.cap is not None:
            found[CAPPED[0] if monday.terms.weeks else CAPPED[1]] = (named(one),)
        if one.action.kind == Kind.ACCEPTANCE and monday.terms and monday.terms.credits:
            found[credit + ("_either" if one.due.either else "")] = (named(one),)
        found[word_of(one.action.kind)] = (named(one),)
        found[letter_of(one.action.kind, either=one.due.either or bool(one.due.networks))] = (named(one),)
    return found


def _better(monday: Monday) -> str:
    """The word of the sum that offers are compared by: a percent of bandwidth in it has no cost, one, or one for each of two."""
    if monday.terms is None or not monday.terms.credits:
        return BETTER[0]
    return BETTER[2] if monday.parted else BETTER[1]


def word_of(kind: Kind) -> str:
    """The word under which a line of this kind is found."""
    return f"todo_{kind.replace('-', '_')}"


def letter_of(kind: Kind, *, either: bool) -> str:
    """The word under which the letter of such a line is found."""
    return word_of(kind).replace("todo", "letter") + ("_either" if either else "")
