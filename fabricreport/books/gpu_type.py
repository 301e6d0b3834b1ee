"""What is known of one type of GPU: its server, links, kernels, scale-up network and where its prices are found."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields

LARGEST_SERVER = 8
"""A scale-up domain of more GPUs is a rack."""


@dataclass(frozen=True)
class Links:
    """Fabric links of one GPU in the server as it is sold; `total` refers to the source of their sum."""

    per_gpu: int
    gbits_per_s: int
    total: str


@dataclass(frozen=True)
class Kernels:
    """The GPU as its kernels see it: dense BF16 peak, memory and its bandwidth, the share of the peak that is reached."""

    peak_tflops: float
    memory_gbytes: float
    memory_gbytes_per_s: float
    efficiency: str
    source: str
    address: str
    grade: str


@dataclass(frozen=True)
class ScaleUp:
    """The network inside a scale-up domain, per GPU and direction. `nvls_gbytes_per_s` 0: no reduction in the switches."""

    limits_as: str
    nvlink_gbytes_per_s: float
    source: str
    grade: str
    nvls_gbytes_per_s: float = 0.0
    nvls_us: float = 25.0
    nvls_channels: int = 16
    intra_step_scale: float = 1.0


@dataclass(frozen=True)
class Server:
    """Where the price, watts and rent of one server or rack are found, and those of the fabric adapters inside it."""

    adapters: int
    price: str
    watts: str
    adapter_price: str
    adapter_watts: str
    rent: str


@dataclass(frozen=True)
class GpuType:
    """One type of GPU. `counted`: what counts as one GPU where names differ by it; empty elsewhere.

    `small_group`: the scale-up network as a group of no more than a server's GPUs sees it; only of a rack.
    """

    id: str
    name: str
    vendor: str
    generation: str
    on_sale: int
    gpus_per_node: int
    domain_gpus: int
    links: Links
    kernels: Kernels
    scale_up: ScaleUp
    server: Server
    counted: str = ""
    small_group: ScaleUp | None = None

    @property
    def rack(self) -> bool:
        """Whether its scale-up domain is larger than a server."""
        return self.domain_gpus > LARGEST_SERVER

    @property
    def references(self) -> Mapping[str, str]:
        """Every price and evidence id that the type rests on, by key."""
        own = {f.name: str(getattr(self.server, f.name)) for f in fields(Server) if f.name != "adapters"}
        return {**own, "total": self.links.total, "efficiency": self.kernels.efficiency}
