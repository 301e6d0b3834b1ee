"""What is at stake that no other part of the decision asks for: prices out of date."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from fabricreport.provenance import inputs_of, mean_of, plain
from fabricreport.sections.decision.turning import Search, settling
from fabricreport.uncertain import exactly

_PRICE, _QUOTED = "price:", "quote"


@dataclass(frozen=True)
class AtStake:
    """`stale`: how far each price that is out of date moves the mean total cost of the choice between its P5 and its P95,
    by item, the widest first."""

    stale: Mapping[str, float]


def at_stake_of(search: Search) -> AtStake:
    """What is at stake for the choice of a comparison."""
    given, choice = search.base.given, search.comparison.choice
    behind = sorted(i for i in inputs_of(search.base.bills.totals[choice]) if i.startswith(_PRICE))
    old = [i for i in behind if given.prices.by_id(i).stale and settling(i)["kind"] == _QUOTED]
    moved = {i.removeprefix(_PRICE): _moved(search, i, choice) for i in old}
    ranked = sorted((i for i in moved if moved[i] > 0), key=lambda i: -moved[i])
    return AtStake({i: moved[i] for i in ranked})


def _moved(search: Search, input_id: str, option: str) -> float:
    """How far an input moves an option's mean total cost, all others at their draws."""
    ends = np.quantile(plain(search.base.given.own(input_id)), [0.05, 0.95])
    if ends[0] == ends[1]:
        return 0.0
    at = [search.fast.replacing({input_id: exactly(float(end))}).bills.totals[option] for end in ends]
    return abs(mean_of(at[1]) - mean_of(at[0]))
