"""From a plan of so many days to the day the run ends, per option: checkpoints, tail, incidents and bring-up, and the share of time each takes.

Daly 2006: "A higher order estimate of the optimum checkpoint interval for restart dumps" (interval and the full
expectation of the wall time). Kokolis et al. 2025 (arXiv 2410.21680): mean time to failure of large jobs.

The wall time follows Daly 2006 (failures also strike during recovery), with the *total* interruption rate: what the
fabric causes and what it does not. GPU, host and software faults are drawn once and shared; what they cost
is taken from the same run on a perfect network, so that they cancel in a difference entirely.
The luck of the run enters through counts and severities at shared uniforms; epistemic inputs come in as arrays.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from fabricreport.base.errors import OutOfRange, Problem
from fabricreport.base.units import DAYS_PER_WEEK, DAYS_PER_YEAR, HOURS_PER_DAY
from fabricreport.models.draws import positive
from fabricreport.models.risk.incidents import Cluster, IncidentLaw, IncidentLoss, Luck, check_law, incident_loss
from fabricreport.models.risk.tail import TailLaw, step_inflation

_LARGEST_EXPONENT = 60.0  # beyond e^60 attempts a job does not finish: keep the number finite and absurd


def daly_interval(checkpoint_s: ArrayLike, mtbf_s: ArrayLike) -> Any:
    """Optimal compute time between checkpoints in seconds (Daly 2006, higher order).

    checkpoint_s: time d to write one checkpoint. mtbf_s: mean time M between interruptions, of every cause.
    sqrt(2dM) [1 + sqrt(d/2M)/3 + (d/2M)/9] - d for d < 2M, else M. Broadcasts; a float for scalars. Raises
    OutOfRange unless both are positive and finite.
    """
    d, m = _positive(checkpoint_s=checkpoint_s, mtbf_s=mtbf_s)
    ratio = np.minimum(d / (2.0 * m), 1.0)
    higher = np.sqrt(2.0 * d * m) * (1.0 + np.sqrt(ratio) / 3.0 + ratio / 9.0) - d
    return _scalar(np.where(d < 2.0 * m, higher, m))


def wall_time_factor(interval_s: ArrayLike, checkpoint_s: ArrayLike, restart_s: ArrayLike, mtbf_s: ArrayLike) -> Any:
    """Expected wall time over compute time with failures at random, also during recovery (Daly 2006).

    (M / tau) exp(R / M) (exp((tau + d) / M) - 1), all in seconds, broadcast; at least 1 + d / tau. restart_s is
    everything between a failure and the first new step except the work lost. Finite even where no attempt is
    likely to last an interval, and then very large.
    """
    tau, d, m = _positive(interval_s=interval_s, checkpoint_s=checkpoint_s, mtbf_s=mtbf_s)
    restart = np.asanyarray(restart_s, dtype=float)
    recover = np.exp(np.minimum(restart / m, _LARGEST_EXPONENT))
    return _scalar(m / tau * recover * np.expm1(np.minimum((tau + d) / m, _LARGEST_EXPONENT)))


def kokolis_mttf_h(gpus: ArrayLike, failures_per_1000_node_days: ArrayLike) -> Any:
    """Mean time to failure in hours: 1 / (nodes of eight GPUs x node failure rate) (Kokolis et al. 2025).

    Fit for very large jobs only: at 1,024 GPUs its authors measured a time 3.7 times shorter.
    """
    n, rate = _positive(gpus=gpus, failures_per_1000_node_days=failures_per_1000_node_days)
    return _scalar(HOURS_PER_DAY * 1000.0 / (n / 8 * rate))


def _positive(**values: ArrayLike) -> tuple[Any, ...]:
    arrays = []
    for key, value in values.items():
        array = np.asanyarray(value, dtype=float)
        if not positive(array):
            raise OutOfRange(
                Problem("must be positive and finite", key=key, value=str(value)[:60], remedy="Check its unit.")
            )
        arrays.append(array)
    return tuple(arrays)


def _scalar(result: Any) -> Any:
    """A plain float for scalar, untagged results."""
    return (
        float(result) if isinstance(result, np.generic) or (type(result) is np.ndarray and result.ndim == 0) else result
    )


_RAREST = 1e-9  # interruptions an hour: keeps a cluster that never fails finite (one in 114,000 years)


@dataclass(frozen=True)
class BringUp:
    """Ramp to a stable fabric: `weeks` at `productivity` (mean share of full throughput that is usable).

    luck: by what factor the weeks of a draw are longer than what could have been known of them; 1: all can be known.
    """

    weeks: Any = 0.0
    productivity: Any = 0.0
    luck: Any = 1.0

    @property
    def expected_weeks(self) -> Any:
        """Weeks with their luck averaged out: what a value of information rests on, for luck cannot be bought."""
        return np.asanyarray(self.weeks) / np.asanyarray(self.luck)

    @property
    def lost_days(self) -> Any:
        """Days of full throughput lost before the fabric is stable."""
        return DAYS_PER_WEEK * np.asanyarray(self.weeks) * (1.0 - np.asanyarray(self.productivity))


def luck_of(weeks: Any, share: Any) -> Any:
    """The luck in draws of weeks (draws,), a factor whose removal keeps their mean: 1 where the weeks are known.

    share: of the variance of the logarithm of weeks, what nobody can know beforehand; a scalar or (draws,). Weeks less
    luck have 1 - share of that variance.
    """
    drawn = np.asanyarray(weeks, dtype=float)
    if drawn.ndim == 0 or not np.any(drawn > 0):
        return 1.0
    logs = np.log(np.maximum(drawn, 1e-9))
    middle = float(np.mean(logs))
    known = np.exp(middle + np.sqrt(1.0 - np.asanyarray(share)) * (logs - middle))
    return drawn / (known * (np.mean(drawn) / np.mean(known)))


@dataclass(frozen=True)
class TopologyEffect:
    """How the topology stretches exposed communication.

    communication_share: exposed communication over step time. contention_loss: share of collective bandwidth lost
    to other traffic (dragonfly) or to hash collisions (fat tree). oversubscription: the leaf's ratio.
    crossing_share: share of the traffic that crosses the oversubscribed tier.
    """

    communication_share: Any = 0.0
    contention_loss: Any = 0.0
    oversubscription: Any = 1.0
    crossing_share: Any = 0.0

    @property
    def added_share(self) -> Any:
        """Addition to the step as a share of it."""
        loss = np.minimum(np.asanyarray(self.contention_loss), 0.99)
        crossing = np.asanyarray(self.crossing_share) * (np.maximum(np.asanyarray(self.oversubscription), 1.0) - 1.0)
        return np.asanyarray(self.communication_share) * ((1.0 + crossing) / (1.0 - loss) - 1.0)


@dataclass(frozen=True)
class FabricRisk:
    """One option's risk: its tail, its incidents (hardware and configuration), its bring-up and topology."""

    option: str
    tail: TailLaw
    incidents: tuple[IncidentLaw, ...]
    bring_up: BringUp = field(default_factory=BringUp)
    topology: TopologyEffect = field(default_factory=TopologyEffect)


@dataclass(frozen=True)
class Run:
    """What is to be done, and what every option shares.

    ideal_days: wall days with nothing lost (of this option's own step time: pass the faster option's day count to
    each if the difference in step time is counted elsewhere). restart_h: detection to first new step.
    checkpoint_interval_s: None follows Daly with the MTBF of all incidents; a memo gives all its options one (`optimal_interval_s`).
    common: incidents not caused by the fabric. Rates, hours and prices may be arrays over draws.
    """

    cluster: Cluster
    ideal_days: Any
    restart_h: Any
    checkpoint_write_s: Any
    common: tuple[IncidentLaw, ...] = ()
    checkpoint_interval_s: Any = None
    gpu_hour_usd: Any = 0.0
    engineer_hour_usd: Any = 0.0


@dataclass(frozen=True)
class RunRisk:
    """Outcome per draw. Days add up: finish = ideal + tail + topology + checkpoint + fabric + common + bring_up.

    lost_gpu_hours and overrun_usd cover everything beyond ideal_days; the overrun adds engineers' work.
    incidents maps a kind to its loss.
    """

    option: str
    ideal_days: Any
    tail_days: Any
    topology_days: Any
    checkpoint_days: Any
    fabric_days: Any
    common_days: Any
    bring_up_days: Any
    finish_days: Any
    lost_gpu_hours: Any
    engineering_usd: Any
    overrun_usd: Any
    interval_s: Any
    mtbf_h: Any
    incidents: Mapping[str, IncidentLoss]

    @property
    def productive_share(self) -> Any:
        """Time in steps over all running time, as publishers count it: what lengthens a step is not in it."""
        steps = self.ideal_days + self.tail_days + self.topology_days
        return steps / (steps + self.checkpoint_days + self.fabric_days + self.common_days)


@dataclass(frozen=True)
class MaturityEffect:
    """Multipliers of one level of maturity against medium (1 everywhere).

    The first four act on what belongs to a fabric (`matured`); detection and the rest on what every option of a client
    shares (`operated`): interruptions from other causes, how soon they are noticed and mended, and the time that a
    checkpoint stops the job.
    """

    config_faults: Any = 1.0
    hardware_faults: Any = 1.0
    detection: Any = 1.0
    bring_up: Any = 1.0
    common_faults: Any = 1.0
    restart: Any = 1.0
    checkpoint_write: Any = 1.0


def matured(risk: FabricRisk, effect: MaturityEffect) -> FabricRisk:
    """The option as run by a team of another maturity: rates, detection times and weeks to stable are multiplied."""
    faults = {"hardware": effect.hardware_faults, "configuration": effect.config_faults, "common": 1.0}
    incidents = tuple(
        replace(
            law,
            rate_per_unit_year=np.asanyarray(law.rate_per_unit_year) * faults[law.group],
            detection_h=np.asanyarray(law.detection_h) * effect.detection,
            slow_h=np.asanyarray(law.slow_h) * effect.detection,
        )
        for law in risk.incidents
    )
    weeks = np.asanyarray(risk.bring_up.weeks) * effect.bring_up
    return replace(risk, incidents=incidents, bring_up=replace(risk.bring_up, weeks=weeks))


def operated(run: Run, effect: MaturityEffect) -> Run:
    """The run as operators of another maturity would run it, whatever the fabric."""
    common = tuple(
        replace(
            law,
            rate_per_unit_year=np.asanyarray(law.rate_per_unit_year) * effect.common_faults,
            detection_h=np.asanyarray(law.detection_h) * effect.detection,
        )
        for law in run.common
    )
    return replace(
        run,
        common=common,
        restart_h=np.asanyarray(run.restart_h) * effect.restart,
        checkpoint_write_s=np.asanyarray(run.checkpoint_write_s) * effect.checkpoint_write,
    )


def optimal_interval_s(run: Run) -> Any:
    """The optimal compute time between checkpoints at the rate of what stops the run on any network, in seconds."""
    rate = _sum([law.interruptions_per_hour(run.cluster) for law in run.common]) + _RAREST
    return np.asanyarray(daly_interval(run.checkpoint_write_s, 3600.0 / rate))


def simulate(run: Run, risk: FabricRisk, luck: Luck | None = None) -> RunRisk:
    """The run under one option; every result broadcasts over the draws of the inputs and of `luck`.

    luck None gives the expectation over the luck of the run for each draw of the epistemic inputs, which is what
    a value of information needs. Raises OutOfRange for inputs outside their domain.
    """
    _check(run, risk)
    cluster = run.cluster
    node_luck = luck.uniforms("slow-nodes") if luck else None
    step = step_inflation(
        risk.tail, cluster.gpus, workers_per_node=min(cluster.gpus_per_node, cluster.gpus), luck=node_luck
    )
    ideal = np.asanyarray(run.ideal_days, dtype=float)
    tail_days = ideal * (step.multiplier - 1.0)
    topology_days = ideal * risk.topology.added_share
    compute_h = HOURS_PER_DAY * (ideal + tail_days + topology_days)

    laws = (*risk.incidents, *run.common)
    rates = [law.interruptions_per_hour(cluster) for law in laws]
    stops = [law.until_restart_h(cluster) + np.asanyarray(run.restart_h) for law in laws]
    total = _sum(rates) + _RAREST
    mtbf_h = 1.0 / total
    write_h = np.asanyarray(run.checkpoint_write_s) / 3600.0
    interval_s = _interval(run, mtbf_h)
    interval_h = np.asanyarray(interval_s) / 3600.0
    mean_stop = _sum([rate * stop for rate, stop in zip(rates, stops, strict=True)]) / total
    wall_h = compute_h * wall_time_factor(interval_h, write_h, mean_stop, mtbf_h)
    checkpoint_h = compute_h * write_h / interval_h
    # Failures that strike during recovery cut stops short: scale each stop so the mean loss is Daly's.
    rework_h = 0.5 * (interval_h + write_h)
    kept = (wall_h - compute_h - checkpoint_h) / (wall_h * (total * (mean_stop + rework_h)))

    losses = {}
    for law, stop in zip(laws, stops, strict=True):
        spread = np.sqrt((law.stop_cv * stop) ** 2 + (interval_h + write_h) ** 2 / 12.0)
        events = law.events_per_hour(cluster) * wall_h
        losses[law.kind] = incident_loss(law, events, kept * (stop + rework_h), kept * spread, luck)
    fabric_days = _sum([losses[law.kind].lost_h for law in risk.incidents]) / HOURS_PER_DAY
    common_days = _sum([losses[law.kind].lost_h for law in run.common]) / HOURS_PER_DAY
    engineering_h = _sum([losses[law.kind].engineering_h for law in risk.incidents])
    return _result(
        run,
        risk,
        (tail_days, topology_days, checkpoint_h / HOURS_PER_DAY, fabric_days, common_days),
        engineering_h,
        (interval_s, mtbf_h, wall_h * total, losses),
    )


def _result(run: Run, risk: FabricRisk, parts: tuple[Any, ...], engineering_h: Any, facts: tuple[Any, ...]) -> RunRisk:
    ideal = np.asanyarray(run.ideal_days, dtype=float)
    tail, topology, checkpoint, fabric, common = parts
    bring_up = risk.bring_up.lost_days
    extra = tail + topology + checkpoint + fabric + common
    lost_gpu_hours = HOURS_PER_DAY * run.cluster.gpus * (extra + bring_up)
    engineering_usd = engineering_h * np.asanyarray(run.engineer_hour_usd)
    return RunRisk(
        option=risk.option,
        ideal_days=ideal,
        tail_days=tail,
        topology_days=topology,
        checkpoint_days=checkpoint,
        fabric_days=fabric,
        common_days=common,
        bring_up_days=bring_up,
        finish_days=ideal + extra + bring_up,
        lost_gpu_hours=lost_gpu_hours,
        engineering_usd=engineering_usd,
        overrun_usd=lost_gpu_hours * np.asanyarray(run.gpu_hour_usd) + engineering_usd,
        interval_s=facts[0],
        mtbf_h=facts[1],
        incidents=facts[3],
    )


def _interval(run: Run, mtbf_h: Any) -> Any:
    if run.checkpoint_interval_s is not None:
        return np.asanyarray(run.checkpoint_interval_s, dtype=float)
    return np.asanyarray(daly_interval(run.checkpoint_write_s, mtbf_h * 3600.0))


def _sum(parts: list[Any]) -> Any:
    total: Any = 0.0
    for part in parts:
        total = total + part
    return total


def _check(run: Run, risk: FabricRisk) -> None:
    for law in (*risk.incidents, *run.common):
        check_law(law)
    kinds = [law.kind for law in (*risk.incidents, *run.common)]
    if len(set(kinds)) != len(kinds):
        raise OutOfRange(
            Problem(
                "two incident laws have the same kind",
                key="incidents",
                value=", ".join(kinds),
                remedy="Name them apart.",
            )
        )
    named = {
        "ideal_days": run.ideal_days,
        "checkpoint_write_s": run.checkpoint_write_s,
        "checkpoint_interval_s": 1.0 if run.checkpoint_interval_s is None else run.checkpoint_interval_s,
        "gpus": run.cluster.gpus,
    }
    for key, value in named.items():
        if not positive(value):
            text = str(np.asarray(value, dtype=float))[:60]
            raise OutOfRange(Problem("must be positive", key=key, value=text, remedy="Check its unit."))


_MOST_LOST = 0.99  # to any one cause: a job that hardly runs still does some work


def lost_shares(run: Run, risk: FabricRisk, slow: TailLaw) -> dict[str, Any]:
    """Shares of running time lost by cause, run luck averaged out; `slow`: the tail that servers cause on any network.

    `servers`, `faults`, `checkpoints` as on a perfect network, each a share of the time that those before it leave. `tail` is a
    share of the step that these and the network stretch, its parts `stalls` and `topology`; `fabric`, the network's
    faults with the work they undo, is what is missing then: the product of what servers, faults, checkpoints, tail and
    fabric leave is the ideal time over all time. The interval between checkpoints has to be the run's own.
    """
    alone, whole = simulate(run, FabricRisk("", slow, ())), simulate(run, risk)
    step = alone.ideal_days + alone.tail_days
    wall = step + alone.checkpoint_days + alone.common_days
    stretched = whole.ideal_days + whole.tail_days + whole.topology_days
    all_of_it = stretched + whole.checkpoint_days + whole.fabric_days + whole.common_days
    by_faults = 1.0 - (stretched / all_of_it) * (wall / step)
    return {
        "servers": alone.tail_days / step,
        "faults": np.minimum(alone.common_days / wall, _MOST_LOST),
        "checkpoints": np.minimum(alone.checkpoint_days / (step + alone.checkpoint_days), _MOST_LOST),
        "stalls": (whole.tail_days - alone.tail_days) / stretched,
        "topology": whole.topology_days / stretched,
        "fabric": np.clip(by_faults, 0.0, _MOST_LOST) if risk.incidents else 0.0,
    }


def useful_share(run: Run, risk: FabricRisk, slow: TailLaw, days: float = DAYS_PER_YEAR) -> Any:
    """Share of GPU time of the first `days` that does work, the start-up in them, before any wait for the network."""
    lost = lost_shares(run, risk, slow)
    tail = lost.pop("stalls") + lost.pop("topology")
    start = np.minimum(risk.bring_up.lost_days / days, 1.0)
    left: Any = (1.0 - start) * (1.0 - tail)
    for share in lost.values():
        left = left * (1.0 - share)
    return left


WORST = 0.05  # share of the draws in the expected shortfall at 95 %


@dataclass(frozen=True)
class Spread:
    """What one draw in ten exceeds, and expected shortfall at 95 % (mean of the worst 5 % of draws), in the sample's unit."""

    p90: Any
    expected_shortfall_95: Any


def spread(sample: Any) -> Spread:
    """Summary of a sample over draws; a scalar is a sample of one."""
    x = np.atleast_1d(np.asanyarray(sample))
    _not_empty(x)
    ordered = np.sort(x)
    worst = max(1, round(WORST * x.shape[0]))
    return Spread(np.quantile(x, 0.9), np.mean(ordered[-worst:]))


def p_late(finish_days: Any, deadline_days: ArrayLike) -> Any:
    """Share of draws that end after each deadline, both in days from delivery; non-increasing in the deadline."""
    x = np.atleast_1d(np.asanyarray(finish_days))
    _not_empty(x)
    deadlines = np.asanyarray(deadline_days, dtype=float)
    return np.mean(x > deadlines[..., None], axis=-1)


def _not_empty(x: Any) -> None:
    if x.shape[0] == 0 or not np.all(np.isfinite(np.asarray(x))):
        raise OutOfRange(
            Problem("a sample must have at least one draw, all finite", key="sample", remedy="Check the inputs' draws.")
        )
