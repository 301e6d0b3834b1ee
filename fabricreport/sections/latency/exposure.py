"""The part of the latency study that money rests on: what each option's communication exposes at each size."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from fabricreport.books.options import Option
from fabricreport.inputs import Inputs
from fabricreport.models.training.step import Network, StepTime
from fabricreport.provenance import Traced
from fabricreport.sections.latency import inputs
from fabricreport.sections.validity import widened


@dataclass(frozen=True)
class Timed:
    """One option's network, and the client's step on it at each size in GPUs."""

    network: Network
    steps: Mapping[int, StepTime]


@dataclass(frozen=True)
class Exposure:
    """Networks and steps by option id, at each size the client plans.

    `stages`: (GPUs, share of the horizon's GPU-months) of each size. `jobs`: model and plan at each size in GPUs. `steps`:
    the step at each size, by option id.
    """

    stages: tuple[tuple[int, float], ...]
    jobs: Mapping[int, inputs.Job]
    networks: Mapping[str, Network]
    steps: Mapping[int, Mapping[str, StepTime]]

    def of(self, option: str) -> Timed:
        """One option's part of it."""
        return Timed(self.networks[option], {gpus: steps[option] for gpus, steps in self.steps.items()})

    def now(self, given: Inputs, gpus: int) -> dict[str, Traced]:
        """Share of GPU time lost to exposed communication at one size, (draws,), by option id."""
        return {o: given.spread(widened(given, gpus, step.exposed_share)) for o, step in self.steps[gpus].items()}

    def horizon(self, given: Inputs) -> dict[str, Traced]:
        """The same over the horizon, sizes weighted by their GPU-months."""
        return {o: self.over_horizon(given, o) for o in self.networks}

    def over_horizon(self, given: Inputs, option: str) -> Traced:
        """One option's."""
        return given.spread(
            sum(weight * widened(given, gpus, self.steps[gpus][option].exposed_share) for gpus, weight in self.stages)
        )


def jobs_of(given: Inputs) -> dict[int, inputs.Job]:
    """Model and plan at each size the client plans."""
    return {gpus: inputs.job(given, gpus) for gpus, _ in inputs.stages(given)}


def timed_on(given: Inputs, jobs: Mapping[int, inputs.Job], option: Option, measured: inputs.Measured | None) -> Timed:
    """Steps of the client's workload on an option's network; `measured`: factors fitted to the client's logs."""
    wires = inputs.network(given, option, measured=measured)
    return Timed(wires, {gpus: inputs.step(given, job, wires) for gpus, job in jobs.items()})


def exposure(given: Inputs, jobs: Mapping[int, inputs.Job], options: Mapping[str, Timed]) -> Exposure:
    """What the options' steps come to, by option id."""
    networks = {o: one.network for o, one in options.items()}
    return Exposure(
        inputs.stages(given), jobs, networks, {n: {o: one.steps[n] for o, one in options.items()} for n in jobs}
    )
