"""The four-axis framework: how each axis leans, why, and how the answer depends on the weights; and an order of criteria as weights.

An axis leans from -1 (RoCEv2) to +1 (InfiniBand): the sum of the leans of the rules that hold, clipped. Argued as the
articles argue, every rule counts; what decides beside money leaves out what the bill prices already. An axis of which no
rule holds is left out and its weight shared. Rules are data (`data/framework.yaml`); their sizes are assumptions. A
total is the weighted sum of the axes (an additive value function).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from fabricreport.base.vocabulary import NEITHER, Side

AXES = ("workload", "maturity", "scale_and_budget", "time_to_production")
NO_LEAN = 0.05
"""A total smaller than this, either way, is no lean."""


@dataclass(frozen=True)
class Rule:
    """One rule of the framework: when its conditions hold, its axis leans by `lean` for `reason`.

    `priced_as` names what of it is in the bill already: such a rule is shown and not counted.
    """

    id: str
    axis: str
    when: Mapping[str, Any]
    lean: float
    reason: str
    sources: tuple[str, ...]
    priced_as: str = ""


@dataclass(frozen=True)
class AxisLean:
    """One axis: its weight among those of which a rule holds, and these rules, those that count first, strongest first."""

    axis: str
    title: str
    weight: float
    rules: tuple[Rule, ...]

    @property
    def lean(self) -> float:
        """What it says that no line of the bill holds."""
        return _sum_of([rule for rule in self.rules if not rule.priced_as])

    @property
    def argued(self) -> float:
        """What it says as an article would: of every rule that holds."""
        return _sum_of(self.rules)


@dataclass(frozen=True)
class FrameworkResult:
    """The axes that say something of a buyer."""

    axes: tuple[AxisLean, ...]

    @property
    def total(self) -> float:
        """The weighted lean beyond the bill, in [-1, 1]."""
        return float(sum(axis.lean * axis.weight for axis in self.axes))

    @property
    def argued(self) -> float:
        """The weighted lean as articles argue, in [-1, 1]."""
        return float(sum(axis.argued * axis.weight for axis in self.axes))

    @property
    def leans_to(self) -> str:
        """The side it leans to: `infiniband`, `rocev2` or `neither`."""
        return leaning(self.total)


def _sum_of(rules: Sequence[Rule]) -> float:
    return float(np.clip(sum(rule.lean for rule in rules), -1.0, 1.0))


def leaning(total: float) -> str:
    """The side a framework's total leans to: `infiniband`, `rocev2` or `neither` (inside ±NO_LEAN)."""
    if abs(total) < NO_LEAN:
        return NEITHER
    return Side.INFINIBAND if total > 0 else Side.ROCEV2


def rules_from(data: Sequence[Mapping[str, Any]]) -> tuple[Rule, ...]:
    """Rules as data become frozen rules."""
    return tuple(
        Rule(
            r["id"],
            r["axis"],
            r["when"],
            float(r["lean"]),
            r["reason"],
            tuple(r.get("sources", ())),
            r.get("priced_as", ""),
        )
        for r in data
    )


def holds(rule: Rule, facts: Mapping[str, Any]) -> bool:
    """True when every condition of the rule matches the facts; an unknown fact is a mistake in the rules file."""
    return met(rule.when, facts)


def met(when: Mapping[str, Any], facts: Mapping[str, Any]) -> bool:
    """True when every named fact matches: a list means "one of", {min, max} a range (max exclusive), else itself."""
    return all(_matches(wanted, facts[name]) for name, wanted in when.items())


def marked(reason: str, when: Mapping[str, Any], assumed: Mapping[str, str]) -> str:
    """A reason with what of its conditions nobody stated; `assumed`: these facts, with their names in prose."""
    silent = [assumed[fact] for fact in when if fact in assumed]
    return f"{reason} (assumed, not stated: {'; '.join(silent)})" if silent else reason


def _matches(wanted: Any, found: Any) -> bool:
    if isinstance(wanted, Mapping):
        return found is not None and bool(wanted.get("min", -np.inf) <= found < wanted.get("max", np.inf))
    if isinstance(wanted, Sequence) and not isinstance(wanted, str):
        return found in wanted
    return bool(found == wanted)


def evaluate(
    rules: Sequence[Rule],
    titles: Mapping[str, str],
    facts: Mapping[str, Any],
    weights: Mapping[str, float],
    *,
    assumed: Mapping[str, str] | None = None,
) -> FrameworkResult:
    """Score the axes of which a rule holds. Their weights are normalised to sum to one, unless all are zero.

    `assumed` names, in words, the facts that nobody stated: the reason of a rule that rests on one says so.
    """
    held: dict[str, list[Rule]] = {}
    for rule in rules:
        if holds(rule, facts):
            reason = marked(rule.reason, rule.when, assumed or {})
            held.setdefault(rule.axis, []).append(replace(rule, reason=reason))
    said = [axis for axis in AXES if axis in held]
    whole = sum(weights[axis] for axis in said)
    return FrameworkResult(
        tuple(
            AxisLean(
                axis,
                titles[axis],
                weights[axis] / whole if whole > 0 else 0.0,
                tuple(sorted(held[axis], key=lambda r: (bool(r.priced_as), -abs(r.lean)))),
            )
            for axis in said
        )
    )


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
