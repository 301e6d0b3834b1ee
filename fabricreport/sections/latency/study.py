"""What latency costs this client: exposed communication, step time and bandwidth of each option on the same draws.

RoCEv2's difference from InfiniBand enters as a contested time per inter-node step and a contested share of
bandwidth, each modified by who tunes the fabric. Oversubscription is charged here; loss to colliding paths, tails
and faults are charged in the risk section.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from fabricreport.books.options import Option
from fabricreport.inputs import Inputs
from fabricreport.ledger import Number
from fabricreport.models.collectives.timing import CollectiveTime, allreduce
from fabricreport.models.training.parallel import over_draws
from fabricreport.models.training.step import Network, StepTime, Traffic
from fabricreport.provenance import Traced
from fabricreport.sections.client import one_node, whole_nodes
from fabricreport.sections.latency import figures as latency_numbers
from fabricreport.sections.latency import gap as latency_gap
from fabricreport.sections.latency import inputs
from fabricreport.sections.latency.exposure import Exposure
from fabricreport.sections.latency.measured import ClientMeasurements


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


def run(given: Inputs, found: Exposure, measurements: ClientMeasurements | None) -> LatencyResult:
    """The latency study, from every option's steps (the pair's among them) and the client's logs."""
    pair = inputs.pair(given)
    factors = measurements.factors if measurements else None
    first, last = found.stages[0][0], found.stages[-1][0]
    times = {n: {o: given.spread(step.step_time_s) for o, step in found.steps[n].items()} for n in (first, last)}
    penalty, final = (times[n][pair[1].id] / times[n][pair[0].id] - 1.0 for n in (first, last))
    shown = latency_gap.display()
    table = tuple(float(b) for b in shown["table_bytes"])
    collectives = {o: cluster_allreduce(given, wires, first, table) for o, wires in found.networks.items()}
    large = table.index(float(shown["headline_bytes"]))
    mine = [o.id for o in given.options]
    horizon, now, end = found.horizon(given), found.now(given, first), found.now(given, last)
    result = LatencyResult(
        exposed_share={o: horizon[o] for o in mine},
        exposed_now={o: now[o] for o in mine},
        exposed_final={o: end[o] for o in mine},
        step_time_s={o: times[first][o] for o in mine},
        busbw={o: given.spread(collectives[o].busbw_gbytes_per_s[..., large]) for o in mine},
        penalty=given.spread(penalty),
        penalty_final=given.spread(final),
        pair=pair,
        steps=found.steps[first],
        collectives=collectives,
        table_bytes=table,
        job=found.jobs[first],
        jobs=found.jobs,
        gap=latency_gap.study(given, pair, factors, penalty),
        measurements=measurements,
        one_node=one_node(given, first),
        numbers={},
    )
    return replace(result, numbers={n.id: n for n in latency_numbers.numbers(given, result)})


def cluster_allreduce(given: Inputs, wires: Network, gpus: int, sizes: Sequence[float]) -> CollectiveTime:
    """AllReduce over `gpus` (whole nodes) at sizes in bytes, (draws, sizes), slowed as the option's wires are."""
    where = wires.job(whole_nodes(given, gpus))
    found = allreduce(sizes, where, calibration=wires.calibration_by_draw)
    slower = over_draws(wires.slowdown)
    if one_node(given, gpus) or not np.any(np.asarray(slower) > 1.0):
        return found
    return CollectiveTime(
        found.time_us * slower,
        found.algbw_gbytes_per_s / slower,
        found.busbw_gbytes_per_s / slower,
        found.algorithm,
        found.protocol,
    )
