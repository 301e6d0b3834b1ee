"""The structure of NCCL's collectives: what a ring, a tree and an NVLS tree cost with each protocol, and point to point.

Time is a sum of four parts: `launch` (kernel launch and the steps inside an NVLink domain), `network` (steps from
NIC to NIC), `transfer` (bytes over the slowest link) and `fill` (a pipeline filling with its first chunks).
Constants and rules are those of the library's own tuner (the catalogue's `library`); the eight `fitted` parameters are
set from measured tables. RCCL follows the same structure without the NVLS tree.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from fabricreport.base.provenance import made_of, plain
from fabricreport.models.collectives.parameters import Array, Job, Parameters

KIB = 1024.0
BYTES_PER_US = 1000.0  # one GB/s moves a thousand bytes in a microsecond
RING_PROTOCOLS = ("ll", "ll128", "simple")
CANDIDATES = (
    *(("ring", protocol) for protocol in RING_PROTOCOLS),
    *(("tree", protocol) for protocol in RING_PROTOCOLS),
    ("nvlstree", "simple"),
)


@dataclass(frozen=True)
class Parts:
    """Parts of a collective's time in microseconds, each broadcastable to (draws, sizes)."""

    launch_us: Array
    network_us: Array
    transfer_us: Array
    fill_us: Array

    @property
    def total_us(self) -> Array:
        """The whole time."""
        return self.launch_us + self.network_us + self.transfer_us + self.fill_us


def available(job: Job) -> tuple[tuple[str, str], ...]:
    """(algorithm, protocol) pairs the library can run on this job's hardware."""
    return tuple(pair for pair in CANDIDATES if pair[0] != "nvlstree" or has_nvls(job))


def has_nvls(job: Job) -> bool:
    """Whether switches reduce inside the NVLink domain (NVLS), which needs more than one GPU there."""
    return job.gpu.nvls and job.per_domain > 1


def allreduce_parts(sizes: Array, job: Job, algorithm: str, protocol: str, parameters: Parameters) -> Parts:
    """AllReduce time of one algorithm and protocol; `sizes` in bytes on the last axis."""
    if algorithm == "ring":
        return ring_parts(sizes, job, protocol, parameters, passes=2)
    if algorithm == "tree":
        return _tree_parts(sizes, job, protocol, parameters)
    return _nvlstree_parts(sizes, job, parameters)


def ring_parts(sizes: Array, job: Job, protocol: str, parameters: Parameters, passes: int) -> Parts:
    """A ring: two passes are an AllReduce, one is a ReduceScatter or an AllGather.

    One pass carries half of the launch, so that ReduceScatter and AllGather add up to an AllReduce exactly.
    `steps = passes (N - 1)`, of which `passes (K - 1)` go through NICs (nccl `tuning.cc`).
    """
    constants = job.known.library
    steps, network_steps = passes * (job.ranks - 1), passes * (job.domains - 1)
    host_us = 0.0 if job.domains == 1 else constants.net_overhead_us * (3.0 if protocol == "simple" else 1.0)
    step_us = max(constants.nvlink_us["ring"][protocol] * job.gpu.intra_step_scale, host_us)
    net = constants.net_us["tree" if job.per_domain == 1 else "ring"][protocol]
    launch = constants.base_us["ring"][protocol] * passes / 2.0 + (steps - network_steps) * step_us
    channel = _channel_us(sizes, job, protocol, parameters) * (passes / 2.0)
    bus = _bus_rate(job, parameters)
    if protocol == "ll":
        bus = np.minimum(bus * constants.ring_ll_share, _ll_max(job, parameters))
    elif protocol == "ll128":
        bus = bus * constants.ring_ll128_share
    transfer = sizes * steps / (job.ranks * BYTES_PER_US * bus)
    network = network_steps * (net + job.step_us) + _stall(job, protocol)
    return Parts(launch + channel, network, transfer, 0.0 * transfer)


def _tree_parts(sizes: Array, job: Job, protocol: str, parameters: Parameters) -> Parts:
    """A double binary tree over the domains, a chain inside each: latency grows with log2 of the domains."""
    constants = job.known.library
    chain = 2.0 * (job.per_domain - 1.0)
    launch = (
        constants.base_us["tree"][protocol]
        + chain * constants.nvlink_us["tree"][protocol] * job.gpu.intra_step_scale
        + _channel_us(sizes, job, protocol, parameters)
    )
    network = 2 * job.levels * (constants.net_us["tree"][protocol] + job.step_us) + _stall(job, protocol)
    rate = _tree_rate(job, parameters)
    if protocol == "simple":
        return Parts(launch, network, sizes / (BYTES_PER_US * rate), _tree_fill(sizes, job, parameters))
    if protocol == "ll":
        rate = np.minimum(rate * constants.tree_ll_share, 0.5 * _ll_max(job, parameters))
    else:
        rate = rate * (constants.tree_ll128_share_one_node if job.domains == 1 else constants.tree_ll128_share)
    rate = np.minimum(rate * _correction(sizes, job, protocol, parameters), rate)
    transfer = sizes / (BYTES_PER_US * rate)
    return Parts(launch, network, transfer, 0.0 * transfer)


def _nvlstree_parts(sizes: Array, job: Job, parameters: Parameters) -> Parts:
    """Reduction in the NVLink switches and a tree between domains; on one domain it is NVLS alone."""
    chunks = job.known.library.chunk_kib
    network = 2 * job.levels * (parameters.nvlstree_net_us + job.step_us) + _stall(job, "simple")
    rate = np.minimum(_tree_nic_rate(job, parameters), job.gpu.nvls_gbytes_per_s)
    stages = 1.0 if job.domains == 1 else 2.0 + parameters.fill_level * (job.levels - 1)
    heads = job.gpu.nvls_channels * job.per_domain * KIB
    large = heads * (chunks.nvls_two_nodes if job.domains <= 2 else chunks.nvls_many_nodes)
    small = heads * chunks.nvls_min
    # The library halves the chunk in steps, to 128 KiB from 16 of the smallest loops on and 32 KiB under 2 (enqueue.cc);
    # a power of 2/3 joins the two ends without the steps, which no table shows.
    chunk = np.minimum(np.clip(small * (sizes / (2.0 * small)) ** (2.0 / 3.0), small, large), sizes)
    fill = parameters.fill_stage * stages * chunk / (BYTES_PER_US * rate)
    return Parts(job.gpu.nvls_us + 0.0 * fill, network, sizes / (BYTES_PER_US * rate), fill)


def _bus_rate(job: Job, parameters: Parameters) -> Array:
    """Bus bandwidth of a ring in GB/s: the NICs of a domain in sequence, or NVLink if that is slower."""
    inside = job.gpu.nvlink_gbytes_per_s
    if job.domains == 1:
        return np.asanyarray(inside)
    outside = _nic_rate(job, parameters)
    return outside if job.per_domain == 1 else np.minimum(outside, inside)


def _nic_rate(job: Job, parameters: Parameters) -> Array:
    """Achieved rate of all NICs of one domain, GB/s."""
    achieved: Array = job.bandwidth_share * (parameters.nic_efficiency * job.nic_gbytes_per_s * job.per_domain)
    return achieved


def _tree_nic_rate(job: Job, parameters: Parameters) -> Array:
    """Algorithm bandwidth the NICs allow a tree: all of it at two domains, half with more.

    With two domains a node sends each byte once; in a larger double binary tree twice. This is the two-node
    flattery: 8 x 400G carries up to 400 GB/s of algorithm bandwidth at two nodes and 200 GB/s at any more.
    """
    if job.domains == 1:
        return np.asanyarray(np.inf)
    return _nic_rate(job, parameters) * (1.0 if job.domains == 2 else 0.5)


def _tree_rate(job: Job, parameters: Parameters) -> Array:
    """Algorithm bandwidth of a tree, GB/s: NICs, or the chain that sends each byte up and down over NVLink."""
    inside = 0.5 * job.gpu.nvlink_gbytes_per_s * job.known.library.tree_nvlink_share
    return np.minimum(_tree_nic_rate(job, parameters), np.inf if job.per_domain == 1 else inside)


def _tree_fill(sizes: Array, job: Job, parameters: Parameters) -> Array:
    """First chunks passing up and down the tree; chunks shrink until there are enough to keep it busy."""
    rule, channels = job.known.library.chunk_kib, job.known.library.channels
    wanted = sizes / (channels * job.per_domain * rule.tree_chunks_per_depth)
    chunk = np.minimum(channels * np.clip(wanted, rule.tree_min * KIB, rule.tree_max * KIB), sizes)
    inside = 2.0 * (job.per_domain - 1.0) / job.gpu.nvlink_gbytes_per_s
    outside = 0.0 if job.domains == 1 else 2.0 * job.levels / _nic_rate(job, parameters)
    fill: Array = parameters.fill_stage * chunk * (inside + outside) / BYTES_PER_US
    return fill


def _ll_max(job: Job, parameters: Parameters) -> float:
    limits = job.known.library.ll_max_gbytes_per_s
    if job.domains == 1:
        return limits.one_node[job.gpu.generation]
    return float((limits.two_nodes if job.domains == 2 else limits.many_nodes) * parameters.ll_bandwidth_scale)


def _correction(sizes: Array, job: Job, protocol: str, parameters: Parameters) -> Array:
    """The tuner's share of a tree's bandwidth by size, between its powers of two by interpolation in log2."""
    shares = job.known.library.tree_correction[protocol]
    octave = np.log2(np.maximum(sizes, 1.0) / 64.0)
    scale = parameters.ll128_bandwidth_scale if protocol == "ll128" else 1.0
    correction: Array = scale * np.interp(octave, np.arange(len(shares)), shares)
    return correction


def _channel_us(sizes: Array, job: Job, protocol: str, parameters: Parameters) -> Array:
    """LL and LL128 add channels as the message grows; each doubling costs a little."""
    if protocol == "simple":
        return 0.0 * sizes
    each_us = parameters.ll_channel_us if protocol == "ll" else parameters.ll128_channel_us
    constants = job.known.library
    channels = np.clip(sizes / constants.channel_bytes[protocol], 1.0, constants.channels)
    cost_us: Array = each_us * np.log2(channels)
    return cost_us


def _stall(job: Job, protocol: str) -> float:
    """Transports without full offload wait for credits once per bulk message."""
    return job.fabric.simple_stall_us if protocol == "simple" and job.domains > 1 else 0.0


def fastest(parts: Sequence[Parts]) -> tuple[Parts, Array]:
    """The smallest total of the candidates, element by element, and the index of the winner."""
    totals = np.stack(np.broadcast_arrays(*(plain(p.total_us) for p in parts)))
    winner = np.argmin(totals, axis=0)
    first, last = int(winner.min()), int(winner.max())

    def chosen(name: str) -> Array:
        each = [getattr(p, name) for p in parts]
        if first == last:  # as mostly: one candidate wins everywhere
            picked: Array = plain(each[first]) + 0.0 * totals[first]
        else:
            stack = np.stack([plain(one) + 0.0 * t for one, t in zip(each, totals, strict=True)])
            picked = np.take_along_axis(stack, winner[np.newaxis], axis=0)[0]
        found: Array = made_of(picked, *each)
        return found

    return Parts(*(chosen(n) for n in ("launch_us", "network_us", "transfer_us", "fill_us"))), winner


def alltoall_parts(sizes: Array, where: Job, parameters: Parameters) -> Parts:
    """Parts of an AlltoAll: each rank's bytes to far peers over its own NICs, to near ones over NVLink at once."""
    constants, rule = where.known.library, where.known.alltoall
    near, far = where.per_domain - 1.0, where.ranks - where.per_domain
    launch = constants.base_us["ring"]["simple"] + near * constants.nvlink_us["tree"]["ll"]
    inside = sizes * near / (where.ranks * BYTES_PER_US * where.gpu.nvlink_gbytes_per_s)
    if where.domains == 1:
        return Parts(launch + 0.0 * inside, 0.0 * inside, inside, 0.0 * inside)
    network = constants.net_us["ring"]["simple"] + where.step_us + far * rule.per_peer_us
    rate = where.bandwidth_share * (parameters.nic_efficiency * where.nic_gbytes_per_s * rule.nic_share)
    transfer = np.maximum(inside, sizes * far / (where.ranks * BYTES_PER_US * rate))
    return Parts(launch + 0.0 * transfer, network + where.fabric.simple_stall_us, transfer, 0.0 * transfer)


def sendrecv_parts(sizes: Array, where: Job, parameters: Parameters) -> Parts:
    """Parts of a SendRecv to the next rank: one step and one link, the NICs' if any pair crosses domains."""
    constants = where.known.library
    base = constants.base_us["ring"]["simple"]
    inside = sizes / (BYTES_PER_US * where.gpu.nvlink_gbytes_per_s)
    if where.domains == 1:
        launch = base + constants.nvlink_us["ring"]["simple"]
        return Parts(launch + 0.0 * inside, 0.0 * inside, inside, 0.0 * inside)
    network = constants.net_us["ring"]["simple"] + where.step_us + where.fabric.simple_stall_us
    rate = where.bandwidth_share * (parameters.nic_efficiency * where.nic_gbytes_per_s)
    transfer = sizes / (BYTES_PER_US * np.minimum(rate, where.gpu.nvlink_gbytes_per_s))
    return Parts(base + 0.0 * transfer, network, transfer, 0.0 * transfer)
