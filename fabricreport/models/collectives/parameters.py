"""What the collective model is told: GPU and fabric classes, the library's constants and the fit; and jobs, checked, with their defaults.

Frozen values without a figure of their own: `fabricreport.books.constants` reads them, a case or a test hands them over.

The classes are the catalogue's; their public names are the params file's. Of a job,
`links_per_gpu=None` is the fabric's default: 1, except 2 for `rocev2-100g` on `a100` (16 x 100G a node), and for `efa`
4 x 100G (0.5 on `a100`, whose node has 4 x 100G). `extra_step_us=None` is the fabric's own time per NIC-to-NIC step above
InfiniBand and `bandwidth_share=None` its achieved share of a tuned InfiniBand NIC's bandwidth.
"""

from __future__ import annotations

import operator
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fabricreport.base.errors import InputError, OutOfRange, Problem
from fabricreport.base.locations import did_you_mean
from fabricreport.models.draws import between

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


Array = NDArray[Any]
ALGORITHMS = ("auto", "ring", "tree", "nvlstree")
PROTOCOLS = ("auto", "ll", "ll128", "simple")
MOST_GPUS = 1_048_576
LARGEST_HOST = 8  # a larger `gpus_per_node` names the NVLink domain itself


@dataclass(frozen=True)
class Job:
    """Ranks on NVLink domains joined by NICs; `step_us` and `bandwidth_share` may carry draws (first axis).

    `known`: the classes, constants and fitted parameters that the job was made with and is timed by.
    """

    known: Catalogue
    ranks: int
    domains: int
    gpu: Gpu
    fabric: Fabric
    links_per_gpu: float
    step_us: Array
    bandwidth_share: Array

    @property
    def per_domain(self) -> float:
        """Ranks in one NVLink domain (not whole if racks are filled unevenly)."""
        return self.ranks / self.domains

    @property
    def levels(self) -> int:
        """Levels of the tree over the domains, floor(log2 K), as the library counts them."""
        return int(np.log2(self.domains))

    @property
    def nic_gbytes_per_s(self) -> float:
        """Line rate of the NICs of one GPU."""
        return self.links_per_gpu * self.fabric.link_gbits_per_s / 8.0


def job(
    known: Catalogue,
    *,
    gpus: int,
    gpus_per_node: int,
    gpu: str,
    fabric: str,
    links_per_gpu: float | None = None,
    extra_step_us: ArrayLike | None = None,
    bandwidth_share: ArrayLike | None = None,
    small_group: bool = False,
) -> Job:
    """Check one job's inputs and fill the defaults of its classes in `known`; every fault found is named at once.

    `small_group`: few of the ranks share a rack. Raises `InputError`, or `OutOfRange` beyond the largest cluster known.
    """
    kind, wire = known.gpu(gpu, small_group=small_group), known.fabric(fabric, gpu)
    problems: list[Problem] = []
    ranks = _count("gpus", gpus, problems)
    per_node = _count("gpus_per_node", gpus_per_node, problems)
    links = wire.links_per_gpu if links_per_gpu is None else links_per_gpu
    if isinstance(links, bool) or not _is_number(links) or not 0.0 < links <= 64.0:
        problems.append(
            Problem(
                "must be a number above 0 and at most 64",
                key="links_per_gpu",
                value=repr(links_per_gpu),
                remedy=f"Leave it out for the default of {wire.links_per_gpu:g}.",
            )
        )
    step = _figure("extra_step_us", wire.step_us if extra_step_us is None else extra_step_us, problems, 0.0, 1e6)
    share = _figure(
        "bandwidth_share",
        wire.bandwidth_share if bandwidth_share is None else bandwidth_share,
        problems,
        1e-6,
        1.0,
    )
    if ranks > per_node > 0 and ranks % per_node:
        whole = per_node * (ranks // per_node)
        problems.append(
            Problem(
                f"must be a multiple of gpus_per_node ({per_node})",
                key="gpus",
                value=str(ranks),
                remedy=f"Use {whole} or {whole + per_node}.",
            )
        )
    if problems:
        raise InputError(problems)
    if ranks > MOST_GPUS:
        raise OutOfRange(
            Problem(
                "is beyond any cluster this model means something for",
                key="gpus",
                value=str(ranks),
                remedy=f"Use at most {MOST_GPUS:,}.",
            )
        )
    return Job(known, ranks, _domains(ranks, per_node, kind), kind, wire, float(links), step, share)


def checked_sizes(size_bytes: ArrayLike) -> Array:
    """Message sizes as a float array (any shape, sizes on the last axis), refused if negative or not finite."""
    problems: list[Problem] = []
    sizes = _figure("size_bytes", size_bytes, problems, 0.0, 1e18)
    if problems:
        raise InputError(problems)
    return sizes


def _domains(ranks: int, per_node: int, gpu: Gpu) -> int:
    """NVLink domains: hosts, except where racks fuse small hosts into one domain (NVL72)."""
    if gpu.domain_gpus > LARGEST_HOST and per_node <= LARGEST_HOST:
        return -(-ranks // gpu.domain_gpus)
    return -(-ranks // per_node)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float | np.integer | np.floating) and bool(np.isfinite(value))


def _count(key: str, value: Any, problems: list[Problem]) -> int:
    try:
        count = operator.index(value)
    except TypeError:
        count = 0
    if isinstance(value, bool) or count < 1:
        problems.append(
            Problem(
                "must be a whole number of at least 1",
                key=key,
                value=repr(value),
                remedy="Write how many GPUs there are, such as 1024 and 8.",
            )
        )
        return 0
    return count


def _figure(key: str, value: ArrayLike, problems: list[Problem], low: float, high: float) -> Array:
    try:
        figure: Array = np.asanyarray(value)
        if figure.dtype.kind not in "iuf":
            raise ValueError
        good = not figure.size or between(figure, low, high)
    except (TypeError, ValueError):
        figure, good = np.asanyarray(0.0), False
    if not good:
        problems.append(
            Problem(
                "must be finite numbers" + (f" from {low:g} to {high:g}" if high < 1e18 else " that are not negative"),
                key=key,
                value=_short(value),
                remedy="Remove the values outside it, NaN and infinity.",
            )
        )
    return figure * 1.0


def _short(value: Any) -> str:
    text = " ".join(repr(value).split())
    return text if len(text) <= 60 else text[:57] + "..."
