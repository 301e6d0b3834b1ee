"""What a seller's answer does to a figure: a conjugate update, by how far such an answer may be off.

A figure and an answer are two observations of one quantity, each normal in its scale: logarithms for what is positive,
the plain value for a share. The posterior lies between them by their precisions (Gelman et al., Bayesian Data Analysis,
3rd ed., section 2.5): with prior variance v and noise n, the answer's weight is v / (v + n) and the width shrinks by
the square root of what is left. A prior keeps its shape: each of its points moves to the new centre and nearer to it,
which for an interval is the normal-normal formula exactly.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

from fabricreport.uncertain import Z95, Uncertain, exactly


@dataclass(frozen=True)
class Observed:
    """An answer from `low` to `high` (equal for one value), and its `noise`: the truth's P95 over an answer, as a factor.

    A noise of 1 is a fact; an infinite one says nothing.
    """

    low: float
    high: float
    noise: float

    def __post_init__(self) -> None:
        if not self.low <= self.high or self.noise < 1.0:
            raise ValueError(f"an answer rises from low to high, and its noise is 1 at least: {self}")


@dataclass(frozen=True)
class _Scale:
    """A scale on which a figure is taken as normal: there and back, and how wide a factor of noise is on it."""

    logarithmic: bool
    centre: float

    def there(self, value: float) -> float:
        return math.log(value) if self.logarithmic else value

    def back(self, value: float) -> float:
        return math.exp(value) if self.logarithmic else value

    def deviation(self, noise: float) -> float:
        """One standard deviation of a factor of noise. Of a share it is so much of the share or of what is left to 1,
        whichever is more, so that it does not depend on the answer."""
        width = math.log(noise) / Z95
        return width if self.logarithmic else width * max(self.centre, 1.0 - self.centre)


def updated(prior: Uncertain, answers: Iterable[Observed], *, share: bool = False) -> Uncertain:
    """The figure after these answers, independent of each other; the prior itself where they say nothing.

    `share`: the quantity cannot leave 0 to 1. A positive quantity takes positive answers only; `ValueError` if not.
    A figure that is known exactly stays what it is, unless an answer is a fact.
    """
    scale = _scale(prior, share)
    told, precision = _told(answers, scale)
    if math.isinf(precision):
        return exactly(scale.back(told))
    weight = _weight(prior, scale, precision)
    if weight == 0.0:
        return prior
    shrunk, anchor = math.sqrt(1.0 - weight), scale.there(prior.central)
    centre = anchor + weight * (told - anchor)

    def moved(value: float) -> float:
        at = scale.back(centre + shrunk * (scale.there(value) - anchor))
        return min(max(at, 0.0), 1.0) if share else at

    return _mapped(prior, moved)


def weight_of(prior: Uncertain, answers: Iterable[Observed], *, share: bool = False) -> float:
    """The weight of the answers in what is known after them, from 0 (they say nothing) to 1 (one is a fact)."""
    scale = _scale(prior, share)
    return _weight(prior, scale, _told(answers, scale)[1])


def tapered(contention: Uncertain, loss: float) -> Uncertain:
    """A share of bandwidth lost to collisions, with what a taper takes of it besides: 1 - (1 - x)(1 - loss)."""
    return _mapped(contention, lambda x: 1.0 - (1.0 - x) * (1.0 - loss))


def taper_loss(crossing: float, ratio: float, design: float) -> float:
    """Share of bandwidth lost where traffic meets a taper of `ratio` to one in the place of the `design`.

    What crosses the oversubscribed tier, `crossing` of the traffic, takes its ratio longer: 1 + crossing (ratio - 1).
    """
    slower, planned = (1.0 + crossing * (max(r, 1.0) - 1.0) for r in (ratio, design))
    return max(0.0, 1.0 - planned / slower)


def _scale(prior: Uncertain, share: bool) -> _Scale:
    return _Scale(prior.low > 0.0 and not share, prior.central)


def _told(answers: Iterable[Observed], scale: _Scale) -> tuple[float, float]:
    """What the answers say together on the scale, and how precisely: one over the variance, infinite for facts."""
    weighed = [(_centre(a, scale), _variance(a, scale)) for a in answers]
    if facts := [at for at, noise in weighed if noise == 0.0]:
        return sum(facts) / len(facts), math.inf
    precision = sum(1.0 / noise for _, noise in weighed)
    return (sum(at / noise for at, noise in weighed) / precision if precision else 0.0), precision


def _weight(prior: Uncertain, scale: _Scale, precision: float) -> float:
    if math.isinf(precision):
        return 1.0
    low, high = (scale.there(float(q)) for q in prior.quantile([0.05, 0.95]))
    variance = ((high - low) / (2 * Z95)) ** 2
    return variance * precision / (1.0 + variance * precision)


def _centre(answer: Observed, scale: _Scale) -> float:
    if scale.logarithmic and answer.low <= 0.0:
        raise ValueError(f"an answer on a positive quantity is positive: {answer}")
    return (scale.there(answer.low) + scale.there(answer.high)) / 2


def _variance(answer: Observed, scale: _Scale) -> float:
    """Of the answer: its noise, and its own width taken as P5 to P95."""
    if math.isinf(answer.noise):
        return math.inf
    own = (scale.there(answer.high) - scale.there(answer.low)) / (2 * Z95)
    return float(scale.deviation(answer.noise) ** 2 + own**2)


def _mapped(figure: Uncertain, moved: Callable[[float], float]) -> Uncertain:
    """The figure with every point of it moved; its shape stays."""
    if figure.kind == "pooled":
        return Uncertain.pooled(tuple((at, moved(value)) for at, value in figure.steps))
    return replace(figure, low=moved(figure.low), mode=moved(figure.mode), high=moved(figure.high), scaled=None)
