"""The part of the latency study that money rests on: what each option's communication costs at each size of job."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from fabricreport.books.options import Option
from fabricreport.inputs import Inputs
from fabricreport.models.risk.spares import Standby
from fabricreport.models.training.step import Network, StepTime
from fabricreport.provenance import Traced
from fabricreport.sections.client import mix_of
from fabricreport.sections.latency import inputs
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
