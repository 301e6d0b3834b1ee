"""What latency costs this client: exposed communication, step time and bandwidth of each option on the same draws.

RoCEv2's difference from InfiniBand enters as a contested time per inter-node step and a contested share of
bandwidth, each modified by who tunes the fabric. Oversubscription is charged here; loss to colliding paths, tails
and faults are charged in the risk section.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from fabricreport.books.options import Option
from fabricreport.ledger import Number
from fabricreport.models.collectives.timing import CollectiveTime, allreduce
from fabricreport.models.training.parallel import over_draws
from fabricreport.models.training.step import StepTime, Traffic, TrainingStep
from fabricreport.provenance import Traced
from fabricreport.sections.latency import figures as latency_numbers
from fabricreport.sections.latency import gap as latency_gap
from fabricreport.sections.latency import inputs
from fabricreport.sections.latency.measured import ClientMeasurements, client_measurements, measured_option

if TYPE_CHECKING:
    from fabricreport.case import Case


@dataclass(frozen=True)
class LatencyResult:
    """Keys are option ids; arrays are (draws,) and traced.

    `exposed_share`: share of GPU time lost to exposed communication over the horizon, sizes weighted by GPU-months;
    `exposed_now`, `exposed_final`: the same at the first and the last size. `step_time_s`, `busbw` (AllReduce at
    1 GiB, GB/s) and `steps` are at the first size. `penalty`: extra step time of `pair`'s RoCEv2 option over its
    InfiniBand option, a share; `penalty_final` at the last size. `collectives`: AllReduce at the table's sizes,
    (draws, sizes). `job` and `jobs` hold the model and the plan at the first and at each size.
    """

    exposed_share: Mapping[str, Traced]
    exposed_now: Mapping[str, Traced]
    exposed_final: Mapping[str, Traced]
    step_time_s: Mapping[str, Traced]
    busbw: Mapping[str, Traced]
    penalty: Traced
    penalty_final: Traced
    pair: tuple[Option, Option]
    steps: Mapping[str, StepTime]
    collectives: Mapping[str, CollectiveTime]
    table_bytes: tuple[float, ...]
    job: inputs.Job
    jobs: Mapping[int, inputs.Job]
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
    def algorithms(self) -> tuple[str, ...]:
        """Algorithms the step's traffic runs, most time first, without repeats."""
        return tuple(dict.fromkeys(t.algorithm for t in self.traffic))


def run(case: Case) -> LatencyResult:
    """The latency analysis of a case."""
    pair = inputs.pair(case)
    measurements = client_measurements(case, measured_option(case))
    factors = measurements.factors if measurements else None
    options = {o.id: o for o in (*case.options, *pair)}
    networks = {key: inputs.network(case, option, measured=factors) for key, option in options.items()}
    stages = inputs.stages(case)
    jobs = {gpus: inputs.job(case, gpus) for gpus, _ in stages}
    steps = {gpus: {k: inputs.step(case, jobs[gpus], wires) for k, wires in networks.items()} for gpus in jobs}
    first, last = stages[0][0], stages[-1][0]
    exposed = {gpus: {k: _exposed(case, s) for k, s in at.items()} for gpus, at in steps.items()}
    times = {gpus: {k: inputs.as_draws(case, s.step_time_s) for k, s in at.items()} for gpus, at in steps.items()}
    penalty, final = (times[n][pair[1].id] / times[n][pair[0].id] - 1.0 for n in (first, last))
    shown = latency_gap.display()
    table = tuple(float(b) for b in shown["table_bytes"])
    collectives = {k: cluster_allreduce(case, wires, first, table) for k, wires in networks.items()}
    large = table.index(float(shown["headline_bytes"]))
    mine = [o.id for o in case.options]
    result = LatencyResult(
        exposed_share={k: inputs.as_draws(case, sum(w * exposed[n][k] for n, w in stages)) for k in mine},
        exposed_now={k: exposed[first][k] for k in mine},
        exposed_final={k: exposed[last][k] for k in mine},
        step_time_s={k: times[first][k] for k in mine},
        busbw={k: inputs.as_draws(case, collectives[k].busbw_gbytes_per_s[..., large]) for k in mine},
        penalty=inputs.as_draws(case, penalty),
        penalty_final=inputs.as_draws(case, final),
        pair=pair,
        steps=steps[first],
        collectives=collectives,
        table_bytes=table,
        job=jobs[first],
        jobs=jobs,
        gap=latency_gap.study(case, pair, factors, penalty),
        measurements=measurements,
        one_node=inputs.one_node(case, first),
        numbers={},
    )
    numbers = {n.id: n for n in latency_numbers.numbers(case, result)}
    return LatencyResult(**{**vars(result), "numbers": numbers})


def _exposed(case: Case, step: StepTime) -> Traced:
    return inputs.as_draws(case, step.exposed_share)


def cluster_allreduce(case: Case, wires: Any, gpus: int, sizes: Sequence[float]) -> CollectiveTime:
    """AllReduce over `gpus` (whole nodes) at sizes in bytes, (draws, sizes), slowed as the option's wires are."""
    calibration = wires.calibration
    if calibration is not None:
        calibration = type(calibration)(
            over_draws(calibration.latency_factor), over_draws(calibration.bandwidth_factor)
        )
    found = allreduce(
        sizes,
        gpus=inputs.whole_nodes(case, gpus),
        gpus_per_node=wires.gpus_per_node,
        gpu=wires.gpu,
        fabric=wires.fabric,
        links_per_gpu=wires.links_per_gpu,
        extra_step_us=None if wires.extra_step_us is None else over_draws(wires.extra_step_us),
        bandwidth_share=None if wires.bandwidth_share is None else over_draws(wires.bandwidth_share),
        calibration=calibration,
    )
    slower = over_draws(wires.slowdown)
    if inputs.one_node(case, gpus) or not np.any(np.asarray(slower) > 1.0):
        return found
    return CollectiveTime(
        found.time_us * slower,
        found.algbw_gbytes_per_s / slower,
        found.busbw_gbytes_per_s / slower,
        found.algorithm,
        found.protocol,
    )


def training_steps(result: LatencyResult) -> Iterator[tuple[str, TrainingStep]]:
    """The options' steps that are training steps."""
    yield from ((k, s) for k, s in result.steps.items() if isinstance(s, TrainingStep))
