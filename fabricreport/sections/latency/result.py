"""What the latency study finds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from fabricreport.books.options import Option
from fabricreport.ledger import Number
from fabricreport.models.training.step import StepTime, Traffic
from fabricreport.provenance import Traced
from fabricreport.sections.latency import gap as latency_gap
from fabricreport.sections.latency import inputs
from fabricreport.sections.latency.exposure import Jobs, Mix
from fabricreport.sections.latency.measured import ClientMeasurements


@dataclass(frozen=True)
class LatencyResult:
    """Keys are option ids; arrays are (draws,) and traced.

    `exposed_share`: share of GPU time lost to exposed communication over the horizon, sizes weighted by GPU-months;
    `exposed_now`, `exposed_final`: the same at the first and the last size. `step_time_s`, `busbw` (AllReduce at
    1 GiB, GB/s) and `steps` are of the largest job at the first size. `penalty`: extra time of `pair`'s RoCEv2 option
    over its InfiniBand option for the same work, a share, each under the plan that suits it. `job`: model and shared plan of the largest job
    at the first size; `jobs`: of every job. `stages`: (GPUs, share of the horizon's GPU-months). `by_job`: what the InfiniBand
    option of the pair exposes, by GPUs of a job.
    """

    exposed_share: Mapping[str, Traced]
    exposed_now: Mapping[str, Traced]
    exposed_final: Mapping[str, Traced]
    step_time_s: Mapping[str, Traced]
    busbw: Mapping[str, Traced]
    penalty: Traced
    pair: tuple[Option, Option]
    steps: Mapping[str, StepTime]
    job: inputs.Job
    jobs: Jobs
    stages: tuple[tuple[int, float], ...]
    by_job: Mapping[int, Traced]
    gap: latency_gap.Gap
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
