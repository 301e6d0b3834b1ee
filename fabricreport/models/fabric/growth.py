"""Staged growth: what is bought when, and what the first stage must over-build so that the last one fits.

Two ways to reach the same last stage are counted side by side:

*planned*  leaves are wired from day one as the last stage needs them, so nothing already laid is moved. If the
           last stage has two tiers, all its spines stand as soon as there is a second leaf, because each leaf's
           bundle is split over all of them. If it has three, each pod begun gets all the spines the last stage
           gives it, and all cores stand as soon as there is a second pod.
*as needed* each stage is the smallest fabric for its size. A later stage then moves cables: those of a bundle
           that must be split over more spines, and every cable between leaf and spine when a tier is added.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fabricreport.errors import InputError, Problem
from fabricreport.models.fabric.topology import BillOfMaterials, bill_of_materials
from fabricreport.models.money.cashflow import array, lump


@dataclass(frozen=True)
class GrowthStage:
    """One stage. Switch and cable numbers are cumulative, `bought_*` are this stage's purchases.

    `needed` is the smallest fabric for the size; `leaf, spine, core` are what the planned way has standing.
    `overbuilt` switches stand before their stage needs them. `bought_*_as_needed` and `recabled` (cables moved on
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

    @property
    def overbuilt(self) -> int:
        """Switches standing beyond what this stage alone would need."""
        return self.switches - self.needed.switches


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
    """What growing costs: USD per switch and per cable laid (with its optics and labour), USD to move a cable,
    hours the cluster stands still for a rebuild, and USD per GPU-hour of that. Scalars or arrays over draws."""

    switch_usd: Any
    cable_usd: Any
    move_cable_usd: Any
    rebuild_hours: Any = 0.0
    gpu_hour_usd: Any = 0.0


def growth_flows(plan: GrowthPlan, prices: GrowthPrices, months: int) -> tuple[NDArray[Any], NDArray[Any]]:
    """Monthly outlays (..., months + 1) on switches and cables, in today's money: (planned, as needed).

    Discount both: the planned way pays earlier, the as-needed way pays for moved cables and a cluster that stands
    still while they are moved. Server purchases are the same in both and left out.
    """
    planned: NDArray[Any] = np.zeros(months + 1)
    as_needed: NDArray[Any] = np.zeros(months + 1)
    gpus_before = 0
    for stage in plan.stages:
        switch, cable = array(prices.switch_usd), array(prices.cable_usd)
        early = stage.bought_switches * switch + stage.bought_cables * cable
        late = stage.bought_switches_as_needed * switch + stage.bought_cables_as_needed * cable
        moved = stage.recabled * array(prices.move_cable_usd)
        still = gpus_before * array(prices.rebuild_hours) * array(prices.gpu_hour_usd) * bool(stage.recabled)
        planned = planned + lump(early, stage.month, months)
        as_needed = as_needed + lump(late + moved + still, stage.month, months)
        gpus_before = stage.gpus
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
