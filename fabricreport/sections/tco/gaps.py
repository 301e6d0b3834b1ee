"""Gaps to the choice that pictures show: in cash by month, in the cost of a useful hour by size; and which fit a picture."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np
from numpy.typing import NDArray

from fabricreport.provenance import plain
from fabricreport.sections.tco.result import Ownership

Gaps = Mapping[str, NDArray[np.float64]]

OFF_SCALE = 2.0
"""An option whose smallest gap is this many times another's largest is left out of a picture and named."""


def cash_gaps(owned: Ownership, choice: str, order: Iterable[str]) -> Gaps:
    """Mean cash paid by the end of each month less that of the choice, by option (months,), in today's money."""
    base = np.cumsum(owned.cash[choice])
    return {o: np.cumsum(owned.cash[o]) - base for o in order if o != choice}


def hour_gaps(owned: Ownership, choice: str, order: Iterable[str]) -> Gaps:
    """Cost of a useful GPU-hour less that of the choice, by option (sizes, draws)."""
    hour = owned.sweep.useful_hour
    return {o: plain(hour[o]) - plain(hour[choice]) for o in order if o != choice}


def cash_on_scale(gaps: Gaps, rival: str) -> list[str]:
    """The options whose cash fits one picture; the last month, which takes off what is resold, does not count."""
    return on_scale({o: gap[:-1, None] for o, gap in gaps.items()}, keep=rival)


def on_scale(gaps: Gaps, *, keep: str) -> list[str]:
    """The options whose gaps (points, draws) can share a picture: `keep`, and those not far beyond all others."""
    middle = {o: np.abs(np.mean(gap, axis=1)) for o, gap in gaps.items()}
    known = {o: m[np.isfinite(m)] for o, m in middle.items() if np.isfinite(m).any()}
    return [
        o
        for o in gaps
        if o == keep
        or (o in known and all(known[o].min() <= OFF_SCALE * m.max() for other, m in known.items() if other != o))
    ]
