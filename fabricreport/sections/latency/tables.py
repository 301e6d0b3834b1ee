"""Tables of the latency section: the jobs, the step by option, the client's logs."""

from __future__ import annotations

from collections.abc import Mapping

from fabricreport.blocks import Column, Name, Row, Table
from fabricreport.books.names import whole_names
from fabricreport.inputs.inputs import Inputs
from fabricreport.ledger.numbers import FigureOf
from fabricreport.sections.client import shared_cluster
from fabricreport.sections.latency.figures import PARTS
from fabricreport.sections.latency.result import LatencyResult

_PART_HEADS = ("Kernels", "Inside nodes", "Waiting for the network", "Pipeline gaps", "Other")


def _names(given: Inputs, result: LatencyResult) -> Mapping[str, Name]:
    """Names of the options, the pair's among them, by id."""
    return whole_names((*given.options, *result.pair))


def jobs(given: Inputs, result: LatencyResult, figure: FigureOf) -> Table | None:
    """Sizes of job at the start: share of GPU time, what each exposes, and the plan of each; None where nobody lists sizes."""
    if not result.traffic or not (given.params.workload.jobs or shared_cluster(given)):
        return None
    rows = []
    for size, _ in result.mix:
        plan = result.jobs.own[result.pair[0].id][size].plan
        cells = [figure(f"latency.job.{part}.{size}") for part in ("gpus", "share", "exposed")]
        rows.append(Row([*cells, Name(plan.text() if plan else "one domain on each GPU")]))
    return Table([Column("Job"), Column("GPU time"), Column("To traffic"), Column("Plan")], rows)


def steps(given: Inputs, result: LatencyResult, figure: FigureOf) -> Table:
    """Where the time of a step goes, by option."""
    names = _names(given, result)
    rows = [
        Row([names[o], figure(f"latency.step.{o}"), *(figure(f"latency.part.{part}.{o}") for part in PARTS)])
        for o in result.steps
    ]
    heads = [Column("Option"), Column("Step"), *(Column(head, decimals=1) for head in _PART_HEADS)]
    return Table(heads, rows)


def logs(given: Inputs, result: LatencyResult, figure: FigureOf) -> Table:
    """What each of the client's logs that the model was fitted to says, and what it moves."""
    parts = ("gpus", "rows", "left_out", "before", "after", "bandwidth_factor")
    used = result.measurements.used if result.measurements else ()
    carried = result.measurements.carried(given) if result.measurements else ()
    rows = [
        Row(
            [
                Name(log.source),
                *(figure(f"latency.measured.{part}.{i}") for part in parts),
                "every size" if log in carried else "its own size",
            ]
        )
        for i, log in enumerate(used)
    ]
    heads = ("Log", "Size", "Rows", "Left out", "Error before", "Error after", "Bandwidth factor", "Moves")
    return Table([Column(head) for head in heads], rows)
