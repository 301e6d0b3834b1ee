"""What is at stake in money that no other part of the decision asks for: prices out of date, and what is bought later."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from fabricreport.provenance import inputs_of, plain
from fabricreport.sections.client import rented
from fabricreport.sections.decision.turning import Search, settling
from fabricreport.sections.tco.cost import purchases
from fabricreport.uncertain import exactly

_OURS, _QUOTED, _SERVERS = "price:", "quote", "servers"


@dataclass(frozen=True)
class AtStake:
    """`stale`: how far each price that is out of date moves the mean total cost of the choice between its P5 and its P95,
    by item, the widest first. `later`: what an owner pays for the fabric after the first stage (draws,); None where nothing is."""

    stale: Mapping[str, float]
    later: Any


def at_stake_of(search: Search) -> AtStake:
    """What is at stake for the choice of a comparison."""
    given, choice = search.base.given, search.comparison.choice
    behind = sorted(i for i in inputs_of(search.base.bills.totals[choice]) if i.startswith(_OURS))
    old = [i for i in behind if given.prices[i.removeprefix(_OURS)].stale and settling(i)["kind"] == _QUOTED]
    moved = {i.removeprefix(_OURS): _moved(search, i, choice) for i in old}
    ranked = sorted((i for i in moved if moved[i] > 0), key=lambda i: -moved[i])
    return AtStake({i: moved[i] for i in ranked}, _later(search, choice))


def _moved(search: Search, input_id: str, option: str) -> float:
    """How far an input moves an option's mean total cost, all others at their draws."""
    ends = np.quantile(plain(search.base.given.own(input_id)), [0.05, 0.95])
    if ends[0] == ends[1]:
        return 0.0
    at = [search.fast.replacing({input_id: exactly(float(end))}).bills.totals[option] for end in ends]
    return abs(float(plain(at[1]).mean()) - float(plain(at[0]).mean()))


def _later(search: Search, option: str) -> Any:
    """Equipment of the fabric bought after the start, at today's prices."""
    bills = search.base.bills
    if rented(search.base.given):
        return None
    after = purchases(bills.built[option], bills.own[option], bills.common)[1:]
    fabric = [value for bought in after for part, value in bought.capex_usd.items() if part != _SERVERS]
    total: Any = sum(fabric, start=0.0)
    return total if np.any(plain(total) > 0) else None
