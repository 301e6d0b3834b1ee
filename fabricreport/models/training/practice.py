"""What the training model knows before it meets a client: models to train, GPUs, and the rules of plans and steps.

Frozen values without a figure of their own: `fabricreport.constants` reads them, a case or a test hands them over.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from fabricreport.errors import InputError, Problem
from fabricreport.models.collectives.catalogue import Catalogue

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
