"""Tables of the latency section: collectives and steps by option, traffic of a step, the client's logs, the cards."""

from __future__ import annotations

from collections.abc import Mapping

from fabricreport.blocks import Column, Name, Row, Table
from fabricreport.books.names import whole_names
from fabricreport.inputs import Inputs
from fabricreport.ledger import FigureOf
from fabricreport.sections.client import gpu_type
from fabricreport.sections.latency.figure_context import BANDS, THRESHOLD, slug
from fabricreport.sections.latency.figures import PARTS
from fabricreport.sections.latency.gpu_figures import KNOWN
from fabricreport.sections.latency.job_figures import published_batches
from fabricreport.sections.latency.measured import ClientLog
from fabricreport.sections.latency.result import LatencyResult
from fabricreport.validation.training import training_card

_PART_HEADS = ("Kernels", "Inside nodes", "Waiting for the network", "Pipeline gaps", "Other")
_BAND_LABELS = (
    "all counted rows",
    "rows that set no parameter",
    "messages under 64 KiB",
    "64 KiB to 64 MiB",
    "above 64 MiB",
)


def _names(given: Inputs, result: LatencyResult) -> Mapping[str, Name]:
    """Names of the options, the pair's among them, by id."""
    return whole_names((*given.options, *result.pair))


def allreduce(result: LatencyResult, figure: FigureOf) -> Table:
    """Time of an AllReduce over the whole cluster by message size, on both fabrics of the pair."""
    spread = Column("90 % range", style="spread")
    heads = [Column("Message", style="mixed"), Column("{ib}"), spread, Column("{roce}"), spread]
    rows = []
    for i, _ in enumerate(result.table_bytes):
        times = [figure(f"latency.allreduce_time.{o.id}.{i}") for o in result.pair]
        rows.append(Row([figure(f"latency.size.{i}"), *(time for time in times for _ in range(2))]))
    return Table(heads, rows)


def causes(given: Inputs, result: LatencyResult, figure: FigureOf) -> Table:
    """What the gap hangs on, the largest share first; shares that do not matter are left out."""
    least = given.central(THRESHOLD)
    shares = {cause: figure(f"latency.hangs.{slug(cause)}") for cause in result.gap.hangs_on}
    rows = [Row([Name(cause), share]) for cause, share in shares.items() if share.value >= least]
    return Table([Column("Cause"), Column("Share of explained spread")], rows)


def jobs(given: Inputs, result: LatencyResult, figure: FigureOf) -> Table:
    """Sizes of job at the start: share of GPU time, what each exposes, and the plan of each."""
    rows = []
    for size, _ in result.mix:
        plan = result.jobs.own[result.pair[0].id][size].plan
        cells = [figure(f"latency.job.{part}.{size}") for part in ("gpus", "share", "exposed")]
        rows.append(Row([*cells, Name(plan.text() if plan else "one domain on each GPU")]))
    return Table([Column("Job"), Column("GPU time"), Column("Waiting"), Column("Plan")], rows)


def batches(figure: FigureOf) -> Table:
    """Batches of published runs, by the line through which the batch of a step is set."""
    rows = [
        Row(
            [
                Name(row["run"]),
                figure(f"latency.batches.gpus.{run}"),
                figure(f"latency.batches.tokens.{run}"),
                Name(row["source"]),
            ]
        )
        for run, row in published_batches().items()
    ]
    return Table([Column("Run"), Column("Size"), Column("Batch"), Column("Source")], rows)


def gpu(given: Inputs, figure: FigureOf) -> Table:
    """What the times of a step rest on, of the client's GPU type, each with its source."""
    kind = gpu_type(given)
    rows = [Row([Name("Type"), Name(kind.name), Name(f"{kind.generation}, on sale since {kind.on_sale}")])]
    rows += [
        Row([Name(known.label), figure(f"latency.gpu.{key}"), Name(known.of(kind).source)])
        for key, known in KNOWN.items()
    ]
    return Table([Column("Of one GPU"), Column("Value", style="mixed"), Column("Source")], rows)


def traffic(result: LatencyResult, figure: FigureOf) -> Table:
    """What one step sends over the fabric, the largest time first."""
    parts = ("size", "count", "ranks", "time", "exposed")
    rows = [
        Row(
            [
                Name(f"{sent.collective}, {sent.kind}"),
                *(figure(f"latency.traffic.{part}.{i}") for part in parts),
                Name(f"{sent.algorithm}, {sent.protocol}"),
            ]
        )
        for i, sent in enumerate(result.traffic)
    ]
    heads = ("Traffic", "Message", "Times", "Ranks", "Time", "Exposed", "Algorithm")
    return Table([Column(h, style="mixed" if h == "Message" else "value") for h in heads], rows)


def steps(given: Inputs, result: LatencyResult, figure: FigureOf) -> Table:
    """Where the time of a step goes, by option."""
    names = _names(given, result)
    rows = [
        Row([names[o], figure(f"latency.step.{o}"), *(figure(f"latency.part.{part}.{o}") for part in PARTS)])
        for o in result.steps
    ]
    heads = [Column("Option"), Column("Step"), *(Column(head, decimals=1) for head in _PART_HEADS)]
    return Table(heads, rows)


def bandwidth(given: Inputs, result: LatencyResult, figure: FigureOf) -> Table:
    """Bandwidth of a large AllReduce on the whole cluster, by option."""
    names = _names(given, result)
    rows = [Row([names[o], figure(f"latency.busbw.{o}"), figure(f"latency.busbw.{o}")]) for o in result.busbw]
    return Table([Column("Option"), Column("Bus bandwidth"), Column("90 % range", style="spread")], rows)


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


def oddities(result: LatencyResult) -> Table:
    """What is odd in each of the client's logs, and why one is not used."""
    read = result.measurements.logs if result.measurements else ()
    rows = []
    for log in read:
        rows.append(Row([Name(log.source)], role="group"))
        rows += [Row([Name(text)]) for text in _odd(log) or ["nothing odd"]]
    return Table([Column("Finding, by log")], rows)


def _odd(log: ClientLog) -> list[str]:
    unused = [f"not used: {log.why_not}"] if log.why_not else []
    return unused + [str(found) for found in log.findings if found.severity != "info"]


def cards(figure: FigureOf) -> Table:
    """Median errors of both models on published figures, and of models that know less."""
    card = training_card()
    rows = [
        Row([Name("collectives"), Name(label), figure(f"latency.card.collectives.summary.{band}")])
        for band, label in zip(BANDS, _BAND_LABELS, strict=True)
    ]
    for model, group, tried in (
        ("training step", "summary", card.summary),
        ("baseline", "baseline", card.baselines),
    ):
        rows += [Row([Name(model), Name(t), figure(f"latency.card.training.{group}.{slug(t)}")]) for t in tried]
    return Table([Column("Model"), Column("Tried on"), Column("Median error")], rows)
