"""A region of the inputs in which something mostly holds, in few conditions, as scenario discovery states it.

After Friedman & Fisher, "Bump hunting in high-dimensional data" (1999), and Bryant & Lempert (2010): *density* is the
share of draws inside of the box in which it holds, *coverage* the share of all draws in which it holds that lie inside.
The box is not peeled step by step: with at most three one-sided conditions every box on a grid of quantiles is tried.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations, product

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Hits = NDArray[np.bool_]
MOST = 3
"""Most conditions of a region: a reader keeps no more in mind."""
CANDIDATES = 6
LEAST_DENSITY = 0.5
"""A region in which it holds less often than not is none in plain words."""
_SOUGHT = 0.6
"""Density asked of a box where it is found: on a fresh sample it is less, for the best of many is partly luck."""
LEAST_SUPPORT = 0.01
_GRID = 20
_FINE = 3
_WORTH = 0.05
"""What one more condition must add to the mean of density and coverage, or it is left out."""


@dataclass(frozen=True)
class Condition:
    """One input (by its column) above or below a bound."""

    column: int
    above: bool
    bound: float

    def holds(self, x: Array) -> Hits:
        """In which rows of x (draws, inputs) it is met."""
        values = x[:, self.column]
        return np.asarray(values > self.bound if self.above else values < self.bound)


Box = tuple[Condition, ...]


@dataclass(frozen=True)
class Statistics:
    """Of a box: density, coverage, the share of all draws in which it holds (`base`), the draws inside, and how far the
    density may be off (one standard error)."""

    density: float
    coverage: float
    base: float
    inside: int
    error: float

    @property
    def tells(self) -> bool:
        """Whether it holds inside more often than not, and beyond doubt more often than elsewhere."""
        return self.density > LEAST_DENSITY and self.density > self.base + 2 * self.error


def inside(box: Box, x: Array) -> Hits:
    """Which rows of x (draws, inputs) lie in a box."""
    return np.asarray(np.logical_and.reduce([c.holds(x) for c in box]))


def measured(box: Box, x: Array, hits: Hits) -> Statistics:
    """The statistics of a box on any sample; those that are printed are of a fresh one."""
    within = inside(box, x)
    count, caught, all_hits = int(within.sum()), int((within & hits).sum()), int(hits.sum())
    density = caught / count if count else 0.0
    return Statistics(
        density=density,
        coverage=caught / all_hits if all_hits else 0.0,
        base=all_hits / hits.size,
        inside=count,
        error=float(np.sqrt(density * (1 - density) / count)) if count else 0.0,
    )


def region(x: Array, hits: Hits, most: int = MOST) -> Box:
    """The box of at most so many conditions with the best mean of density and coverage (harmonic); () if none tells.

    x: (draws, inputs); hits: (draws,), where it holds.
    """
    columns = _likely(x, hits)
    bins, edges = _binned(x, columns)
    best: Box = ()
    worth = 0.0
    for size in range(1, most + 1):
        found = max(_boxes(bins, edges, columns, hits, size), key=lambda f: f[0], default=(0.0, ()))
        if found[0] > worth + (_WORTH if best else 0.0):
            worth, best = found
    best = _refined(best, x, hits)
    return best if best and measured(best, x, hits).tells else ()


def _likely(x: Array, hits: Hits) -> list[int]:
    """The columns that tell hits from misses best, by the gap of their mean ranks."""
    if not hits.any() or hits.all():
        return []
    ranks = x.argsort(axis=0).argsort(axis=0)
    gap = np.abs(ranks[hits].mean(axis=0) - ranks[~hits].mean(axis=0))
    return [int(c) for c in np.argsort(-gap)[:CANDIDATES] if np.ptp(x[:, c]) > 0]


def _binned(x: Array, columns: Sequence[int]) -> tuple[dict[int, NDArray[np.intp]], dict[int, Array]]:
    """Each column cut at its quantiles: the bin of every draw, and the edges between bins."""
    cuts = np.arange(1, _GRID) / _GRID
    edges = {c: np.quantile(x[:, c], cuts) for c in columns}
    return {c: np.searchsorted(edges[c], x[:, c], side="left") for c in columns}, edges


def _boxes(
    bins: dict[int, NDArray[np.intp]], edges: dict[int, Array], columns: Sequence[int], hits: Hits, size: int
) -> Iterator[tuple[float, Box]]:
    """The best box of each set of columns and each choice of sides, with its worth."""
    least = LEAST_SUPPORT * hits.size
    for chosen in combinations(columns, size):
        shape = (_GRID,) * size
        cells = np.ravel_multi_index(tuple(bins[c] for c in chosen), shape)
        counts = np.bincount(cells, minlength=_GRID**size).reshape(shape)
        caught = np.bincount(cells[hits], minlength=_GRID**size).reshape(shape)
        for sides in product((True, False), repeat=size):
            draws, hit = _summed(counts, sides), _summed(caught, sides)
            dense = np.where(draws >= least, hit / np.maximum(draws, 1), 0.0)
            worth = np.where(dense >= _SOUGHT, _worth(draws, hit, int(hits.sum())), 0.0)
            at = np.unravel_index(int(np.argmax(worth)), worth.shape)
            if worth[at] > 0:
                yield (
                    float(worth[at]),
                    tuple(
                        Condition(c, above, float(edges[c][n])) for c, above, n in zip(chosen, sides, at, strict=True)
                    ),
                )


def _summed(cells: NDArray[np.intp], sides: Sequence[bool]) -> NDArray[np.intp]:
    """Draws beyond each of the inner edges on the given side of every axis."""
    for axis, above in enumerate(sides):
        if above:
            cells = np.flip(np.flip(cells, axis).cumsum(axis), axis)
            cells = np.take(cells, np.arange(1, _GRID), axis)
        else:
            cells = np.take(cells.cumsum(axis), np.arange(_GRID - 1), axis)
    return cells


def _worth(draws: NDArray[np.intp], hit: NDArray[np.intp], all_hits: int) -> Array:
    """The harmonic mean of density and coverage."""
    return np.asarray(2 * hit / np.maximum(draws + all_hits, 1))


def _refined(box: Box, x: Array, hits: Hits) -> Box:
    """The same conditions with each bound moved between its neighbours on the grid for as long as that helps."""

    def worth(tried: Box) -> float:
        within = inside(tried, x)
        count, caught = float(within.sum()), float((within & hits).sum())
        good = count >= LEAST_SUPPORT * hits.size and caught >= _SOUGHT * count
        return 2 * caught / (count + float(hits.sum())) if good else 0.0

    for _ in range(_FINE if box else 0):
        for n, condition in enumerate(box):
            ordered = np.sort(x[:, condition.column])
            at = int(np.searchsorted(ordered, condition.bound))
            near = np.arange(-16, 17) * max(1, x.shape[0] // (_GRID * 16)) + at
            bounds = [condition.bound, *ordered[np.clip(near, 0, ordered.size - 1)]]
            tried = [(*box[:n], Condition(condition.column, condition.above, float(b)), *box[n + 1 :]) for b in bounds]
            box = max(tried, key=worth)
    return box
