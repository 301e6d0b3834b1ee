"""What the latency study finds: the exposed communication that money rests on, and when the gap between the fabrics matters.

The gap is the extra time of the pair's second option over InfiniBand's on the same draws, as a share of InfiniBand's time.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from fabricreport.base.provenance import Traced, plain
from fabricreport.base.yaml_files import read_yaml
from fabricreport.books.options import Option
from fabricreport.inputs.inputs import Inputs
from fabricreport.ledger.numbers import Number
from fabricreport.models.collectives.parameters import MOST_GPUS, Job, job
from fabricreport.models.collectives.timing import allreduce
from fabricreport.models.risk.incidents import Standby
from fabricreport.models.training.step import Network, StepTime, Traffic
from fabricreport.sections.client import largest_job, mix_of
from fabricreport.sections.latency import inputs
from fabricreport.sections.latency.inputs import Measured
from fabricreport.sections.latency.measurements import ClientMeasurements
from fabricreport.sections.validity import widened

Mix = tuple[tuple[int, float], ...]
"""(GPUs of a job, share of GPU time), the smallest first."""


@dataclass(frozen=True)
class Jobs:
    """What is run: the mix of job sizes at each size of the cluster, and each job under a plan.

    By GPUs of the job: `shared` under the plan that is fastest on the reference network, `beside` under the one of all
    these that would be fastest had none any traffic (None: not sought yet). `own`: under the plan that is fastest on an
    option's own network, by option id and GPUs.
    """

    mixes: Mapping[int, Mix]
    shared: Mapping[int, inputs.Job]
    own: Mapping[str, Mapping[int, inputs.Job]]
    beside: Mapping[int, inputs.Job] | None = None

    @property
    def standby(self) -> dict[int, Standby]:
        """What stands by of each job, on every option alike, by GPUs of the job."""
        return {gpus: work.standby for gpus, work in self.shared.items()}


@dataclass(frozen=True)
class Timed:
    """One option's network; the client's step on it and the share of GPU time lost to it, by GPUs of the job."""

    network: Network
    steps: Mapping[int, StepTime]
    shares: Mapping[int, Any]


@dataclass(frozen=True)
class Exposure:
    """Networks, steps and shares lost by option id, for every size of job that the client's clusters run.

    `stages`: (GPUs of the cluster, share of the horizon's GPU-months) of each size. A share is of the time of the job's
    working nodes: what its step takes beyond that of the fastest plan of any option had it no traffic. Under that plan this
    is the traffic exposed.
    """

    stages: tuple[tuple[int, float], ...]
    jobs: Jobs
    timed: Mapping[str, Timed]

    def largest(self, gpus: int) -> int:
        """GPUs of the largest job on a cluster of so many."""
        return self.jobs.mixes[gpus][-1][0]

    def steps(self, gpus: int) -> dict[str, StepTime]:
        """The step of a job of so many GPUs, by option id."""
        return {o: one.steps[gpus] for o, one in self.timed.items()}

    def now(self, given: Inputs, gpus: int) -> dict[str, Traced]:
        """Share of GPU time lost to communication on a cluster of one size, (draws,), by option id."""
        return {o: given.spread(self._mixed(given, o, gpus)) for o in self.timed}

    def horizon(self, given: Inputs) -> dict[str, Traced]:
        """The same over the horizon, sizes weighted by their GPU-months."""
        return {o: self.over_horizon(given, o) for o in self.timed}

    def over_horizon(self, given: Inputs, option: str) -> Traced:
        """One option's."""
        return given.spread(sum(weight * self._mixed(given, option, gpus) for gpus, weight in self.stages))

    def by_job(self, given: Inputs, option: str) -> dict[int, Traced]:
        """One option's share by GPUs of the job."""
        shares = self.timed[option].shares
        return {gpus: given.spread(widened(given, gpus, share)) for gpus, share in shares.items()}

    def _mixed(self, given: Inputs, option: str, gpus: int) -> Any:
        shares = self.timed[option].shares
        return sum(part * widened(given, size, shares[size]) for size, part in self.jobs.mixes[gpus])


def jobs_of(given: Inputs, options: Iterable[Option] = ()) -> Jobs:
    """The jobs of each size of the cluster, and their plans on these options."""
    mixes = {gpus: mix_of(given, gpus) for gpus, _ in inputs.stages(given)}
    sizes = sorted({size for mix in mixes.values() for size, _ in mix})
    shared = {gpus: inputs.job(given, gpus) for gpus in sizes}
    return Jobs(mixes, shared, {o.id: plans_of(given, shared, o) for o in options})


def plans_of(given: Inputs, shared: Mapping[int, inputs.Job], option: Option) -> Mapping[int, inputs.Job]:
    """The jobs under the plans that suit an option."""
    return {gpus: inputs.suited(given, work, option) for gpus, work in shared.items()}


def beside_of(given: Inputs, jobs: Jobs) -> Mapping[int, inputs.Job]:
    """Of each job the one, under any option's plan, that would be fastest had none any traffic: alike for all options."""
    return {
        gpus: inputs.unhindered(given, [work, *(own[gpus] for own in jobs.own.values())])
        for gpus, work in jobs.shared.items()
    }


def timed_on(given: Inputs, jobs: Jobs, option: Option, measured: inputs.Measured | None) -> Timed:
    """Steps of the client's workload on an option's network; `measured`: factors fitted to the client's logs."""
    return timed_over(given, jobs, option, inputs.network(given, option, measured=measured))


def timed_over(given: Inputs, jobs: Jobs, option: Option, wires: Network) -> Timed:
    """The same on a network that is given."""
    steps, shares = {}, {}
    for gpus, work in jobs.own[option.id].items():
        steps[gpus] = inputs.step(given, work, wires)
        other = (jobs.beside or jobs.shared)[gpus]
        beside = steps[gpus] if other == work else inputs.step(given, other, wires)
        shares[gpus] = steps[gpus].lost_share(beside)
    return Timed(wires, steps, shares)


APART = 1.5
"""The last size doubled lies so far below the largest, so that both can be labelled."""


@dataclass(frozen=True)
class Sweep:
    """A gap along one axis: `at` of shape (points,), `gap` of shape (draws, points), a share."""

    at: tuple[float, ...]
    gap: Any


@dataclass(frozen=True)
class Gap:
    """What item by item answers "when does it matter".

    `tree` and `ring`: gap of a large AllReduce against GPUs, draws kept; `step_by_size`: of the client's own step.
    """

    sizes: tuple[int, ...]
    tree: Sweep
    ring: Sweep
    step_by_size: Sweep


def display() -> Mapping[str, Any]:
    """The sizes and sweeps the section shows."""
    found: Mapping[str, Any] = read_yaml("training_presets")["display"]
    return found


def latency_alone(
    given: Inputs, *, gpus: int, size_bytes: float, extra_step_us: Any, algorithm: str = "auto", protocol: str = "auto"
) -> Any:
    """Gap of one AllReduce from the time per step alone, both fabrics at equal bandwidth; shape of `extra_step_us`."""
    step = np.asanyarray(extra_step_us)[..., np.newaxis]
    slow, fast = (
        allreduce([size_bytes], _on(given, gpus, extra_step_us=us), algorithm=algorithm, protocol=protocol).time_us
        for us in (step, 0.0)
    )
    return slow[..., 0] / fast[0] - 1.0


def _on(given: Inputs, gpus: int, **fabric: Any) -> Job:
    """The client's GPUs on a tuned InfiniBand, or on a fabric that differs from it as said."""
    cluster = given.params.cluster
    named = {"fabric": inputs.reference_class(), **fabric}
    per_node = int(cluster.gpus_per_node)
    return job(given.catalogue, gpus=gpus, gpus_per_node=per_node, gpu=str(cluster.gpu), **named)


def flat_ring() -> Mapping[str, str]:
    """Arguments that force a flat ring; one domain has no other protocol worth forcing."""
    return {"algorithm": "ring", "protocol": str(display()["headline_ring_protocol"])}


def sweep_sizes(given: Inputs) -> tuple[int, ...]:
    """Sizes of one job from two nodes upwards, doubling, to the largest that the client plans, within what the model covers."""
    cluster = given.params.cluster
    least = 2 * int(cluster.gpus_per_node)
    largest = max(least, min(MOST_GPUS, max(largest_job(given, gpus) for gpus, _ in inputs.stages(given))))
    doubled = (least << step for step in range(MOST_GPUS.bit_length()))
    return (*(gpus for gpus in doubled if APART * gpus <= largest), largest)


def study(given: Inputs, options: tuple[Option, Option], measured: Measured | None) -> Gap:
    """All of it for this case."""
    shown, sizes = display(), sweep_sizes(given)
    step_us = given.draw(inputs.step_id(options[1]))
    large = float(shown["headline_bytes"])
    tree = [latency_alone(given, gpus=n, size_bytes=large, extra_step_us=step_us) for n in sizes]
    ring = [latency_alone(given, gpus=n, size_bytes=large, extra_step_us=step_us, **flat_ring()) for n in sizes]
    at = tuple(float(n) for n in sizes)
    return Gap(
        sizes=sizes,
        tree=Sweep(at, np.stack(tree, axis=-1)),
        ring=Sweep(at, np.stack(ring, axis=-1)),
        step_by_size=_step_by_size(given, options, measured, sizes),
    )


def step_gap(
    given: Inputs, work: inputs.Job, options: tuple[Option, Option], measured: Measured | None, *, every: int
) -> Any:
    """Gap of the client's step between the pair on the same draws, each under its own plan, (draws,); zero on one node."""
    if measured and not inputs.speaks_for(given, measured.nodes, work.gpus):
        measured = None
    base, ours = (
        inputs.step(
            given, inputs.suited(given, work, o), inputs.network(given, o, every=every, measured=measured), every=every
        ).pace_s
        for o in options
    )
    return ours / base - 1.0


def _step_by_size(
    given: Inputs, options: tuple[Option, Option], measured: Measured | None, sizes: tuple[int, ...]
) -> Sweep:
    """The step's gap at each size the model can be trained on, plans chosen anew; a given plan is scaled."""
    every, at, found = int(display()["thinned"]), [], []
    for gpus in _trainable(given, sizes):
        work = inputs.job(given, gpus)
        at.append(float(gpus))
        found.append(step_gap(given, work, options, measured, every=every) + _per_draw(given, options, every))
    return Sweep(tuple(at), np.stack(found, axis=-1))


def _per_draw(given: Inputs, options: tuple[Option, Option], every: int) -> Any:
    """Nothing, once a draw, so that a gap of zero has its draws too."""
    return 0.0 * (given.draw(inputs.step_id(options[1])) * np.ones(given.sampler.size))[::every]


def _trainable(given: Inputs, sizes: tuple[int, ...]) -> list[int]:
    """Sizes with room for the model, always the largest, that a plan the client states divides; else the client's own."""
    workload = given.params.workload
    plan = workload.parallelism if workload.kind in inputs.TRAINING_KINDS else "choose"
    replica = 1 if plan == "choose" else plan.tp * plan.pp * plan.cp
    roomy = [gpus for gpus in sizes if gpus == sizes[-1] or inputs.held(given, gpus)]
    return [gpus for gpus in roomy if gpus % replica == 0] or [largest_job(given, int(given.params.cluster.gpus))]


def widest(sweep: Sweep) -> tuple[float, Any]:
    """Where along a sweep the median gap is furthest from nothing, either way, and the gap there, (draws,)."""
    median = np.abs(np.median(plain(sweep.gap), axis=0))
    place = int(np.argmax(median))
    return sweep.at[place], sweep.gap[:, place]


@dataclass(frozen=True)
class LatencyResult:
    """Keys are option ids; arrays are (draws,) and traced.

    `exposed_share`: share of GPU time lost to exposed communication over the horizon, sizes weighted by GPU-months;
    `exposed_now`, `exposed_final`: the same at the first and the last size. `step_time_s` and `steps` are of
    the largest job at the first size. `penalty`: extra time of `pair`'s RoCEv2 option over its InfiniBand option for the same work, a share, each under the plan that suits it. `job`: model and shared plan of the largest job
    at the first size; `jobs`: of every job. `stages`: (GPUs, share of the horizon's GPU-months). `by_job`: what the InfiniBand
    option of the pair exposes, by GPUs of a job.
    """

    exposed_share: Mapping[str, Traced]
    exposed_now: Mapping[str, Traced]
    exposed_final: Mapping[str, Traced]
    step_time_s: Mapping[str, Traced]
    penalty: Traced
    pair: tuple[Option, Option]
    steps: Mapping[str, StepTime]
    job: inputs.Job
    jobs: Jobs
    stages: tuple[tuple[int, float], ...]
    by_job: Mapping[int, Traced]
    gap: Gap
    measurements: ClientMeasurements | None
    one_node: bool
    numbers: Mapping[str, Number]

    @property
    def traffic(self) -> tuple[Traffic, ...]:
        """What the client's step sends over the InfiniBand option's fabric, the largest time first."""
        used = [t for t in self.steps[self.pair[0].id].traffic if t.on_fabric]
        return tuple(sorted(used, key=lambda t: -float(np.median(np.asarray(t.time_s)))))

    @property
    def experts(self) -> bool:
        """Whether tokens travel between experts over the fabric."""
        return any(t.kind == "experts" for t in self.traffic)

    @property
    def mix(self) -> Mix:
        """(GPUs of a job, share of GPU time) at the first size."""
        return self.jobs.mixes[self.stages[0][0]]
