"""What clusters are made of, read from data: types of GPU (`data/gpus.yaml`) and families of fabrics (`data/families.yaml`).

The head of `data/gpus.yaml` explains each key.

A type says what is sold as one server (or one rack), the links it carries, what its kernels and its scale-up network
do, and by reference (`price:<item>`, `evidence:<id>`) what it costs, draws and rents for. Every default of the params
that follows from the GPU is taken from here, so that a further type is a further entry.

Every key of `data/families.yaml` is documented at its head.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, fields
from functools import cache, cached_property
from pathlib import Path
from typing import Annotated, Any, Self

from annotated_types import Len
from pydantic import Field, model_validator

from fabricreport.base.errors import InputError, Problem
from fabricreport.base.locations import did_you_mean
from fabricreport.base.vocabulary import Grade, Side
from fabricreport.base.yaml_files import ROOT, load_strict, read_yaml
from fabricreport.books.fields import (
    CLOSED,
    NULL_IS_NONE,
    EvidenceId,
    Fault,
    Id,
    Keyed,
    PriceOrEvidenceId,
    one_of,
    refusal,
    text,
    unknown_word,
    within,
    written,
)
from fabricreport.books.reader import judged, repeated
from fabricreport.models.behaviour import Behaviour

LARGEST_SERVER = 8
"""A scale-up domain of more GPUs is a rack."""
VENDORS = ("nvidia", "amd")
LINK_SPEEDS = (25, 50, 100, 200, 400, 800)
"""Line rates of one fabric link that the params may state, in Gbit/s: those for which a fabric can be bought."""


def _limits() -> Collection[str]:
    known: Mapping[str, float] = read_yaml("collectives")["library"]["ll_max_gbytes_per_s"]["one_node"]
    return known.keys()


_AT_THE_HEAD = Field(description="The head of data/gpus.yaml says what it means.")
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


@dataclass(frozen=True)
class GpuTypes:
    """All types by id, and the one that is assumed of a client who names none."""

    __pydantic_config__ = CLOSED
    default: str
    known: Annotated[Mapping[str, GpuType], Keyed("id"), Field(alias="types")]

    @model_validator(mode="after")
    def agreeing(self) -> Self:
        """The default is one of the types."""
        if self.default not in self.known:
            raise refusal(unknown_word(self.default, self.known, "the id of an entry", ("default",)))
        return self

    def of(self, gpu: str) -> GpuType:
        """The type of that id, or an `InputError` with the nearest id."""
        if gpu not in self.known:
            remedy = (
                f"Take one of {', '.join(self.known)}. In a checkout, an entry of fabricreport/data/gpus.yaml adds one."
            )
            nearest = did_you_mean(gpu, self.known)
            raise InputError(
                Problem("is no known GPU type", key="cluster.gpu", value=gpu, remedy=remedy, suggestion=nearest)
            )
        return self.known[gpu]


@cache
def gpu_types() -> GpuTypes:
    """The shipped types, read once."""
    return read_gpus(ROOT / "gpus.yaml")


def read_gpus(path: Path) -> GpuTypes:
    """The types of a file; `InputError` with every fault found, each with file, line, key, value and remedy."""
    located = load_strict(path)
    found, problems = judged(located, GpuTypes)
    problems += repeated(located, ("types",), "id", "this id is used already")
    if problems or found is None:
        raise InputError(problems)
    return found


SHIPPED_FILE = ROOT / "families.yaml"
_OF_FAMILY = ("config_label", "manager", "skill")
"""Parts of a behaviour that stand at the family itself."""
UNITS: Mapping[str, tuple[str, ...]] = {
    "weeks": ("week",),
    "config_faults": ("1/cluster-year",),
    "neighbours": ("relative",),
    "reroute": ("s",),
    "reduction": ("x",),
    "step": ("us",),
    "share": ("share", "x"),
    "staff": ("x",),
    **dict.fromkeys(("stalls", "contention", "link_failure", "link_flap", "tuning"), ("share",)),
}
"""The units that can serve each role of a behaviour."""
ROLES = tuple(f.name for f in fields(Behaviour) if f.name not in _OF_FAMILY)
"""What an option may answer otherwise than its family."""

_ENTRY = r"((evidence|contested|price):)?[a-z0-9]+([-.][a-z0-9]+)*"
_Name = Annotated[str, text(40)]
_Prefix = Annotated[str, written(_ENTRY, "the prefix of entries")]
_PrefixOrNone = Annotated[str, written(_ENTRY, "the prefix of entries, or null"), NULL_IS_NONE]
Roles = Annotated[
    Mapping[
        Annotated[str, one_of(lambda: ROLES, "a role of a behaviour")],
        Annotated[str, written(_ENTRY, "the id of an entry, or null"), NULL_IS_NONE],
    ],
    Field(alias="behaviour", description="Ids of entries by their roles, such as weeks."),
]
"""The answers that a `behaviour:` names, by role; null, held as '', is none."""


@dataclass(frozen=True)
class Family:
    """One family: its names, the side whose arguments hold for it, kinds of classes, and how it behaves.

    `cloud_partner`: whether NVIDIA's cloud partners may run it between nodes. `risk`, `tuning`, `staff` and `manager` are
    prefixes of entries, '' where there are none.
    """

    __pydantic_config__ = CLOSED
    id: Id
    name: _Name
    short_name: _Name
    side: Side
    kinds: Annotated[tuple[_Prefix, ...], Len(1), Field(description="Kinds of the classes in collectives.yaml.")]
    cloud_partner: bool
    config_label: Annotated[str, text(100)]
    manager: _PrefixOrNone
    skill: bool
    risk: _Prefix
    tuning: _PrefixOrNone
    staff: _Prefix
    roles: Roles

    @cached_property
    def behaviour(self) -> Behaviour:
        """The behaviour that the prefixes make, but for what the file says otherwise."""
        usual = Behaviour(
            weeks=f"weeks-to-stable-{self.risk}",
            stalls=f"shared-stall-share-{self.risk}",
            contention=f"fat-tree-contention-{self.risk}",
            neighbours=f"noisy-neighbour-slowdown-{self.risk}",
            config_faults=f"config-faults-{self.risk}-per-year",
            config_label=self.config_label,
            link_failure="link-failure-interrupts-share",
            link_flap="link-flap-interrupts-share",
            reroute="flap-stall-seconds",
            reduction="",
            step="",
            share="",
            tuning=f"fabric-tuning-{self.tuning}" if self.tuning else "",
            staff=f"fabric-fte-factor-{self.staff}",
            manager=self.manager,
            skill=self.skill,
        )
        return usual.changed(self.roles)


_FILE: Any = Annotated[Mapping[str, Family], Keyed("id")]


@cache
def families() -> Mapping[str, Family]:
    """The shipped families by id."""
    return read_families(SHIPPED_FILE)


def read_families(path: Path) -> Mapping[str, Family]:
    """The families of a file by id; `InputError` with every fault found, each with file, line and key."""
    located = load_strict(path)
    found, problems = judged(located, _FILE)
    problems += repeated(located, (), "id", "this id is used already")
    if problems or found is None:
        raise InputError(problems)
    return dict(found)
