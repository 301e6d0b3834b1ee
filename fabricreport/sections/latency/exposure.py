"""The part of the latency study that money rests on: what each option's communication exposes at each size."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from fabricreport.books.options import Option
from fabricreport.inputs import Inputs
from fabricreport.models.training.step import Network, StepTime
from fabricreport.provenance import Traced
from fabricreport.sections.latency import inputs


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

    def now(self, given: Inputs, gpus: int) -> dict[str, Traced]:
        """Share of GPU time lost to exposed communication at one size, (draws,), by option id."""
        return {o: given.spread(step.exposed_share) for o, step in self.steps[gpus].items()}

    def horizon(self, given: Inputs) -> dict[str, Traced]:
        """The same over the horizon, sizes weighted by their GPU-months."""
        return {
            o: given.spread(sum(weight * self.steps[gpus][o].exposed_share for gpus, weight in self.stages))
            for o in self.networks
        }


def exposure(given: Inputs, options: Sequence[Option], measured: inputs.Measured | None) -> Exposure:
    """Steps of the client's workload on each option's network; `measured`: factors fitted to the client's logs."""
    stages = inputs.stages(given)
    jobs = {gpus: inputs.job(given, gpus) for gpus, _ in stages}
    networks = {o.id: inputs.network(given, o, measured=measured) for o in options}
    steps = {gpus: {o: inputs.step(given, jobs[gpus], wires) for o, wires in networks.items()} for gpus in jobs}
    return Exposure(stages, jobs, networks, steps)
