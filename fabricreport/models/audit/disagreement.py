"""Contested quantities: sources kept side by side, and the rule that turns their spread into a prior.

Nothing is averaged away. A quantity's positions are shown each with the base it uses; those that may speak
(a number, in the quantity's unit, not set aside for a stated reason) form the prior by one of two rules:

- `mixture`: every publisher weighs the same, however many figures it gives; a figure is uniform over its stated
  range (PERT or 90 % interval where it says so, a point where it is one number);
- `envelope`: the lowest low is the 5th and the highest high the 95th percentile, the median of the sources'
  middles is the median, normal on either side (on a logarithmic scale if everything is positive).
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import special

from fabricreport.errors import InputError, OutOfRange, Problem
from fabricreport.evidence_entry import EvidenceEntry
from fabricreport.provenance import Traced, inputs_of

RULES = ("mixture", "envelope")
_GRID = 400
_Z95 = float(special.ndtri(0.95))


@dataclass(frozen=True)
class Position:
    """What one source says on a contested quantity, in the quantity's unit (after `converted`, if any).

    `set_aside` says why the figure does not enter the prior; empty if it does. A text has no numbers (nan).
    """

    id: str
    what: str
    source: str
    publisher: str
    date: str
    grade: str
    seen: str
    interest: str
    base: str
    kind: str
    low: float
    mid: float
    high: float
    converted: str
    set_aside: str

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

    def quantile(self, u: Any) -> Traced:
        """The prior's inverse CDF at probabilities `u` (any shape), traced to the entries it is made of."""
        return prior_quantile(u, self.admissible, rule=self.rule)

    def as_dict(self) -> dict[str, Any]:
        """The quantity for `--json`."""
        facts = {k: v for k, v in self.__dict__.items() if k != "entries"}
        return facts | {"entries": [{k: _json(v) for k, v in p.__dict__.items()} for p in self.entries]}


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
    quantity: str, entries: Mapping[str, EvidenceEntry], definitions: Mapping[str, Mapping[str, Any]]
) -> Contested:
    """One contested quantity from the entries that name it and its definition (as in `evidence/contested.yaml`)."""
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
    rule = definition["rule"]
    admissible = tuple(p for p in positions if p.admissible)
    low, mid, high = (float(v) for v in prior_quantile(np.array([0.05, 0.5, 0.95]), admissible, rule=rule))
    return Contested(
        quantity, definition["what"], definition["unit"], positions, low, mid, high, rule, definition["would_settle"]
    )


def contested_quantities(
    entries: Mapping[str, EvidenceEntry], definitions: Mapping[str, Mapping[str, Any]]
) -> dict[str, Contested]:
    """Every contested quantity by id: those defined, in the order of the definitions, then those an entry names."""
    named = dict.fromkeys(definitions)
    named.update(dict.fromkeys(e.contested for e in entries.values() if e.contested))
    return {quantity: contested(quantity, entries, definitions) for quantity in named}


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
    return Traced(values, inputs_of(u) | {f"evidence:{p.id}" for p in positions})


def _mixture(u: NDArray[np.float64], positions: Sequence[Position]) -> NDArray[np.float64]:
    """Pool each figure's quantiles on a grid, weighted equally by publisher, and invert the pooled CDF."""
    figures = Counter(p.publisher for p in positions)
    grid = (np.arange(_GRID) + 0.5) / _GRID
    pooled = np.concatenate([_own_quantile(grid, p) for p in positions])
    weights = np.concatenate([np.full(_GRID, 1 / figures[p.publisher]) for p in positions])
    order = np.argsort(pooled, kind="stable")
    values, weights = pooled[order], weights[order] / weights.sum()
    below = np.cumsum(weights) - weights / 2
    return np.asanyarray(np.interp(u, below, values), dtype=float)


def _own_quantile(grid: NDArray[np.float64], p: Position) -> NDArray[np.float64]:
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
    low, high = min(p.low for p in positions), max(p.high for p in positions)
    mid = float(np.median([p.mid for p in positions]))
    if low > 0:
        logs = _two_sided(u, math.log(low), math.log(mid), math.log(high))
        return np.asanyarray(np.exp(logs), dtype=float)
    return _two_sided(u, low, mid, high)


def _two_sided(u: NDArray[np.float64], low: float, mid: float, high: float) -> NDArray[np.float64]:
    """Quantiles of a two-piece normal with 5th percentile `low`, median `mid`, 95th `high`; tails cut at 0.1 %."""
    z = special.ndtri(np.clip(u, 0.001, 0.999)) / _Z95
    return np.asanyarray(mid + np.where(z > 0, z * (high - mid), z * (mid - low)), dtype=float)


def _position(entry: EvidenceEntry, definition: Mapping[str, Any], also: Mapping[str, Any]) -> Position:
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
    kept = ("id", "what", "source", "publisher", "date", "grade", "seen", "interest", "kind")
    facts = {k: getattr(entry, k) for k in kept}
    return Position(
        **facts, base=also.get("base", entry.base), low=low, mid=mid, high=high, converted=name, set_aside=why
    )


def _json(value: Any) -> Any:
    return None if isinstance(value, float) and math.isnan(value) else value
