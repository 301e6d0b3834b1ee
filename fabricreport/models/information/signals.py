"""What a test would show, simulated in every draw."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from fabricreport.provenance import plain

Draws = NDArray[np.float64]


def observed(values: Any, noise: float, *, seed: int) -> Draws:
    """The values (draws,) read with normal noise of this standard deviation, in the unit of the values."""
    v = plain(values)
    return v + noise * np.random.default_rng(seed).standard_normal(v.shape)
