"""The bill of materials: from links to what is ordered, what that costs and draws, and what staged growth buys when.

A cage on the switch is twin-port (it carries `links_per_cage` links), so a switch-side transceiver, a passive
breakout and an active breakout each serve that many links; the server side has one transceiver a link. An active
optical cable is one piece a link with its ends fixed on.

Prices and watts are scalars or arrays over draws; counts are whole pieces. A kind of piece that the bill needs
and that has no price is an error, never free: write 0 to leave it out on purpose.

Two ways to reach the same last stage are counted side by side:

*planned*  leaves are wired from day one as the last stage needs them, so nothing already laid is moved. If the
           last stage has two tiers, all its spines stand as soon as there is a second leaf, because each leaf's
           bundle is split over all of them. If it has three, each pod begun gets all the spines the last stage
           gives it, and all cores stand as soon as there is a second pod.
*as needed* each stage is the smallest fabric for its size. A later stage then moves cables: those of a bundle
           that must be split over more spines, and every cable between leaf and spine when a tier is added.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fabricreport.base.errors import InputError, Problem
from fabricreport.base.units import HOURS_PER_MONTH
from fabricreport.models.fabric.topology import BillOfMaterials, bill_of_materials
from fabricreport.models.money.cashflow import array, lump

MEDIA = ("dac", "acc", "aoc", "fibre")
LAYERS = ("node_leaf", "leaf_spine", "spine_core")


@dataclass(frozen=True)
class CablePlan:
    """The medium of each layer of cables, and how many links share a twin-port cage on a switch."""

    node_leaf: str = "fibre"
    leaf_spine: str = "fibre"
    spine_core: str = "fibre"
    links_per_cage: int = 2

    def __post_init__(self) -> None:
        for layer in LAYERS:
            if getattr(self, layer) not in MEDIA:
                remedy = f"Known media: {', '.join(MEDIA)}."
                raise InputError(Problem("unknown cable medium", key=layer, value=getattr(self, layer), remedy=remedy))
        if self.links_per_cage < 1:
            raise InputError(Problem("must be at least 1", key="links_per_cage", value=str(self.links_per_cage)))


@dataclass(frozen=True)
class CableBill:
    """What is ordered to wire one fabric, in pieces.

    `node_optics` are one-link transceivers in servers, `switch_optics`
    twin-port transceivers in switches, `dac` and `acc` copper pieces, `aoc` active optical cables, `fibres`
    trunks, `nics` adapters, `cables` pieces pulled (each with two ends to seat).
    """

    nics: int
    node_optics: int
    switch_optics: int
    dac: int
    acc: int
    aoc: int
    fibres: int
    cables: int

    @property
    def transceivers(self) -> int:
        """All pluggable transceivers; the active ends of an AOC are not counted."""
        return self.node_optics + self.switch_optics


def optics_and_cables(bom: BillOfMaterials, plan: CablePlan | None = None) -> CableBill:
    """Pieces to order for a bill of materials, by default all fibre with twin-port cages.

    In a multi-plane fabric one physical cable carries one link to each plane: cables are counted once, and the
    switch-side cages by their links.
    """
    plan = plan or CablePlan()
    counts = {layer: getattr(bom, f"cables_{layer}") for layer in LAYERS}
    totals = dict.fromkeys(("node_optics", "switch_optics", "dac", "acc", "aoc", "fibres", "cables"), 0)
    for layer, cables in counts.items():
        for item, pieces in _pieces(layer, cables, bom.planes, plan).items():
            totals[item] += pieces
    return CableBill(nics=bom.nodes * bom.links_per_node, **totals)


def _pieces(layer: str, cables: int, planes: int, plan: CablePlan) -> dict[str, int]:
    """Pieces of one layer."""
    medium = getattr(plan, layer)
    cages = -(-cables * planes // plan.links_per_cage)
    if medium in ("dac", "acc"):
        return {medium: cages, "cables": cages}
    if medium == "aoc":
        return {"aoc": cables, "cables": cables}
    if layer == "node_leaf":
        return {"node_optics": cables, "switch_optics": cages, "fibres": cables, "cables": cables}
    return {"switch_optics": 2 * cages, "fibres": cables, "cables": cables}


def with_spares(count: int, share: Any) -> NDArray[np.float64]:
    """Pieces to keep in stock beside `count` installed ones: the share (scalar or (draws,)), rounded up."""
    share = array(share)
    if np.any(~((share >= 0) & (share <= 1))):
        raise InputError(Problem("must be a share of 0 to 1", key="spares_share", value=str(share)))
    # the small allowance keeps 2 % of 50 at 1 piece when 0.02 x 50 is a hair above 1 in binary
    return array(np.ceil(count * share - 1e-9))


Array = NDArray[np.float64]


@dataclass(frozen=True)
class PerPiece:
    """One number for each kind of piece (USD, or W), None where it is not known."""

    switch: Any = None
    nic: Any = None
    node_optic: Any = None
    switch_optic: Any = None
    dac: Any = None
    acc: Any = None
    aoc: Any = None
    fibre: Any = None

    def of(self, kind: str, count: int) -> Array:
        """`count` pieces times the number of the kind; none of an unknown kind is zero, some is an error."""
        unit = getattr(self, kind)
        if count and unit is None:
            raise InputError(
                Problem(
                    f"the fabric needs {count:,} of this kind and it has no price or watts",
                    key=kind,
                    remedy="Add a price (or 0 to leave it out on purpose), or choose a medium that does not need it.",
                )
            )
        return array(0.0) if unit is None else count * np.asanyarray(unit)


def pieces(bom: BillOfMaterials, cables: CableBill) -> dict[str, int]:
    """Installed pieces of each kind that `PerPiece` names."""
    return {
        "switch": bom.switches,
        "nic": cables.nics,
        "node_optic": cables.node_optics,
        "switch_optic": cables.switch_optics,
        "dac": cables.dac,
        "acc": cables.acc,
        "aoc": cables.aoc,
        "fibre": cables.fibres,
    }


GROUPS: Mapping[str, tuple[str, ...]] = {
    "switches": ("switch",),
    "optics": ("node_optic", "switch_optic", "aoc"),
    "copper and fibre": ("dac", "acc", "fibre"),
    "adapters": ("nic",),
}
"""How kinds of pieces are grouped in a bill of costs."""


@dataclass(frozen=True)
class Extras:
    """What a fabric needs beside its pieces: spares, labour, management servers.

    `spares_share` of each kind (rounded up), `labour_usd_per_cable`, `management_nodes` at
    `management_node_usd` each. Scalars or arrays over draws.
    """

    spares_share: Any = 0.0
    labour_usd_per_cable: Any = 0.0
    management_nodes: int = 0
    management_node_usd: Any = 0.0


def fabric_capex_usd(
    bom: BillOfMaterials, cables: CableBill, prices: PerPiece, extras: Extras | None = None
) -> dict[str, Array]:
    """Purchase cost by group (USD, scalars or (draws,)): the `GROUPS`, spares of each kind of piece,
    installation, management servers.

    Groups that cost nothing because nothing of theirs is needed are kept as zeros, so options compare term by
    term.
    """
    extras = extras or Extras()
    counts = pieces(bom, cables)
    out: dict[str, Array] = {}
    for group, kinds in GROUPS.items():
        cost: Array = array(0.0)
        for kind in kinds:
            cost = cost + prices.of(kind, counts[kind])
        out[group] = cost
    for kind, count in counts.items():
        if count:
            out[f"spares of {kind}"] = prices.of(kind, 1) * with_spares(count, extras.spares_share)
    out["installation"] = cables.cables * array(extras.labour_usd_per_cable)
    out["management servers"] = extras.management_nodes * array(extras.management_node_usd)
    return out


def fabric_watts(bom: BillOfMaterials, cables: CableBill, watts: PerPiece) -> dict[str, Array]:
    """Watts by group at the plug of the rack, before cooling. Switch watts are those without optics."""
    counts = pieces(bom, cables)
    passive = PerPiece(**{f.name: getattr(watts, f.name) for f in fields(PerPiece)} | _unpowered(watts))
    out: dict[str, Array] = {}
    for group, kinds in GROUPS.items():
        power: Array = array(0.0)
        for kind in kinds:
            power = power + passive.of(kind, counts[kind])
        out[group] = power
    return out


def _unpowered(watts: PerPiece) -> dict[str, float]:
    """Passive copper and glass draw next to nothing (0.1 W at most): 0 unless a figure is given."""
    return {kind: 0.0 for kind in ("dac", "fibre") if getattr(watts, kind) is None}


def energy_usd_per_month(watts: Any, usd_per_kwh: Any, pue: Any) -> tuple[Array, Array]:
    """(electricity of the equipment, electricity of cooling and losses) a month, USD: W x h x price, and PUE - 1."""
    equipment = array(watts) / 1000 * HOURS_PER_MONTH * array(usd_per_kwh)
    if np.any(array(pue) < 1):
        raise InputError(Problem("PUE cannot be below 1", key="pue", value=str(pue)))
    return equipment, equipment * (array(pue) - 1)


@dataclass(frozen=True)
class GrowthStage:
    """One stage. Switch and cable numbers are cumulative, `bought_*` are this stage's purchases.

    `needed` is the smallest fabric for the size; `leaf, spine, core` are what the planned way has standing.
    `bought_*_as_needed` and `recabled` (cables moved on
    entering this stage) belong to the as-needed way.
    """

    month: int
    gpus: int
    needed: BillOfMaterials
    leaf: int
    spine: int
    core: int
    cables: int
    bought_switches: int
    bought_cables: int
    bought_switches_as_needed: int
    bought_cables_as_needed: int
    recabled: int

    @property
    def switches(self) -> int:
        """Switches standing after this stage, planned way."""
        return self.leaf + self.spine + self.core


@dataclass(frozen=True)
class GrowthPlan:
    """All stages, first to last."""

    stages: tuple[GrowthStage, ...]

    @property
    def final(self) -> BillOfMaterials:
        """The fabric of the last stage."""
        return self.stages[-1].needed

    @property
    def recabled(self) -> int:
        """Cables that the as-needed way lays twice, over all stages."""
        return sum(stage.recabled for stage in self.stages)

    @property
    def adds_tier_at(self) -> tuple[int, ...]:
        """Months at which the as-needed way adds a tier of switches."""
        return tuple(later.month for now, later in pairwise(self.stages) if later.needed.tiers > now.needed.tiers)


def staged_growth(stages: Sequence[tuple[int, int]], **fabric: Any) -> GrowthPlan:
    """The plan for `stages`, pairs of (month, GPUs) in order, never shrinking.

    `fabric` are the keyword arguments of `bill_of_materials`, the same for all stages. Fat trees only (a
    dragonfly's groups are re-sized as it grows). Raises `InputError` for stages that shrink or go back in time.
    """
    _validate_stages(stages, fabric)
    boms = [bill_of_materials(gpus, **fabric) for _, gpus in stages]
    final = boms[-1]
    planned = [_standing(bom, final) for bom in boms]
    rows = []
    for i, ((month, gpus), bom) in enumerate(zip(stages, boms, strict=True)):
        leaf, spine, core, cables = planned[i]
        before = planned[i - 1] if i else (0, 0, 0, 0)
        smaller = boms[i - 1] if i else None
        rows.append(
            GrowthStage(
                month=month,
                gpus=gpus,
                needed=bom,
                leaf=leaf,
                spine=spine,
                core=core,
                cables=cables,
                bought_switches=leaf + spine + core - sum(before[:3]),
                bought_cables=cables - before[3],
                bought_switches_as_needed=max(0, bom.switches - (smaller.switches if smaller else 0)),
                bought_cables_as_needed=max(0, bom.cables - (smaller.cables if smaller else 0)),
                recabled=_recabled(smaller, bom) if smaller else 0,
            )
        )
    return GrowthPlan(tuple(rows))


@dataclass(frozen=True)
class GrowthPrices:
    """What growing costs: USD per switch and per cable laid (with its optics and labour), USD to move a cable.
    Scalars or arrays over draws."""

    switch_usd: Any
    cable_usd: Any
    move_cable_usd: Any


def growth_flows(plan: GrowthPlan, prices: GrowthPrices, months: int) -> tuple[NDArray[Any], NDArray[Any]]:
    """Monthly outlays (..., months + 1) on switches and cables, in today's money: (planned, as needed).

    Discount both: the planned way pays earlier, the as-needed way pays for moved cables. Server purchases are the same in both and left out.
    """
    planned: NDArray[Any] = np.zeros(months + 1)
    as_needed: NDArray[Any] = np.zeros(months + 1)
    for stage in plan.stages:
        switch, cable = array(prices.switch_usd), array(prices.cable_usd)
        early = stage.bought_switches * switch + stage.bought_cables * cable
        late = stage.bought_switches_as_needed * switch + stage.bought_cables_as_needed * cable
        moved = stage.recabled * array(prices.move_cable_usd)
        planned = planned + lump(early, stage.month, months)
        as_needed = as_needed + lump(late + moved, stage.month, months)
    return planned, as_needed


def _standing(bom: BillOfMaterials, final: BillOfMaterials) -> tuple[int, int, int, int]:
    """Leaf, spine, core switches and cables that stand at a stage so that `final` needs no cable moved."""
    planes = bom.planes
    if final.tiers == 1:
        return bom.leaf, 0, 0, bom.cables
    leaf = -(-bom.endpoints // final.down_links)
    up = final.up_links
    if final.tiers == 2:
        spine = final.spine // planes if leaf > 1 else 0
        laid = leaf * up if spine else 0
        return leaf * planes, spine * planes, 0, bom.cables_node_leaf + laid
    half = final.radix // 2
    pods = -(-leaf // half)
    spine = min(pods * up, final.spine // planes) if leaf > 1 else 0
    core = final.core // planes if pods > 1 else 0
    laid = (leaf * up if spine else 0) + (spine * half if core else 0)
    return leaf * planes, spine * planes, core * planes, bom.cables_node_leaf + laid


def _recabled(now: BillOfMaterials, later: BillOfMaterials) -> int:
    """Physical cables of `now` that must be moved to become part of `later`."""
    if now.tiers == 1:
        stay = now.cables_node_leaf if later.tiers == 1 else min(now.cables_node_leaf, later.down_links)
        return now.cables_node_leaf - stay
    if later.tiers > now.tiers:
        return now.cables_leaf_spine
    if now.tiers == 2:
        kept = min(1.0, now.spine / later.spine)
        return round(now.cables_leaf_spine * (1 - kept))
    kept = min(1.0, now.core / later.core)
    return round(now.cables_spine_core * (1 - kept))


def _validate_stages(stages: Sequence[tuple[int, int]], fabric: dict[str, Any]) -> None:
    """Refuse an empty, shrinking or unordered trajectory, and a dragonfly."""
    problems = []
    if not stages:
        problems.append(Problem("at least one stage is needed", key="stages"))
    for (month, gpus), (next_month, next_gpus) in pairwise(stages):
        if next_month <= month:
            problems.append(Problem("stages must be in order of month", key="trajectory", value=str(next_month)))
        if next_gpus < gpus:
            problems.append(Problem("a trajectory must not shrink", key="trajectory", value=str(next_gpus)))
    if stages and stages[0][0] < 0:
        problems.append(Problem("months count from 0", key="trajectory", value=str(stages[0][0])))
    if fabric.get("topology") == "dragonfly":
        remedy = "Choose fat-tree or rail-optimised, or plan each stage on its own."
        problems.append(Problem("growth is planned for fat trees only", key="topology", remedy=remedy))
    if problems:
        raise InputError(problems)
