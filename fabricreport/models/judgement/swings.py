"""Sensitivities read off draws that exist already: shares of winning, swings by tenths, shares of variance."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fabricreport.provenance import plain


@dataclass(frozen=True)
class Swing:
    """How one input moves the mean difference: its mean over the lowest and the highest tenth of the input's draws."""

    input_id: str
    at_low: float
    at_high: float
    flips: bool
    break_even: float | None
    share_of_variance: float

    @property
    def width(self) -> float:
        """The size of the swing, in the unit of the difference."""
        return abs(self.at_high - self.at_low)


def swings(difference: Any, inputs: Mapping[str, Any], *, tail: float = 0.1) -> tuple[Swing, ...]:
    """One-at-a-time sensitivity of the mean difference, read off the existing sample; widest swing first.

    difference: (draws,); inputs: id -> (draws,). Break-even is where the least-squares line of the difference on the
    input crosses zero, given only inside the input's sampled range. Shares of variance are squared rank correlations,
    normalised to sum to at most one.
    """
    d = plain(difference)
    edge = max(1, int(d.size * tail))
    ranks_d = _ranks(d)
    raw = []
    for input_id, values in inputs.items():
        x = plain(values)
        if x.min() == x.max():
            continue
        order = np.argsort(x, kind="stable")
        low, high = float(d[order[:edge]].mean()), float(d[order[-edge:]].mean())
        raw.append((input_id, low, high, _crossing(d, x), float(np.corrcoef(_ranks(x), ranks_d)[0, 1]) ** 2))
    scale = max(1.0, sum(r[4] for r in raw))
    found = [Swing(i, lo, hi, (lo > 0) != (hi > 0), cross, r2 / scale) for i, lo, hi, cross, r2 in raw]
    return tuple(sorted(found, key=lambda s: -s.width))


def _ranks(x: NDArray[np.float64]) -> NDArray[np.float64]:
    ranks = np.empty(x.size)
    ranks[np.argsort(x, kind="stable")] = np.arange(x.size)
    return ranks


def _crossing(d: NDArray[np.float64], x: NDArray[np.float64]) -> float | None:
    centred = x - x.mean()
    slope = float(centred @ (d - d.mean()) / (centred @ centred))
    if slope == 0:
        return None
    at = float(x.mean() - d.mean() / slope)
    return at if x.min() <= at <= x.max() else None
