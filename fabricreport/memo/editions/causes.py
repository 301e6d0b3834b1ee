"""Why a number is another than it was: shares of what changed, which come to the whole.

Pure: what a mix of old and new inputs is worth is asked of whoever can work it out.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import combinations
from math import factorial


class Group(StrEnum):
    """What an edition was made from, in the order in which causes are told."""

    PRICES = "prices"
    PARAMS = "params"
    SOURCES = "sources"


class Kind(StrEnum):
    """What kind of cause it is.

    `method`: today's code on the old inputs. `price`: one price alone. `together`: the rest of the group that the
    prices are of. `inputs`: groups that moved. `method since`: the code that made the new edition. `all`: what cannot
    be told apart.
    """

    METHOD = "method"
    PRICE = "price"
    TOGETHER = "together"
    INPUTS = "inputs"
    SINCE = "method since"
    ALL = "all"


@dataclass(frozen=True)
class Cause:
    """A part of a change, in the number's unit; `of` are the groups, or the price, that it is due to."""

    kind: Kind
    amount: float
    of: tuple[str, ...] = ()


Player = tuple[Group, ...]
"""Groups that move at once: one, or those of which no mix can be worked out."""
Worth = Callable[[frozenset[Group]], float | None]
"""What a number is where these groups are the new ones and all others the old; None where there is no such number."""


def shapley(worth: Callable[[frozenset[Group]], float], players: Sequence[Player]) -> dict[Player, float]:
    """What each player adds, averaged over every order in which they may move (Shapley 1953)."""
    shares = dict[Player, float]()
    for player in players:
        others, share = [p for p in players if p != player], 0.0
        for count in range(len(players)):
            weight = factorial(count) * factorial(len(others) - count) / factorial(len(players))
            for before in combinations(others, count):
                moved = _groups(before)
                share += weight * (worth(moved | {*player}) - worth(moved))
        shares[player] = share
    return shares


def causes_of(
    printed: tuple[float, float],
    worth: Worth,
    players: Sequence[Player],
    alone: Mapping[str, float | None] | None = None,
) -> tuple[Cause, ...]:
    """The causes of a number printed as the first and then as the second; they come to the second less the first.

    `alone`: what it is where of all inputs a single price is new, by the price's id. A cause of nothing is left out.
    """
    mixes = (_groups(some) for count in range(len(players) + 1) for some in combinations(players, count))
    known = {moved: value for moved in mixes if (value := worth(moved)) is not None}
    first, last, between = known.get(frozenset()), known.get(_groups(players)), list[Cause]()
    if first is None or last is None:
        return tuple(cause for cause in [Cause(Kind.ALL, printed[1] - printed[0])] if cause.amount)
    if len(known) < 2 ** len(players):
        between = [Cause(Kind.INPUTS, last - first, tuple(group for player in players for group in player))]
    else:
        singles = {price: value - first for price, value in (alone or {}).items() if value is not None}
        for player, share in shapley(known.__getitem__, players).items():
            own = sorted(singles.items(), key=lambda one: -abs(one[1])) if Group.PRICES in player else []
            between += [Cause(Kind.PRICE, amount, (price,)) for price, amount in own]
            rest = share - sum(amount for _, amount in own)
            between.append(Cause(Kind.TOGETHER if any(a for _, a in own) else Kind.INPUTS, rest, player))
    found = [Cause(Kind.METHOD, first - printed[0]), *between, Cause(Kind.SINCE, printed[1] - last)]
    return tuple(cause for cause in found if cause.amount)


def _groups(players: Sequence[Player]) -> frozenset[Group]:
    return frozenset(group for player in players for group in player)
