"""Incidents as frequency times severity: what can interrupt or slow a run, how often, and what each costs by the nodes that stand by.

Nodes leave at the rate of such faults and come back after a repair, whatever the network. However long single repairs
take, the number away is then Poisson with mean rate x repair time (Palm 1943, an M/G/infinity queue), and a fault meets
it as it is on average (Poisson arrivals see time averages): a job with k spares waits if k or more are away.

Counts are negative binomial (a Poisson whose rate has a gamma frailty: incidents cluster). A year of incidents is one
compound draw, not a loop over incidents: given the count n, the sum of n severities is taken as a lognormal with the
exact mean n m and variance n v (Fenton 1960), so mean and variance of the aggregate are exact and the cost does not
grow with n. All options see the same uniforms for the same kind of incident.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import count, islice
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special

from fabricreport.base.errors import InputError, OutOfRange, Problem
from fabricreport.base.provenance import Traced, inputs_of, plain
from fabricreport.base.units import HOURS_PER_YEAR
from fabricreport.models.draws import Sampler, between, frailty, not_negative, poisson_quantile

_RAREST = 1e-12  # interruptions an hour: a job that never stops waits for nothing
_NEVER = 1e-3  # a chance below which no further node is left out


def none_left(away: Any, first: int = 0) -> Iterator[Any]:
    """Chance that none of `first`, one more, two more ... spares is left where `away` nodes are in repair on average:
    P(Poisson(away) >= spares)."""
    mean = np.asanyarray(away, dtype=float)
    chance, fewer = np.exp(-mean), 0.0 * mean
    for spares in count():
        if spares >= first:
            yield np.maximum(1.0 - fewer, 0.0)
        fewer = fewer + chance
        chance = chance * mean / (spares + 1)


@dataclass(frozen=True)
class Standby:
    """What stands by of a job: nodes at hand for a failed one's place, None where one always is, and the share of its GPU
    time that they idle."""

    nodes: int | None = None
    idle: float = 0.0

    def beside(self, lost: Any) -> Any:
        """A share of the working nodes' time that is lost, as one of all time: the spares' own is lost too."""
        return 1.0 - (1.0 - self.idle) * (1.0 - np.asanyarray(lost))


@dataclass(frozen=True)
class NodeLoss:
    """What follows from an interruption that takes a node out, whose place one of `spares` takes if any is left.

    nodes: of the job, at least one. share: of interruptions after which the node is out. repair_h: until it is back. wait_h: hours that
    the job stands still where none is left. Scalars or arrays over draws.
    """

    nodes: int
    spares: int
    share: Any
    repair_h: Any
    wait_h: Any

    def wait_per_stop_h(self, stops_per_hour: Any) -> Any:
        """Hours of the whole job that an interruption costs on average for want of a node.

        A crew that meets more faults than the spares were for leaves more nodes out of the job, as many as pay: hours
        waited and hours of the nodes left out, per interruption, are as few as any number of them makes.
        """
        stops = np.maximum(np.asanyarray(stops_per_hour), _RAREST)
        leaving = np.asanyarray(self.share)
        away = stops * leaving * self.repair_h
        left_out_h = 1.0 / (self.nodes * stops)
        least: Any = np.inf
        for more, none in enumerate(islice(none_left(away, self.spares), self.nodes)):
            least = np.minimum(least, leaving * self.wait_h * none + more * left_out_h)
            if not np.any(np.asarray(none) > _NEVER):
                break
        return least

    def working_share(self, stops_per_hour: Any) -> Any:
        """Share of the time that the job does not lose for want of a node."""
        return 1.0 / (1.0 + np.asanyarray(stops_per_hour) * self.wait_per_stop_h(stops_per_hour))


_LEAST = math.ulp(0.0)
"""The least number above 0."""
GROUPS = ("hardware", "configuration", "common")


@dataclass(frozen=True)
class Luck:
    """The luck of the run: uniforms by name, `size` draws, the same for every option (common random numbers)."""

    seed: int
    size: int

    def uniforms(self, key: str) -> NDArray[np.float64]:
        """Uniforms in (0, 1), shape (size,), that depend on the seed and the key only."""
        return _uniforms(self.seed, self.size, key)


@dataclass(frozen=True)
class Cluster:
    """What can break: counts of GPUs, access links (NIC to leaf), switches and subnets."""

    gpus: int
    access_links: float
    switches: float
    subnets: float = 1.0
    gpus_per_node: int = 8

    def units(self, unit: str) -> float:
        """Number of things a rate per `unit` applies to: gpu, link, switch, subnet or cluster."""
        counts = {
            "gpu": float(self.gpus),
            "link": self.access_links,
            "switch": self.switches,
            "subnet": self.subnets,
            "cluster": 1.0,
        }
        if unit not in counts:
            raise InputError(
                Problem(
                    "unknown unit of an incident rate",
                    key="unit",
                    value=unit,
                    remedy=f"Use one of {', '.join(counts)}.",
                )
            )
        return counts[unit]


@dataclass(frozen=True)
class IncidentLaw:
    """One kind of incident. Rates, hours and shares are scalars or arrays over draws (may be traced).

    rate_per_unit_year: events per `unit` and year. interrupts_share: share of events that end the job.
    detection_h: hours until such an event is noticed. slow_share, slow_h: throughput lost by every event and for
    how long, beyond the interruption. engineering_h: hours of work per event. stop_cv: coefficient of variation of
    the stop. clustering: size of the negative binomial (inf is Poisson). group: hardware, configuration or common;
    common incidents hit every option alike. nodes: what the events that take a node out cost beside; None: a node is at hand.
    """

    kind: str
    label: str
    unit: str
    group: str
    rate_per_unit_year: Any
    interrupts_share: Any = 1.0
    detection_h: Any = 0.0
    slow_share: Any = 0.0
    slow_h: Any = 0.0
    engineering_h: Any = 0.0
    stop_cv: Any = 1.0
    clustering: Any = float("inf")
    nodes: NodeLoss | None = None

    def events_per_hour(self, cluster: Cluster) -> Any:
        """Events an hour in the whole cluster."""
        return np.asanyarray(self.rate_per_unit_year) * (cluster.units(self.unit) / HOURS_PER_YEAR)

    def interruptions_per_hour(self, cluster: Cluster) -> Any:
        """Events an hour that end the job."""
        return self.events_per_hour(cluster) * np.asanyarray(self.interrupts_share)

    def until_restart_h(self, cluster: Cluster) -> Any:
        """Hours from such an event to the restart: until it is noticed, and until a node is at hand."""
        waits = 0.0 if self.nodes is None else self.nodes.wait_per_stop_h(self.interruptions_per_hour(cluster))
        return np.asanyarray(self.detection_h) + waits


@dataclass(frozen=True)
class IncidentLoss:
    """What one kind of incident cost a run, per draw: events, hours of the whole job, hours of engineers."""

    kind: str
    events: Any
    lost_h: Any
    engineering_h: Any


def incident_loss(law: IncidentLaw, events_mean: Any, stop_h: Any, stop_sd_h: Any, luck: Luck | None) -> IncidentLoss:
    """Loss of a run from one kind of incident.

    events_mean: expected events in the run. stop_h, stop_sd_h: mean and standard deviation of the stop of one
    interrupting event. With luck None the expectation is returned, else one run per draw.
    """
    share = np.asanyarray(law.interrupts_share)
    slow_h = np.asanyarray(law.slow_share) * np.asanyarray(law.slow_h)
    mean_h = share * stop_h + slow_h
    variance = share * (stop_sd_h**2 + stop_h**2) - (share * stop_h) ** 2 + (law.stop_cv * slow_h) ** 2
    if luck is None:
        events = np.asanyarray(events_mean)
        return IncidentLoss(law.kind, events, events * mean_h, events * np.asanyarray(law.engineering_h))
    events = event_counts(events_mean, law.clustering, luck, law.kind)
    lost = aggregate(events, mean_h, variance, luck.uniforms(f"severity:{law.kind}"))
    return IncidentLoss(law.kind, events, lost, events * np.asanyarray(law.engineering_h))


def event_counts(mean: Any, clustering: Any, luck: Luck, kind: str) -> Any:
    """Negative binomial counts with this mean, one per draw, coupled across options through the kind's uniforms.

    clustering: size of the negative binomial, a scalar or one per draw.
    """
    size, tags = plain(clustering), inputs_of(clustering)
    drawn = _frailty(luck, f"frailty:{kind}", size.tobytes(), size.shape)
    clustered = Traced(drawn, tags) if tags else drawn
    return poisson_quantile(luck.uniforms(f"count:{kind}"), np.asanyarray(mean) * clustered)


def aggregate(counts: Any, mean: Any, variance: Any, u: ArrayLike) -> Any:
    """Sum of `counts` independent severities with this mean and variance, at probability `u`; 0 where counts is 0.

    A lognormal with the sum's exact mean and variance: exact in distribution for one lognormal severity.
    """
    mean = np.asanyarray(mean)
    some = np.maximum(counts, 1.0)
    squared_cv = np.where(mean > 0, variance / np.where(mean > 0, mean, 1.0) ** 2, 0.0) / some
    sigma = np.sqrt(np.log1p(squared_cv))
    total = some * mean * np.exp(sigma * special.ndtri(np.asanyarray(u)) - 0.5 * sigma * sigma)
    return np.where(np.asanyarray(counts) > 0, total, 0.0)


def check_law(law: IncidentLaw) -> None:
    """Raise OutOfRange for a negative rate, time or spread, a share outside [0, 1], no clustering or an unknown group."""
    shares = {"interrupts_share": law.interrupts_share, "slow_share": law.slow_share}
    rest = {
        "rate_per_unit_year": law.rate_per_unit_year,
        "detection_h": law.detection_h,
        "slow_h": law.slow_h,
        "engineering_h": law.engineering_h,
        "stop_cv": law.stop_cv,
    }
    faults = [
        Problem("must be at least 0 and finite", key=f"{law.kind}.{key}", value=str(np.asarray(value))[:60])
        for key, value in rest.items()
        if not not_negative(value)
    ]
    faults += [
        Problem("must be a share between 0 and 1", key=f"{law.kind}.{key}", value=str(np.asarray(value))[:60])
        for key, value in shares.items()
        if not between(value, 0, 1)
    ]
    if not between(law.clustering, _LEAST, math.inf):
        value = str(np.asarray(law.clustering))[:60]
        faults.append(Problem("must be above 0 (inf for Poisson)", key=f"{law.kind}.clustering", value=value))
    if law.group not in GROUPS:
        faults.append(Problem(f"must be one of {', '.join(GROUPS)}", key=f"{law.kind}.group", value=law.group))
    if faults:
        raise OutOfRange(faults)


@lru_cache(maxsize=64)
def _uniforms(seed: int, size: int, key: str) -> NDArray[np.float64]:
    u = np.clip(Sampler(seed, size).uniforms(f"luck:{key}"), 1e-12, 1.0 - 1e-12)
    u.flags.writeable = False
    return u


@lru_cache(maxsize=64)
def _frailty(luck: Luck, key: str, size: bytes, shape: tuple[int, ...]) -> NDArray[np.float64]:
    """Gamma frailty, one per draw; `size` as the bytes of an array of floats of this shape, so that it can be a key."""
    clustering = np.frombuffer(size).reshape(shape)
    drawn = frailty(luck.uniforms(key), clustering)
    drawn.flags.writeable = False
    return drawn
