"""An order of criteria as weights, and what options score by them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence


def order_weights(order: Sequence[str], criteria: Sequence[str]) -> dict[str, float]:
    """The mean of all weights that keep an order (rank-order centroid, Barron & Barrett 1996).

    `order`: criteria from the most important on; those not named come after them and share what is left alike.
    """
    count = len(criteria)
    falling = [sum(1 / place for place in range(rank, count + 1)) / count for rank in range(1, count + 1)]
    rest = [c for c in criteria if c not in order]
    left = sum(falling[len(order) :])
    return {**dict(zip(order, falling, strict=False)), **{c: left / len(rest) for c in rest}}


def weighted(scores: Mapping[str, Mapping[str, float]], weights: Mapping[str, float]) -> dict[str, float]:
    """The weighted sum of each option's scores by criterion."""
    return {option: sum(weights[c] * own[c] for c in weights) for option, own in scores.items()}
