"""How sure an act is: in what share of the outcomes it stands beside the best act that could have been chosen in its place."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from fabricreport.provenance import plain


def stands(advised: Any, others: Sequence[Any], margin: float) -> float:
    """Share of the draws in which an act costs at most `margin` more than the best other act, had the draw been known.

    `advised`, `others`: cost of each act with what it then leads to, against one base: (draws,), or a number where it is the
    same in all. 1 where there is no other. An act that costs more, be it this one or another beside it, never raises the
    share, and a wider margin never lowers it.
    """
    if not others:
        return 1.0
    best = np.min(np.broadcast_arrays(*map(plain, others)), axis=0)
    return float(np.mean(plain(advised) <= best + margin))
