"""What is known of one type of GPU: its server, links, kernels, scale-up network and where its prices are found.

The head of `evidence/gpus.yaml` explains each key.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, fields
from typing import Annotated, Self

from pydantic import Field, model_validator

from fabricreport.books.fields import (
    CLOSED,
    EvidenceId,
    Fault,
    Id,
    PriceOrEvidenceId,
    one_of,
    refusal,
    text,
    within,
)
from fabricreport.evidence import read_yaml
from fabricreport.vocabulary import Grade

LARGEST_SERVER = 8
"""A scale-up domain of more GPUs is a rack."""
VENDORS = ("nvidia", "amd")
LINK_SPEEDS = (25, 50, 100, 200, 400, 800)
"""Line rates of one fabric link that the params may state, in Gbit/s: those for which a fabric can be bought."""


def _limits() -> Collection[str]:
    known: Mapping[str, float] = read_yaml("collectives")["library"]["ll_max_gbytes_per_s"]["one_node"]
    return known.keys()


_AT_THE_HEAD = Field(description="The head of evidence/gpus.yaml says what it means.")
Words = Annotated[str, text(400), _AT_THE_HEAD]
Reference = Annotated[PriceOrEvidenceId, _AT_THE_HEAD]
Firmness = Annotated[str, one_of(lambda: tuple(Grade)), _AT_THE_HEAD]
Gpus = Annotated[int, within("gpus", low=1), _AT_THE_HEAD]
Rate = Annotated[float, within("gbytes/s", low=1), _AT_THE_HEAD]


@dataclass(frozen=True)
class Links:
    """Fabric links of one GPU in the server as it is sold; `total` refers to the source of their sum."""

    __pydantic_config__ = CLOSED
    per_gpu: Annotated[int, within("links-per-gpu"), _AT_THE_HEAD]
    gbits_per_s: Annotated[int, one_of(lambda: LINK_SPEEDS), _AT_THE_HEAD]
    total: Annotated[EvidenceId, _AT_THE_HEAD]


@dataclass(frozen=True)
class Kernels:
    """The GPU as its kernels see it: dense BF16 peak, memory and its bandwidth, the share of the peak that is reached."""

    __pydantic_config__ = CLOSED
    peak_tflops: Annotated[float, within("tflops"), _AT_THE_HEAD]
    memory_gbytes: Annotated[float, within("gbytes"), _AT_THE_HEAD]
    memory_gbytes_per_s: Annotated[float, within("memory-gbytes/s"), _AT_THE_HEAD]
    efficiency: Annotated[EvidenceId, _AT_THE_HEAD]
    source: Words
    address: Annotated[str, text(400, empty=True), _AT_THE_HEAD]
    grade: Firmness


@dataclass(frozen=True)
class ScaleUp:
    """The network inside a scale-up domain, per GPU and direction. `nvls_gbytes_per_s` 0: no reduction in the switches."""

    __pydantic_config__ = CLOSED
    limits_as: Annotated[str, one_of(_limits), _AT_THE_HEAD]
    nvlink_gbytes_per_s: Rate
    source: Words
    grade: Firmness
    nvls_gbytes_per_s: Annotated[float, within("gbytes/s"), _AT_THE_HEAD] = 0.0
    nvls_us: Annotated[float, within("us"), _AT_THE_HEAD] = 25.0
    nvls_channels: Annotated[int, within("count", low=1), _AT_THE_HEAD] = 16
    intra_step_scale: Annotated[float, within("x", low=0.01), _AT_THE_HEAD] = 1.0


@dataclass(frozen=True)
class Server:
    """Where the price, watts and rent of one server or rack are found, and those of the fabric adapters inside it."""

    __pydantic_config__ = CLOSED
    adapters: Annotated[int, within("count"), _AT_THE_HEAD]
    price: Reference
    watts: Reference
    adapter_price: Reference
    adapter_watts: Reference
    rent: Reference


@dataclass(frozen=True)
class GpuType:
    """One type of GPU. `counted`: what counts as one GPU where names differ by it; empty elsewhere.

    `small_group`: the scale-up network as a group of no more than a server's GPUs sees it; only of a rack.
    """

    __pydantic_config__ = CLOSED
    id: Id
    name: Words
    vendor: Annotated[str, one_of(lambda: VENDORS), _AT_THE_HEAD]
    generation: Words
    on_sale: Annotated[int, within("count", low=2000, why="it is the year in which it was first sold"), _AT_THE_HEAD]
    gpus_per_node: Gpus
    domain_gpus: Gpus
    links: Annotated[Links, _AT_THE_HEAD]
    kernels: Annotated[Kernels, _AT_THE_HEAD]
    scale_up: Annotated[ScaleUp, _AT_THE_HEAD]
    server: Annotated[Server, _AT_THE_HEAD]
    counted: Words = ""
    small_group: ScaleUp | None = None

    @model_validator(mode="after")
    def agreeing(self) -> Self:
        """Servers are whole, and a rack says what a small group of its GPUs sees."""
        faults = []
        if self.domain_gpus % self.gpus_per_node:
            remedy = "Write the GPUs that NVLink or its like joins: one server, or the rack."
            faults.append(Fault("must hold whole servers", ("domain_gpus",), remedy))
        if self.rack != (self.small_group is not None):
            wrong = "is missing for a rack" if self.rack else f"is only of a domain above {LARGEST_SERVER} GPUs"
            faults.append(Fault(wrong, ("small_group",), "Add `small_group` to a rack's entry, and to no other."))
        if faults:
            raise refusal(*faults)
        return self

    @property
    def rack(self) -> bool:
        """Whether its scale-up domain is larger than a server."""
        return self.domain_gpus > LARGEST_SERVER

    @property
    def references(self) -> Mapping[str, str]:
        """Every price and evidence id that the type rests on, by key."""
        own = {f.name: str(getattr(self.server, f.name)) for f in fields(Server) if f.name != "adapters"}
        return {**own, "total": self.links.total, "efficiency": self.kernels.efficiency}
