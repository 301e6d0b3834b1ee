"""The plan that spreads a model over GPUs, the bytes it keeps there, and what is known of models, GPUs and the rules of plans.

Frozen values without a figure of their own: `fabricreport.books.constants` reads them, a case or a test hands them over.

A plan says how many ranks share a layer (tensor, tp), a sequence (context, cp), a stack of layers (pipeline, pp),
the experts (ep, taken from the replicas) and how many replicas there are (data, dp): tp x cp x pp x dp = GPUs.
Tensor ranks sit inside a node first, so their traffic stays on NVLink; replicas and stages talk over the fabric.
Sources: Shoeybi et al. 2019 and Narayanan et al. SC21 (tensor and pipeline), Rajbhandari et al. SC20 (sharding).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from fabricreport.base.errors import InputError, Problem
from fabricreport.models.collectives.parameters import Catalogue

BILLION = 1e9


@dataclass(frozen=True)
class Model:
    """A transformer: sizes in parameters and tokens. A dense model has one expert and `active` equals `parameters`.

    `batch_sequences`: of a preset what its publication names, 0 where it names none. `trained_share`: of the parameters
    that gradients are made of, less than 1 where adapters alone are trained.
    """

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
    most_nodes_per_token: int = 0
    expert_share: float = 0.0
    trained_share: float = 1.0

    def copies_per_token(self, domains: int) -> float:
        """Copies of a token that are sent to experts spread over so many domains of NVLink.

        Inside one domain one for each rank it is routed to; over the fabric one for each domain, which hands it on (DeepEP):
        as many domains as that number of ranks drawn at random sit in, and no more than the routing's own limit.
        """
        ranks = min(self.experts_per_token, self.most_ranks_per_token or self.experts_per_token)
        if domains < 2:
            return float(ranks)
        met = domains * (1.0 - (1.0 - 1.0 / domains) ** ranks)
        return min(met, float(self.most_nodes_per_token or domains))

    @property
    def flops_per_token(self) -> float:
        """Forward and backward work of one token: 6 per active parameter, and causal attention on top.

        A third of it is for the gradients of the weights, which frozen ones have none of (LoRA without Regret, 2025).
        """
        return 2.0 * (2.0 + self.trained_share) * self.active * (1.0 + self.sequence_tokens / (12.0 * self.hidden))

    @property
    def dense_parameters(self) -> float:
        """Parameters outside the experts."""
        return self.parameters * (1.0 - self.expert_share)

    @property
    def expert_parameters(self) -> float:
        """Parameters inside the experts."""
        return self.parameters * self.expert_share


@dataclass(frozen=True)
class Overlap:
    """Share of compute behind which each kind of traffic can run, from 0 to 1; numbers or draws (n,).

    `interference` is the share of hidden traffic's time by which it slows the kernels beside it. `paired` is `alltoall`'s
    where the exchange of one micro-batch runs beside the compute of another.
    """

    data: Any
    pipeline: Any
    alltoall: Any
    interference: Any = 0.0
    paired: Any = 0.0


@dataclass(frozen=True)
class Accelerator:
    """A GPU class as the kernels see it: memory in GB, its bandwidth, the dense BF16 peak.

    `efficiency`: evidence id of the share of the peak that kernels reach.
    """

    peak_tflops: float
    memory_gbytes: float
    memory_gbytes_per_s: float
    efficiency: str

    @property
    def peak_flops(self) -> float:
        """Dense BF16 peak, FLOP/s."""
        return self.peak_tflops * 1e12


@dataclass(frozen=True)
class Rules:
    """The choices that a plan and a step rest on.

    Memory: shares of a GPU's that may be filled, and bytes per parameter or unit of width of what fills it. Ranks:
    those tried. `overlap`, `kernel_efficiency`: what plans are compared at. `interleave`: model chunks a stage that are tried.
    """

    memory_share: float
    resident_bytes_per_parameter: float
    optimiser_bytes_per_parameter: float
    activation_bytes_per_width: float
    least_weight_bytes: Mapping[str, float]
    tensor_ranks: Sequence[int]
    most_pipeline_stages: int
    shard_ranks: Sequence[int]
    parameter_bytes: float
    gradient_bytes: float
    activation_bytes: float
    most_expert_ranks: int
    overlap: Overlap
    kernel_efficiency: float
    interleave: Sequence[int]
    microbatches_per_stage: int
    microbatch_sequences: int
    memory_for_weights_share: float
    halo_neighbours: float
    small_allreduce_bytes: float


@dataclass(frozen=True)
class BatchLaw:
    """Tokens of a batch against the GPUs of the run: `tokens` at one GPU, times GPUs to the power `exponent`."""

    tokens: float
    exponent: float

    def at(self, gpus: float) -> float:
        """Tokens of a batch on so many GPUs."""
        return float(self.tokens * gpus**self.exponent)


def batch_law(gpus: Sequence[float], tokens: Sequence[float]) -> BatchLaw:
    """The straight line in the logarithms with the least squared error on published batches."""
    exponent, level = np.polyfit(np.log(gpus), np.log(tokens), 1)
    return BatchLaw(float(np.exp(level)), float(exponent))


@dataclass(frozen=True)
class Tuning:
    """Fine-tuning as published runs do it: tokens of a batch by method, and the share of parameters that adapters add."""

    batch_tokens: Mapping[str, float]
    adapter_share: float


@dataclass(frozen=True, eq=False)
class Practice:
    """All of it, with what the collective model knows, by which a step's traffic is timed. `batches`: of published runs.

    Two are equal if they are one object, so that what is made of one can be a key.
    """

    presets: Mapping[str, Model]
    gpus: Mapping[str, Accelerator]
    rules: Rules
    batches: BatchLaw
    tuning: Tuning
    collectives: Catalogue

    def preset(self, name: str) -> Model:
        """A preset model by name; `InputError` with the known names otherwise."""
        if name not in self.presets:
            remedy = f"One of: {', '.join(self.presets)}."
            raise InputError(Problem("is no preset", key="preset", value=name, remedy=remedy))
        return self.presets[name]

    def gpu(self, name: str) -> Accelerator:
        """The GPU class of that name; `InputError` with the known names otherwise."""
        if name not in self.gpus:
            remedy = f"One of: {', '.join(self.gpus)}."
            raise InputError(Problem("is no GPU class", key="gpu", value=name, remedy=remedy))
        return self.gpus[name]


@dataclass(frozen=True)
class Plan:
    """A parallel plan; `interleave` model chunks a stage.

    `shard` ranks share each weight and gather it layer by layer; 1 keeps weights on every replica and shards only
    the optimiser. `recompute` is the share of the forward pass worked again to save memory. `paired`: the exchange between
    experts of one micro-batch runs beside the compute of another.
    """

    tp: int
    pp: int
    dp: int
    ep: int = 1
    cp: int = 1
    interleave: int = 1
    shard: int = 1
    recompute: float = 0.0
    paired: bool = False

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
            f"expert {self.ep}" + (" beside another micro-batch" if self.paired else "") if self.ep > 1 else "",
            f"data {self.dp}" + (f" with weights sharded over {self.shard}" if self.shard > 1 else ""),
            f"{self.recompute:.0%} of activations recomputed" if self.recompute else "",
        ]
        return ", ".join(p for p in parts if p)


def custom(practice: Practice, kind: str, parameters_billion: float) -> Model:
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
    presets = [m for m in practice.presets.values() if m.kind == kind]
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


def candidate_plans(
    model: Model, rule: Rules, *, gpus: int, gpus_per_node: int, memory_gbytes: float
) -> tuple[Plan, ...]:
    """Plans that fit in a GPU's memory; where only recomputing activations makes one fit, as few layers as do recompute.

    Where none of the usual plans fits, weights are sharded over all replicas, which needs no particular number of nodes.
    Plans that need a larger batch than the model's are left out, if others remain.
    Tensor ranks stay inside a node. Experts are spread over the largest power of two of neighbouring ranks that divides
    them, or over no more than a node holds (MegaScale-MoE), and replicas beyond a multiple of it are left out.
    `InputError` if nothing fits.
    """
    room = rule.memory_share * memory_gbytes * BILLION
    found = _that_fit(model, rule, _usual(model, rule, gpus, gpus_per_node), room)
    found = found or _that_fit(model, rule, _fully_sharded(model, rule, gpus, gpus_per_node), room)
    if not found:
        raise InputError(
            Problem(
                f"does not fit: no plan holds it on {gpus} GPUs of {memory_gbytes:g} GB",
                key="workload.model_parameters_billion",
                value=f"{model.parameters / BILLION:g}",
                remedy="Train a smaller model, use more GPUs, or write the parallel plan you use.",
            )
        )
    grown = [filled(model, p, rule).batch_sequences for p in found]
    allowed = max(model.batch_sequences, min(grown))
    return tuple(p for p, batch in zip(found, grown, strict=True) if batch <= allowed)


def _usual(model: Model, rule: Rules, gpus: int, gpus_per_node: int) -> Iterator[Plan]:
    """Tensor, pipeline and sharded plans whose ranks divide the GPUs, without recomputing activations."""
    for tp in _tensor_ranks(rule, gpus, gpus_per_node):
        for pp in (p for p in range(1, min(rule.most_pipeline_stages, model.layers) + 1) if gpus % (tp * p) == 0):
            for ep in _expert_ranks(model, gpus // (tp * pp), rule, gpus_per_node // tp):
                dp = gpus // (tp * pp) // ep * ep
                for interleave in chunks(model, rule, pp):
                    for shard in _shards(rule, dp) if pp == 1 else (1,):
                        yield from _schedules(Plan(tp, pp, dp, ep, 1, interleave, shard))


def _schedules(plan: Plan) -> tuple[Plan, ...]:
    """The plan, and where a stack can pair its micro-batches the plan so: in place of the other where it takes no memory."""
    if not can_pair(plan):
        return (plan,)
    return (replace(plan, paired=True),) if plan.pp > 1 else (plan, replace(plan, paired=True))


def can_pair(plan: Plan) -> bool:
    """Whether frameworks run the exchange of one micro-batch beside the compute of another (DualPipe, Megatron Core).

    It takes several chunks a stage where there is a pipeline, and activations that are not all worked again.
    """
    return plan.ep > 1 and (plan.pp == 1 or plan.interleave > 1) and plan.recompute < 1.0


def _shards(rule: Rules, replicas: int) -> tuple[int, ...]:
    """Ranks that may share each weight: 1, and what divides the replicas nearest to the rule's, within a factor of two."""
    divisors = [d for d in range(1, replicas + 1) if replicas % d == 0]
    near = {s: min(divisors, key=lambda d: abs(math.log(d / s))) for s in rule.shard_ranks}
    return tuple(dict.fromkeys((1, *(d for s, d in near.items() if s < 2 * d and d < 2 * s))))


def chunks(model: Model, rule: Rules, stages: int) -> tuple[int, ...]:
    """Model chunks a pipeline stage may hold, ascending: the rule's that the layers allow, one without a pipeline."""
    return tuple(v for v in rule.interleave if v == 1 or (stages > 1 and stages * v <= model.layers))


def _fully_sharded(model: Model, rule: Rules, gpus: int, gpus_per_node: int) -> Iterator[Plan]:
    """Plans in which all replicas share each weight."""
    for tp in _tensor_ranks(rule, gpus, gpus_per_node):
        for ep in _expert_ranks(model, gpus // tp, rule, gpus_per_node // tp):
            dp = gpus // tp // ep * ep
            yield from _schedules(Plan(tp, 1, dp, ep, 1, 1, dp))


def _tensor_ranks(rule: Rules, gpus: int, gpus_per_node: int) -> tuple[int, ...]:
    return tuple(t for t in rule.tensor_ranks if t <= gpus_per_node and gpus % t == 0)


def _that_fit(model: Model, rule: Rules, plans: Iterable[Plan], room_bytes: float) -> list[Plan]:
    """The plans that find room on a GPU, their activations recomputed only where that makes them fit."""
    fitting = (_recomputing(model, rule, plan, room_bytes) for plan in plans)
    return [plan for plan in fitting if plan is not None]


def _recomputing(model: Model, rule: Rules, plan: Plan, room_bytes: float) -> Plan | None:
    """The plan with as few layers recomputed as make it fit; None where all do not."""
    none, all_layers = (bytes_per_gpu(model, replace(plan, recompute=r), rule) for r in (0.0, 1.0))
    if none <= room_bytes:
        return plan
    if all_layers > room_bytes:
        return None
    one = bytes_per_gpu(model, replace(plan, recompute=1.0 / model.layers), rule)
    saved = (one - all_layers) / max(model.layers - 1, 1)
    layers = 1 + math.ceil(max(one - room_bytes, 0.0) / saved) if saved > 0.0 else model.layers
    return replace(plan, recompute=min(layers, model.layers) / model.layers)


def bytes_per_gpu(model: Model, plan: Plan, rule: Rules) -> float:
    """Weights, gradients, optimiser states and the activations of the micro-batches in flight, on one GPU."""
    dense = model.dense_parameters / (plan.tp * plan.pp)
    experts = model.expert_parameters / (plan.tp * plan.pp * plan.ep)
    trained = model.trained_share
    resident = rule.parameter_bytes + (rule.resident_bytes_per_parameter - rule.parameter_bytes) * trained
    states = resident * (dense / plan.shard + experts / max(1, plan.shard // plan.ep))
    states += rule.optimiser_bytes_per_parameter * trained * (dense / plan.dp + experts / max(1, plan.dp // plan.ep))
    width = rule.microbatch_sequences * model.sequence_tokens * model.hidden / (plan.tp * plan.cp)
    layer = rule.activation_bytes_per_width * width
    again = plan.recompute * model.layers
    flight = 2.0 if plan.paired and plan.pp == 1 else 1.0  # a pipeline holds several micro-batches anyway
    kept = again * rule.activation_bytes * width + (model.layers - again) * layer + (layer if plan.recompute else 0.0)
    return float(states + flight * kept)


def weights_fit(model: Model, rule: Rules, *, gpus: int, memory_gbytes: float, pretraining: bool) -> bool:
    """Whether the weights alone, in the fewest bits anybody uses, find room in the memory of all the GPUs."""
    least = rule.least_weight_bytes["pretraining" if pretraining else "other"]
    return bool(model.parameters * least <= memory_gbytes * BILLION * gpus)


def nearest_plan(model: Model, rule: Rules, *, gpus: int, gpus_per_node: int) -> Plan:
    """Where no plan fits as `candidate_plans` counts: the one that needs least memory, what is over kept off the GPUs."""
    plans = [*_usual(model, rule, gpus, gpus_per_node), *_fully_sharded(model, rule, gpus, gpus_per_node)]
    return min((replace(p, recompute=1.0) for p in plans), key=lambda p: bytes_per_gpu(model, p, rule))


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
    plan = Plan(tp, pp, replicas, experts, cp, interleave, replicas if replica == 1 else 1, recompute)
    return replace(plan, paired=can_pair(plan))


def at_scale(model: Model, law: BatchLaw, gpus: int) -> Model:
    """The model with the batch that published runs have on so many GPUs, and no smaller one than its own publication's."""
    return replace(model, batch_sequences=max(model.batch_sequences, law.at(gpus) / model.sequence_tokens))


def tuned(model: Model, tuning: Tuning, method: str) -> Model:
    """The model as it is fine-tuned: with the batch of published runs of that method, and adapters alone trained by LoRA."""
    share = tuning.adapter_share if method == "lora" else 1.0
    return replace(model, batch_sequences=tuning.batch_tokens[method] / model.sequence_tokens, trained_share=share)


def microbatches(model: Model, plan: Plan, rule: Rules) -> float:
    """Micro-batches of one replica in a step: the batch over the replicas, at least one."""
    return float(max(model.batch_sequences / (plan.dp * rule.microbatch_sequences), 1.0))


def filled(model: Model, plan: Plan, rule: Rules) -> Model:
    """The model with its batch raised, where needed, until every replica has enough micro-batches for its pipeline."""
    each = rule.microbatches_per_stage * plan.pp if plan.pp > 1 else 1
    least = each * plan.dp * rule.microbatch_sequences
    return model if model.batch_sequences >= least else replace(model, batch_sequences=float(least))


def _expert_ranks(model: Model, replicas: int, rule: Rules, in_node: int) -> tuple[int, ...]:
    """Ranks that the experts may be spread over: as many as the rule has, and as many of them as sit in a node."""
    if model.experts <= 1:
        return (1,)
    most = (rule.most_expert_ranks, max(in_node, 1))
    return tuple({_power_of_two_within(min(m, replicas), model.experts): None for m in most})


def _power_of_two_within(most: int, multiple: int) -> int:
    """The largest power of two up to `most` that divides `multiple`."""
    found = 1
    while 2 * found <= most and multiple % (2 * found) == 0:
        found *= 2
    return found


def over_draws(value: Any) -> Any:
    """A scalar as it is; draws (n,) as (n, 1), the shape the collective functions take."""
    array = np.asanyarray(value, dtype=float)
    return array if array.ndim == 0 else array[..., np.newaxis]
