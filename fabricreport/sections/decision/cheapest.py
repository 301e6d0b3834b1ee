"""How often each option is the cheapest of those that may be taken, and how sure that share is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fabricreport.models.judgement.best import by_hypercube, cheapest, sampling_error
from fabricreport.provenance import plain
from fabricreport.sections.decision.resampled import Resampled
from fabricreport.sections.decision.turning import Search
from fabricreport.sections.tco.bills import Bills

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
    fresh = base.again(Resampled.of(base.given, HYPERCUBES, size))
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
