"""Contested quantities: sources kept side by side, and the rule that turns their spread into a prior.

Nothing is averaged away. A quantity's positions are shown each with the base it uses; those that may speak
(a number, in the quantity's unit, not set aside for a stated reason) form the prior by one of two rules:

- `mixture`: a publisher weighs by the grade of its figures, however many it gives; a figure is uniform over its stated
  range (PERT or 90 % interval where it says so, a point where it is one number);
- `envelope`: the lowest low is the 5th and the highest high the 95th percentile, the median of the sources'
  middles, weighed by grade, is the median, normal on either side (on a logarithmic scale if everything is positive).

What this memo worked out or assumed itself is no publisher's: it is shown and does not enter the prior. A quantity may
have a bound (`bound`, an entry): no figure counts above it, and one that lies above it altogether is set aside.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import special

from fabricreport.base.errors import InputError, OutOfRange, Problem
from fabricreport.base.provenance import Traced, inputs_of
from fabricreport.base.uncertain import Uncertain
from fabricreport.models.audit.claims import Entry

RULES = ("mixture", "envelope")
OURS = "This memo"
_GRID = 400
_EQUAL: Mapping[str, float] = MappingProxyType({})
_NO_PUBLISHER = "worked out or assumed by this memo, and so no publisher's"
_Z95 = float(special.ndtri(0.95))


@dataclass(frozen=True)
class Position:
    """What one source says on a contested quantity, in the quantity's unit (after `converted`, if any).

    `set_aside` says why the figure does not enter the prior; empty if it does. A text has no numbers (nan).
    `weight`: what its grade counts; `limit`: what counts of it at most, for the reason in the entry `bound_by`.
    """

    id: str
    publisher: str
    date: str
    grade: str
    base: str
    kind: str
    low: float
    mid: float
    high: float
    converted: str
    set_aside: str
    weight: float = 1.0
    limit: float = math.inf
    bound_by: str = ""

    @property
    def ours(self) -> bool:
        """Whether this memo worked the figure out or assumed it."""
        return not self.publisher or self.publisher.startswith(OURS)

    @property
    def admissible(self) -> bool:
        """Whether the figure enters the prior."""
        return not self.set_aside


@dataclass(frozen=True)
class Contested:
    """A quantity on which sources disagree: all positions, and the 5th, 50th and 95th percentile of the prior."""

    id: str
    what: str
    unit: str
    entries: tuple[Position, ...]
    prior_low: float
    prior_mid: float
    prior_high: float
    rule: str
    would_settle: str

    @property
    def admissible(self) -> tuple[Position, ...]:
        """The positions the prior is made of."""
        return tuple(p for p in self.entries if p.admissible)

    @property
    def prior(self) -> Uncertain:
        """The prior as a range."""
        return Uncertain("interval", self.prior_low, self.prior_mid, self.prior_high)

    def quantile(self, u: Any) -> Traced:
        """The prior's inverse CDF at probabilities `u` (any shape), traced to the entries it is made of."""
        return prior_quantile(u, self.admissible, rule=self.rule)


def premium_to_discount(premium: float) -> float:
    """What is `premium` dearer than B is the base of a discount `premium / (1 + premium)` for B."""
    return premium / (1 + premium)


def discount_to_premium(discount: float) -> float:
    """What is `discount` cheaper than A makes A dearer by `discount / (1 - discount)`."""
    return discount / (1 - discount)


CONVERSIONS: Mapping[str, Callable[[float], float]] = {
    "premium-to-discount": premium_to_discount,
    "discount-to-premium": discount_to_premium,
    "loss-to-share-left": lambda loss: 1 - loss,
}


def contested(
    quantity: str,
    entries: Mapping[str, Entry],
    definitions: Mapping[str, Mapping[str, Any]],
    weights: Mapping[str, float] = _EQUAL,
) -> Contested:
    """One contested quantity from the entries that name it and its definition (as in `data/contested.yaml`).

    `weights`: what each entry counts, by id; one that is not named counts 1.
    """
    members = {e.id: e for e in entries.values() if e.contested == quantity}
    definition = definitions.get(quantity)
    if definition is None:
        if not members:
            raise InputError(Problem("no contested quantity has this id", value=quantity))
        first = next(iter(members.values()))
        settle = "Not stated: add a definition of this quantity."
        definition = {"what": first.what, "unit": first.unit, "rule": "mixture", "would_settle": settle}
    joined = {also["id"]: also for also in definition.get("also", ())}
    for key in joined:
        if key not in entries:
            raise InputError(Problem("is cited by a contested quantity and missing", key=quantity, value=key))
        members[key] = entries[key]
    positions = tuple(_position(member, definition, joined.get(key, {})) for key, member in members.items())
    positions = tuple(replace(p, weight=float(weights.get(p.id, 1.0))) for p in positions)
    if "bound" in definition:
        positions = tuple(_bounded(p, entries[definition["bound"]]) for p in positions)
    rule = definition["rule"]
    admissible = tuple(p for p in positions if p.admissible)
    low, mid, high = (float(v) for v in prior_quantile(np.array([0.05, 0.5, 0.95]), admissible, rule=rule))
    return Contested(
        quantity, definition["what"], definition["unit"], positions, low, mid, high, rule, definition["would_settle"]
    )


def joined(definition: Mapping[str, Any]) -> tuple[str, ...]:
    """Ids of the entries that a definition brings in by itself: those of other quantities, and its bound."""
    bound = (definition["bound"],) if "bound" in definition else ()
    return (*(str(also["id"]) for also in definition.get("also", ())), *bound)


def prior_quantile(u: Any, entries: Sequence[Position], *, rule: str = "mixture") -> Traced:
    """Inverse CDF of the prior over `entries` at probabilities `u`; same shape as `u`, non-decreasing in `u`.

    Raises `OutOfRange` without an admissible figure, for an unknown rule, and for `u` outside 0 to 1.
    """
    positions = [p for p in entries if p.admissible]
    if not positions:
        raise OutOfRange(Problem("no source gives an admissible figure", remedy="Add an entry with a number."))
    if rule not in RULES:
        raise OutOfRange(Problem("is not a rule for a prior", value=rule, remedy=f"One of: {', '.join(RULES)}."))
    probabilities = np.asanyarray(u, dtype=float)
    bare = probabilities.view(np.ndarray)
    if not np.all((bare >= 0) & (bare <= 1)):
        raise OutOfRange(Problem("a probability must lie between 0 and 1"))
    values = _mixture(bare, positions) if rule == "mixture" else _envelope(bare, positions)
    bounds = {f"evidence:{p.bound_by}" for p in positions if p.bound_by}
    return Traced(values, inputs_of(u) | {f"evidence:{p.id}" for p in positions} | bounds)


def _mixture(u: NDArray[np.float64], positions: Sequence[Position]) -> NDArray[np.float64]:
    """Pool each figure's quantiles on a grid, a publisher weighing by grade, and invert the pooled CDF."""
    figures = Counter(p.publisher for p in positions)
    grid = (np.arange(_GRID) + 0.5) / _GRID
    pooled = np.concatenate([_own_quantile(grid, p) for p in positions])
    weights = np.concatenate([np.full(_GRID, p.weight / figures[p.publisher]) for p in positions])
    order = np.argsort(pooled, kind="stable")
    values, weights = pooled[order], weights[order] / weights.sum()
    below = np.cumsum(weights) - weights / 2
    return np.asanyarray(np.interp(u, below, values), dtype=float)


def _own_quantile(grid: NDArray[np.float64], p: Position) -> NDArray[np.float64]:
    """A figure's quantiles up to its limit: a plain range is cut there, another law's tail gathers at it."""
    if p.kind not in ("interval", "pert"):
        return p.low + grid * (min(p.high, p.limit) - p.low)
    return np.minimum(_unlimited(grid, p), p.limit)


def _unlimited(grid: NDArray[np.float64], p: Position) -> NDArray[np.float64]:
    if p.kind == "interval":
        if p.low > 0:
            logs = _two_sided(grid, math.log(p.low), math.log(p.mid), math.log(p.high))
            return np.asanyarray(np.exp(logs), dtype=float)
        return _two_sided(grid, p.low, p.mid, p.high)
    if p.kind == "pert" and p.high > p.low:
        left, right = 1 + 4 * (p.mid - p.low) / (p.high - p.low), 1 + 4 * (p.high - p.mid) / (p.high - p.low)
        return np.asanyarray(p.low + (p.high - p.low) * special.betaincinv(left, right, grid), dtype=float)
    return p.low + grid * (p.high - p.low)


def _envelope(u: NDArray[np.float64], positions: Sequence[Position]) -> NDArray[np.float64]:
    low, high = min(p.low for p in positions), max(min(p.high, p.limit) for p in positions)
    mid = _weighted_median([min(p.mid, p.limit) for p in positions], [p.weight for p in positions])
    if low > 0:
        logs = _two_sided(u, math.log(low), math.log(mid), math.log(high))
        return np.asanyarray(np.exp(logs), dtype=float)
    return _two_sided(u, low, mid, high)


def _weighted_median(values: Sequence[float], weights: Sequence[float]) -> float:
    """The median if all weigh the same; else where half of the weight lies, between the values' own middles."""
    order = np.argsort(values, kind="stable")
    ranked, weight = np.asarray(values, dtype=float)[order], np.asarray(weights, dtype=float)[order]
    return float(np.interp(0.5, (np.cumsum(weight) - weight / 2) / weight.sum(), ranked))


def _two_sided(u: NDArray[np.float64], low: float, mid: float, high: float) -> NDArray[np.float64]:
    """Quantiles of a two-piece normal with 5th percentile `low`, median `mid`, 95th `high`; tails cut at 0.1 %."""
    z = special.ndtri(np.clip(u, 0.001, 0.999)) / _Z95
    return np.asanyarray(mid + np.where(z > 0, z * (high - mid), z * (mid - low)), dtype=float)


def _position(entry: Entry, definition: Mapping[str, Any], also: Mapping[str, Any]) -> Position:
    name = also.get("convert", definition.get("convert", {}).get(entry.id, ""))
    low, mid, high = entry.low, entry.mid, entry.high
    if name:
        low, mid, high = (CONVERSIONS[name](v) for v in (low, mid, high))
        low, high = min(low, high), max(low, high)
    units = {definition["unit"], *definition.get("same_unit", ())}
    reasons = {item["id"]: item["why"] for item in definition.get("set_aside", ())}
    why = reasons.get(entry.id, "")
    if not why and entry.kind == "text":
        why = "states no number"
    if not why and entry.unit not in units:
        why = f"is in {entry.unit}, not in {definition['unit']}"
    kept = ("id", "publisher", "date", "grade", "kind")
    facts = {k: getattr(entry, k) for k in kept}
    position = Position(
        **facts, base=also.get("base", entry.base), low=low, mid=mid, high=high, converted=name, set_aside=why
    )
    return replace(position, set_aside=_NO_PUBLISHER) if position.ours and not why else position


def _bounded(position: Position, bound: Entry) -> Position:
    """The position with nothing counted above the bound; set aside if all of it lies there."""
    if position.admissible and position.low > bound.high:
        return replace(position, set_aside=bound.what)
    return replace(position, limit=bound.high, bound_by=bound.id)
