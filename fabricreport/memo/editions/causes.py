"""Why a number is another than it was: shares of what changed, which come to the whole.

Pure: what a mix of old and new inputs is worth is asked of whoever can work it out.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import chain, combinations, permutations


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


def mixes_of(players: Sequence[Player]) -> tuple[frozenset[Group], ...]:
    """Every mix of old and new: none of the players moved, some, and at last all."""
    counts = range(len(players) + 1)
    return tuple(_groups(some) for count in counts for some in combinations(players, count))


def shapley(worth: Callable[[frozenset[Group]], float], players: Sequence[Player]) -> dict[Player, float]:
    """What each player adds, averaged over every order in which they may move (Shapley 1953)."""
    orders = [*permutations(players)]

    def adds(player: Player, order: Sequence[Player]) -> float:
        before = _groups(order[: order.index(player)])
        return worth(before | {*player}) - worth(before)

    return {player: sum(adds(player, order) for order in orders) / len(orders) for player in players}


def causes_of(
    printed: tuple[float, float],
    worth: Worth,
    players: Sequence[Player],
    alone: Mapping[str, float | None] | None = None,
) -> tuple[Cause, ...]:
    """The causes of a number printed as the first and then as the second; they come to the second less the first.

    `alone`: what it is where of all inputs a single price is new, by the price's id. A cause of nothing is left out.
    """
    known = {mix: value for mix in mixes_of(players) if (value := worth(mix)) is not None}
    first, last = known.get(frozenset()), known.get(_groups(players))
    if first is None or last is None:
        found = [Cause(Kind.ALL, printed[1] - printed[0])]
    else:
        whole = len(known) == 2 ** len(players)
        shares = shapley(known.__getitem__, players) if whole else {tuple(chain(*players)): last - first}
        singles = {i: value - first for i, value in (alone or {}).items() if whole and value is not None}
        found = [Cause(Kind.METHOD, first - printed[0])]
        for player, share in shares.items():
            own = singles if Group.PRICES in player else {}
            found += [Cause(Kind.PRICE, own[i], (i,)) for i in sorted(own, key=lambda i: -abs(own[i]))]
            kind = Kind.TOGETHER if any(own.values()) else Kind.INPUTS
            found.append(Cause(kind, share - sum(own.values()), player))
        found.append(Cause(Kind.SINCE, printed[1] - last))
    return tuple(cause for cause in found if cause.amount)


def _groups(players: Sequence[Player]) -> frozenset[Group]:
    return frozenset(chain(*players))
