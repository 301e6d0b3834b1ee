"""Spare nodes: what a fault that takes a node out costs a job, by how many nodes stand by to take its place.

Nodes leave at the rate of such faults and come back after a repair, whatever the network. However long single repairs
take, the number away is then Poisson with mean rate x repair time (Palm 1943, an M/G/infinity queue), and a fault meets
it as it is on average (Poisson arrivals see time averages): a job with k spares waits if k or more are away.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import count, islice
from typing import Any

import numpy as np

_RAREST = 1e-12  # interruptions an hour: a job that never stops waits for nothing
_NEVER = 1e-3  # a chance below which no further node is left out


def none_left(spares: int, away: Any) -> Any:
    """Chance that none of `spares` nodes is left where `away` nodes are in repair on average: P(Poisson(away) >= spares)."""
    return next(islice(_none_left_of(away), spares, None))


def _none_left_of(away: Any) -> Iterator[Any]:
    """The same of 0, 1, 2 ... spares."""
    mean = np.asanyarray(away, dtype=float)
    chance, fewer = np.exp(-mean), 0.0 * mean
    for spares in count(1):
        yield np.maximum(1.0 - fewer, 0.0)
        fewer = fewer + chance
        chance = chance * mean / spares


@dataclass(frozen=True)
class Standby:
    """What stands by of a job: nodes at hand for a failed one's place, None where one always is, and the share of its GPU
    time that they idle."""

    nodes: int | None = None
    idle: float = 0.0

    def beside(self, lost: Any) -> Any:
        """A share of the working nodes' time that is lost, as one of all time: the spares' own is lost too."""
        return 1.0 - (1.0 - self.idle) * (1.0 - np.asanyarray(lost))


@dataclass(frozen=True)
class NodeLoss:
    """What follows from an interruption that takes a node out, whose place one of `spares` takes if any is left.

    nodes: of the job, at least one. share: of interruptions after which the node is out. repair_h: until it is back. wait_h: hours that
    the job stands still where none is left. Scalars or arrays over draws.
    """

    nodes: int
    spares: int
    share: Any
    repair_h: Any
    wait_h: Any

    def wait_per_stop_h(self, stops_per_hour: Any) -> Any:
        """Hours of the whole job that an interruption costs on average for want of a node.

        A crew that meets more faults than the spares were for leaves more nodes out of the job, as many as pay: hours
        waited and hours of the nodes left out, per interruption, are as few as any number of them makes.
        """
        stops = np.maximum(np.asanyarray(stops_per_hour), _RAREST)
        leaving = np.asanyarray(self.share)
        away = stops * leaving * self.repair_h
        left_out_h = 1.0 / (self.nodes * stops)
        least: Any = np.inf
        for more, none in enumerate(islice(_none_left_of(away), self.spares, self.spares + self.nodes)):
            least = np.minimum(least, leaving * self.wait_h * none + more * left_out_h)
            if not np.any(np.asarray(none) > _NEVER):
                break
        return least

    def working_share(self, stops_per_hour: Any) -> Any:
        """Share of the time that the job does not lose for want of a node."""
        return 1.0 / (1.0 + np.asanyarray(stops_per_hour) * self.wait_per_stop_h(stops_per_hour))
