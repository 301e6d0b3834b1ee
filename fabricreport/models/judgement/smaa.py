"""Additive value over weights that nobody has stated: stochastic multicriteria acceptability analysis (SMAA-2).

The value of an option is the sum of its values (0 worst, 1 best, by criterion) times the weights, which are not negative
and add up to one. Without stated weights all are alike likely: uniform on the simplex, or on the part of it that keeps a
stated order. An option's acceptability at a rank is the share of them at which it holds it, its central weights are the mean
of those that put it first, and its confidence factor is the chance that it is first at these.
Sources: Lahdelma and Salminen, Operations Research 49 (2001) 444-454; the order statistics of a uniform draw for an order.

An additive value has no rank reversal: an option that is never first changes nothing of who is.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
_DIGITS = 12
"""Values that agree to so many digits are a tie."""


@dataclass(frozen=True)
class Acceptability:
    """What weights say of each option.

    `ranks` (options, ranks): share of weights at which the option holds each rank, ties split; each row and each column
    sums to one. `central` (options, criteria): its central weights, not a number where no weights put it first.
    `confidence` (options,): the chance that it is first at these (0 where there are none), over the draws of the values.
    """

    ranks: Array
    central: Array
    confidence: Array

    @property
    def first(self) -> Array:
        """Share of weights at which each option is first."""
        return np.asarray(self.ranks[:, 0])


@lru_cache(maxsize=8)
def uniform_weights(seed: int, criteria: int, draws: int) -> Array:
    """Draws of weights (draws, criteria) that sum to one, all alike likely; read-only, for they are remembered."""
    weights = np.random.default_rng(seed).dirichlet(np.ones(criteria), draws)
    weights.flags.writeable = False
    return weights


def ordered_weights(seed: int, groups: Sequence[Sequence[int]], draws: int) -> Array:
    """Uniform weights (draws, criteria) that keep an order: each criterion of a group weighs at least as much as any of
    a later group; within a group nothing is said. `groups` name every criterion once, by its place."""
    places = [place for group in groups for place in group]
    if sorted(places) != list(range(len(places))):
        raise ValueError(f"an order must name every criterion once, not {places}")
    falling = -np.sort(-uniform_weights(seed, len(places), draws), axis=1)
    rng, found, start = np.random.default_rng(seed + 1), np.empty_like(falling), 0
    for group in groups:
        found[:, list(group)] = rng.permuted(falling[:, start : start + len(group)], axis=1)
        start += len(group)
    return found


def weighed(values: Array, *, seed: int, draws: int, groups: Sequence[Sequence[int]] = ()) -> Acceptability:
    """Acceptability over all weights of as many criteria, or over those that keep the order of `groups`.

    `values`: (options, criteria), or (draws, options, criteria). Exact for two criteria of known values.
    """
    criteria = values.shape[-1]
    if criteria == 2 and values.ndim == 2:
        first = [place for group in groups for place in group][:1] if len(groups) == 2 else []
        if first == [1]:
            swapped = exact_acceptability(values[:, ::-1], 0.5)
            return Acceptability(swapped.ranks, swapped.central[:, ::-1], swapped.confidence)
        return exact_acceptability(values, 0.5 if first else 0.0)
    weights = ordered_weights(seed, groups, draws) if groups else uniform_weights(seed, criteria, draws)
    return acceptability(values, weights)


def acceptability(values: Array, weights: Array) -> Acceptability:
    """Acceptability of options over weights (draws, criteria).

    `values`: (options, criteria), or (draws, options, criteria) where they are uncertain too: then draw by draw.
    """
    ranks_at = _ranks(_totals(values, weights))
    firsts = ranks_at[:, :, 0]
    central = _central(firsts, weights)
    return Acceptability(ranks_at.mean(axis=0), central, _confidence(values, central))


def exact_acceptability(values: Array, lowest: float = 0.0) -> Acceptability:
    """The same without sampling, for two criteria of known values (options, 2): lengths on the line of the first weight.

    `lowest`: the least weight of the first criterion, 0.5 where it is stated to matter more.
    """
    if values.ndim != 2 or values.shape[1] != 2:
        raise ValueError(f"lengths on a line need known values of two criteria, not {values.shape}")
    slopes, levels = values[:, 0] - values[:, 1], values[:, 1]
    rise = slopes[:, None] - slopes[None, :]
    apart = levels[None, :] - levels[:, None]
    crossings = apart[rise != 0] / rise[rise != 0]
    inside = crossings[(crossings > lowest) & (crossings < 1.0)]
    ends = np.unique(np.concatenate([[lowest, 1.0], inside]))
    middle, length = (ends[1:] + ends[:-1]) / 2, np.diff(ends) / (1.0 - lowest)
    weights = np.stack([middle, 1.0 - middle], axis=1)
    ranks_at = _ranks(_totals(values, weights)) * length[:, None, None]
    central = _central(ranks_at[:, :, 0], weights)
    return Acceptability(ranks_at.sum(axis=0), central, _confidence(values, central))


def flip_distance(gaps: Array, weights: Array) -> float | None:
    """Smallest L1 change of the weights (kept on the simplex) that brings the weighted sum of `gaps` to zero, or None.

    Moving weight from the criterion that speaks loudest for the winner to the one that speaks loudest against it changes
    the sum fastest; the donors are emptied in order of what they say.
    """
    total = float(gaps @ weights)
    if total == 0:
        return 0.0
    signed = gaps * np.sign(total)
    best = float(signed.min())
    if best >= 0:
        return None
    left, moved = abs(total), 0.0
    for i in np.argsort(-signed):
        gain = float(signed[i]) - best
        if gain <= 0:
            break
        step = min(float(weights[i]), left / gain)
        moved, left = moved + step, left - step * gain
        if left <= 1e-12:
            return 2 * moved
    return None


def nearest_flip(values: Array, weights: Array) -> float | None:
    """Smallest L1 change of the weights (criteria,) at which another option is level with the first, or None.

    `values`: (options, criteria), known. The first gives way where the nearest of its rivals draws level.
    """
    first = int(np.argmax(values @ weights))
    rivals = (flip_distance(values[first] - row, weights) for i, row in enumerate(values) if i != first)
    return min((found for found in rivals if found is not None), default=None)


def _totals(values: Array, weights: Array) -> Array:
    """Value of each option at each draw of the weights: (draws, options)."""
    known = values.ndim == 2
    totals = weights @ values.T if known else np.einsum("noc,nc->no", values, weights)
    return np.asarray(np.round(totals, _DIGITS))


def _ranks(totals: Array) -> Array:
    """Share of each rank that each option holds at each draw (draws, options, ranks); those that tie share theirs."""
    above = (totals[:, None, :] > totals[:, :, None]).sum(axis=2)
    level = (totals[:, None, :] == totals[:, :, None]).sum(axis=2)
    place = np.arange(totals.shape[1])
    held = (above[:, :, None] <= place) & (place < (above + level)[:, :, None])
    return np.asarray(held / level[:, :, None])


def _central(firsts: Array, weights: Array) -> Array:
    """Mean of the weights that put each option first (options, criteria), by how far they do."""
    counted = firsts.sum(axis=0)
    with np.errstate(invalid="ignore"):
        return np.asarray((firsts.T @ weights) / np.where(counted > 0, counted, np.nan)[:, None])


def _confidence(values: Array, central: Array) -> Array:
    """The chance that each option is first at its own central weights."""
    drawn = values if values.ndim == 3 else values[None]
    found = np.zeros(central.shape[0])
    for option, weights in enumerate(central):
        if np.all(np.isfinite(weights)):
            found[option] = _ranks(np.round(drawn @ weights, _DIGITS))[:, option, 0].mean()
    return found
