"""Which option is best on shared draws: how often, and how sure that share is.

Costs are (draws, options), lower is better.
"""

from __future__ import annotations

from collections.abc import Callable

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
