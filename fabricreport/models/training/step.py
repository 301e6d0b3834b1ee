"""Time of one training step: kernels, NVLink, traffic that nothing hides, links between sites, and the pipeline's bubble.

    step   = work x (1 + bubble) + exposed(data) + exposed(sites) + optimiser
    work   = compute + inside nodes + exposed(pipeline) + exposed(experts)
    bubble = (pp - 1) / (interleave x micro-batches)
    exposed(kind) = ends + max(0, rest - overlap(kind) x compute) + interference x hidden

`ends` is what no schedule hides (the first gathered and the last reduced bucket), `rest` what is left, `hidden` the
part of it that compute covers; it still slows the kernels it shares the GPU with, by `interference`. Traffic that stays in an NVLink
domain counts as `inside nodes`: no fabric changes it. Uncertain inputs are numbers or draws of shape (n,), traced
or not; every time then has that shape. NCCL runs AllGather and ReduceScatter on rings across nodes and
AllReduce on trees: that choice, not the fabric alone, sets what an extra microsecond per step costs.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from fabricreport.models.collectives import timing as nccl
from fabricreport.models.collectives.parameters import LARGEST_HOST, Job, job
from fabricreport.models.collectives.timing import Calibration, CollectiveTime
from fabricreport.models.training import parallel
from fabricreport.models.training.parallel import Accelerator, Model, Overlap, Plan, Practice, Rules, over_draws

_BITS_PER_BYTE = 8.0
_GIGA = 1e9
_US = 1e-6


@dataclass(frozen=True)
class SiteLinks:
    """`sites` that a job spans, each linked to the others at `gbits_per_s` each way; `delay_us` is of one way."""

    sites: int
    gbits_per_s: float
    delay_us: Any

    def allreduce_s(self, size_bytes: float) -> Any:
        """Seconds to sum `size_bytes`, which every site holds summed over its own GPUs, over the sites.

        A ring of sites, as NCCL rings are (Patarasuk and Yuan 2009): in 2 (n - 1) turns each site passes on an n-th. What
        gathers the parts within a site is in the step already. Nothing for one site.
        """
        turns = 2 * (self.sites - 1)
        sent_s = turns / self.sites * size_bytes * _BITS_PER_BYTE / (self.gbits_per_s * _GIGA)
        return sent_s + turns * self.delay_us * _US


US = 1e-6
_OUTSIDE_WORK = ("data", "sites")
"""Traffic at the end of a step, which lengthens no bubble of the pipeline."""


@dataclass(frozen=True)
class Network:
    """The GPUs and the fabric between them; `extra_step_us`, `bandwidth_share` and the calibration may be draws (n,).

    `slowdown` multiplies the transfer time of traffic between nodes (oversubscription): 1 on a non-blocking fabric.
    `reduction` divides that of an AllReduce between nodes: 1 where the switches do not add up, or nobody has seen a gain.
    `practice`: the classes and rules by which its traffic is timed and its plans are made.
    """

    practice: Practice
    gpu: str
    gpus_per_node: int
    fabric: str
    links_per_gpu: float | None = None
    extra_step_us: Any = None
    bandwidth_share: Any = None
    calibration: Calibration | None = None
    slowdown: Any = 1.0
    reduction: Any = 1.0

    def job(self, ranks: int, *, gpus_per_node: int | None = None, small_group: bool = False) -> Job:
        """`ranks` on these GPUs, or in another size of domain, for the collective model; draws as (n, 1)."""
        return job(
            self.practice.collectives,
            gpus=ranks,
            gpus_per_node=gpus_per_node or self.gpus_per_node,
            gpu=self.gpu,
            fabric=self.fabric,
            links_per_gpu=self.links_per_gpu,
            extra_step_us=None if self.extra_step_us is None else over_draws(self.extra_step_us),
            bandwidth_share=None if self.bandwidth_share is None else over_draws(self.bandwidth_share),
            small_group=small_group,
        )

    @property
    def exact(self) -> bool:
        """Whether nothing of the network is drawn, so that it can be told apart by its values."""
        drawn = (self.extra_step_us, self.bandwidth_share, self.slowdown, self.reduction)
        return self.calibration is None and not any(isinstance(value, np.ndarray) for value in drawn)

    @property
    def rules(self) -> Rules:
        """The rules of plans and steps."""
        return self.practice.rules

    @property
    def accelerator(self) -> Accelerator:
        """The GPU class as the kernels see it."""
        return self.practice.gpu(self.gpu)

    @property
    def rack_gpus(self) -> int:
        """GPUs that share NVLink where racks fuse nodes into one domain."""
        return self.practice.collectives.gpu(self.gpu).domain_gpus

    @property
    def domain_gpus(self) -> int:
        """GPUs that share NVLink: a node, or a rack where racks fuse small nodes."""
        return max(self.gpus_per_node, self.rack_gpus if self.gpus_per_node <= LARGEST_HOST else 0)

    @property
    def calibration_by_draw(self) -> Calibration | None:
        """The calibration for the collective model, draws as (n, 1)."""
        if self.calibration is None:
            return None
        return Calibration(over_draws(self.calibration.latency_factor), over_draws(self.calibration.bandwidth_factor))


@dataclass(frozen=True)
class Traffic:
    """One kind of traffic in a step: `count` collectives of `size_bytes` over `ranks`, and what of it is exposed.

    `domains`: scale-up domains (NVLink's) that the ranks sit in. `on_fabric` is false when all its ranks share an NVLink domain. Times in seconds per step, scalar or (n,).
    """

    kind: str
    collective: str
    size_bytes: float
    count: Any
    ranks: int
    domains: int
    on_fabric: bool
    time_s: Any
    exposed_s: Any
    algorithm: str
    protocol: str


@dataclass(frozen=True)
class StepTime:
    """One step of any workload, in seconds (scalar or (n,)); the parts add up to `step_time_s`.

    `exposed_communication_s` is fabric traffic only; `in_node_s` is NVLink's. `exposed_share` is the exposed
    traffic over the step: the share of GPU time it wastes.
    """

    step_time_s: Any
    compute_s: Any
    in_node_s: Any
    exposed_communication_s: Any
    bubble_s: Any
    other_s: Any
    traffic: tuple[Traffic, ...]

    @property
    def exposed_share(self) -> Any:
        """Exposed fabric traffic as a share of the step."""
        return self.exposed_communication_s / self.step_time_s

    @property
    def pace_s(self) -> Any:
        """Seconds for one unit of work: what steps of different plans are compared by."""
        return self.step_time_s

    @property
    def free_pace_s(self) -> Any:
        """Seconds for the same unit of work, had the step no traffic on the fabric."""
        return (self.step_time_s - self.exposed_communication_s) * (self.pace_s / self.step_time_s)

    def lost_share(self, beside: StepTime) -> Any:
        """Share of GPU time lost to the network beside a step under a plan that all options could take, had it no traffic.

        Under that plan itself this is `exposed_share`.
        """
        return self.exposed_share if beside is self else np.maximum(1.0 - beside.free_pace_s / self.pace_s, 0.0)


@dataclass(frozen=True)
class TrainingStep(StepTime):
    """A training step. `other_s` is the optimiser's; MFU counts model FLOPs over the peak of all GPUs."""

    mfu: Any
    tokens_per_s: Any
    batch_tokens: float
    microbatches: float
    plan: Plan

    @property
    def pace_s(self) -> Any:
        """Seconds for a token."""
        return self.step_time_s / self.batch_tokens


def training_step(
    model: Model,
    plan: Plan,
    network: Network,
    *,
    kernel_efficiency: Any,
    overlap: Overlap,
    optimiser_share: Any = 0.0,
    links: SiteLinks | None = None,
) -> TrainingStep:
    """The step of `model` under `plan` on `network`.

    `kernel_efficiency` is the share of peak the kernels reach on their own; `optimiser_share` the share of a step on
    a perfect network that neither computes layers nor communicates; `links` join the sites that the job spans. Exposed traffic inside the pipeline lengthens its
    bubble too, which counts as exposed: what is left is the same on every network. Raises `InputError` for ranks that cannot be.
    """
    done = layers(model, plan, network, kernel_efficiency, overlap)
    count, compute, stretch = done.count, done.compute, done.stretch
    data = _data(model, plan, network, count, compute, overlap)
    used = (*done.used, *data, *_sites(model, plan, network, compute, overlap, links))
    in_node, in_step = _inside(used)
    work = compute + in_node
    at_end = _total(t.exposed_s for t in used if t.on_fabric and t.kind in _OUTSIDE_WORK)
    exposed = in_step * (1.0 + stretch) + at_end
    free = work * (1.0 + stretch) / (1.0 - np.asanyarray(optimiser_share))
    return TrainingStep(
        step_time_s=free + exposed,
        compute_s=compute,
        in_node_s=in_node,
        exposed_communication_s=exposed,
        bubble_s=work * stretch,
        other_s=free - work * (1.0 + stretch),
        traffic=used,
        mfu=done.flops / (done.peak * (free + exposed)),
        tokens_per_s=done.tokens / (free + exposed),
        batch_tokens=float(done.tokens),
        microbatches=count,
        plan=plan,
    )


@dataclass(frozen=True)
class Layers:
    """What the layers of a step do and send: `count` micro-batches in all, on `peak` FLOPS; a bubble lengthens it by `stretch`."""

    count: float
    tokens: float
    flops: float
    peak: float
    compute: Any
    stretch: float
    used: tuple[Traffic, ...]

    @property
    def most_per_s(self) -> Any:
        """Tokens a second if nothing is left to do or to send when the layers are done: with more traffic it is less."""
        in_node, in_step = _inside(self.used)
        return self.tokens / ((self.compute + in_node) * (1.0 + self.stretch) + in_step * (1.0 + self.stretch))


def layers(model: Model, plan: Plan, network: Network, kernel_efficiency: Any, overlap: Overlap) -> Layers:
    """The layers of a step, before gradients are summed."""
    rule = network.rules
    count = parallel.microbatches(model, plan, rule)
    tokens = count * plan.dp * rule.microbatch_sequences * model.sequence_tokens
    flops = tokens * model.flops_per_token
    peak = plan.gpus * network.accelerator.peak_flops
    compute = flops * (1.0 + plan.recompute / 3.0) / (peak * np.asanyarray(kernel_efficiency))
    used = (
        *_tensor(model, plan, network, count),
        *_pipeline(model, plan, network, count, compute, overlap),
        *_experts(model, plan, network, count, compute, overlap),
    )
    return Layers(count, tokens, flops, peak, compute, (plan.pp - 1.0) / (plan.interleave * count), used)


def _inside(used: tuple[Traffic, ...]) -> tuple[Any, Any]:
    """Time of the traffic that stays inside NVLink domains, and what is exposed of the layers' on the fabric."""
    in_step = (t.exposed_s for t in used if t.on_fabric and t.kind not in _OUTSIDE_WORK)
    return _total(t.time_s for t in used if not t.on_fabric), _total(in_step)


def _data(
    model: Model, plan: Plan, network: Network, microbatches: float, compute: Any, overlap: Overlap
) -> list[Traffic]:
    """Parameters gathered and gradients reduced, in one bucket a layer; experts among the ranks that hold the same.

    Weights kept on every replica are gathered once and reduced once a step. Sharded ones are gathered twice and
    reduced in every micro-batch within the shard's ranks; the gradients of a shard are then summed over its copies.
    What is frozen has no gradient, and is gathered only where it is sharded.
    """
    rule = network.rules
    buckets = max(1, model.layers // plan.pp)
    held = model.dense_parameters / (plan.tp * plan.pp) / buckets
    experts = model.expert_parameters / (plan.tp * plan.pp * plan.ep) / buckets
    groups = [(held, plan.dp * plan.cp, plan.shard, plan.tp)]
    groups.append((experts, plan.dp * plan.cp // plan.ep, max(1, plan.shard // plan.ep), plan.tp * plan.ep))
    found = []
    for size, ranks, shard, stride in (g for g in groups if g[0] > 0.0 and g[1] > 1):
        within, rounds = (ranks, 1.0) if shard == 1 else (min(shard, ranks), max(1.0, microbatches))
        gathers = rounds if shard == 1 else 2.0 * rounds
        summed = size * model.trained_share * rule.gradient_bytes
        sent = size * (model.trained_share if shard == 1 else 1.0) * rule.parameter_bytes
        found.append((timed("all-gather", nccl.allgather, network, sent, within, stride), buckets * gathers))
        found.append((timed("reduce-scatter", nccl.reduce_scatter, network, summed, within, stride), buckets * rounds))
        if ranks > within:
            copies, apart = ranks // within, stride * within
            one = timed("all-reduce", nccl.allreduce, network, summed / within, copies, apart)
            found.append((one, buckets))
    total = _total(one.time_s * n for one, n in found if one.on_fabric)
    ends = _total(one.time_s for one, _ in found if one.on_fabric)
    crossing = any(one.on_fabric for one, _ in found)
    share = _left(total, compute, overlap.data, overlap.interference, ends) if crossing else 1.0
    return [counted(one, "data", n, share if one.on_fabric else 1.0) for one, n in found]


def _sites(
    model: Model, plan: Plan, network: Network, compute: Any, overlap: Overlap, links: SiteLinks | None
) -> list[Traffic]:
    """All gradients summed over the sites once a step, in one bucket a layer of each stage, on top of what each site does.

    Replicas are whole within a site, so nothing else crosses.
    """
    if links is None:
        return []
    buckets = max(1, model.layers // plan.pp)
    size = model.parameters * network.rules.gradient_bytes / buckets
    one = crossing(links, size)
    share = _left(one.time_s * buckets, compute, overlap.data, overlap.interference, one.time_s)
    return [counted(one, "sites", buckets, share)]


def _tensor(model: Model, plan: Plan, network: Network, microbatches: float) -> list[Traffic]:
    """Four AllReduces of the activations in every layer and micro-batch; nothing hides them."""
    if plan.tp < 2:
        return []
    one = timed("all-reduce", nccl.allreduce, network, _activation_bytes(model, plan, network.rules), plan.tp, 1)
    return [counted(one, "tensor", 4.0 * model.layers / plan.pp * microbatches, 1.0)]


def _pipeline(
    model: Model, plan: Plan, network: Network, microbatches: float, compute: Any, overlap: Overlap
) -> list[Traffic]:
    """Activations forward and gradients backward between stages, each rank its share of the tensor group's."""
    if plan.pp < 2:
        return []
    size = _activation_bytes(model, plan, network.rules) / plan.tp
    one = timed("send-recv", nccl.sendrecv, network, size, plan.pp, plan.tp * plan.dp * plan.cp)
    count = 2.0 * microbatches * plan.interleave
    return [counted(one, "pipeline", count, _left(one.time_s * count, compute, overlap.pipeline, overlap.interference))]


def _experts(
    model: Model, plan: Plan, network: Network, microbatches: float, compute: Any, overlap: Overlap
) -> list[Traffic]:
    """Tokens to their experts and back, forward and backward: four AlltoAlls a layer and micro-batch.

    Where micro-batches are paired (DeepSeek-V3's DualPipe, Megatron Core) the first passes have no partner yet, as many as
    fill the pipeline; a stack that can pair them need not.
    """
    if plan.ep < 2:
        return []
    domains = plan.ep // _placed(network, plan.ep, plan.tp)[0]
    size = _activation_bytes(model, plan, network.rules) / plan.tp * model.copies_per_token(domains)
    one = timed("all-to-all", nccl.alltoall, network, size, plan.ep, plan.tp)
    count = 4.0 * model.layers / plan.pp * microbatches
    time = one.time_s * count
    left = _left(time, compute, overlap.alltoall, overlap.interference)
    if plan.paired:
        alone = time * min(1.0, (1.0 + (plan.pp - 1.0) / plan.interleave) / microbatches)
        left = np.minimum(left, _left(time, compute, overlap.paired, overlap.interference, alone))
    return [counted(one, "experts", count, left)]


def _activation_bytes(model: Model, plan: Plan, rule: Rules) -> float:
    sequences = rule.microbatch_sequences * model.sequence_tokens / plan.cp
    return float(sequences * model.hidden * rule.activation_bytes)


def _left(time: Any, compute: Any, overlap: Any, interference: Any, ends: Any = 0.0) -> Any:
    """Share of `time` a step pays for: what `overlap` of the compute does not hide, and what the hidden part slows."""
    exposed = ends + np.maximum(time - ends - np.asanyarray(overlap) * compute, 0.0)
    return (exposed + np.asanyarray(interference) * (time - exposed)) / time


def timed(
    name: str,
    function: Callable[..., CollectiveTime],
    network: Network,
    size_bytes: float,
    ranks: int,
    stride: int,
) -> Traffic:
    """One collective over `ranks` that sit `stride` GPUs apart."""
    known = _timed_before if network.exact else _timed_anew
    return known(name, function, network, size_bytes, ranks, stride)


def _timed_anew(
    name: str,
    function: Callable[..., CollectiveTime],
    network: Network,
    size_bytes: float,
    ranks: int,
    stride: int,
) -> Traffic:
    per_node, small_group = _placed(network, ranks, stride)
    where = network.job(ranks, gpus_per_node=per_node, small_group=small_group)
    result = function([size_bytes], where, calibration=network.calibration_by_draw)
    on_fabric = ranks * max(1, stride) > network.domain_gpus
    time = result.time_us[..., 0] * US * (np.asanyarray(network.slowdown) if on_fabric else 1.0)
    if on_fabric and name == "all-reduce":
        time = time / np.asanyarray(network.reduction)
    return Traffic(
        "",
        name,
        size_bytes,
        1.0,
        ranks,
        where.domains if on_fabric else 1,
        on_fabric,
        time,
        time,
        _first(result.algorithm),
        _first(result.protocol),
    )


_timed_before = lru_cache(maxsize=4096)(_timed_anew)
"""On a network without draws: plans and published runs ask for the same collective over and over."""


def _placed(network: Network, ranks: int, stride: int) -> tuple[int, bool]:
    """(Ranks in one NVLink domain, whether they are few of a rack) for a group whose ranks sit `stride` GPUs apart.

    The collective model wants whole domains: the largest divisor of the ranks that fits. A rack that holds few ranks
    of the group is a small node to it, and is given as one.
    """
    most = max(1, min(ranks, network.domain_gpus // max(1, stride)))
    per_domain = next(d for d in range(most, 0, -1) if ranks % d == 0)
    fused = network.rack_gpus > LARGEST_HOST
    return per_domain, fused and per_domain <= LARGEST_HOST


def crossing(links: SiteLinks, size_bytes: float) -> Traffic:
    """One sum of `size_bytes` over the sites of a job."""
    time = links.allreduce_s(size_bytes)
    return Traffic("", "all-reduce", size_bytes, 1.0, links.sites, links.sites, True, time, time, "ring", "simple")


def counted(one: Traffic, kind: str, count: Any, exposed_share: Any) -> Traffic:
    """`count` of that collective in a step, of whose time a share is exposed."""
    time = one.time_s * count
    return Traffic(
        kind,
        one.collective,
        one.size_bytes,
        count,
        one.ranks,
        one.domains,
        one.on_fabric,
        time,
        time * exposed_share,
        one.algorithm,
        one.protocol,
    )


def _first(names: Any) -> str:
    return names if isinstance(names, str) else str(np.asarray(names).reshape(-1)[0])


def _total(parts: Any) -> Any:
    return sum(parts, np.asanyarray(0.0))
