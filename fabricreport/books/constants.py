"""The models' packaged constants as frozen values, read once; models never open the evidence, they are handed these.

case.inputs.catalogue     # GPU and fabric classes, NCCL's constants, the fit
case.inputs.practice      # models to train, GPUs, rules of plans and steps
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, replace
from functools import cache
from typing import Any

from fabricreport.base.yaml_files import read_yaml
from fabricreport.books.equipment import LARGEST_SERVER, GpuType, Kernels, ScaleUp, gpu_types
from fabricreport.models.collectives.fit import FitRule
from fabricreport.models.collectives.parameters import (
    AllToAll,
    Catalogue,
    Chunks,
    Fabric,
    Gpu,
    Library,
    LowLatencyLimits,
    Parameters,
)
from fabricreport.models.training.parallel import (
    BILLION,
    Accelerator,
    Model,
    Overlap,
    Practice,
    Rules,
    Tuning,
    batch_law,
)


@cache
def catalogue() -> Catalogue:
    """What the collective model knows, from `data/collectives.yaml` and `data/gpus.yaml`."""
    data = read_yaml("collectives")
    gpus = {name: _gpu(kind) for name, kind in gpu_types().known.items()}
    return Catalogue(
        gpus=gpus,
        fabrics={name: {gpu: _fabric(name, row, gpu) for gpu in gpus} for name, row in data["fabrics"].items()},
        library=_library(data["library"]),
        alltoall=AllToAll(**_of(AllToAll, data["alltoall"])),
        fitted=Parameters(**data["fitted"]["values"]),
    )


@cache
def fit_rule() -> FitRule:
    """How the collective model's parameters are fitted."""
    fitted = read_yaml("collectives")["fitted"]
    return FitRule(
        bounds={name: (float(low), float(high)) for name, (low, high) in fitted["bounds"].items()},
        prior=Parameters(**{name: float(row["value"]) for name, row in fitted["prior"].items()}),
        prior_weight=float(fitted["prior_weight"]),
    )


@cache
def practice() -> Practice:
    """What the training model knows, from `data/training_presets.yaml` and `data/gpus.yaml`, and the catalogue."""
    data = read_yaml("training_presets")
    rules, batches = _of(Rules, data["rules"]), data["batches"]
    return Practice(
        presets={name: model_of(row) for name, row in data["presets"].items()},
        gpus={name: _accelerator(kind.kernels) for name, kind in gpu_types().known.items()},
        rules=Rules(**{**rules, "overlap": Overlap(**rules["overlap"])}),
        batches=batch_law(
            [row["gpus"] for row in batches], [row["sequences"] * row["sequence_tokens"] for row in batches]
        ),
        tuning=Tuning(**_of(Tuning, data["tuning"])),
        collectives=catalogue(),
    )


def _of(kind: type[Any], row: Mapping[str, Any]) -> dict[str, Any]:
    """The keys of a row that a frozen value has; sources, grades and notes stay in the file."""
    names = {field.name for field in fields(kind)}
    return {key: value for key, value in row.items() if key in names}


def _gpu(kind: GpuType) -> Gpu:
    """The type as the library sees it, a small group of a rack with it."""
    few = kind.small_group
    small = None if few is None else _domain(kind.id, few, LARGEST_SERVER)
    return replace(_domain(kind.id, kind.scale_up, kind.domain_gpus), small_group=small)


def _domain(name: str, rates: ScaleUp, gpus: int) -> Gpu:
    own = {f.name: getattr(rates, f.name) for f in fields(ScaleUp) if f.name in {g.name for g in fields(Gpu)}}
    return Gpu(name=name, generation=rates.limits_as, nvls=rates.nvls_gbytes_per_s > 0.0, domain_gpus=gpus, **own)


def _accelerator(known: Kernels) -> Accelerator:
    return Accelerator(
        known.peak_tflops,
        known.memory_gbytes,
        known.memory_gbytes_per_s,
        known.efficiency.removeprefix("evidence:"),
    )


def _fabric(name: str, row: Mapping[str, Any], gpu: str) -> Fabric:
    own = read_yaml("collectives")["kinds"].get(row["kind"], {})
    figures = {key: _by_gpu(value, gpu) for key, value in {**_of(Fabric, row), **own}.items() if key != "kind"}
    return Fabric(name=name, kind=row["kind"], **figures)


def _by_gpu(value: Any, gpu: str) -> float:
    return float(value.get(gpu, value["default"])) if isinstance(value, Mapping) else float(value)


def _library(row: Mapping[str, Any]) -> Library:
    own = _of(Library, row)
    parts = {
        "ll_max_gbytes_per_s": LowLatencyLimits(**row["ll_max_gbytes_per_s"]),
        "chunk_kib": Chunks(**row["chunk_kib"]),
    }
    return Library(**{**own, **parts})


def model_of(row: Mapping[str, Any]) -> Model:
    """The model that a row of `data/training_presets.yaml` describes."""
    total = row["parameters_billion"] * BILLION
    active = row.get("active_parameters_billion", row["parameters_billion"]) * BILLION
    return Model(**{"batch_sequences": 0.0, **_of(Model, row)}, parameters=total, active=active)
