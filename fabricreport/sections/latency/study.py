"""What latency costs this client: exposed communication, step time and bandwidth of each option on the same draws.

RoCEv2's difference from InfiniBand enters as a contested time per inter-node step and a contested share of
bandwidth, each modified by who tunes the fabric. Oversubscription is charged here; loss to colliding paths, tails
and faults are charged in the risk section.
"""

from __future__ import annotations

from dataclasses import replace

from fabricreport.figures import DeclaredFigures
from fabricreport.inputs import Inputs
from fabricreport.sections.client import one_node
from fabricreport.sections.latency import gap as latency_gap
from fabricreport.sections.latency import inputs
from fabricreport.sections.latency.exposure import Exposure
from fabricreport.sections.latency.figure_context import LatencyFigures
from fabricreport.sections.latency.figures import FIGURES
from fabricreport.sections.latency.measured import ClientMeasurements
from fabricreport.sections.latency.result import LatencyResult


def run(given: Inputs, found: Exposure, measurements: ClientMeasurements | None) -> LatencyResult:
    """The latency study, from every option's steps (the pair's among them) and the client's logs."""
    pair = inputs.pair(given)
    factors = measurements.factors(given) if measurements else None
    first, last = found.stages[0][0], found.stages[-1][0]
    times = {n: {o: given.spread(step.step_time_s) for o, step in found.steps[n].items()} for n in (first, last)}
    penalty, final = (times[n][pair[1].id] / times[n][pair[0].id] - 1.0 for n in (first, last))
    shown = latency_gap.display()
    table = tuple(float(b) for b in shown["table_bytes"])
    collectives = {o: inputs.cluster_allreduce(given, wires, first, table) for o, wires in found.networks.items()}
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
    return replace(result, numbers=DeclaredFigures(FIGURES, LatencyFigures(given, result), given))
