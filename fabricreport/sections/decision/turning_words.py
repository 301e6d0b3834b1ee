"""Words for what would turn the money or the advice, quotes of unpriced items too, and for the courses that may be advised."""

from __future__ import annotations

from collections.abc import Sequence

from fabricreport.books.names import input_names, option_names, whole_names
from fabricreport.findings import Name, Named, OptionName, Phrase, joined
from fabricreport.inputs import Inputs
from fabricreport.models.judgement.comparison import Verdict
from fabricreport.sections.decision.ties import told_ground
from fabricreport.sections.decision.unquoted import Unquoted
from fabricreport.vocabulary import Acquisition, CourseKind

VERB: dict[str, str] = {
    Acquisition.BUY: "Buy",
    Acquisition.LEASE: "Lease",
    Acquisition.RENT: "Rent",
    Acquisition.COLOCATE: "Buy",
}
"""What a client does with the option advised, by how it obtains its cluster."""
BOTH_OFFERS = "take the better of two offers"


def course_told(given: Inputs, course: str, pair: Sequence[str]) -> Name:
    """A course of action in words, by its id: of either of two that are not the `pair` compared both are named."""
    kind, _, options = course.partition(":")
    if kind != CourseKind.EITHER:
        return course_names(given)[course]
    about = options.split("+")
    if set(about) == set(pair):
        return Name(BOTH_OFFERS)
    names = _names(given)
    return Name("take the better of offers on ", joined((names[o] for o in about), " and "))


def course_names(given: Inputs) -> dict[str, Name]:
    """Courses of action that take one option, in words, by their id; at another size other options may be proposed."""
    verb = VERB[given.params.money.acquisition].lower()
    names = _names(given)
    return {f"take:{option}": Name(verb, " ", name) for option, name in names.items()}


def without_named(given: Inputs, left: Verdict, option: str) -> Named:
    """An option with one listed price, what would be done without it, and what of the client's decides then, if not money:
    `left` is the verdict then."""
    names = _names(given)
    course = course_names(given).get(left.course.id, Name(BOTH_OFFERS))
    if left.open:
        course = Name("take ", names[left.choice], " or ", names[left.runner_up], ", by the better offer")
    decides = told_ground(given.params, left.preferred_by or left.decided_by)
    return OptionName(names[option], option, course=course, why=Name(decides) if decides else None)


def _names(given: Inputs) -> dict[str, OptionName]:
    """Every option's name by its id, also of those that are not compared here."""
    return whole_names(given.priced_options.values())


def unquoted_named(given: Inputs, one: Unquoted) -> Named:
    """An item without a price, and who costs less below the level."""
    short = option_names(given.options)
    below = OptionName(short[one.below].short, one.below)
    return Phrase(input_names(given, one.stands_in).phrase, one.item, each=one.kind.each, below=below)
