"""The decision: which option, how sure, what would change it.

Money is the spine (the difference of total costs on shared draws); the framework judges what money leaves out.
The rule for the confidence class is data in `Rule`, and the memo prints it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fabricreport.models.judgement.framework import leaning
from fabricreport.provenance import plain

CLASSES = ("does not matter", "toss-up", "leaning", "clear")


@dataclass(frozen=True)
class Thresholds:
    """The printed rule. Probabilities are of the advised option being the cheaper of the two compared."""

    clear_probability: float
    leaning_probability: float
    material_share: float
    fabric_matters_from_gpus: int


@dataclass(frozen=True)
class Verdict:
    """`choice` and `runner_up` are option ids; `confidence` one of CLASSES; `decided_by` money, framework or size.

    `probability`: share of draws in which the choice costs less than the runner-up. `capped_by_assumption`: the class
    was lowered to `leaning` because the choice flips within the range of an assumption. `agrees`: the framework leans to
    the choice's family (False: to another family; None: to neither side).
    """

    choice: str
    runner_up: str
    confidence: str
    decided_by: str
    probability: float
    agrees: bool | None
    capped_by_assumption: bool


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


def probability_cheapest(totals: Mapping[str, Any]) -> dict[str, float]:
    """Share of draws in which each option's total (draws,) is the lowest; ties are split evenly."""
    matrix = np.stack([plain(t) for t in totals.values()])
    lowest = matrix == matrix.min(axis=0)
    shares = (lowest / lowest.sum(axis=0)).mean(axis=1)
    return dict(zip(totals, (float(s) for s in shares), strict=True))


def expected_order(totals: Mapping[str, Any]) -> tuple[str, ...]:
    """Option ids, lowest mean total first."""
    return tuple(sorted(totals, key=lambda o: float(plain(totals[o]).mean())))


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


def evpi(difference: Any) -> float:
    """Expected value of perfect information on a choice between two options: E[max(D, 0)] - max(E[D], 0).

    D must be the mean difference given the epistemic inputs: nobody can buy knowledge of run luck.
    Oracle: D normal(mu, s) gives s * phi(u) - |mu| * Phi(-u) with u = |mu| / s.
    """
    d = plain(difference)
    return float(np.maximum(d, 0).mean() - max(float(d.mean()), 0.0))


def decide(
    totals: Mapping[str, Any],
    families: Mapping[str, str],
    *,
    framework_total: float,
    gpus: int,
    gpus_per_node: int,
    thresholds: Thresholds,
    assumption_flips: bool,
) -> Verdict:
    """Apply the printed rule to total costs (option id -> (draws,)) and the framework's lean."""
    order = expected_order(totals)
    choice, runner_up = order[0], order[1] if len(order) > 1 else order[0]
    leans_to = leaning(framework_total)
    if gpus <= gpus_per_node or gpus < thresholds.fabric_matters_from_gpus:
        share = _share_cheaper(totals, choice, runner_up)
        return Verdict(choice, runner_up, "does not matter", "size", share, _agrees(leans_to, families[choice]), False)
    rival = _best_of_other_family(order, families)
    probability = _share_cheaper(totals, choice, rival)
    agrees = _agrees(leans_to, families[choice])
    material = _material(totals, choice, rival, thresholds.material_share)
    decided_by = "money"
    if probability < thresholds.leaning_probability and agrees is False and families[rival] == leans_to:
        choice, rival, probability, decided_by, agrees = rival, choice, 1 - probability, "framework", True
    confidence = _class(probability, agrees, material, thresholds)
    capped = confidence == "clear" and assumption_flips
    return Verdict(choice, rival, "leaning" if capped else confidence, decided_by, probability, agrees, capped)


def _share_cheaper(totals: Mapping[str, Any], a: str, b: str) -> float:
    """Share of draws in which a costs less than b; equal draws count half."""
    gap = plain(totals[a]) - plain(totals[b])
    return float(np.mean(gap < 0) + np.mean(gap == 0) / 2)


def _agrees(leans_to: str, family: str) -> bool | None:
    """Whether the framework leans to the family; None when it does not lean."""
    return None if leans_to == "neither" else leans_to == family


def _best_of_other_family(order: Sequence[str], families: Mapping[str, str]) -> str:
    others = [o for o in order[1:] if families[o] != families[order[0]]]
    return others[0] if others else order[min(1, len(order) - 1)]


def _material(totals: Mapping[str, Any], a: str, b: str, share: float) -> bool:
    """True when the 90 % range of the difference reaches beyond `share` of the choice's mean total."""
    gap = plain(totals[a]) - plain(totals[b])
    return bool(np.max(np.abs(np.quantile(gap, [0.05, 0.95]))) > share * float(plain(totals[a]).mean()))


def _class(probability: float, agrees: bool | None, material: bool, rule: Thresholds) -> str:
    if not material:
        return "does not matter"
    if probability >= rule.clear_probability and agrees is not False:
        return "clear"
    if probability >= rule.leaning_probability or (agrees is True and probability >= 0.5):
        return "leaning"
    return "toss-up"
