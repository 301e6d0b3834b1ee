"""The params file as frozen pydantic models: one class per section, one described field per key; and its JSON Schema for editors.

Units are in the key. Every enumeration is a `Literal`, so an editor completes it from the JSON Schema.
Rules that join several keys are in `checks.py`; reading and messages in `files.py` and `books/messages.py`.
"""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import Discriminator, Field, StringConstraints, Tag, ValidationInfo, field_validator

from fabricreport.base.units import DAYS_PER_WEEK
from fabricreport.base.vocabulary import SPINES, Acquisition, Question
from fabricreport.books.equipment import LINK_SPEEDS, VENDORS, GpuType, gpu_types
from fabricreport.books.fields import IsoDate, Items, Line, RelativePath, Section, Sentence, Unit
from fabricreport.books.messages import TAG as TAG
from fabricreport.books.options import Option
from fabricreport.scenario.candidates import SHIPPED_OPTIONS as SHIPPED_OPTIONS
from fabricreport.scenario.candidates import Currency, Offered, Reason, excluded, left_out, proposed
from fabricreport.scenario.uncertain import OVERRIDABLE_PATTERN, Bounds, UncertainValue


class Client(Section):
    """Whom the memo is for."""

    name: Line = Field(description="The client's name as the memo prints it.", examples=["Acme"])
    slug: str | None = Field(
        default=None,
        pattern=r"^[a-z0-9]([a-z0-9-]{0,58}[a-z0-9])?$",
        description="Folder name of the client's editions: a-z, 0-9 and hyphens. Made from the name if left out.",
        examples=["acme"],
    )


class MemoHead(Section):
    """Who writes to whom, about what."""

    to: Line = Field(default="The decision maker", description="Addressee of the memo.")
    from_: Line = Field(default="Infrastructure advisory", alias="from", description="Author of the memo.")
    subject: Line | None = Field(
        default=None,
        description="Subject line; none is printed if left out.",
        examples=["Network for the training cluster"],
    )
    language: Literal["en"] = Field(default="en", description="Language of the document.")


Colour = Annotated[str, StringConstraints(pattern=r"^#[0-9A-Fa-f]{6}$")]


class Colours(Section):
    """The two colours of a brand."""

    accent: Colour = Field(description='Headings, links, the first series of a chart: "#rrggbb", in quotes.')
    second: Colour = Field(description='The second series of a chart: "#rrggbb", in quotes.')


class OwnLook(Section):
    """What the memo, the plan and the letters show of their sender."""

    name: Annotated[Line, StringConstraints(max_length=60)] = Field(description="The house's name at the head.")
    logo: RelativePath | None = Field(default=None, description="PNG of at most 500 KB, relative to the params file.")
    colours: Colours | None = Field(default=None, description="Two colours, {accent, second}; ours if left out.")
    footer: Annotated[Line, StringConstraints(max_length=100)] | None = Field(
        default=None, description="One line at the foot of every page."
    )


ChargeName = Literal["as-sold", "charged", "left-out"]


class Money(Section):
    """How it is paid for and how money over time is valued."""

    acquisition: Literal["buy", "lease", "rent", "colocate"] = Field(description="How the cluster is obtained.")
    horizon_months: Annotated[int, Unit("month", 1, 240)] = Field(
        default=48, description="Months over which all costs are counted."
    )
    discount_rate_per_year: Annotated[UncertainValue, Bounds("share", units=("share", "share/year"))] = Field(
        default=0.08, description="Discount rate as a share per year: 0.08 is 8 %."
    )
    discounting: Literal["nominal", "real"] = Field(
        default="nominal", description="Whether the discount rate and the cash flows include inflation."
    )
    inflation_per_year: Annotated[
        UncertainValue, Bounds("relative", -0.1, 1, units=("share", "share/year", "relative"))
    ] = Field(default=0.025, description="Inflation as a share per year.")
    currency: Currency = Field(
        default="USD",
        description="Currency of the memo's amounts. Another than USD needs its rate (item fx-eur-usd) in the price book.",
    )
    gpu_hour_value: Annotated[
        Literal["amortised", "market"] | UncertainValue,
        Bounds("usd/gpu-hour", words=("amortised", "market"), units=("usd/gpu-hour",)),
    ] = Field(
        default_factory=lambda data: "market" if data.get("acquisition") == "rent" else "amortised",
        description="What a lost GPU-hour is worth: `amortised`, `market`, or US dollars.",
    )
    price_of_delay_usd_per_day: Annotated[UncertainValue, Bounds("usd/day", high=1e10, units=("usd/day",))] = Field(
        default=0.0, description="Value lost per day of delay beyond compute, such as a missed launch, in US dollars."
    )
    materiality_usd: Annotated[float | None, Unit("usd", zero=True)] = Field(
        default=None,
        description="Lead in US dollars below which a choice is close. If left out, the largest of 5 % of what the lines "
        "differ by, the noise of their quotes, and 0.5 % of the dearer network.",
        examples=[250000],
    )
    manager_licence: ChargeName = Field(
        default="as-sold",
        description="Whether the yearly licence of the network's manager is in every network's bill: `as-sold` by its "
        "makers' lists, `charged` on each, or `left-out` of each.",
    )
    switch_system_licence: ChargeName = Field(
        default="as-sold",
        description="The same for the yearly licence of the switches' operating system.",
    )


class Weights(Section):
    """Weights of the four axes; any scale, only their ratios count."""

    workload: Annotated[float, Unit("weight", zero=True)] = Field(
        default=0.25, description="Latency sensitivity and synchronisation."
    )
    maturity: Annotated[float, Unit("weight", zero=True)] = Field(default=0.25, description="Networking maturity.")
    scale_and_budget: Annotated[float, Unit("weight", zero=True)] = Field(
        default=0.25, description="Scale trajectory and budget."
    )
    time_to_production: Annotated[float, Unit("weight", zero=True)] = Field(
        default=0.25, description="Time to production."
    )

    @property
    def shares(self) -> dict[str, float]:
        """The weights scaled to sum to 1, by axis."""
        given = {name: float(getattr(self, name)) for name in type(self).model_fields}
        total = sum(given.values())
        return {name: weight / total for name, weight in given.items()}


GPUS = gpu_types()
if TYPE_CHECKING:
    Gpu = str
    Vendor = str
    LinkSpeed = int
else:
    Gpu = Literal[tuple(GPUS.known)]
    Vendor = Literal[VENDORS]
    LinkSpeed = Literal[LINK_SPEEDS]
Topology = Literal["fat-tree", "rail-optimised", "dragonfly"]
WorkloadKind = Literal[
    "pretraining-dense",
    "pretraining-moe",
    "fine-tuning",
    "inference",
    "inference-multi-node",
    "hpc-simulation",
    "mixed",
]
Maturity = Literal["low", "medium", "high"]
Criterion = Literal["lock-in", "skills", "isolation", "supply", "exit"]
QuestionName = Literal["buy-once", "choose-provider", "grow-in-stages"]
SectionName = Literal["decision", "latency", "tco", "tail_risk", "diligence", "evidence"]
SECTION_NAMES: tuple[SectionName, ...] = ("decision", "latency", "tco", "tail_risk", "diligence", "evidence")
PRETRAINING = ("pretraining-dense", "pretraining-moe")
SYNCHRONISED = (*PRETRAINING, "inference-multi-node", "hpc-simulation")

USUAL_MODEL_BILLION, ROOM_PER_GPU_BILLION = 70.0, 2.0
"""Size assumed of a model nobody stated, and what surely fits on one GPU of the types above while it is trained."""

OptionId = Annotated[
    str,
    Field(pattern=r"^[a-z0-9]+(-[a-z0-9]+)*$", max_length=60),
    Field(json_schema_extra={"examples": list(SHIPPED_OPTIONS)}),
]


OF_OURS = {*SECTION_NAMES, *SPINES, "acceptance", "evidence_report", "changes", "sources", "derivations", "report", "tail"}  # fmt: skip
"""What no section of a client's own may be called."""
OWN_NOTEBOOK = r"^[a-z][a-z0-9]*(_[a-z0-9]+)*\.ipynb$"
OwnNotebook = Annotated[str, Field(pattern=OWN_NOTEBOOK, max_length=40)]


class Stage(Section):
    """One later size of the cluster."""

    month: Annotated[int, Unit("month", 1, 240)] = Field(description="Months after the start of the horizon.")
    gpus: Annotated[int, Unit("gpus", 1, 1_000_000)] = Field(
        description="GPUs in total from that month on; never fewer than before."
    )


_LARGEST_NODE = max(kind.domain_gpus for kind in GPUS.known.values())


def _type_of(data: dict[str, Any]) -> GpuType:
    return GPUS.of(data.get("gpu", GPUS.default))


class Cluster(Section):
    """The GPUs, now and later, and the network between them."""

    gpus: Annotated[int, Unit("gpus", 1, 1_000_000)] = Field(description="GPUs at the start.")
    trajectory: Annotated[tuple[Stage, ...], Items] = Field(
        default=(),
        max_length=40,
        description="Later sizes: a list of {month, gpus}, months rising, GPUs never falling.",
        examples=[[{"month": 24, "gpus": 2048}]],
    )
    gpu: Gpu = Field(default=GPUS.default, description="GPU type.")
    vendor: Vendor = Field(
        default_factory=lambda data: _type_of(data).vendor, description="Maker of the GPU; follows from the type."
    )
    gpus_per_node: Annotated[int, Unit("gpus", 1, _LARGEST_NODE)] = Field(
        default_factory=lambda data: _type_of(data).gpus_per_node,
        description="GPUs in one server, or in one rack that NVLink joins; follows from the GPU type.",
    )
    links_per_gpu: Annotated[int, Unit("count", 1, 16)] = Field(
        default_factory=lambda data: _type_of(data).links.per_gpu,
        description="Fabric links of each GPU; follows from the GPU type.",
    )
    nic_ports_per_node: Annotated[int | None, Unit("count", 1, 256)] = Field(
        default=None,
        description="Fabric ports of one server; links_per_gpu x gpus_per_node if left out.",
        examples=[8],
    )
    link_gbits_per_s: Annotated[LinkSpeed, Unit("gbits/s", listed=True)] = Field(
        default_factory=lambda data: _type_of(data).links.gbits_per_s,
        description="Line rate of one fabric link, in Gbit/s; follows from the GPU type.",
    )
    server_age_months: Annotated[float | None, Unit("month", 1, 120)] = Field(
        default=None,
        description="Age of used servers when they are bought, at every stage, in months. If left out they are new.",
    )
    topology: Topology = Field(default="rail-optimised", description="Shape of the fabric.")
    oversubscription: Annotated[float, Unit("x", 1, 16)] = Field(
        default=1.0, description="Leaf down-links over up-links: 1 is non-blocking, 2 is 2:1."
    )
    sites: Annotated[int, Unit("count", 1, 64)] = Field(
        default=1,
        description="Buildings or data centres the cluster spans: of equal size, filled one after the other.",
    )
    sites_joined: bool = Field(
        default=True,
        description="Whether one network joins the sites, so that a job may span them. If false each site has a network of "
        "its own, and workload.jobs says what runs within one.",
    )
    site_distance_km: Annotated[float, Unit("km")] = Field(
        default=2.0, description="Length of the fibre between two sites, in km; counts where sites are joined."
    )
    site_tbits_per_s: Annotated[float | None, Unit("tbits/s")] = Field(
        default=None,
        description="Rate each way between a site and the others, in Tbit/s. If left out the sites' share of what their GPUs "
        "send on the network.",
    )
    subnets: Annotated[int, Unit("count", 1, 4096)] = Field(
        default=1, description="Subnets the fabric must be routable across."
    )
    optics: Literal["compatible", "genuine"] = Field(
        default="compatible", description="Modules of any maker that the switch accepts, or of the switch's own maker."
    )
    premises: Literal["data-centre", "office"] = Field(
        default="data-centre", description="Where the cluster stands, if it is not hosted by others."
    )
    tenancy: Literal["single", "multi"] = Field(default="single", description="One owner, or tenants kept apart.")

    @property
    def nodes(self) -> int:
        """Servers at the start."""
        return -(-self.gpus // self.gpus_per_node)

    @property
    def ports_per_node(self) -> int:
        """Fabric ports of one server, given or implied by the links."""
        return self.nic_ports_per_node or self.links_per_gpu * self.gpus_per_node

    @property
    def final_gpus(self) -> int:
        """GPUs at the end of the trajectory."""
        return self.trajectory[-1].gpus if self.trajectory else self.gpus

    @property
    def site_gpus(self) -> int:
        """GPUs that one site holds when all are full: equal sites, in whole servers."""
        return self._room(self.final_gpus)

    def networks(self, gpus: int) -> tuple[int, ...]:
        """GPUs on each network when the cluster has so many: one over all sites where they are joined, else one in each."""
        return (gpus,) if self.sites == 1 or self.sites_joined else self.halls(gpus)

    def halls(self, gpus: int) -> tuple[int, ...]:
        """GPUs in each site when the cluster has so many: the sites are filled one after the other."""
        full, rest = divmod(gpus, self._room(max(gpus, self.final_gpus)))
        return (*[self._room(max(gpus, self.final_gpus))] * full, *([rest] if rest else []))

    def _room(self, gpus: int) -> int:
        if gpus <= self.gpus_per_node:
            return gpus
        servers = -(-gpus // self.gpus_per_node)
        return -(-servers // self.sites) * self.gpus_per_node


class Parallelism(Section):
    """A given parallel plan; tp x pp x dp x cp must equal the GPUs at the start."""

    tp: Annotated[int, Unit("count", 1, 1024)] = Field(description="Tensor-parallel ranks.")
    pp: Annotated[int, Unit("count", 1, 1024)] = Field(description="Pipeline stages.")
    dp: Annotated[int, Unit("count", 1, 1_000_000)] = Field(description="Data-parallel replicas.")
    ep: Annotated[int, Unit("count", 1, 1024)] = Field(
        default=1, description="Expert-parallel ranks, taken from the replicas."
    )
    cp: Annotated[int, Unit("count", 1, 1024)] = Field(default=1, description="Context-parallel ranks.")


def _plan_kind(value: Any) -> str:
    return f"{TAG}plan" if isinstance(value, dict | Parallelism) else f"{TAG}word"


def _run_days(data: dict[str, Any]) -> float | None:
    return None if data.get("tokens_billion") is not None else 30.0


class JobSize(Section):
    """One size of job that the cluster runs."""

    gpus: Annotated[int, Unit("gpus", 1, 1_000_000)] = Field(description="GPUs of one such job.")
    share: Annotated[float, Unit("share", 0.0001, 1)] = Field(
        description="Share of the cluster's GPU time that jobs of this size take; all shares sum to 1."
    )


class Workload(Section):
    """What runs on it."""

    kind: WorkloadKind = Field(description="The workload that sizes the network.")
    model_parameters_billion: Annotated[float, Unit("billion", 0.001, 100_000)] = Field(
        default=USUAL_MODEL_BILLION,
        description="Model size in billions of parameters; not used for HPC. "
        "If left out 70, or two for each GPU of a cluster too small for that.",
    )
    tokens_billion: Annotated[float | None, Unit("billion", 0.001, 10_000_000)] = Field(
        default=None,
        description="Training tokens of one run, in billions.",
        examples=[2000],
    )
    run_days: Annotated[float | None, Unit("day", 0.04, 3650)] = Field(
        default_factory=_run_days,
        description="Planned length of one run, in days. Follows from tokens_billion if that is given; else 30 if left out.",
        examples=[30],
    )
    parallelism: Annotated[
        Annotated[Literal["choose"], Tag(f"{TAG}word")] | Annotated[Parallelism, Tag(f"{TAG}plan")],
        Discriminator(_plan_kind),
    ] = Field(default="choose", description="Parallel plan: `choose`, or {tp, pp, dp, ep, cp}.")
    jobs: Annotated[tuple[JobSize, ...], Items] = Field(
        default=(),
        max_length=12,
        description="Sizes of the jobs and their shares of GPU time: a list of {gpus, share}. If left out one job on all "
        "GPUs, or on a cluster that several parties share the sizes published for one.",
        examples=[[{"gpus": 64, "share": 0.4}, {"gpus": 512, "share": 0.6}]],
    )
    checkpoint_minutes: Annotated[float | None, Unit("min", 0.1, 10_080)] = Field(
        default=None,
        description="Minutes of work between two checkpoints of a job. If left out, the optimum for what stops a job on any "
        "network.",
        examples=[60],
    )
    method: Literal["full", "lora", "rl"] = Field(
        default="full",
        description="What fine-tuning trains: all weights (full), adapters alone (lora), or all weights between rollouts (rl); "
        "only for fine-tuning.",
    )
    calls_per_step: Annotated[float | None, Unit("count", high=1_000_000, zero=True)] = Field(
        default=None,
        description="Small AllReduce calls in a time step of a simulation, from its profile; only for hpc-simulation. "
        "If left out a wide range of ours.",
    )
    mpi_share: Annotated[float | None, Unit("share", 0.001, 0.99)] = Field(
        default=None,
        description="Share of a simulation's time that a profile found in MPI, on a job as large as the largest at the start and "
        "on tuned InfiniBand; only for hpc-simulation. If left out it follows from ranges of ours.",
    )
    latency_variance_bound: bool = Field(
        default_factory=lambda data: data.get("kind") in SYNCHRONISED,
        description="Whether the slowest of many ranks sets the pace, so that the tail matters.",
    )


_QOS_OF: dict[str | None, Literal["none", "some", "strong"]] = {"low": "none", "medium": "some", "high": "strong"}


class Organisation(Section):
    """Who will run it."""

    networking_maturity: Maturity = Field(description="Experience of running large networks.")
    qos_expertise: Literal["none", "some", "strong"] = Field(
        default_factory=lambda data: _QOS_OF.get(data.get("networking_maturity"), "some"),
        description="Skill with PFC, ECN and DCQCN in production; follows from the maturity if left out.",
    )
    existing_ethernet: Literal["none", "some", "large"] = Field(
        default="some", description="Data-centre Ethernet already run."
    )
    existing_infiniband: Literal["none", "some", "large"] = Field(default="none", description="InfiniBand already run.")
    single_vendor_policy: Literal["avoid", "neutral", "prefer"] = Field(
        default="neutral", description="Stance on buying GPUs and network from one maker."
    )
    nvidia_cloud_partner: bool = Field(
        default=False,
        description="Whether NVIDIA's requirements on its cloud partners must be met: InfiniBand or Spectrum-X only.",
    )
    beyond_money: Annotated[tuple[Criterion, ...], Items] = Field(
        default=(),
        max_length=5,
        description="What matters besides money, the most important first; what is not named comes after, in no order. "
        "If left out, no order is assumed.",
        examples=[["skills", "exit"]],
    )
    operations: Literal["own", "bought-in"] = Field(
        default="own",
        description="Who runs the network: the client's team, or for a fee a service of the maker or an integrator.",
    )
    network_engineers: Annotated[float, Unit("fte", zero=True)] = Field(
        default=1.0, description="Network engineers for this cluster, in full-time posts."
    )


class Schedule(Section):
    """By when it has to run."""

    production_by: IsoDate | None = Field(
        default=None,
        description="Day on which production is due. If left out no date binds, and the memo tells the earliest safe one.",
        examples=["2027-06-30"],
    )
    share_wanted: Annotated[float, Unit("share", 0.05, 0.99)] = Field(
        default=0.66, description="Share of the outcomes that have to be in time for a date to be called safe."
    )


class Provider(Section):
    """A seller to put questions to."""

    name: Line = Field(description="The provider's name.")
    answers: RelativePath | None = Field(
        default=None,
        description="File with the provider's answers, relative to the params file.",
        examples=["providers/coreweave.yaml"],
    )


class Vouched(Section):
    """What somebody vouches for until a day."""

    who: Line = Field(description="Who vouches for it.")
    why: Sentence = Field(description="Why it is right, or better than the entry.")
    until: IsoDate = Field(description="Last day on which it may be used.")


class Override(Vouched):
    """A figure of ours replaced by the client's, with a name to it and an end date."""

    id: str = Field(description="What is replaced: price:ID, evidence:ID or contested:ID.", pattern=OVERRIDABLE_PATTERN)
    value: Annotated[UncertainValue, Bounds()] = Field(
        description="The client's value, in the unit of the entry it replaces."
    )


class Adopted(Vouched):
    """A number that a notebook makes of nothing, signed for."""

    id: Line = Field(description="The number's id.")
    cell: Line = Field(description="The cell that makes it, as NOTEBOOK:CELL.")
    value: Line = Field(description="The number as a memo prints it.")
    source: str = Field(description="sha256 of the cell's source.", pattern="^[0-9a-f]{64}$")


def _proposed(data: dict[str, Any]) -> tuple[str, ...]:
    cluster, workload, as_of = data.get("cluster"), data.get("workload"), data.get("as_of")
    if cluster is None or workload is None or as_of is None:
        return SHIPPED_OPTIONS
    pretrains = workload.kind in PRETRAINING
    return proposed(cluster.vendor, float(cluster.link_gbits_per_s), cluster.final_gpus, pretrains, as_of)


class Refresh(Section):
    """When a scheduled run makes a new edition."""

    moved_share: Annotated[float, Unit("share", 0, 1)] = Field(
        default=0.02,
        description="A new edition is made where a headline number moves by more than this share of the difference.",
    )


class Params(Section):
    """Everything one memo depends on that is not a price or a piece of evidence."""

    client: Client = Field(description="Whom the memo is for.")
    as_of: IsoDate = Field(description="Date of the memo; prices and evidence are taken as of this day.")
    memo: MemoHead = Field(default_factory=MemoHead, description="Who writes to whom, about what.")
    brand: OwnLook | None = Field(
        default=None,
        description="The sender's own look: {name, logo, colours, footer}, of which the name is needed.",
        examples=[
            {"name": "Acme Ltd", "colours": {"accent": "#14466b", "second": "#b84c00"}, "footer": "Acme Ltd, Utrecht"}
        ],
    )
    cluster: Cluster = Field(description="The GPUs, now and later, and the network between them.")
    workload: Workload = Field(description="What runs on it.")
    organisation: Organisation = Field(description="Who will run it.")
    schedule: Schedule = Field(default_factory=Schedule, description="By when it has to run.")
    money: Money = Field(description="How it is paid for and how money over time is valued.")
    weights: Weights = Field(default_factory=Weights, description="Weights of the four axes; only ratios count.")
    options: Annotated[tuple[OptionId, ...], Items] = Field(
        default_factory=lambda data: _proposed(data),
        min_length=1,
        max_length=20,
        description="Fabrics to compare; those on sale for the GPU, its link speed and the date if left out.",
    )
    providers: Annotated[tuple[Provider, ...], Items] = Field(
        default=(),
        max_length=100,
        description="Sellers to put questions to: a list of {name, answers}.",
        examples=[[{"name": "CoreWeave"}]],
    )
    offers: Annotated[tuple[Offered, ...], Items] = Field(
        default=(),
        max_length=40,
        description="What sellers offer: a list of offers, or of {file} with one each.",
        examples=[[{"file": "offers/example-cloud.yaml"}]],
    )
    measurements: Annotated[tuple[RelativePath, ...], Items] = Field(
        default=(),
        max_length=100,
        description="Benchmark logs of the client's own, relative to the params file.",
        examples=[["logs/allreduce.txt"]],
    )
    elicited: Annotated[tuple[RelativePath, ...], Items] = Field(
        default=(),
        max_length=20,
        description="Experts' answers: files of `fabricreport elicit`, one a person, relative to the params file.",
        examples=[["elicited/r-expert.yaml"]],
    )
    overrides: Annotated[tuple[Override, ...], Items] = Field(
        default=(),
        max_length=500,
        description="Figures replaced by the client's: a list of {id, value, who, why, until}.",
        examples=[
            [
                {
                    "id": "price:switch-qm9700",
                    "value": 30000,
                    "who": "Head of purchasing",
                    "why": "Written quote",
                    "until": "2027-01-31",
                }
            ]
        ],
    )
    adopted: Annotated[tuple[Adopted, ...], Items] = Field(
        default=(),
        max_length=500,
        description="Numbers of notebooks' own that somebody signs for; `fabricreport adopt` writes them.",
        examples=[[{"id": "tco.spares", "cell": "tco.ipynb:own-spares", "value": "$25,000", "source": "0" * 64,
                    "who": "Head of operations", "why": "Agreed by letter", "until": "2027-01-31"}]],
    )  # fmt: skip
    question: QuestionName | None = Field(
        default=None,
        description="What the memo answers; left out, it follows from how the cluster is obtained and grows.",
    )
    sections: Annotated[tuple[SectionName, ...], Items] = Field(
        default=SECTION_NAMES, min_length=1, max_length=6, description="Sections of the memo, in this order."
    )
    extra: Annotated[tuple[OwnNotebook, ...], Items] = Field(
        default=(), max_length=12, examples=[["power.ipynb"]],
        description="Sections of the client's own behind these: notebooks of the folder <slug>/notebooks beside the params, "
        "called by lower-case words joined by underscores, as spare_power.ipynb.",
    )  # fmt: skip
    refresh: Refresh = Field(default_factory=Refresh, description="When a scheduled run makes a new edition.")
    seed: Annotated[int, Unit("seed", zero=True)] = Field(
        default=20261120, description="Seed of the sample of uncertain inputs."
    )

    @property
    def asked(self) -> Question:
        """What the memo answers: as stated, else a renter chooses a provider, who grows asks what to buy now."""
        if self.question is not None:
            return Question(self.question)
        if Acquisition(self.money.acquisition) is Acquisition.RENT:
            return Question.CHOOSE_PROVIDER
        return Question.GROW_IN_STAGES if self.cluster.final_gpus > self.cluster.gpus else Question.BUY_ONCE

    @property
    def dated(self) -> bool:
        """Whether the client says by when production is due."""
        return self.schedule.production_by is not None

    @property
    def weeks_allowed(self) -> float:
        """Weeks from the memo's date until production is due; infinite where no date binds."""
        due = self.schedule.production_by
        return math.inf if due is None else (due - self.as_of).days / DAYS_PER_WEEK

    @property
    def notebooks(self) -> tuple[str, ...]:
        """The notebooks of the memo in its order: its body, where the decision is part of it, its sections, the client's own."""
        return (*((self.asked.spine,) if "decision" in self.sections else ()), *self.sections, *self.extras)

    @property
    def extras(self) -> tuple[str, ...]:
        """The names of the client's own sections."""
        return tuple(name.removesuffix(".ipynb") for name in self.extra)

    @field_validator("workload", mode="after")
    @classmethod
    def _model_that_fits(cls, workload: Workload, info: ValidationInfo) -> Workload:
        """A model size that was not stated follows from the GPUs: an assumption must not be what refuses a client."""
        cluster = info.data.get("cluster")
        if cluster is None or "model_parameters_billion" in workload.model_fields_set:
            return workload
        size = min(USUAL_MODEL_BILLION, ROOM_PER_GPU_BILLION * cluster.gpus)
        if size == workload.model_parameters_billion:
            return workload
        assumed = workload.model_copy(update={"model_parameters_billion": size})
        assumed.__pydantic_fields_set__.discard("model_parameters_billion")
        return assumed


def options_left_out(params: Params) -> dict[str, Reason]:
    """The shipped options that are not proposed to this client, each with why."""
    cluster = params.cluster
    pretrains = params.workload.kind in PRETRAINING
    return left_out(cluster.vendor, float(cluster.link_gbits_per_s), cluster.final_gpus, pretrains, params.as_of)


def option_excluded(params: Params, option: Option) -> Reason | None:
    """Why an option is not compared for this client, though it is named; None where it is."""
    return excluded(option, params.cluster.final_gpus, params.workload.kind in PRETRAINING, params.as_of)


_DIALECT = "https://json-schema.org/draft/2020-12/schema"


def json_schema() -> str:
    """The text of `params/params.schema.json`: sorted, indented, the same for the same package."""
    schema = Params.model_json_schema(by_alias=True)
    schema = _tidy(schema)
    schema["$schema"] = _DIALECT
    schema["title"] = "fabricreport params"
    schema["properties"]["options"]["items"] = {
        "anyOf": [{"enum": list(SHIPPED_OPTIONS)}, schema["properties"]["options"]["items"]]
    }
    return json.dumps(schema, indent=2, sort_keys=True, ensure_ascii=False, allow_nan=False) + "\n"


def _tidy(node: Any) -> Any:
    """Drop titles that only repeat the key, the tags of unions, and `null` for keys that may be left out."""
    if isinstance(node, list):
        return [_tidy(item) for item in node]
    if not isinstance(node, dict):
        return node
    out = {}
    for key, value in node.items():
        if key == "properties":
            out[key] = {name: _tidy(schema) for name, schema in value.items()}
        elif not (key == "title" and isinstance(value, str)) and key != "discriminator":
            out[key] = _tidy(value)
    if out.get("default", "") is None:
        del out["default"]
    return {key: value for key, value in out.items() if not str(key).startswith(TAG)}
