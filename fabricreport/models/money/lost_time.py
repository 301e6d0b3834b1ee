"""Whose loss it is: GPU time lost by disjoint cause, what no network changes first, and the network's on the time this leaves."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields, replace
from functools import reduce
from operator import add
from typing import Any

import numpy as np

from fabricreport.errors import InputError, Problem
from fabricreport.models.domain import between
from fabricreport.models.money.cashflow import Array, array

_BELOW_ONE = math.nextafter(1.0, 0.0)
"""The largest share that leaves something."""

COMMON = ("servers", "faults", "checkpoints")
"""Causes of lost time that no network changes."""


@dataclass(frozen=True)
class LostTime:
    """Shares of GPU time lost, by disjoint cause; scalars or arrays over draws in [0, 1).

    Common to all networks: `servers` (slow ones, and the jitter that more of them add), `faults` (of GPUs, hosts and
    software), `checkpoints`. They act first, as on a perfect network. The network's act on the time that these leave:
    `bring_up` (weeks until stable, as a share of the horizon: `bring_up_share`), `exposed_communication` (waiting on
    the network although it works as designed), `tail` (its stalls and contention beyond that), `interruptions`
    (rework and restart after its faults). Within each of the two, a cause acts on the time that the others leave.
    """

    servers: Any = 0.0
    faults: Any = 0.0
    checkpoints: Any = 0.0
    bring_up: Any = 0.0
    exposed_communication: Any = 0.0
    tail: Any = 0.0
    interruptions: Any = 0.0

    def __post_init__(self) -> None:
        problems = []
        for cause, share in self._shares(f.name for f in fields(self)).items():
            if not between(share, 0, _BELOW_ONE):
                problems.append(Problem("must be a share of at least 0 and below 1", key=cause, value=str(share)))
        if problems:
            raise InputError(problems)

    def _shares(self, causes: Iterable[str]) -> dict[str, Array]:
        return {cause: array(getattr(self, cause)) for cause in causes}

    @property
    def common(self) -> dict[str, Array]:
        """Share that each common cause takes, as if it acted alone."""
        return self._shares(COMMON)

    @property
    def network(self) -> dict[str, Array]:
        """Share that each of the network's causes takes of the time that the common ones leave, as if it acted alone."""
        return self._shares(f.name for f in fields(self) if f.name not in COMMON)

    @property
    def useful_on_any(self) -> Array:
        """The share of GPU time that would do work on a perfect network."""
        return _left(self.common)

    @property
    def useful_of_network(self) -> Array:
        """The share that the network leaves of that."""
        return _left(self.network)

    @property
    def useful(self) -> Array:
        """The share of GPU time that does work."""
        return self.useful_on_any * self.useful_of_network

    @property
    def running(self) -> LostTime:
        """The same once the network is stable."""
        return replace(self, bring_up=0.0)

    def by_cause(self) -> dict[str, Array]:
        """The lost share split by cause; the parts sum to 1 - `useful`, and the common ones are alike on every network.

        Split in proportion to -log(1 - share), the only split of a product that does not depend on the order in
        which the causes are taken; the common ones first.
        """
        common = _split(self.common, 1 - self.useful_on_any)
        network = _split(self.network, self.useful_on_any * (1 - self.useful_of_network))
        return {**common, **network}


def _left(shares: Mapping[str, Array]) -> Array:
    """The product of what each cause leaves."""
    return reduce(lambda left, share: left * (1 - share), shares.values(), array(1.0))


def _split(shares: Mapping[str, Array], lost: Array) -> dict[str, Array]:
    weights = {cause: -np.log1p(-share) for cause, share in shares.items()}
    whole = reduce(add, weights.values())
    safe = np.where(whole > 0, whole, 1.0)
    return {cause: lost * weight / safe for cause, weight in weights.items()}
