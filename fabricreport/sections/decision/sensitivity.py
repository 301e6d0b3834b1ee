"""What hangs on single inputs: what would change the advice, what is unquoted, stale or shared, how often each option is the cheapest, in words too."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fabricreport.base.provenance import inputs_of, mean_of, plain
from fabricreport.base.uncertain import exactly
from fabricreport.base.vocabulary import OURS, Acquisition, CourseKind
from fabricreport.books.names import input_names, option_names, whole_names
from fabricreport.books.quotes import Kind, items_of
from fabricreport.inputs.inputs import Inputs
from fabricreport.ledger.facts import Name, Named, OptionName, Phrase, joined
from fabricreport.models.information import Estimate
from fabricreport.models.judgement.choice import by_hypercube, cheapest, sampling_error
from fabricreport.models.judgement.comparison import Verdict
from fabricreport.sections.decision.inputs import told_ground
from fabricreport.sections.decision.turning import Edge, Search, Turn, settling
from fabricreport.sections.tco.result import Bills

MOST = 3
"""Rows of page one at most."""
LEAST = 0.01
"""A value that less than this share of the draws lies beyond is reached by none."""


@dataclass(frozen=True)
class Change:
    """An input that is worth knowing, and the `edge` at which another option is advised."""

    turn: Turn
    edge: Edge


def changes_of(
    search: Search, drawn: tuple[Turn, ...], worth: Callable[[tuple[str, ...]], Estimate]
) -> tuple[Change, ...]:
    """Those of the inputs moved alone that are worth knowing and reach another option, by what knowing them is worth."""
    known = [(turn, worth((turn.input_id,))) for turn in drawn if turn.points]
    telling = sorted(((t, e) for t, e in known if not e.below_noise), key=lambda found: -found[1].value)
    found = []
    for turn, _ in telling:
        edge = _other_option(search, turn)
        if edge is not None and edge.odds >= LEAST:
            found.append(Change(turn, edge))
        if len(found) == MOST:
            break
    return tuple(found)


def _other_option(search: Search, turn: Turn) -> Edge | None:
    """The nearest value at which another option than the one taken now is advised; of two that are open either is another."""
    verdict = search.comparison.verdict
    draws = plain(search.base.given.own(turn.input_id))
    reached = search.taken(turn.input_id, "" if verdict.open else verdict.choice)
    if reached is None:
        return None
    at, course = reached
    above = at > turn.in_use
    chance = float(np.mean(draws >= at if above else draws <= at))
    return Edge("change", at, "above" if above else "below", course, chance)


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
    pair = comparison.verdict.pair
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
    choice, rival = search.comparison.verdict.pair
    below, above = (choice, rival) if at.choice_below else (rival, choice)
    return Unquoted(item, kind, stands_in, at.level, below, above, search.turn(stands_in).in_use)


_PRICE, _QUOTED = "price:", "quote"


def stale_of(search: Search) -> Mapping[str, float]:
    """What is at stake for the choice of a comparison in each price that is out of date, by item."""
    given, choice = search.base.given, search.comparison.choice
    behind = sorted(i for i in inputs_of(search.base.bills.totals[choice]) if i.startswith(_PRICE))
    old = [i for i in behind if given.prices.by_id(i).stale and settling(i)["kind"] == _QUOTED]
    moved = {i.removeprefix(_PRICE): _moved(search, i, choice) for i in old}
    ranked = sorted((i for i in moved if moved[i] > 0), key=lambda i: -moved[i])
    return {i: moved[i] for i in ranked}


def _moved(search: Search, input_id: str, option: str) -> float:
    """How far an input moves an option's mean total cost, all others at their draws."""
    ends = np.quantile(plain(search.base.given.own(input_id)), [0.05, 0.95])
    if ends[0] == ends[1]:
        return 0.0
    at = [search.fast.replacing({input_id: exactly(float(end))}).bills.totals[option] for end in ends]
    return abs(mean_of(at[1]) - mean_of(at[0]))


HYPERCUBES = 20
"""Independently scrambled hypercubes that the sampling error comes from."""
SHARE_OF_DRAWS = 32
"""The hypercubes of the sampling error are this much smaller than the memo's own."""
LEAST_DRAWS = 32


@dataclass(frozen=True)
class Cheapest:
    """By option that may be taken: the share of the memo's outcomes in which it is the cheapest of them, and its error.

    Two errors either side hold what a fresh hypercube of as many draws would show, in nineteen of twenty cases.
    """

    shares: Mapping[str, float]
    errors: Mapping[str, float]


def cheapest_of(search: Search) -> Cheapest:
    """The shares off the memo's draws, their errors off one fresh sample."""
    base = search.fast
    names = tuple(search.judge.advisable(base.bills))
    size = max(LEAST_DRAWS, base.given.draws // SHARE_OF_DRAWS)
    fresh = base.again(base.given.resampled(HYPERCUBES, size))
    errors = sampling_error(by_hypercube(_costs(fresh.bills, names), HYPERCUBES, cheapest), size, base.given.draws)
    return Cheapest(_by_name(names, cheapest(_costs(base.bills, names))), _by_name(names, errors))


def share_cell(found: Cheapest, option: str) -> str | None:
    """How often an option is the cheapest, with the sampling error; nothing for one that may not be taken."""
    if option not in found.shares:
        return None
    if not found.errors[option]:
        return f"{{decision.sure.wins.{option}}}"
    return f"{{decision.sure.wins.{option}}} ± {{decision.cheapest_error.{option}}}"


def _by_name(names: Sequence[str], values: NDArray[np.float64]) -> dict[str, float]:
    return {name: float(value) for name, value in zip(names, values, strict=True)}


def _costs(bills: Bills, names: Sequence[str]) -> NDArray[np.float64]:
    """Total costs (draws, options)."""
    return np.stack([plain(bills.totals[o]) for o in names], axis=1)


VERB: dict[str, str] = {
    Acquisition.BUY: "Buy",
    Acquisition.LEASE: "Lease",
    Acquisition.RENT: "Rent",
    Acquisition.COLOCATE: "Buy",
}
"""What a client does with the option advised, by how it obtains its cluster."""
BOTH_OFFERS = "take the better offer"


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
    """An option with one listed price, which others rest on it, what would be done without it (`left` is the verdict then),
    and what of the client's decides then, if not money."""
    names = _names(given)
    course = course_names(given).get(left.course.id, Name(BOTH_OFFERS))
    if left.open:
        course = Name("take ", names[left.choice], " or ", names[left.runner_up], ", by the better offer")
    decides = told_ground(given.params, left.preferred_by or left.decided_by)
    switch = {o.id: o.pieces["switch"].price for o in given.options}
    beside = joined((names[o] for o in switch if o != option and switch[o] == switch[option]), last=" and ")
    why = Name(decides) if decides else None
    return OptionName(names[option], option, course=course, why=why, beside=beside if beside else None)


def _names(given: Inputs) -> dict[str, OptionName]:
    """Every option's name by its id, also of those that are not compared here."""
    return whole_names(given.all_options.values())


def unquoted_named(given: Inputs, one: Unquoted) -> Named:
    """An item without a price, and who costs less below the level."""
    short = option_names(given.options)
    below = OptionName(short[one.below].short, one.below)
    return Phrase(input_names(given, one.stands_in).phrase, one.item, each=one.kind.each, below=below)
