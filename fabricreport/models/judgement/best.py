"""Which option is best on shared draws: how often, how sure that share is, and what a wrong choice costs.

Costs are (draws, options), lower is better.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
HELD = 0.95
"""Share of fresh samples that lie within two errors of a printed share."""


def cheapest(costs: Array) -> Array:
    """Share of draws in which each option is the cheapest (options,); ties are split evenly.

    An option that is never the cheapest takes nothing of any other's share.
    """
    lowest = costs == costs.min(axis=1, keepdims=True)
    return np.asarray((lowest / lowest.sum(axis=1, keepdims=True)).mean(axis=0))


def by_hypercube(costs: Array, count: int, statistic: Callable[[Array], Array]) -> Array:
    """A statistic of each of `count` hypercubes that follow one another in the draws (count, …)."""
    return np.stack([statistic(part) for part in np.split(costs, count)])


def sampling_error(replicates: Array, size: int, printed_size: int) -> Array:
    """The error of a share read off one hypercube of `printed_size` draws, from those of others of `size` draws.

    A fresh hypercube of `printed_size` draws lies within two errors of the printed share in `HELD` of cases: both it and
    the printed one are off, so their difference has twice the variance of either, and the spread is known only from
    `replicates` (count, …), hence Student's t. The variance of a stratified share falls with its size.
    """
    from scipy import special  # slow to import, and only a study needs it

    count = replicates.shape[0]
    spread = replicates.std(axis=0, ddof=1) * np.sqrt(size / printed_size)
    return np.asarray(spread * np.sqrt(2.0) * float(special.stdtrit(count - 1, (1 + HELD) / 2)) / 2)


@dataclass(frozen=True)
class Regret:
    """What each option costs beyond the cheapest, draw by draw: its mean and its P95 (options,).

    The least mean is what perfect information on the choice would be worth.
    """

    mean: Array
    p95: Array

    @property
    def least_mean(self) -> int:
        """The option with the least to regret on average: the one with the least mean cost."""
        return int(np.argmin(self.mean))

    @property
    def least_p95(self) -> int:
        """The option with the least to regret in the worst twentieth of the draws; on equal terms the one of least mean."""
        return int(np.lexsort((self.mean, self.p95))[0])


def regret(costs: Array) -> Regret:
    """What would be regretted of each option."""
    beyond = costs - costs.min(axis=1, keepdims=True)
    return Regret(beyond.mean(axis=0), np.quantile(beyond, 0.95, axis=0))
