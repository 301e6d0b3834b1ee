"""What experts said, weighed by what they are known to know: Cooke's classical model.

Each expert states P5, P50 and P95 of quantities, among them seed questions whose answers are known (though not to the
expert). Two scores come of the seeds:

    calibration   the chance that somebody whose stated shares are true would miss them by as much: 1 − χ²₃(2 n I), with
                  I = Σ s ln(s / p) over the four bins that the three quantiles make, p = 5, 45, 45, 5 %, s the shares found
    information   how much narrower the expert is than an even spread over the range of all that was said, in nats:
                  Σ p ln(p / r), r the share of the (logarithmic) range that each bin takes; the mean over the seeds

An expert's weight goes with their product. Cooke sets to nothing who falls below a cut-off that is itself tuned on the
seeds; that needs more seeds than a short form has (eight or ten are usual), so there is no cut-off here: nobody's weight is
nothing, and with three seeds, where calibration takes few values and one surprise still leaves 0.46, weights differ little.
Equal weights are the named alternative and are always worked out beside them. Where experts counted different
numbers of seeds, n is the smallest, since a score of fewer seeds is the more lenient one.

A pooled distribution is the weighted mixture of the experts' own, each even in the logarithm between its quantiles and out
to the ends of the range of all that was said, widened by a tenth on either side. All quantities are above nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import special

from fabricreport.base.uncertain import Judgement, Steps, Uncertain

PROBABILITIES = (0.05, 0.5, 0.95)
BINS = (0.05, 0.45, 0.45, 0.05)
OVERSHOOT = 0.1
"""How far beyond all that was said the range reaches on either side, as a share of it."""
_GRID = 400
"""Points at which a product of two distributions is worked out: its quantiles are right to a thousandth."""


@dataclass(frozen=True)
class Score:
    """What the seeds say of one expert: how many counted, how many lay outside P5 to P95, the two scores, the weight."""

    seeds: int
    surprises: int
    calibration: float
    information: float
    weight: float


Seeds = Sequence[Judgement | None]
"""One expert's judgements of the seeds, in the order of their answers; None for a seed that the expert knew."""


def scores(experts: Sequence[Seeds], truths: Sequence[float]) -> tuple[Score, ...]:
    """The score and the weight of each expert; weights sum to 1."""
    counted = [[(j, t) for j, t in zip(seeds, truths, strict=True) if j is not None] for seeds in experts]
    if not counted or any(not pairs for pairs in counted):
        raise ValueError("each expert needs at least one seed that counts")
    power = min(len(pairs) for pairs in counted)
    ranges = [seed_range([s[n] for s in experts], truth) for n, truth in enumerate(truths)]
    calibrations = [calibration([j.bin_of(t) for j, t in pairs], power) for pairs in counted]
    informed = [
        float(np.mean([information(j, *r) for j, r in zip(seeds, ranges, strict=True) if j is not None]))
        for seeds in experts
    ]
    raw = np.array(calibrations) * np.array(informed)
    weights = raw / raw.sum() if raw.sum() > 0 else np.full(len(raw), 1 / len(raw))
    return tuple(
        Score(len(pairs), sum(j.surprised_by(t) for j, t in pairs), c, i, float(w))
        for pairs, c, i, w in zip(counted, calibrations, informed, weights, strict=True)
    )


def calibration(bins: Sequence[int], power: int | None = None) -> float:
    """The calibration score of truths that fell into these bins; `power` stands in for their number in the test."""
    found = np.bincount(bins, minlength=len(BINS)) / len(bins)
    divergence = float(special.rel_entr(found, BINS).sum())
    return float(special.chdtrc(len(BINS) - 1, 2 * (power or len(bins)) * divergence))


def information(judgement: Judgement, low: float, high: float) -> float:
    """Nats that a judgement says beyond an even spread over the logarithm from `low` to `high`."""
    edges = np.log([low, *judgement.quantiles, high])
    background = np.diff(edges) / (edges[-1] - edges[0])
    return float(special.rel_entr(BINS, background).sum())


def seed_range(judgements: Seeds, truth: float) -> tuple[float, float]:
    """The range of a seed: of all that was said, and of the answer."""
    said = [j for j in judgements if j is not None]
    return said_range(said, truth) if said else (truth, truth)


def said_range(judgements: Sequence[Judgement], *also: float) -> tuple[float, float]:
    """From the lowest P5 to the highest P95 (or what else is to lie inside), a tenth further out on either side."""
    logs = np.log([*(j.p5 for j in judgements), *(j.p95 for j in judgements), *also])
    reach = OVERSHOOT * (logs.max() - logs.min())
    return float(np.exp(logs.min() - reach)), float(np.exp(logs.max() + reach))


def pool(judgements: Sequence[Judgement], weights: Sequence[float]) -> Uncertain:
    """The mixture of the experts' distributions; weights count by their ratios."""
    share = np.asarray(weights, dtype=float) / np.sum(weights)
    low, high = said_range(judgements)
    at = np.unique([low, *(q for j in judgements for q in j.quantiles), high])
    below = [np.interp(np.log(at), np.log([low, *j.quantiles, high]), (0.0, *PROBABILITIES, 1.0)) for j in judgements]
    mixed = share @ np.array(below)
    return Uncertain.pooled(_steps(mixed, at))


def multiple(base: Uncertain, ratio: Uncertain) -> Steps:
    """The distribution of one pooled figure times another, the two being judged apart."""
    at, values = np.array(base.steps).T
    even = (np.arange(_GRID) + 0.5) / _GRID
    shifts = np.log(ratio.quantile(even))
    logs = np.log(values)
    ends = logs[0] + np.log(ratio.steps[0][1]), logs[-1] + np.log(ratio.steps[-1][1])
    points = np.linspace(*ends, 2 * _GRID + 1)
    below = np.interp(points[:, None] - shifts, logs, at).mean(axis=1)
    inside = (below > 0) & (below < 1)
    return _steps(np.array([0.0, *below[inside], 1.0]), np.exp([ends[0], *points[inside], ends[1]]))


def _steps(probabilities: NDArray[np.float64], values: NDArray[np.float64]) -> Steps:
    probabilities = np.array(probabilities)
    probabilities[0], probabilities[-1] = 0.0, 1.0
    return tuple((float(p), float(v)) for p, v in zip(probabilities, values, strict=True))
