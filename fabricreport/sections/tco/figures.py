"""The figures of the total cost: totals and causes, the difference, rent against buy, and the owned fabric.

What each is called and rests on stands in `figures.yaml`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from fabricreport.base.provenance import inputs_of, plain
from fabricreport.base.vocabulary import Side
from fabricreport.ledger.figures import Declaration, Footing, Index, Reckoning, figure
from fabricreport.ledger.numbers import Part
from fabricreport.models.judgement.choice import RelativeDifference, relative_difference
from fabricreport.sections.client import OptionNames
from fabricreport.sections.sites import LINKS
from fabricreport.sections.tco.cost import CAUSES, DIFFERING, FABRIC_CAUSES
from fabricreport.sections.tco.fabric import Build
from fabricreport.sections.tco.result import (
    MEDIAN_PAIR,
    Edge,
    Ownership,
    TcoResult,
    apart,
    charged,
    compared,
    gpu_time,
    parts_of,
    tier_steps,
)

HARDWARE = ("switches", "optics_and_cables", "adapters")
"""The causes of the fabric's hardware: what a price list shows."""
PIECES = ("switches", "transceivers", "nics")
"""What is counted of a network."""
BASES = {
    "switches": "Switches alone",
    "hardware": "Switches, optics, adapters",
    "fabric": "Network, installed",
    "cluster": "Network and servers",
    "total": "Total cost",
}
"""What a percentage can be a percentage of, from narrow to wide."""
SMALL_SHARE = 0.01
"""A percentage below this is printed with one digit: the second would claim too much."""
_SIZE = ("param:cluster.gpus", "param:money.horizon_months")
_SHAPE = (
    "param:cluster.gpus",
    "param:cluster.gpus_per_node",
    "param:cluster.links_per_gpu",
    "param:cluster.oversubscription",
    "param:cluster.topology",
)
_STATED = "evidence:roce-discount-s3-stated"


@dataclass(frozen=True)
class CostFigures(OptionNames):
    """What the figures of the total cost are made from, and how each is made."""

    result: TcoResult

    # ---- names

    @property
    def choice(self) -> str:
        """The name of the advised option."""
        return self.names[self.result.choice]

    @property
    def rival(self) -> str:
        """The name of the option that it is held against."""
        return self.names[self.result.rival]

    @property
    def pair(self) -> str:
        """The rival less the advised option, in words."""
        return f"{self.rival} less {self.choice}"

    @property
    def compared(self) -> tuple[str, str]:
        """Ids of the advised option and of its rival: a difference above zero says that the first costs less."""
        return self.result.choice, self.result.rival

    @property
    def infiniband_name(self) -> str:
        """The name of the cheaper InfiniBand option; asked for where there is one."""
        return self.names[self.result.infiniband or ""]

    @property
    def rocev2_name(self) -> str:
        """The name of the cheaper RoCEv2 option; asked for where there is one."""
        return self.names[self.result.rocev2 or ""]

    @property
    def edge_option(self) -> str:
        """The name of the option whose tier ends near the client's size; asked for where one does."""
        return self.names[self.edge.option]

    # ---- what this client has

    @property
    def owns(self) -> bool:
        """Whether the client owns its fabric."""
        return self.result.ownership is not None

    @property
    def owned(self) -> Ownership:
        """What only an owner has; asked for where `owns` is true."""
        assert self.result.ownership is not None
        return self.result.ownership

    @property
    def both_families(self) -> bool:
        """Whether an owner compares InfiniBand with RoCEv2."""
        return bool(self.owns and self.result.infiniband and self.result.rocev2)

    @property
    def trains_on_both(self) -> bool:
        """Whether a training client compares both families on more than one node."""
        return compared(self.given, self.result)

    @property
    def values_hours(self) -> bool:
        """Whether a lost GPU-hour has one value."""
        return self.result.common.gpu_hour_value is not None

    @property
    def value_basis(self) -> str:
        """By what it is valued."""
        return self.result.common.value_basis

    @property
    def near_edge(self) -> bool:
        """Whether a tier of switches ends near the client's size."""
        return self.result.edge is not None

    @property
    def edge(self) -> Edge:
        """That end; asked for where there is one."""
        assert self.result.edge is not None
        return self.result.edge

    def has_stage(self, stage: str, owner: str) -> bool:
        """Whether an option is built in so many stages."""
        return int(stage) < len(self.owned.builds[owner])

    def has_tiers(self, tiers: str, owner: str) -> bool:
        """Whether an option's network may have so many tiers."""
        return int(tiers) <= len(self.steps[owner])

    # ---- what the ids run through

    @property
    def owners(self) -> Iterable[str]:
        """The options, if their fabric is owned."""
        return self.owned.builds if self.owns else ()

    @property
    def fabric_causes(self) -> Iterable[str]:
        """The causes of the fabric's capital that this client has, if it owns one."""
        return next(iter(self.owned.capital.values())) if self.owns else ()

    @property
    def stages(self) -> Iterable[str]:
        """Numbers of the stages in which an owner builds."""
        most = max((len(stages) for stages in self.owned.builds.values()), default=0) if self.owns else 0
        return map(str, range(most))

    @cached_property
    def steps(self) -> Mapping[str, tuple[int, ...]]:
        """By option, the sizes in GPUs up to which one and two tiers of its switches are enough; none where it is rented."""
        cluster = self.given.params.cluster
        stated = self.given.all_options
        return {o.id: tier_steps(cluster, stated[o.id]) for o in self.given.options} if self.owns else {}

    @property
    def tiers(self) -> Iterable[str]:
        """Numbers of the tiers that an option may have."""
        return map(str, range(1, max(map(len, self.steps.values()), default=0) + 1))

    @cached_property
    def roces(self) -> tuple[str, ...]:
        """RoCEv2 options that are held against InfiniBand, the cheapest first."""
        sides = {o.id: o.side for o in self.given.options}
        return tuple(o for o in self.result.order if sides[o] == Side.ROCEV2) if self.both_families else ()

    # ---- what they rest on

    @property
    def everything(self) -> Footing:
        """Ids of every input of the difference."""
        return inputs_of(self.result.difference.draws) | set(_SIZE)

    @property
    def shape(self) -> Footing:
        """Ids of what shapes a network."""
        return _SHAPE

    def grown(self, *_: str) -> tuple[str, ...]:
        """What the shape of the fabric follows from, every stage's size with it."""
        return (*_SHAPE, *(f"param:cluster.trajectory[{i}].gpus" for i in range(len(self.result.common.stages) - 1)))

    def behind_cause(self, cause: str, _: str) -> Footing:
        """What the amount of a cause follows from."""
        return (*_SIZE, *LINKS) if cause == "site_links" else _SIZE

    def behind_bill(self, cause: str, _: str) -> Footing:
        """What a line of the bill follows from."""
        return (*self.grown(), *LINKS) if cause == "site_links" else self.grown()

    def behind_stage(self, stage: str, _: str) -> Footing:
        """What stands after a stage follows from."""
        size = f"param:cluster.trajectory[{int(stage) - 1}].gpus" if int(stage) else "param:cluster.gpus"
        return (size, *_SHAPE[1:])

    # ---- totals and causes

    @figure("tco.total[option]")
    def total(self, option: str) -> Reckoning:
        return Reckoning(self.result.totals[option], parts=parts_of(self.result.components[option]))

    @figure("tco.cash[option]")
    def cash(self, option: str) -> Reckoning:
        paid = apart(self.result.components[option])[0]
        return Reckoning(self.given.spread(paid), parts=parts_of(self.result.components[option])[0].parts)

    @figure("tco.time[option]")
    def time(self, option: str) -> Reckoning:
        lost = apart(self.result.components[option])[1]
        return Reckoning(self.given.spread(lost), parts=parts_of(self.result.components[option])[1].parts)

    @figure("tco[cause][option]")
    def cause(self, cause: str, option: str) -> Any:
        return self.result.components[option][cause]

    @figure("tco.useful[option]")
    def useful(self, option: str) -> Any:
        return self.result.useful_share[option]

    @figure("tco.difference")
    def difference(self) -> Reckoning:
        return Reckoning(self.result.difference.draws, parts=parts_of(self.result.difference.parts))

    @figure("tco.part[differing]")
    def part(self, cause: str) -> Any:
        return self.result.difference.parts[cause]

    # ---- a GPU-hour, rent and purchase

    @figure("tco.gpu_hour_value")
    def gpu_hour_value(self) -> Any:
        return self.result.common.gpu_hour_value

    @figure("tco.usd_per_useful_gpu_hour[option]")
    def usd_per_useful_gpu_hour(self, option: str) -> Any:
        return self.result.useful_hour[option]

    @figure("tco.worth_less[hired]")
    def worth_less(self, option: str) -> Reckoning:
        worth = self.result.worth_per_gpu_hour
        return Reckoning(worth[self.result.choice] - worth[option], inputs=inputs_of(worth[option]))

    @figure("tco.rent_per_useful_gpu_hour")
    def rent_per_useful_gpu_hour(self) -> Any:
        return self.owned.rent_useful_hour

    @figure("tco.market_rent")
    def market_rent(self) -> Any:
        return self.given.spread(self.result.common.server.rent_per_gpu_hour)

    @figure("tco.break_even_rent")
    def break_even_rent(self) -> Any:
        return self.owned.break_even_rent

    @figure("tco.break_even_utilisation")
    def break_even_utilisation(self) -> Any:
        return self.result.useful_hour[self.result.choice] / np.mean(self.owned.rent_useful_hour)

    # ---- what others measured, in money

    @figure("tco.pairs.median")
    def median_pair(self) -> Any:
        return gpu_time(self.result.common) * self.given.central(MEDIAN_PAIR)

    @figure("tco.pairs.charged")
    def charged_to_pair(self) -> Any:
        found = self.result
        return self.given.spread(charged(found.components, found.infiniband or "", found.rocev2 or ""))

    # ---- pieces and capital of the last stage

    def last(self, option: str) -> Build:
        """What stands of an option after the last stage."""
        return self.owned.builds[option][-1]

    @figure("tco.count[piece][owner]")
    def count(self, piece: str, option: str) -> int:
        built = self.last(option)
        pieces = {"switches": built.bom.switches, "transceivers": built.cables.transceivers, "nics": built.cables.nics}
        return pieces[piece]

    @figure("tco.bill[fabric_cause][owner]")
    def bill(self, cause: str, option: str) -> Any:
        return self.owned.capital[option][cause]

    def fabric(self, option: str) -> Any:
        """Capital of the whole fabric, installed."""
        return sum(self.owned.capital[option].values())

    @figure("tco.fabric_capex[owner]")
    def fabric_capex(self, option: str) -> Reckoning:
        stages = (Part(sum(stage.values())) for stage in self.owned.bought[option])
        return Reckoning(self.fabric(option), parts=(*map(Part, self.owned.capital[option].values()), *stages))

    @figure("tco.fabric_difference")
    def fabric_difference(self) -> Any:
        return self.owned.capital_gap

    @figure("tco.server_share")
    def server_share(self) -> Any:
        choice = self.result.choice
        return self.result.components[choice]["servers"] / np.mean(self.result.totals[choice])

    # ---- growth

    def bought_when(self, stage: str, _: str) -> str:
        """When a stage is bought, in words: the first is the start."""
        return f"at stage {stage}" if int(stage) else "at the start"

    def stage(self, stage: str, option: str) -> Build:
        """What stands of an option after one stage."""
        return self.owned.builds[option][int(stage)]

    @figure("tco.stage.gpus[stage][owner]")
    def stage_gpus(self, stage: str, option: str) -> int:
        return self.stage(stage, option).gpus

    @figure("tco.stage.bought[stage][owner]")
    def stage_bought(self, stage: str, option: str) -> int:
        before = self.stage(str(int(stage) - 1), option).bom.switches if int(stage) else 0
        return self.stage(stage, option).bom.switches - before

    @figure("tco.stage.overbuilt[stage][owner]")
    def stage_overbuilt(self, stage: str, option: str) -> int:
        built = self.stage(stage, option)
        return built.bom.switches - built.needed_switches

    @figure("tco.stage.month[stage][owner]")
    def stage_month(self, stage: str, option: str) -> int:
        return self.stage(stage, option).month

    @figure("tco.stage.price[stage][owner]")
    def stage_price(self, stage: str, option: str) -> Any:
        return sum(self.owned.bought[option][int(stage)].values())

    @figure("tco.overbuild[grown]")
    def overbuild(self, option: str) -> Any:
        return self.owned.growth[option].planned - self.owned.growth[option].as_needed

    @figure("tco.recabled[grown]")
    def recabled(self, option: str) -> Any:
        return self.owned.growth[option].recabled

    # ---- RoCEv2 against InfiniBand on each base, as a discount and as a premium

    def amount(self, base: str, option: str) -> Any:
        """What a percentage of this base is a percentage of."""
        if base == "total":
            return self.result.totals[option]
        capital = self.owned.capital[option]
        if base == "switches":
            return capital["switches"]
        if base == "hardware":
            return sum(capital[cause] for cause in HARDWARE)
        servers = self.last(option).nodes * self.result.common.server.price if base == "cluster" else 0
        return self.fabric(option) + servers

    def gap(self, base: str, option: str) -> RelativeDifference:
        """How an option stands against InfiniBand on a base."""
        return relative_difference(self.amount(base, self.result.infiniband or ""), self.amount(base, option))

    def percentage(self, base: str, option: str, share: Any) -> Reckoning:
        """One of the two percentages of a base."""
        amounts = (self.amount(base, each) for each in (self.result.infiniband or "", option))
        small = abs(float(np.mean(plain(self.gap(base, option).b_less_than_a)))) < SMALL_SHARE
        return Reckoning(share, inputs={*inputs_of(*amounts), *_SHAPE}, digits=1 if small else 2)

    @figure("tco.discount[base][roce]")
    def discount(self, base: str, option: str) -> Reckoning:
        return self.percentage(base, option, self.gap(base, option).b_less_than_a)

    @figure("tco.premium[base][roce]")
    def premium(self, base: str, option: str) -> Reckoning:
        return self.percentage(base, option, self.gap(base, option).a_more_than_b)

    @figure("tco.claim[end]")
    def claim(self, end: str) -> Any:
        return getattr(self.given.uncertain(_STATED), end)

    # ---- tiers of switches

    def tiers_of(self, tiers: str) -> str:
        """So many tiers, in words."""
        return f"{tiers} tier{'s' if int(tiers) > 1 else ''}"

    @figure("tco.step[tiers][owner]")
    def step(self, tiers: str, option: str) -> int:
        return self.steps[option][int(tiers) - 1]

    @figure("tco.edge.gpus")
    def edge_gpus(self) -> int:
        return self.edge.gpus

    @figure("tco.edge.cost")
    def edge_cost(self) -> Any:
        return self.edge.cost

    @figure("tco.edge.network")
    def edge_network(self) -> Any:
        return self.edge.network


FIGURES = Declaration(
    "tco",
    CostFigures,
    {
        "option": Index(lambda at: at.result.totals, called=CostFigures.name),
        "cause": Index(lambda at: at.result.labels, tuple(CAUSES), lambda at, cause: at.result.labels[cause]),
        "differing": Index(lambda at: at.result.difference.parts, DIFFERING, lambda at, cause: at.result.labels[cause]),
        "hired": Index(lambda at: () if at.owns else at.result.totals, called=CostFigures.name),
        "owner": Index(lambda at: at.owners, called=CostFigures.name),
        "piece": Index(lambda _: PIECES, PIECES, lambda _, piece: piece.capitalize()),
        "fabric_cause": Index(lambda at: at.fabric_causes, FABRIC_CAUSES, lambda _, cause: CAUSES[cause]),
        "stage": Index(lambda at: at.stages),
        "grown": Index(lambda at: at.owned.growth if at.owns else (), called=CostFigures.name),
        "base": Index(lambda _: BASES, tuple(BASES), lambda _, base: BASES[base].lower()),
        "roce": Index(lambda at: at.roces, called=CostFigures.name),
        "end": Index(lambda at: ("low", "high") if at.both_families else (), ("low", "high")),
        "tiers": Index(lambda at: at.tiers, called=CostFigures.tiers_of),
    },
)
"""Every figure of the section."""
