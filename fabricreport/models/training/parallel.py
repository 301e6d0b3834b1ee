"""Models to train, the plan that spreads them over GPUs, and the bytes the plan sends.

A plan says how many ranks share a layer (tensor, tp), a sequence (context, cp), a stack of layers (pipeline, pp),
the experts (ep, taken from the replicas) and how many replicas there are (data, dp): tp x cp x pp x dp = GPUs.
Tensor ranks sit inside a node first, so their traffic stays on NVLink; replicas and stages talk over the fabric.
Sources: Shoeybi et al. 2019 and Narayanan et al. SC21 (tensor and pipeline), Rajbhandari et al. SC20 (sharding).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from fabricreport.errors import InputError, Problem
from fabricreport.evidence import read_yaml

BILLION = 1e9


@dataclass(frozen=True)
class Model:
    """A transformer: sizes in parameters and tokens. A dense model has one expert and `active` equals `parameters`."""

    label: str
    kind: str
    parameters: float
    active: float
    layers: int
    hidden: int
    sequence_tokens: int
    batch_sequences: float
    experts: int = 1
    experts_per_token: int = 1
    most_ranks_per_token: int = 0
    expert_share: float = 0.0

    @property
    def copies_per_token(self) -> int:
        """Ranks a token is sent to: one per expert, or the routing's own limit."""
        return min(self.experts_per_token, self.most_ranks_per_token or self.experts_per_token)

    @property
    def flops_per_token(self) -> float:
        """Forward and backward work of one token: 6 per active parameter, and causal attention on top."""
        return 6.0 * self.active * (1.0 + self.sequence_tokens / (12.0 * self.hidden))

    @property
    def dense_parameters(self) -> float:
        """Parameters outside the experts."""
        return self.parameters * (1.0 - self.expert_share)

    @property
    def expert_parameters(self) -> float:
        """Parameters inside the experts."""
        return self.parameters * self.expert_share


@dataclass(frozen=True)
class Plan:
    """A parallel plan; `interleave` model chunks a stage.

    `shard` ranks share each weight and gather it layer by layer; 1 keeps weights on every replica and shards only
    the optimiser. `recompute` is the share of the forward pass worked again to save memory.
    """

    tp: int
    pp: int
    dp: int
    ep: int = 1
    cp: int = 1
    interleave: int = 1
    shard: int = 1
    recompute: float = 0.0

    @property
    def gpus(self) -> int:
        """Ranks of the plan."""
        return self.tp * self.pp * self.dp * self.cp

    def text(self) -> str:
        """The plan in a few words, for a memo."""
        parts = [
            f"tensor {self.tp}" if self.tp > 1 else "",
            f"context {self.cp}" if self.cp > 1 else "",
            f"pipeline {self.pp}" if self.pp > 1 else "",
            f"expert {self.ep}" if self.ep > 1 else "",
            f"data {self.dp}" + (f" with weights sharded over {self.shard}" if self.shard > 1 else ""),
            "activations recomputed" if self.recompute else "",
        ]
        return ", ".join(p for p in parts if p)


def rules() -> Mapping[str, Any]:
    """The choices of this memo that a plan and a step rest on."""
    chosen: Mapping[str, Any] = read_yaml("training_presets")["rules"]
    return chosen


def preset_names() -> tuple[str, ...]:
    """Names that `preset` accepts."""
    return tuple(read_yaml("training_presets")["presets"])


def preset(name: str) -> Model:
    """A preset model by name; `InputError` with the known names otherwise."""
    table = read_yaml("training_presets")["presets"]
    if name not in table:
        raise InputError(Problem("is no preset", key="preset", value=name, remedy=f"One of: {', '.join(table)}."))
    entry = table[name]
    total = entry["parameters_billion"] * BILLION
    return Model(
        label=entry["label"],
        kind=entry["kind"],
        parameters=total,
        active=entry.get("active_parameters_billion", entry["parameters_billion"]) * BILLION,
        layers=entry["layers"],
        hidden=entry["hidden"],
        sequence_tokens=entry["sequence_tokens"],
        batch_sequences=entry["batch_sequences"],
        experts=entry.get("experts", 1),
        experts_per_token=entry.get("experts_per_token", 1),
        most_ranks_per_token=entry.get("most_ranks_per_token", 0),
        expert_share=entry.get("expert_share", 0.0),
    )


def custom(kind: str, parameters_billion: float) -> Model:
    """A model of `kind` (dense or moe) and size: the nearest preset's shape, widened as the cube root of the size.

    The nearest is the one closest in the logarithm of the parameters; the active share and the experts stay its own.
    """
    if not (math.isfinite(parameters_billion) and parameters_billion > 0.0):
        raise InputError(
            Problem(
                "must be positive",
                key="model_parameters_billion",
                value=str(parameters_billion),
                remedy="Write the model's parameters in billions, such as 70.",
            )
        )
    presets = [m for m in map(preset, preset_names()) if m.kind == kind]
    if not presets:
        raise InputError(Problem("is no kind of model", key="kind", value=kind, remedy="One of: dense, moe."))
    near = min(presets, key=lambda m: abs(math.log(m.parameters / (parameters_billion * BILLION))))
    ratio = parameters_billion * BILLION / near.parameters
    if abs(ratio - 1.0) < 0.02:
        return near
    growth = ratio ** (1.0 / 3.0)
    label = f"mixture of experts, {parameters_billion:g}B" if kind == "moe" else f"dense {parameters_billion:g}B"
    return replace(
        near,
        label=label,
        parameters=near.parameters * ratio,
        active=near.active * ratio,
        layers=max(1, round(near.layers * growth)),
        hidden=max(128, 128 * round(near.hidden * growth / 128)),
    )


def candidate_plans(model: Model, *, gpus: int, gpus_per_node: int, memory_gbytes: float) -> tuple[Plan, ...]:
    """Plans that fit in a GPU's memory; where only recomputing activations makes one fit, it recomputes them.

    Where none of the usual plans fits, weights are sharded over all replicas, which needs no particular number of nodes.
    Plans that would stretch the batch by more than `most_batch_growth` are left out, if others remain.
    Tensor ranks stay inside a node. Experts are spread over the largest power of two of neighbouring ranks that
    divides them and the replicas. `InputError` if nothing fits.
    """
    rule = rules()
    room = rule["memory_share"] * memory_gbytes * BILLION
    found = _that_fit(model, _usual(model, gpus, gpus_per_node), room)
    found = found or _that_fit(model, _fully_sharded(model, gpus, gpus_per_node), room)
    if not found:
        raise InputError(
            Problem(
                f"does not fit: no plan holds it on {gpus} GPUs of {memory_gbytes:g} GB",
                key="workload.model_parameters_billion",
                value=f"{model.parameters / BILLION:g}",
                remedy="Train a smaller model, use more GPUs, or write the parallel plan you use.",
            )
        )
    most = rule["most_batch_growth"] * model.batch_sequences
    grown = [filled(model, p).batch_sequences for p in found]
    allowed = max(most, min(grown))
    return tuple(p for p, batch in zip(found, grown, strict=True) if batch <= allowed)


def _usual(model: Model, gpus: int, gpus_per_node: int) -> Iterator[Plan]:
    """Tensor, pipeline and sharded plans whose ranks divide the GPUs, without recomputing activations."""
    rule = rules()
    for tp in _tensor_ranks(gpus, gpus_per_node):
        for pp in (p for p in rule["pipeline_stages"] if gpus % (tp * p) == 0 and p <= model.layers):
            dp = gpus // (tp * pp)
            ep = _expert_ranks(model, dp, rule["most_expert_ranks"])
            interleave = rule["interleave"] if pp > 1 and model.layers >= pp * rule["interleave"] else 1
            for shard in (1, *(s for s in rule["shard_ranks"] if pp == 1 and s <= dp and dp % s == 0)):
                yield Plan(tp, pp, dp, ep, 1, interleave, shard)


def _fully_sharded(model: Model, gpus: int, gpus_per_node: int) -> Iterator[Plan]:
    """Plans in which all replicas share each weight."""
    for tp in _tensor_ranks(gpus, gpus_per_node):
        dp = gpus // tp
        yield Plan(tp, 1, dp, _expert_ranks(model, dp, rules()["most_expert_ranks"]), 1, 1, dp)


def _tensor_ranks(gpus: int, gpus_per_node: int) -> tuple[int, ...]:
    return tuple(t for t in rules()["tensor_ranks"] if t <= gpus_per_node and gpus % t == 0)


def _that_fit(model: Model, plans: Iterable[Plan], room_bytes: float) -> list[Plan]:
    """The plans that find room on a GPU, their activations recomputed only where that makes them fit."""
    tried = ((plan, replace(plan, recompute=1.0)) for plan in plans)
    fitting = (next((p for p in pair if bytes_per_gpu(model, p) <= room_bytes), None) for pair in tried)
    return [plan for plan in fitting if plan is not None]


def bytes_per_gpu(model: Model, plan: Plan) -> float:
    """Weights, gradients, optimiser states and the activations of the micro-batches in flight, on one GPU."""
    rule = rules()
    dense = model.dense_parameters / (plan.tp * plan.pp)
    experts = model.expert_parameters / (plan.tp * plan.pp * plan.ep)
    states = rule["resident_bytes_per_parameter"] * (dense / plan.shard + experts / max(1, plan.shard // plan.ep))
    states += rule["optimiser_bytes_per_parameter"] * (dense / plan.dp + experts / max(1, plan.dp // plan.ep))
    width = rule["microbatch_sequences"] * model.sequence_tokens * model.hidden / (plan.tp * plan.cp)
    layer = rule["activation_bytes_per_width"] * width
    kept = model.layers * rule["activation_bytes"] * width + layer if plan.recompute else model.layers * layer
    return float(states + kept)


def weights_fit(model: Model, *, gpus: int, memory_gbytes: float, pretraining: bool) -> bool:
    """Whether the weights alone, in the fewest bits anybody uses, find room in the memory of all the GPUs."""
    least = rules()["least_weight_bytes"]["pretraining" if pretraining else "other"]
    return bool(model.parameters * least <= memory_gbytes * BILLION * gpus)


def nearest_plan(model: Model, *, gpus: int, gpus_per_node: int) -> Plan:
    """Where no plan fits as `candidate_plans` counts: the one that needs least memory, what is over kept off the GPUs."""
    plans = [*_usual(model, gpus, gpus_per_node), *_fully_sharded(model, gpus, gpus_per_node)]
    return min((replace(p, recompute=1.0) for p in plans), key=lambda p: bytes_per_gpu(model, p))


def given_plan(
    *, gpus: int, tp: int, pp: int, ep: int = 1, cp: int = 1, interleave: int = 1, recompute: float = 0.0
) -> Plan:
    """A plan as given, its replicas scaled to `gpus` (a plan is written for the first stage of a trajectory).

    Without tensor, pipeline and context parallelism the weights are sharded over all replicas.

    `InputError` if the ranks of one replica do not divide the GPUs.
    """
    replica = tp * pp * cp
    if replica < 1 or gpus % replica:
        raise InputError(
            Problem(
                f"does not divide {gpus} GPUs",
                key="parallelism",
                value=f"tp {tp} x pp {pp} x cp {cp} = {replica}",
                remedy="Choose tp, pp and cp whose product divides the GPUs, or write `parallelism: choose`.",
            )
        )
    replicas = gpus // replica
    experts = math.gcd(ep, replicas) if ep > 1 else 1
    return Plan(tp, pp, replicas, experts, cp, interleave, replicas if replica == 1 else 1, recompute)


def microbatches(model: Model, plan: Plan) -> float:
    """Micro-batches of one replica in a step: the batch over the replicas, at least one."""
    return float(max(model.batch_sequences / (plan.dp * rules()["microbatch_sequences"]), 1.0))


def filled(model: Model, plan: Plan) -> Model:
    """The model with its batch raised, where needed, until every replica has enough micro-batches for its pipeline."""
    rule = rules()
    each = rule["microbatches_per_stage"] * plan.pp if plan.pp > 1 else 1
    least = each * plan.dp * rule["microbatch_sequences"]
    return model if model.batch_sequences >= least else replace(model, batch_sequences=float(least))


def _expert_ranks(model: Model, dp: int, most: int) -> int:
    if model.experts <= 1:
        return 1
    return _power_of_two_within(most, math.gcd(model.experts, dp))


def _power_of_two_within(most: int, multiple: int) -> int:
    """The largest power of two up to `most` that divides `multiple`."""
    found = 1
    while 2 * found <= most and multiple % (2 * found) == 0:
        found *= 2
    return found


def memory_gbytes(gpu: str) -> float:
    """Memory of a GPU of that class, GB."""
    return float(_gpu(gpu)["memory_gbytes"])


def memory_gbytes_per_s(gpu: str) -> float:
    """Memory bandwidth of a GPU of that class, GB/s."""
    return float(_gpu(gpu)["memory_gbytes_per_s"])


def peak_flops(gpu: str) -> float:
    """Dense BF16 peak of a GPU of that class, FLOP/s."""
    return float(_gpu(gpu)["peak_tflops"]) * 1e12


def efficiency_id(gpu: str) -> str:
    """Evidence id of the kernels' efficiency on a GPU of that class."""
    return str(_gpu(gpu)["efficiency"])


def _gpu(name: str) -> Mapping[str, Any]:
    table = read_yaml("training_presets")["gpus"]
    if name not in table:
        raise InputError(Problem("is no GPU class", key="gpu", value=name, remedy=f"One of: {', '.join(table)}."))
    entry: Mapping[str, Any] = table[name]
    return entry


def over_draws(value: Any) -> Any:
    """A scalar as it is; draws (n,) as (n, 1), the shape the collective functions take."""
    array = np.asanyarray(value, dtype=float)
    return array if array.ndim == 0 else array[..., np.newaxis]
