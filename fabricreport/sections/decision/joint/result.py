"""What the joint study finds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from fabricreport.models.judgement.acceptability import Acceptability, Crossing
from fabricreport.models.judgement.regions import Statistics
from fabricreport.sections.decision.turning import key_of

HOUR = "param:money.gpu_hour_value"
"""The client's choice of what a GPU-hour is worth."""
HYPERCUBES = 20
"""Independently scrambled hypercubes that the sampling error comes from."""


@dataclass(frozen=True)
class Moved:
    """One input at a bound: the side on which the money has turned (`above` or not), and the value in use."""

    input_id: str
    unit: str
    currency: str
    in_use: float
    bound: float
    above: bool

    @property
    def key(self) -> str:
        """Its id as the ids of figures spell it."""
        return key_of(self.input_id)

    @property
    def side(self) -> str:
        """On which side of the bound the money has turned."""
        return "above" if self.above else "below"


@dataclass(frozen=True)
class JointFlip:
    """The nearest pair of inputs at which the money is level, by the model run again with both set.

    `distance`: from the values in use, in standard scores; `both`: share of draws in which both lie as far or farther.
    """

    pair: tuple[Moved, Moved]
    distance: float
    both: float


@dataclass(frozen=True)
class Region:
    """Where the option with the higher mean is the cheaper of the two: conditions, and the statistics of a fresh sample."""

    conditions: tuple[Moved, ...]
    fresh: Statistics


@dataclass(frozen=True)
class Hours:
    """Acceptability against the value of a GPU-hour, in US dollars: `in_use` and the range tried."""

    in_use: float
    low: float
    high: float
    curve: Acceptability

    @property
    def crossing(self) -> Crossing | None:
        """The nearest value at which another option becomes the likeliest to be the cheapest."""
        return self.curve.nearest(self.in_use)


@dataclass(frozen=True)
class Regrets:
    """What is regretted of each option, by its id: mean and P95; and the options with the least of either."""

    mean: Mapping[str, float]
    p95: Mapping[str, float]
    least_mean: str
    least_p95: str


@dataclass(frozen=True)
class JointResult:
    """What changes the decision when more than one thing moves.

    `shares`: how often each of the `contestants` is the cheapest of them, in the draws of the memo, and `errors`: two of
    them either side hold what a fresh hypercube of as many draws would show, in nineteen of twenty cases. `dearer`: of the two
    compared, the one with the higher mean. `sampled`: ends of the range the value of a GPU-hour was drawn from.
    """

    shares: Mapping[str, float]
    errors: Mapping[str, float]
    regrets: Regrets
    flip: JointFlip | None
    region: Region | None
    hours: Hours | None
    sampled: tuple[float, float] | None

    @property
    def contestants(self) -> tuple[str, ...]:
        """Ids of the options that may be taken."""
        return tuple(self.shares)
