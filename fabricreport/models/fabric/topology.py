"""How many switches and cables a fabric needs: fat trees of one to three tiers, and dragonflies.

The counting rule for fat trees, with logical radix k, d down-links and u >= d / oversubscription up-links a leaf
(d + u <= k; at oversubscription 1, d = u = k/2) and E endpoints a plane:

    E <= k            one switch
    E <= k d          leaf = ceil(E/d); spine >= ceil(leaf u/k); leaf-spine cables = leaf u
    E <= k (k/2) d    three tiers in pods of k/2 leaves; spine = ceil(leaf u/(k/2)) (= leaf when u = k/2);
                      core = ceil(spine (k/2)/k); spine-core cables = spine k/2

*Equal bundles.* NVIDIA's reference tables give every leaf as many links to one spine as to any other: the number of
spines divides u. Plain port counting misses it (a 4-unit XDR SuperPOD has 18 spines where ports alone would allow
16). The rule holds where scalable units are built, and at their sizes: non-blocking, every leaf full, 8, 16, 32 ...
leaves. *Fewest switches.* Elsewhere bundles may be one link apart, and of all splits of a leaf that keep the ratio
the one with the fewest switches is taken: that many always suffice, since u links spread in turn over ceil(leaf u/k)
spines load no spine by more than k. So more oversubscription, or fewer servers, never needs more switches. Both counts
stand in the bill.

A pod that is not full has only the leaves it needs and the spines in proportion. Switches are multiplied by the number
of planes; cables are counted as physical cables, and one cable carries one link to each plane.
Sources: Al-Fares et al., SIGCOMM 2008 (fat tree); NVIDIA DGX SuperPOD reference architectures (tables).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from operator import index

from fabricreport.base.errors import InputError, OutOfRange, Problem
from fabricreport.base.locations import did_you_mean

TOPOLOGIES = ("fat-tree", "rail-optimised", "dragonfly")


@dataclass(frozen=True)
class BillOfMaterials:
    """Switches and physical cables of one fabric, and the shape they were counted for.

    `leaf`, `spine`, `core` are switches over all planes; for a dragonfly every router is a `leaf`, `cables_leaf_spine` are
    the cables inside groups and `cables_spine_core` those between groups.
    `endpoints` are the ports a plane is built for (whole units when `nodes_per_unit` was given), which may be
    more than the links that end in a server or a management node.
    """

    leaf: int
    spine: int
    core: int
    cables_node_leaf: int
    cables_leaf_spine: int
    cables_spine_core: int
    endpoints: int
    tiers: int
    gpus: int
    nodes: int
    links_per_node: int
    radix: int
    planes: int
    oversubscription: float
    management_links: int
    down_links: int
    up_links: int

    @property
    def switches(self) -> int:
        """All switches of all planes."""
        return self.leaf + self.spine + self.core

    @property
    def cables(self) -> int:
        """All physical cables."""
        return self.cables_node_leaf + self.cables_leaf_spine + self.cables_spine_core


def tier_capacity(radix: int, oversubscription: float = 1.0) -> tuple[int, int, int]:
    """Most endpoints a plane with one, two and three tiers holds; the next tier starts above each."""
    _validate(radix=radix, oversubscription=oversubscription)
    down, _ = _leaf_split(radix, oversubscription)
    return radix, radix * down, radix * (radix // 2) * down


def capacity(radix: int, oversubscription: float = 1.0, topology: str = "fat-tree") -> int:
    """Most endpoints a plane of the topology holds: three tiers of a fat tree, or the largest balanced dragonfly."""
    if topology == "dragonfly":
        hosts = max(1, (radix + 1) // 4)
        return max(radix, hosts * 2 * hosts * (2 * hosts * hosts + 1))
    return tier_capacity(radix, oversubscription)[-1]


def bill_of_materials(
    gpus: int,
    *,
    gpus_per_node: int = 8,
    links_per_gpu: int = 1,
    radix: int = 64,
    planes: int = 1,
    nodes_per_unit: int | None = None,
    oversubscription: float = 1.0,
    management_links: int = 0,
    topology: str = "fat-tree",
) -> BillOfMaterials:
    """Switches and cables for `gpus` GPUs in whole servers.

    `radix` is the logical radix at the link's speed (a 64 x 800G switch with 400G links: 128). With
    `nodes_per_unit=None` the fabric is built for what is attached; a number builds whole scalable units even
    if servers are missing, as NVIDIA does, and `management_links` use ports of those units.
    `oversubscription` is the leaf's down capacity over its up capacity and is never exceeded. A server that is
    not full of GPUs still brings all its links.

    Raises `InputError` for a value outside its domain and `OutOfRange` beyond the capacity of three tiers
    (of the largest balanced group-to-group mesh, for a dragonfly).
    """
    _validate(
        gpus=gpus,
        gpus_per_node=gpus_per_node,
        links_per_gpu=links_per_gpu,
        radix=radix,
        planes=planes,
        nodes_per_unit=nodes_per_unit,
        oversubscription=oversubscription,
        management_links=management_links,
        topology=topology,
    )
    shape = _single_switch(
        gpus, gpus_per_node, links_per_gpu, radix, planes, nodes_per_unit, oversubscription, management_links
    )
    if shape.endpoints <= shape.radix:
        return shape
    if topology == "dragonfly":
        return _dragonfly(shape)
    return _fat_tree(shape, in_units=nodes_per_unit is not None)


def _single_switch(
    gpus: int,
    gpus_per_node: int,
    links_per_gpu: int,
    radix: int,
    planes: int,
    nodes_per_unit: int | None,
    oversubscription: float,
    management_links: int,
) -> BillOfMaterials:
    """What is attached, on one switch to a plane: the form that the larger fabrics are built up from."""
    gpus, radix, planes = index(gpus), index(radix), index(planes)
    nodes = -(-gpus // index(gpus_per_node))
    links_per_node = index(gpus_per_node) * index(links_per_gpu)
    attached = nodes * links_per_node + index(management_links)
    endpoints = attached
    if nodes_per_unit is not None:
        unit = index(nodes_per_unit) * links_per_node
        endpoints = -(-attached // unit) * unit
    down, up = _leaf_split(radix, oversubscription)
    return BillOfMaterials(
        leaf=planes,
        spine=0,
        core=0,
        cables_node_leaf=attached,
        cables_leaf_spine=0,
        cables_spine_core=0,
        endpoints=endpoints,
        tiers=1,
        gpus=gpus,
        nodes=nodes,
        links_per_node=links_per_node,
        radix=radix,
        planes=planes,
        oversubscription=float(oversubscription),
        management_links=management_links,
        down_links=down,
        up_links=up,
    )


@dataclass(frozen=True)
class _Tree:
    """The switches of one plane and the split of its leaves."""

    leaf: int
    spine: int
    core: int
    down: int
    up: int

    @property
    def switches(self) -> int:
        return self.leaf + self.spine + self.core


def _fat_tree(shape: BillOfMaterials, *, in_units: bool) -> BillOfMaterials:
    """Two or three tiers above `shape.endpoints` endpoints a plane, built by the rule that holds at this size."""
    _, two_tiers, three_tiers = tier_capacity(shape.radix, shape.oversubscription)
    if shape.endpoints > three_tiers:
        raise _beyond(shape, three_tiers, "three tiers of switches")
    tiers = 2 if shape.endpoints <= two_tiers else 3
    equal = _is_reference(shape, in_units)
    return _built(shape, _smallest(shape.endpoints, shape.radix, shape.oversubscription, tiers, equal=equal))


def _built(shape: BillOfMaterials, tree: _Tree) -> BillOfMaterials:
    """The bill of one tree in each plane."""
    planes, half = shape.planes, shape.radix // 2
    between = tree.spine * half if tree.core else 0
    return replace(
        shape,
        leaf=tree.leaf * planes,
        spine=tree.spine * planes,
        core=tree.core * planes,
        cables_leaf_spine=tree.leaf * tree.up,
        cables_spine_core=between,
        tiers=3 if tree.core else 2,
        down_links=tree.down,
        up_links=tree.up,
    )


def _is_reference(shape: BillOfMaterials, in_units: bool) -> bool:
    """True where NVIDIA's tables hold: whole units asked for, or a non-blocking tree of 8, 16, 32 ... full leaves."""
    if shape.oversubscription != 1.0:
        return False
    leaf, rest = divmod(shape.endpoints, shape.radix // 2)
    return in_units or (rest == 0 and leaf >= 8 and leaf & (leaf - 1) == 0)


@lru_cache(maxsize=4096)
def _smallest(endpoints: int, radix: int, oversubscription: float, tiers: int, *, equal: bool) -> _Tree:
    """The tree of fewest switches over all numbers of leaves; of equal totals the one with fewest leaves.

    A leaf has the up-links that its share of the endpoints asks for, or those of a full leaf if they cost no switch.
    More leaves are tried while they might still save switches above them.
    """
    ratio = _exact(oversubscription)
    most, up_of_full = _leaf_split(radix, oversubscription)
    best: _Tree | None = None
    leaf, held = -(-endpoints // most), radix if tiers == 2 else radix * (radix // 2)
    while best is None or leaf < min(best.switches, held + 1):
        down = -(-endpoints // leaf)
        full = _above(leaf, most, up_of_full, radix, tiers, equal)
        part = _above(leaf, down, math.ceil(down / ratio), radix, tiers, equal)
        tree = min(full, part, key=lambda t: t.switches)
        if best is None or tree.switches < best.switches:
            best = tree
        leaf += 1
    return best


def _above(leaf: int, down: int, up: int, radix: int, tiers: int, equal: bool) -> _Tree:
    """The switches above `leaf` leaves. With equal bundles spare ports are cabled up too where that saves spines
    (at oversubscription 1 a full leaf has none to spare)."""
    half = radix // 2
    if tiers == 3:  # all the up-links of full pods: bundles are equal as it is
        spine = -(-leaf * up // half)
        return _Tree(leaf, spine, -(-spine * half // radix), down, up)
    if not equal:
        return _Tree(leaf, -(-leaf * up // radix), 0, down, up)
    spine, up = min(
        (next(s for s in range(-(-leaf * links // radix), links + 1) if links % s == 0), links)
        for links in range(up, radix - down + 1)
    )
    return _Tree(leaf, spine, 0, down, up)


def _exact(oversubscription: float) -> Fraction:
    return Fraction(oversubscription).limit_denominator(10_000)


def _leaf_split(radix: int, oversubscription: float) -> tuple[int, int]:
    """Down- and up-links of a leaf: the most down-links for which the asked ratio can still be kept."""
    ratio = _exact(oversubscription)
    down = math.floor(radix * ratio / (1 + ratio))
    down = min(down, radix - 1)
    return down, math.ceil(down / ratio)


def _dragonfly(shape: BillOfMaterials) -> BillOfMaterials:
    """Balanced dragonfly (Kim, Dally, Scott & Abts, ISCA 2008): a = 2p = 2h, p = (k+1)//4 endpoints a router.

    Our rule: as many groups as full groups would need, all of equal size; inside a group every router is joined
    to every other by one cable; every pair of groups by an equal bundle as wide as the global ports allow.
    """
    if shape.oversubscription != 1.0:
        raise InputError(
            Problem(
                "a dragonfly is counted in its balanced form only",
                key="oversubscription",
                value=str(shape.oversubscription),
                remedy="Write 1.0, or choose fat-tree or rail-optimised.",
            )
        )
    hosts = max(1, (shape.radix + 1) // 4)
    routers, globals_ = 2 * hosts, hosts
    most = capacity(shape.radix, topology="dragonfly")
    if shape.radix < 3 or shape.endpoints > most:
        raise _beyond(shape, most if shape.radix >= 3 else shape.radix, "the largest balanced dragonfly")
    groups = -(-shape.endpoints // (hosts * routers))
    size = -(-shape.endpoints // (hosts * groups))
    bundle = size * globals_ // (groups - 1) if groups > 1 else 0
    between = groups * (groups - 1) // 2 * bundle
    routers_built = groups * size * shape.planes
    return replace(
        shape,
        leaf=routers_built,
        cables_leaf_spine=groups * size * (size - 1) // 2,
        cables_spine_core=between,
        tiers=3 if groups > 1 else 2,
        down_links=hosts,
        up_links=shape.radix - hosts,
    )


def _beyond(shape: BillOfMaterials, held: int, what: str) -> OutOfRange:
    """The error for a cluster that does not fit, with how far it is over."""
    over = shape.endpoints - held
    return OutOfRange(
        Problem(
            f"{shape.endpoints:,} endpoints a plane do not fit: {what} with radix {shape.radix} "
            f"hold {held:,}, {over:,} too few ({over / held:.1%} over)",
            key="gpus",
            value=str(shape.gpus),
            remedy="Use switches of a larger radix, more planes with split links, or fewer links per GPU.",
        )
    )


def _validate(**values: object) -> None:
    """Refuse every value outside its domain, all faults at once."""
    problems = [p for key, value in values.items() if (p := _fault(key, value)) is not None]
    if problems:
        raise InputError(problems)


def _fault(key: str, value: object) -> Problem | None:
    """The fault in one argument of `bill_of_materials`, or None."""
    if key == "topology":
        if value in TOPOLOGIES:
            return None
        remedy = f"Known: {', '.join(TOPOLOGIES)}."
        return Problem("unknown topology", "", None, key, str(value), remedy, did_you_mean(value, TOPOLOGIES))
    if key == "oversubscription":
        number = isinstance(value, int | float) and not isinstance(value, bool)
        if number and math.isfinite(value) and 1 <= value <= 1000:  # type: ignore[arg-type,operator]
            return None
        remedy = "Write 1.0 for a non-blocking fabric, 2.0 for two down-links to each up-link."
        return Problem("must be a ratio of 1 to 1000", key=key, value=str(value), remedy=remedy)
    if value is None and key == "nodes_per_unit":
        return None
    least = {"management_links": 0, "radix": 2}.get(key, 1)
    if isinstance(value, bool) or not hasattr(value, "__index__") or value.__index__() < least:
        return Problem(f"must be a whole number of at least {least}", key=key, value=str(value))
    if key == "radix" and value.__index__() % 2:
        remedy = "Half the ports of a spine face down and half up: use the even number of ports."
        return Problem("must be even", key=key, value=str(value), remedy=remedy)
    return None
