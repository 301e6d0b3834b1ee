"""What latency costs this client: exposed communication, step time and bandwidth of each option on the same draws.

RoCEv2's difference from InfiniBand enters as a contested time per inter-node step and a contested share of
bandwidth, each modified by who tunes the fabric. Oversubscription is charged here; loss to colliding paths, tails
and faults are charged in the risk section.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from fabricreport.inputs.inputs import Inputs
from fabricreport.ledger.figures import DeclaredFigures
from fabricreport.sections.client import one_node
from fabricreport.sections.latency import inputs
from fabricreport.sections.latency import result as latency_gap
from fabricreport.sections.latency.figures import FIGURES, LatencyFigures
from fabricreport.sections.latency.measurements import ClientMeasurements
from fabricreport.sections.latency.result import Exposure, LatencyResult


def run(
    given: Inputs, found: Exposure, measurements: ClientMeasurements | None, compared: Sequence[str] = ()
) -> LatencyResult:
    """The latency study, from every option's steps (the pair's among them) and the client's logs.

    `compared`: ids of the advised option and its rival, which stand for their sides.
    """
    pair = inputs.pair(given, compared)
    factors = measurements.factors(given) if measurements else None
    first, last = found.stages[0][0], found.stages[-1][0]
    job = found.largest(first)
    steps = found.steps(job)
    penalty = given.spread(steps[pair[1].id].pace_s / steps[pair[0].id].pace_s - 1.0)
    mine = [o.id for o in given.options]
    horizon, now, end = found.horizon(given), found.now(given, first), found.now(given, last)
    result = LatencyResult(
        exposed_share={o: horizon[o] for o in mine},
        exposed_now={o: now[o] for o in mine},
        exposed_final={o: end[o] for o in mine},
        step_time_s={o: given.spread(steps[o].step_time_s) for o in mine},
        penalty=penalty,
        pair=pair,
        steps=steps,
        job=found.jobs.shared[job],
        jobs=found.jobs,
        stages=found.stages,
        by_job=found.by_job(given, pair[0].id),
        gap=latency_gap.study(given, pair, factors),
        measurements=measurements,
        one_node=one_node(given, first),
        numbers={},
    )
    return replace(result, numbers=DeclaredFigures(FIGURES, LatencyFigures(given, result), given))
