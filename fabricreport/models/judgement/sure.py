"""How sure an act is: how often it costs little more than the best of the other acts that is known beforehand.

Costs are (draws,), lower is better. What an act leads to is in its cost: of one that finds out first, what is chosen then.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


def best_other(act: Array, others: Mapping[str, Array]) -> str:
    """The other act with the lowest mean cost, fixed before any draw is seen; '' where there is none.

    One that costs more than the act in some draws, and less in none, is the act made dearer: it is no other to hold it against.
    """
    real = {key: cost for key, cost in others.items() if np.any(cost < act) or np.array_equal(cost, act)}
    return min(real, key=lambda key: float(real[key].mean()), default="")


def sure(act: Array, others: Mapping[str, Array], margin: float) -> float:
    """Share of draws in which the act costs at most the margin more than the best other one."""
    other = best_other(act, others)
    return float(np.mean(act - others[other] <= margin)) if other else 1.0


def following(chosen: NDArray[np.intp], costs: Array) -> Array:
    """Cost by draw of taking in each draw the column of the costs (draws, options) that was chosen there."""
    return np.asarray(np.take_along_axis(costs, chosen[:, None], axis=1)[:, 0])
