"""Published runs of mixtures of experts whose exchange of tokens is overlapped, and of a simulation, beside the model's.

Nothing is set from them: kernels and overlap are at their central values, the plan and the batch are the publication's.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from fabricreport.books.evidence import read_evidence
from fabricreport.constants import model_of, practice
from fabricreport.models.training import parallel
from fabricreport.models.training.other_steps import simulation_step
from fabricreport.models.training.parallel import Plan
from fabricreport.models.training.practice import Overlap
from fabricreport.models.training.step import Network, TrainingStep, best_plan, training_step
from fabricreport.validation.card import CardRow, card_row

BAND = "overlapped exchange"


def overlapped_rows(data: Mapping[str, Any]) -> tuple[CardRow, ...]:
    """Each published figure of `card.overlapped` beside ours."""
    return tuple(
        card_row(
            f"{row['run']}, {row['gpus']:,} GPUs",
            published=row["published"],
            ours=_OURS[row["what"]](data["overlapped"], row),
            held_out=True,
            unit=row["unit"],
            band=BAND,
            source=row["source"],
            counted=row.get("counted", True),
            note=row.get("note", ""),
        )
        for row in data["overlapped"]["rows"]
    )


def as_overlapped(data: Mapping[str, Any], rows: tuple[CardRow, ...]) -> dict[str, bool]:
    """Whether each expectation of `card.expected_overlapped` came true."""
    ids = [row["id"] for row in data["overlapped"]["rows"]]
    found: dict[str, list[tuple[float, float]]] = {
        i: [(row.ours, row.published)] for i, row in zip(ids, rows, strict=True)
    }
    swept = data["overlapped"]["by_the_rules"]
    found[swept["id"]] = [(exposed_by_the_rules(swept, gpus), 0.0) for gpus in swept["gpus"]]
    return {e["id"]: all(_met(e, ours, said) for ours, said in found[e["id"]]) for e in data["expected_overlapped"]}


def exposed_by_the_rules(swept: Mapping[str, Any], gpus: int) -> float:
    """Share of the step exposed for a preset by the rules alone, at one size."""
    known = practice()
    network = Network(known, swept["gpu"], 8, swept["fabric"])
    model = parallel.at_scale(known.preset(swept["preset"]), known.batches, gpus)
    plan = best_plan(model, network, gpus=gpus)
    model = parallel.filled(model, plan, known.rules)
    how: dict[str, Any] = {"kernel_efficiency": _efficiency(network), "overlap": _overlap()}
    return float(training_step(model, plan, network, **how).exposed_share)


def _met(expected: Mapping[str, Any], ours: float, published: float) -> bool:
    if "within" in expected:
        return bool(abs(ours - published) <= expected["within"])
    return bool(expected["low"] <= ours <= expected["high"])


def _step(data: Mapping[str, Any], row: Mapping[str, Any], *, paired: bool, gpus: int | None = None) -> TrainingStep:
    """The step of a row's run; `gpus`: on fewer, the batch and the replicas with them."""
    share = (gpus or row["gpus"]) / row["gpus"]
    network = Network(practice(), row["gpu"], 8, row["fabric"])
    shape = model_of(data["shapes"][row["shape"]]) if "shape" in row else practice().preset(row["preset"])
    model = replace(shape, batch_sequences=float(row["batch"]) * share)
    plan = Plan(**row["plan"] | {"dp": round(row["plan"]["dp"] * share), "paired": paired})
    overlap = replace(_overlap(), alltoall=0.0)
    return training_step(model, plan, network, kernel_efficiency=_efficiency(network), overlap=overlap)


def _experts_share(data: Mapping[str, Any], row: Mapping[str, Any]) -> float:
    step = _step(data, row, paired=row["paired"])
    return float(_experts(step, "exposed_s") / step.step_time_s)


def _experts_over_compute(data: Mapping[str, Any], row: Mapping[str, Any]) -> float:
    step = _step(data, row, paired=row["paired"])
    return float(_experts(step, "time_s") / step.compute_s)


def _step_kept(data: Mapping[str, Any], row: Mapping[str, Any]) -> float:
    whole, less = (_step(data, row, paired=paired).step_time_s for paired in (False, True))
    return float(less / whole)


def _throughput_kept(data: Mapping[str, Any], row: Mapping[str, Any]) -> float:
    few, all_ = (_step(data, row, paired=row["paired"], gpus=n) for n in (row["from_gpus"], row["gpus"]))
    return float((all_.tokens_per_s / row["gpus"]) / (few.tokens_per_s / row["from_gpus"]))


def _mpi_share(data: Mapping[str, Any], row: Mapping[str, Any]) -> float:
    names = {"compute_ms": "step-compute-ms", "halo_mbytes": "halo-mbytes", "small_allreduces": "small-allreduces"}
    traffic: dict[str, Any] = {key: _central(f"hpc-{name}") for key, name in names.items()}
    network = Network(practice(), row["gpu"], 8, row["fabric"])
    step = simulation_step(network, gpus=row["gpus"], overlap=_overlap().data, **traffic)
    return float(1.0 - step.compute_s / step.step_time_s)


_OURS: Mapping[str, Callable[[Mapping[str, Any], Mapping[str, Any]], float]] = {
    "experts-share": _experts_share,
    "experts-over-compute": _experts_over_compute,
    "step-kept": _step_kept,
    "throughput-kept": _throughput_kept,
    "mpi-share": _mpi_share,
}


def _experts(step: TrainingStep, of: str) -> Any:
    return sum(getattr(t, of) for t in step.traffic if t.kind == "experts")


def _central(entry: str) -> float:
    return float(read_evidence()[entry].figure.central)


def _efficiency(network: Network) -> float:
    return _central(network.accelerator.efficiency)


def _overlap() -> Overlap:
    names = ("data-parallel", "pipeline", "alltoall", "interference", "alltoall-paired")
    return Overlap(*(_central(f"overlap-{name}") for name in names))
