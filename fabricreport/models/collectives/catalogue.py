"""What the collective model knows before it meets a client: GPU and fabric classes, the library's constants, the fit.

Frozen values without a figure of their own: `fabricreport.constants` reads them, a case or a test hands them over.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from fabricreport.errors import InputError, Problem
from fabricreport.located import did_you_mean

ByProtocol = Mapping[str, float]


@dataclass(frozen=True)
class Gpu:
    """A GPU class as the library sees it: NVLink (or Infinity Fabric) rates per GPU and in-switch reduction.

    `generation`: the one whose limits of the LL protocol hold. `small_group`: of a rack, the same for a group of at most
    a server's GPUs.
    """

    name: str
    generation: str
    nvlink_gbytes_per_s: float
    nvls: bool
    domain_gpus: int
    nvls_gbytes_per_s: float = 0.0
    nvls_us: float = 25.0
    nvls_channels: int = 16
    intra_step_scale: float = 1.0
    small_group: Gpu | None = None


@dataclass(frozen=True)
class Fabric:
    """A fabric class seen from one GPU class: link rate, default links, step delta and achieved share."""

    name: str
    kind: str
    link_gbits_per_s: float
    links_per_gpu: float = 1.0
    step_us: float = 0.0
    bandwidth_share: float = 1.0
    simple_stall_us: float = 0.0


@dataclass(frozen=True)
class Parameters:
    """The fitted parameters; each has a physical meaning.

    `ll_channel_us`, `ll128_channel_us`: cost of each doubling of the channels in use. `ll_bandwidth_scale`,
    `ll128_bandwidth_scale`: measured over tuner's bandwidth of those protocols on a tree. `nvlstree_net_us`: one
    NIC-to-NIC step of the NVLS tree. `fill_stage`: chunks in flight per pipeline stage; `fill_level`: stages that
    each further tree level adds. `nic_efficiency`: achieved share of the NICs' line rate on a well-tuned fabric.
    """

    ll_channel_us: float
    ll128_channel_us: float
    ll_bandwidth_scale: float
    ll128_bandwidth_scale: float
    nvlstree_net_us: float
    fill_stage: float
    fill_level: float
    nic_efficiency: float


@dataclass(frozen=True)
class Chunks:
    """Chunk sizes in KiB: of trees (and how many chunks keep a tree busy per channel), and of NVLS trees."""

    tree_max: float
    tree_min: float
    tree_chunks_per_depth: float
    nvls_two_nodes: float
    nvls_many_nodes: float
    nvls_min: float


@dataclass(frozen=True)
class LowLatencyLimits:
    """Bandwidth ceilings of the LL protocol in GB/s: inside one node by GPU generation, at two nodes, at more."""

    one_node: Mapping[str, float]
    two_nodes: float
    many_nodes: float


@dataclass(frozen=True)
class AllToAll:
    """An AlltoAll's time per far peer (us) and the share of the NICs' rate that its many-to-many traffic reaches."""

    per_peer_us: float
    nic_share: float


@dataclass(frozen=True)
class Library:
    """Constants of NCCL's own tuner, as read from its source.

    `base_us`, `nvlink_us`, `net_us`: by algorithm and protocol. `tree_correction`: share of a tree's bandwidth by
    protocol, one for each octave from 64 bytes on. `channel_bytes`: bytes per further channel, by protocol.
    """

    base_us: Mapping[str, ByProtocol]
    nvlink_us: Mapping[str, ByProtocol]
    net_us: Mapping[str, ByProtocol]
    net_overhead_us: float
    ll_max_gbytes_per_s: LowLatencyLimits
    ring_ll128_share: float
    tree_ll128_share: float
    tree_ll128_share_one_node: float
    ring_ll_share: float
    tree_ll_share: float
    tree_nvlink_share: float
    tree_correction: Mapping[str, Sequence[float]]
    chunk_kib: Chunks
    channels: int
    channel_bytes: ByProtocol


@dataclass(frozen=True, eq=False)
class Catalogue:
    """All of it. `fabrics`: by name, then by the GPU class that sees it, because some defaults differ by GPU.

    Two catalogues are equal if they are one object, so that what is made of one can be a key.
    """

    gpus: Mapping[str, Gpu]
    fabrics: Mapping[str, Mapping[str, Fabric]]
    library: Library
    alltoall: AllToAll
    fitted: Parameters

    def gpu(self, name: str, *, small_group: bool = False) -> Gpu:
        """The GPU class of that name, or of a small group of it; an `InputError` with the nearest name otherwise."""
        found = self.gpus[checked_choice("gpu", name, tuple(self.gpus))]
        return (found.small_group or found) if small_group else found

    def fabric(self, name: str, gpu: str) -> Fabric:
        """The fabric class of that name as seen from the GPU class `gpu`, or an `InputError` with the nearest name."""
        seen = self.fabrics[checked_choice("fabric", name, tuple(self.fabrics))]
        return seen[self.gpu(gpu).name]


def checked_choice(key: str, value: str, known: tuple[str, ...]) -> str:
    """`value` if it is one of `known`, else an `InputError` with the nearest name."""
    if isinstance(value, str) and value in known:
        return value
    raise InputError(
        Problem(
            f"is not one of {', '.join(known)}",
            key=key,
            value=repr(value),
            suggestion=did_you_mean(value, known),
            remedy="Write one of the names above.",
        )
    )
