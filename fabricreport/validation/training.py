"""The training model's validation card: published runs beside ours, overlapped exchange and simulation too, and two models that know less.

Nothing is set from them: kernels and overlap are at their central values, the plan and the batch are the publication's.

One number per publication, the kernels' efficiency, is set from its rows of role `train`; the rest are predicted.
The parallel plans of MegaScale and Megatron-LM are assumed and said to be (`data/training_presets.yaml`, card).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import lru_cache
from typing import Any

import numpy as np

from fabricreport.base.yaml_files import read_rows, read_yaml
from fabricreport.books.constants import model_of, practice
from fabricreport.books.evidence import read_evidence
from fabricreport.models.training import parallel
from fabricreport.models.training.other_steps import simulation_step
from fabricreport.models.training.parallel import Overlap, Plan
from fabricreport.models.training.plans import best_plan
from fabricreport.models.training.step import Network, TrainingStep, training_step
from fabricreport.validation.card import Card, CardRow, median_abs_error

BAND = "overlapped exchange"


def overlapped_rows(data: Mapping[str, Any]) -> tuple[CardRow, ...]:
    """Each published figure of `card.overlapped` beside ours."""
    return tuple(
        CardRow(
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
    found[swept["id"]] = [
        (float(ruled_step(swept, gpus=n, overlap=_overlap()).exposed_share), 0.0) for n in swept["gpus"]
    ]
    return {e["id"]: all(_met(e, ours, said) for ours, said in found[e["id"]]) for e in data["expected_overlapped"]}


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


@lru_cache(maxsize=1)
def training_card() -> Card:
    """The card, computed from the packaged rows; cheap, and the same every time."""
    data = read_yaml("training_presets")["card"]
    megascale, constant, line = _megascale(data)
    megatron, llama = _tflops(data, "megatron"), _tflops(data, "llama3")
    pairs = _pairs(data)
    ruled, exposed = by_the_rules(data)
    overlapped = overlapped_rows(data)
    late = tuple(r for r in megascale if r.held_out)
    summary = {
        "MegaScale, 3,072 to 12,288 GPUs": median_abs_error(late),
        "MegaScale, worst of them": max(abs(r.error) for r in late),
        "Megatron-LM, held out": median_abs_error(tuple(r for r in megatron if r.held_out)),
        "Llama 3, held out": median_abs_error(tuple(r for r in llama if r.held_out)),
        "MFU by the rules alone, 1,024 to 16,384 GPUs": median_abs_error(ruled),
        "Mixtures of experts with and without overlap": median_abs_error(overlapped),
    }
    baselines = {
        "MegaScale, constant MFU": median_abs_error(constant),
        "MegaScale, line in log GPUs": median_abs_error(line),
        "MLPerf pairs, predicting no difference": median_abs_error(pairs),
    }
    return Card(
        model="training step",
        data_used=(
            *(f"{data[k]['source']}; {data[k]['plan_note']}" for k in ("megascale", "megatron", "llama3")),
            *dict.fromkeys(row["source"] for row in data["overlapped"]["rows"]),
            f"{data['mlperf_source']} (null check)",
        ),
        rows=(*megascale, *megatron, *llama, *ruled, *overlapped, *pairs),
        summary=summary,
        valid_range=data["valid_range"],
        date=str(data["date"]),
        does_not_claim=tuple(data["does_not_claim"]),
        irreducible=tuple(data["irreducible"]),
        baselines=baselines,
        expected=tuple(
            e["text"] for e in (*data["expectations"], *data["expected_by_the_rules"], *data["expected_overlapped"])
        ),
        as_expected=_as_expected(data, summary, baselines)
        | _as_ruled(data, ruled, exposed)
        | as_overlapped(data, overlapped),
    )


def _as_expected(
    data: Mapping[str, Any], summary: Mapping[str, float], baselines: Mapping[str, float]
) -> dict[str, bool]:
    late = summary["MegaScale, 3,072 to 12,288 GPUs"]
    measured = {
        "megascale-late": late,
        "megatron": summary["Megatron-LM, held out"],
        "llama3": summary["Llama 3, held out"],
    }
    limits = {e["id"]: e.get("limit") for e in data["expectations"]}
    found = {key: value <= limits[key] for key, value in measured.items()}
    found["beats-constant"] = late < baselines["MegaScale, constant MFU"]
    found["beats-log-linear"] = late < baselines["MegaScale, line in log GPUs"]
    return {e["id"]: bool(found[e["id"]]) for e in data["expectations"]}


def _as_ruled(data: Mapping[str, Any], rows: tuple[CardRow, ...], exposed: float) -> dict[str, bool]:
    """What was expected of the rules alone: MFU in points, and the share exposed."""
    ids = [row["id"] for row in data["by_the_rules"]["rows"]]
    found = {i: abs(row.ours - row.published) for i, row in zip(ids, rows, strict=True)}
    found[data["by_the_rules"]["exposed"]["id"]] = exposed
    return {e["id"]: found[e["id"]] <= e["limit"] for e in data["expected_by_the_rules"]}


def ruled_step(row: Mapping[str, Any], *, gpus: int, overlap: Overlap | None = None) -> TrainingStep:
    """The step of a preset by the rules alone: the batch of its publication or of the line, the fastest plan, central values;
    `overlap` in place of the rules' own."""
    known = practice()
    network = Network(known, row["gpu"], 8, row["fabric"])
    model = parallel.at_scale(known.preset(row["preset"]), known.batches, gpus)
    model = replace(model, batch_sequences=float(row.get("batch", model.batch_sequences)))
    plan = best_plan(model, network, gpus=gpus)
    filled = parallel.filled(model, plan, network.rules)
    how: dict[str, Any] = {"kernel_efficiency": _efficiency(network), "overlap": overlap or network.rules.overlap}
    return training_step(filled, plan, network, **how)


def by_the_rules(data: Mapping[str, Any]) -> tuple[tuple[CardRow, ...], float]:
    """Published MFU beside that of the rules alone, and the largest share exposed of a model over a range of sizes."""
    rows = tuple(
        CardRow(
            f"{row['run']}, {row['gpus']:,} GPUs, by the rules",
            published=row["mfu"],
            ours=float(ruled_step(row, gpus=row["gpus"]).mfu),
            held_out=True,
            unit="share",
            band="by the rules",
            source=row["source"],
        )
        for row in data["by_the_rules"]["rows"]
    )
    swept = data["by_the_rules"]["exposed"]
    return rows, max(float(ruled_step(swept, gpus=gpus).exposed_share) for gpus in swept["gpus"])


def run_step(entry: Mapping[str, Any], *, gpus: int, batch: float, efficiency: float) -> TrainingStep:
    """The step of one published run: the entry's model, plan and fabric, with `batch` sequences."""
    model = replace(practice().preset(entry["preset"]), batch_sequences=float(batch))
    plan = parallel.given_plan(
        gpus=gpus, interleave=entry["interleave"], recompute=entry.get("recompute", 0.0), **entry["plan"]
    )
    network = Network(practice(), entry["gpu"], 8, entry["fabric"])
    overlap = Overlap(**read_yaml("training_presets")["card"]["overlap"])
    return training_step(model, plan, network, kernel_efficiency=efficiency, overlap=overlap)


def fitted_efficiency(entry: Mapping[str, Any], published_s: Mapping[int, float], batch: Mapping[int, float]) -> float:
    """The kernels' efficiency with the least squared log error on the rows given, by bisection on its derivative.

    Step time falls as efficiency rises, so the mean log error is monotone and its zero is the optimum to first order.
    """
    low, high = 0.05, 1.0
    for _ in range(30):
        middle = float(np.sqrt(low * high))
        error = np.mean(
            [
                np.log(float(run_step(entry, gpus=n, batch=batch[n], efficiency=middle).step_time_s) / t)
                for n, t in published_s.items()
            ]
        )
        low, high = (middle, high) if error > 0.0 else (low, middle)
    return float(np.sqrt(low * high))


def _megascale(
    data: Mapping[str, Any],
) -> tuple[tuple[CardRow, ...], tuple[CardRow, ...], tuple[CardRow, ...]]:
    """Iteration times by the model, by the training rows' mean MFU, and by a line of MFU in log GPUs."""
    entry = data["megascale"]
    rows = entry["rows"]
    early = [r for r in rows if r["role"] == "train"]
    efficiency = fitted_efficiency(
        entry, {r["gpus"]: r["iteration_s"] for r in early}, {r["gpus"]: r["batch"] for r in early}
    )
    model = practice().preset(entry["preset"])
    flops = model.sequence_tokens * model.flops_per_token

    def ideal(row: Mapping[str, Any]) -> float:
        return float(row["batch"] * flops / (row["gpus"] * practice().gpu(entry["gpu"]).peak_flops))

    mfu = np.array([ideal(r) / r["iteration_s"] for r in early])
    slope, level = np.polyfit(np.log([r["gpus"] for r in early]), mfu, 1)
    ours, constant, line = [], [], []
    for row in rows:
        step = run_step(entry, gpus=row["gpus"], batch=row["batch"], efficiency=efficiency)
        facts: dict[str, Any] = {
            "published": row["iteration_s"],
            "held_out": row["role"] == "held-out",
            "unit": "s",
            "band": "MegaScale",
            "source": entry["source"],
        }
        name = f"MegaScale 175B, {row['gpus']:,} GPUs"
        ours.append(CardRow(name, ours=float(step.step_time_s), **facts))
        if row["role"] == "held-out":
            constant.append(CardRow(name, ours=ideal(row) / float(mfu.mean()), **facts))
            predicted = float(level + slope * np.log(row["gpus"]))
            line.append(CardRow(name, ours=ideal(row) / predicted, **facts))
    return tuple(ours), tuple(constant), tuple(line)


def _tflops(data: Mapping[str, Any], key: str) -> tuple[CardRow, ...]:
    """Publications that print model FLOP/s per GPU: one efficiency from the training rows."""
    entry = data[key]
    model = practice().preset(entry["preset"])
    batch = {r["gpus"]: r.get("batch", entry.get("batch")) for r in entry["rows"]}
    tokens = {n: b * model.sequence_tokens for n, b in batch.items()}
    seconds = {
        r["gpus"]: tokens[r["gpus"]] * model.flops_per_token / (r["gpus"] * r["tflops"] * 1e12) for r in entry["rows"]
    }
    early = {r["gpus"] for r in entry["rows"] if r["role"] == "train"}
    efficiency = fitted_efficiency(entry, {n: t for n, t in seconds.items() if n in early}, batch)
    label = {"megatron": "Megatron-LM 175B", "llama3": "Llama 3 405B"}[key]
    found = []
    for row in entry["rows"]:
        n = row["gpus"]
        step = run_step(entry, gpus=n, batch=batch[n], efficiency=efficiency)
        ours = row["tflops"] * seconds[n] / float(step.step_time_s)
        found.append(
            CardRow(
                f"{label}, {n:,} GPUs",
                published=row["tflops"],
                ours=ours,
                held_out=row["role"] == "held-out",
                unit="tflops",
                band=label,
                source=entry["source"],
            )
        )
    return tuple(found)


def _pairs(data: Mapping[str, Any]) -> tuple[CardRow, ...]:
    """Ethernet over InfiniBand training time of each MLPerf pair beside the prediction of no difference."""
    return tuple(
        CardRow(
            f"{row['round']} {row['benchmark']}, {row['gpus']} GPUs",
            published=float(row["eth_minutes"]) / float(row["ib_minutes"]),
            ours=1.0,
            held_out=True,
            unit="x",
            band="MLPerf pairs",
            source=data["mlperf_source"],
        )
        for row in read_rows("mlperf_pairs")
    )
