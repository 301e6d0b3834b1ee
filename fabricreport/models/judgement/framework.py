"""The four-axis framework: how each axis leans, why, and how the answer depends on the weights.

An axis leans from -1 (RoCEv2) to +1 (InfiniBand): the sum of the leans of the rules that hold, clipped; what the bill
prices already is not counted again. Rules are data (`evidence/framework.yaml`); their sizes are assumptions. The total
is the weighted sum of the axes (an additive value function).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from fabricreport.vocabulary import NEITHER, Side

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
    """One axis: its lean in [-1, 1], its weight, and the rules that hold, those that count first, strongest first."""

    axis: str
    title: str
    lean: float
    weight: float
    rules: tuple[Rule, ...]


@dataclass(frozen=True)
class FrameworkResult:
    """The four axes, and the weighted total in [-1, 1]."""

    axes: tuple[AxisLean, ...]
    total: float

    @property
    def leans_to(self) -> str:
        """The side it leans to: `infiniband`, `rocev2` or `neither`."""
        return leaning(self.total)


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


def _told(rule: Rule, assumed: Mapping[str, str]) -> Rule:
    """The rule, its reason marked with what of its conditions nobody stated."""
    return replace(rule, reason=marked(rule.reason, rule.when, assumed))


def marked(reason: str, when: Mapping[str, Any], assumed: Mapping[str, str]) -> str:
    """A reason with what of its conditions nobody stated; `assumed`: these facts, with their names in prose."""
    silent = [assumed[fact] for fact in when if fact in assumed]
    return f"{reason} (assumed, not stated: {'; '.join(silent)})" if silent else reason


def _matches(wanted: Any, found: Any) -> bool:
    if isinstance(wanted, Mapping):
        return bool(wanted.get("min", -np.inf) <= found < wanted.get("max", np.inf))
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
    """Score the axes for a buyer's facts. Weights are normalised to sum to one (all zero counts as equal).

    `assumed` names, in words, the facts that nobody stated: the reason of a rule that rests on one says so.
    """
    total_weight = sum(weights[a] for a in AXES)
    shares = [weights[a] / total_weight if total_weight > 0 else 1 / len(AXES) for a in AXES]
    axes = []
    for axis, share in zip(AXES, shares, strict=True):
        found = (_told(r, assumed or {}) for r in rules if r.axis == axis and holds(r, facts))
        held = sorted(found, key=lambda r: (bool(r.priced_as), -abs(r.lean)))
        lean = float(np.clip(sum(r.lean for r in held if not r.priced_as), -1.0, 1.0))
        axes.append(AxisLean(axis, titles[axis], lean, share, tuple(held)))
    leans = np.array([a.lean for a in axes])
    return FrameworkResult(tuple(axes), float(leans @ np.array(shares)))
