"""Whether every value of an input lies where a model means something: numbers or draws, traced or not.

A value that is not a number lies nowhere.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np


def positive(values: Any) -> bool:
    """Whether all are above 0 and finite."""
    low, high = _ends(values)
    return low > 0 and high < math.inf


def not_negative(values: Any) -> bool:
    """Whether all are at least 0 and finite."""
    low, high = _ends(values)
    return low >= 0 and high < math.inf


def between(values: Any, low: float, high: float) -> bool:
    """Whether all lie between the two, both of which count."""
    least, most = _ends(values)
    return least >= low and most <= high


def _ends(values: Any) -> tuple[float, float]:
    """The least and the largest value; both not a number where one of the values is none."""
    array = np.asarray(values, dtype=float)
    return (float(array),) * 2 if array.ndim == 0 else (float(array.min()), float(array.max()))
