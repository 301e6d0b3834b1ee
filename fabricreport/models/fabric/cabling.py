"""From links to what is ordered: copper, active cables, transceivers, fibre, NICs, spares.

A cage on the switch is twin-port (it carries `links_per_cage` links), so a switch-side transceiver, a passive
breakout and an active breakout each serve that many links; the server side has one transceiver a link. An active
optical cable is one piece a link with its ends fixed on. Media are chosen by reach (`evidence/cabling.yaml`).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fabricreport.errors import InputError, OutOfRange, Problem
from fabricreport.evidence import read_yaml
from fabricreport.models.fabric.topology import BillOfMaterials
from fabricreport.models.money.cashflow import array

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

    `links` are logical links (over all planes); `node_optics` one-link transceivers in servers, `switch_optics`
    twin-port transceivers in switches, `dac` and `acc` copper pieces, `aoc` active optical cables, `fibres`
    trunks, `nics` adapters, `cables` pieces pulled (each with two ends to seat).
    """

    nics: int
    links: int
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

    @property
    def optical_links_per_link(self) -> float:
        """Pluggable transceivers per link: 2 would be single-port all-fibre, 1.5 and less twin-port, 0 all-copper."""
        return self.transceivers / self.links


def medium_by_reach(length_m: float) -> str:
    """The cheapest medium that reaches `length_m` metres at 400G a link; OutOfRange beyond the longest."""
    if not math.isfinite(length_m) or length_m <= 0:
        raise InputError(Problem("must be a length above 0 m", key="length_m", value=str(length_m)))
    media = read_yaml("cabling")["media"]
    for row in media:
        if length_m <= row["reach_m"]:
            return str(row["medium"])
    longest = media[-1]["reach_m"]
    raise OutOfRange(
        Problem(
            f"no medium of this fabric reaches that far; fibre ends at {longest:g} m",
            key="length_m",
            value=str(length_m),
            remedy="Join the sites by routed long-haul links, which this bill does not cover.",
        )
    )


def plan_by_reach(lengths_m: Mapping[str, float], *, links_per_cage: int = 2) -> CablePlan:
    """A plan from the longest run of each layer (`node_leaf`, `leaf_spine`, `spine_core`; absent: fibre)."""
    if unknown := set(lengths_m) - set(LAYERS):
        raise InputError(Problem("unknown cable layer", value=", ".join(sorted(unknown)), remedy=f"Known: {LAYERS}."))
    media = {layer: medium_by_reach(length) for layer, length in lengths_m.items()}
    return replace(CablePlan(), links_per_cage=links_per_cage, **media)


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
    links = bom.planes * sum(counts.values())
    return CableBill(nics=bom.nodes * bom.links_per_node, links=links, **totals)


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
