"""How sure an act is: how often it costs little more than the best of the other acts that is known beforehand.

Costs are (draws,), lower is better. What an act leads to is in its cost: of one that finds out first, what is chosen then.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Sure:
    """The `share` of draws in which an act costs at most the `margin` more than the best `other` one, '' where there is none."""

    share: float
    other: str
    margin: float


def best_other(act: Array, others: Mapping[str, Array]) -> str:
    """The other act with the lowest mean cost, fixed before any draw is seen; '' where there is none.

    One that costs more than the act in some draws, and less in none, is the act made dearer: it is no other to hold it against.
    """
    real = {key: cost for key, cost in others.items() if np.any(cost < act) or np.array_equal(cost, act)}
    return min(real, key=lambda key: float(real[key].mean()), default="")


def sure(act: Array, others: Mapping[str, Array], margin_of: Callable[[str], float]) -> Sure:
    """How sure the act is; `margin_of`: what it may cost more than another act, by that act's key, and still stand."""
    other = best_other(act, others)
    margin = margin_of(other)
    return Sure(float(np.mean(act - others[other] <= margin)) if other else 1.0, other, margin)


def following(chosen: NDArray[np.intp], costs: Array) -> Array:
    """Cost by draw of taking in each draw the column of the costs (draws, options) that was chosen there."""
    return np.asarray(np.take_along_axis(costs, chosen[:, None], axis=1)[:, 0])
