"""What nobody publishes a price for: the price at which the choice and its rival cost the same, by the model run again."""

from __future__ import annotations

from dataclasses import dataclass

from fabricreport.books.quotes.terms import Kind, items_of
from fabricreport.sections.decision.turning import Search
from fabricreport.vocabulary import OURS


@dataclass(frozen=True)
class Unquoted:
    """An item without a price, the id of the input that `stands_in`, and the option that costs less on either side of `level`.

    `level` is None where no price turns the money: then `below`, an option's id, costs less at any.
    """

    item: str
    kind: Kind
    stands_in: str
    level: float | None
    below: str
    above: str
    in_use: float

    @property
    def turned_by(self) -> str:
        """The quote that turns the money against what stands in: a `dearer` one, a `cheaper` one, or '' for none."""
        if self.level is None:
            return ""
        return "dearer" if self.level >= self.in_use else "cheaper"


def unquoted_of(search: Search) -> tuple[Unquoted, ...]:
    """The items without a price that the bills of the choice and its rival rest on, as far as their price moves the lead.

    An item whose stand-in the client has replaced rests on the client's word and not on ours.
    """
    given, comparison = search.base.given, search.comparison
    pair = (comparison.choice, comparison.rival)
    found: dict[str, Unquoted] = {}
    for option in given.options if pair[0] != pair[1] else ():
        for item, item_kinds in items_of(option).items() if option.id in pair else ():
            stands_in = option.unquoted.get(item, "")
            if item in found or not stands_in or given.record(stands_in)["grade"] not in OURS:
                continue
            if (one := _unquoted(search, item, item_kinds[0], stands_in)) is not None:
                found[item] = one
    return tuple(found.values())


def _unquoted(search: Search, item: str, kind: Kind, stands_in: str) -> Unquoted | None:
    if stands_in not in search.base.reached_by:
        return None
    at = search.price_level(stands_in)
    if at is None:
        return None
    choice, rival = search.comparison.choice, search.comparison.rival
    below, above = (choice, rival) if at.choice_below else (rival, choice)
    return Unquoted(item, kind, stands_in, at.level, below, above, search.turn(stands_in).in_use)
