"""Acceptance by repeated runs: how often a test errs, how many runs it needs, and where its threshold may lie.

A run shows the fabric's true value times lognormal noise of median 1; `noise` is the standard deviation of its logarithm.
**Of n runs the k-th worst counts**, and it alone: one rule for every test. With k = 2 one run may be spoilt by something
that is no fault of the fabric, and a second one is no accident. An average would let a fast run pay for a slow one, which a
training step never does; the worst run alone would fail a sound fabric the more often the more carefully it is tested.

    p(v, t)     = Phi(ln(t / v) / noise)          chance that one run of a fabric of true value v misses a floor t
    pass(v, t)  = sum_{i<k} C(n, i) p^i (1-p)^(n-i)   at most k - 1 of n runs miss (order statistics of n draws)

A ceiling is the same with t / v turned round. Nothing here knows a fabric or a unit.

A floor, below which a fabric may be refused, never asks more than a fabric at the low end of the model holds, nor more than a
published healthy run less its tolerance. The credit begins above it, at the sound value, and is measured by the
middle run: a sound fabric's lies on either side as often, and falls short by the `luck` of so many runs on average.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import StrEnum

import numpy as np
import numpy.typing as npt
from scipy import special

Values = npt.NDArray[np.float64]

_DIGITS = 3
"""Significant digits to which a threshold is written into a contract."""
_COARSE = 10.0 ** (1 - _DIGITS)
"""How far rounding to them moves a value at most, as a share of it."""


class Reason(StrEnum):
    """What a floor does for the lead.

    HELD: it lies clear of the value at which the lead is gone. CREDIT_ONLY: that value is too near for a test to tell apart, or
    lies above, so that only the credit protects the lead. NO_LEAD: no lead is used up within reach.
    """

    HELD = "held"
    CREDIT_ONLY = "credit-only"
    NO_LEAD = "no-lead"


@dataclass(frozen=True)
class Rule:
    """What a test by repeated runs is made by.

    `noise`: of one run, as a share; `counted`: the run that counts, from the worst. `least_runs`, `most_runs`: how often a
    test is run. `false_fail`, `false_pass`: the chances of error allowed. `margin`: room kept above the value at which the
    lead is gone, as a share of it.
    """

    noise: float
    counted: int
    least_runs: int
    most_runs: int
    false_fail: float
    false_pass: float
    margin: float


@dataclass(frozen=True)
class Reach:
    """What a floor may not ask more than: what a fabric at `end`, the model's end on the bad side, holds with the chance of
    failing allowed, and `healthy`, the best run that its publisher gives as a result to be reached, less the tolerance that the
    publisher states; None where there is none.
    """

    end: float
    healthy: float | None = None


@dataclass(frozen=True)
class Threshold:
    """A floor (or a ceiling) with what stands beside it, the runs it takes and the chance that it errs for the seller.

    `floor`: on its wrong side the fabric may be refused. `credit`: where the credit begins, at the sound value; never less
    demanding than the floor. `saving`: where the lead is gone, None where none is lost in reach, as
    `false_pass` then.
    """

    floor: float
    credit: float
    saving: float | None
    reason: Reason
    runs: int
    false_pass: float | None


def pass_chance(
    true: float, threshold: float, noise: float, runs: int, counted: int, *, at_least: bool = True
) -> float:
    """Chance that a fabric of true value `true` passes `threshold` when of `runs` the `counted`-th worst counts."""
    return float(pass_chances(np.asarray(true), threshold, noise, runs, counted, at_least=at_least))


def pass_chances(
    true: Values, threshold: float, noise: float, runs: int, counted: int, *, at_least: bool = True
) -> Values:
    """The same of many fabrics, each by its own true value."""
    _checked(runs, counted)
    short = np.log(threshold / np.asarray(true, dtype=float)) * (1.0 if at_least else -1.0)
    if noise == 0.0:
        return np.asarray(short <= 0.0, dtype=float)
    missed = special.ndtr(short / noise)
    return np.asarray(special.bdtr(counted - 1, runs, missed) if counted < runs else 1.0 - missed**runs)


def held(sound: float, runs: int, rule: Rule, *, at_least: bool = True) -> float:
    """The most demanding threshold that a fabric of true value `sound` fails with the chance allowed, and no more often."""
    _checked(runs, rule.counted)
    if rule.counted == runs:
        missed = rule.false_fail ** (1.0 / runs)
    else:
        missed = float(special.bdtri(rule.counted - 1, runs, 1.0 - rule.false_fail))
    worse = rule.noise * float(special.ndtri(missed))
    return sound * math.exp(worse if at_least else -worse)


def fewest_runs(sound: float, gone: float | None, rule: Rule, *, at_least: bool = True) -> int | None:
    """Fewest runs at which both errors stay within their limits: a sound fabric fails, one at `gone` passes.

    It hangs on the ratio of the two alone: a threshold may be rounded as far as three digits ever round it. None where the
    runs allowed do not suffice; the least number of runs where there is nothing to lose.
    """
    least = max(rule.least_runs, rule.counted)
    if gone is None:
        return least
    for runs in range(least, rule.most_runs + 1):
        bar = held(sound, runs, rule, at_least=at_least) * (1.0 - _COARSE if at_least else 1.0 + _COARSE)
        if pass_chance(gone, bar, rule.noise, runs, rule.counted, at_least=at_least) <= rule.false_pass:
            return runs
    return None


def threshold(
    sound: float, gone: float | None, rule: Rule, *, at_least: bool = True, runs: int = 0, reach: Reach | None = None
) -> Threshold:
    """The floor for a quantity whose sound value is `sound` and at which, at `gone`, the lead is used up.

    The credit begins at the sound value itself. The floor is what a sound fabric holds with the chance of failing allowed, or
    what `reach` allows where that asks less. Where it lies below the value at which the lead is gone plus the margin,
    or the runs allowed cannot tell the two apart, it says that only a credit can protect the lead. `runs` sets their number (a
    soak has as many as it lasts); 0 asks for the fewest.
    """
    enough = fewest_runs(sound, gone, rule, at_least=at_least)
    taken = runs or enough or rule.most_runs
    credit = float(f"{sound:.{_DIGITS - 1}e}")
    within = [held(sound, taken, rule, at_least=at_least)]
    if reach is not None:
        within += [held(reach.end, taken, rule, at_least=at_least), *([] if reach.healthy is None else [reach.healthy])]
    least_asked = min if at_least else max
    bar = least_asked(written(value, at_least=at_least) for value in within)
    if gone is None:
        return Threshold(bar, credit, None, Reason.NO_LEAD, taken, None)
    passed = pass_chance(gone, bar, rule.noise, taken, rule.counted, at_least=at_least)
    least = gone * (1.0 + rule.margin) if at_least else gone / (1.0 + rule.margin)
    kept = (bar >= least if at_least else bar <= least) and passed <= rule.false_pass
    return Threshold(bar, credit, gone, Reason.HELD if kept else Reason.CREDIT_ONLY, taken, passed)


def luck(noise: float, runs: int) -> float:
    """By how much the middle of so many runs of a sound fabric falls short of its true value on average, as a share of it.

    The median of n runs has a standard deviation of noise x sqrt(pi / 2n), and the mean of the shortfall alone is that over
    sqrt(2 pi): noise / (2 sqrt(n)).
    """
    return noise / (2.0 * math.sqrt(runs))


def written(value: float, *, at_least: bool) -> float:
    """The value as a contract states it: three significant digits, a floor rounded down and a ceiling up."""
    if value <= 0.0:
        return value
    scale = 10.0 ** (_DIGITS - 1 - math.floor(math.log10(value)))
    rounded = math.floor(value * scale + 1e-9) if at_least else math.ceil(value * scale - 1e-9)
    return rounded / scale


def _checked(runs: int, counted: int) -> None:
    if not 1 <= counted <= runs:
        raise ValueError(f"of {runs} runs none is the {counted}-th worst")
