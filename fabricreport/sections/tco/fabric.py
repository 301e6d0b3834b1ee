"""The bill of materials of an option at each stage of the client's growth: what stands, what that cost, and how many of each item."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

from fabricreport.base.errors import OutOfRange
from fabricreport.books.options import Option
from fabricreport.books.quotes import Kind, items_of
from fabricreport.inputs.inputs import Inputs
from fabricreport.inputs.options import cable_plan, endpoints_for, shape
from fabricreport.models.fabric.bill import (
    CableBill,
    CablePlan,
    Extras,
    GrowthPlan,
    GrowthPrices,
    GrowthStage,
    fabric_capex_usd,
    fabric_watts,
    growth_flows,
    optics_and_cables,
    pieces,
    staged_growth,
    with_spares,
)
from fabricreport.models.fabric.topology import BillOfMaterials, bill_of_materials
from fabricreport.scenario import Cluster
from fabricreport.sections.sites import port_count
from fabricreport.sections.tco.inputs import Common, OptionInputs

_PIECES = (
    *("leaf", "spine", "core", "gpus", "nodes", "endpoints", "management_links"),
    *("cables_node_leaf", "cables_leaf_spine", "cables_spine_core"),
)
"""What adds up over the networks of several sites."""


@dataclass(frozen=True)
class Build:
    """The fabric that stands after one stage, planned so that later stages move no cable.

    `bom` and `cables` are cumulative; `needed_switches` is the smallest fabric for this size alone. `managed` says
    whether a fabric manager is bought: a fabric of one switch runs the manager that the switch brings. `sites`: the
    networks it is made of where sites are not joined, each with a bill of its own; their pieces are added up here.
    `site_ports`: ports at the ends of the links between sites where one network joins them.
    """

    month: int
    gpus: int
    nodes: int
    bom: BillOfMaterials
    cables: CableBill
    needed_switches: int
    managed: bool
    sites: tuple[Build, ...] = ()
    site_ports: int = 0


def manager_links(cluster: Cluster, option: Option, sizes: Sequence[int]) -> int:
    """The manager's links into the fabric: those the option asks for where ports are free at every size, else none.

    At a size that fills every leaf, four more links would ask for another leaf and an uneven tree of spines; a
    builder gives up a server's ports instead, as NVIDIA's reference designs do.
    """
    wanted = option.management.links
    arguments = shape(cluster, option)
    for gpus in sizes if wanted else ():
        size = endpoints_for(cluster, option, gpus)
        without = bill_of_materials(size, **arguments)
        try:
            beside = bill_of_materials(size, management_links=wanted, **arguments)
        except OutOfRange:  # every port of the largest fabric is taken
            return 0
        if beside.switches > without.switches:
            return 0
    return wanted


def builds(
    cluster: Cluster, option: Option, stages: Sequence[tuple[int, int]], servers_per_rack: int
) -> tuple[Build, ...]:
    """What stands after each stage (month, GPUs): one network, with links between the sites that it joins, or one in each.

    One network over several sites has the pieces that it has in one, so that it never costs less. Raises `OutOfRange` for
    a size the option's switches cannot hold.
    """
    if not apart(cluster):
        found = _network(cluster, option, stages, servers_per_rack)
        return tuple(replace(build, site_ports=port_count(cluster, option, build.gpus)) for build in found)
    each = [_network(cluster, option, own, servers_per_rack) for own in site_stages(cluster, stages)]
    return tuple(
        _joined(month, gpus, [standing for own in each if (standing := _by(own, month))]) for month, gpus in stages
    )


def apart(cluster: Cluster) -> bool:
    """Whether each of several sites has a network of its own."""
    return cluster.sites > 1 and not cluster.sites_joined


def site_stages(cluster: Cluster, stages: Sequence[tuple[int, int]]) -> list[list[tuple[int, int]]]:
    """(month, GPUs) of each site in use, from the stage on at which it is."""
    halls = [cluster.halls(gpus) for _, gpus in stages]
    return [
        [(month, hall[site]) for (month, _), hall in zip(stages, halls, strict=True) if site < len(hall)]
        for site in range(len(halls[-1]))
    ]


def _by(own: Sequence[Build], month: int) -> Build | None:
    """What stands in a site by that month, if anything."""
    return next((build for build in reversed(own) if build.month <= month), None)


def _joined(month: int, gpus: int, sites: Sequence[Build]) -> Build:
    """Networks of several sites as one bill: pieces add up, the tiers are those of the deepest."""
    deepest = max((build.bom for build in sites), key=lambda bom: bom.tiers)
    bom = replace(deepest, **{piece: sum(getattr(build.bom, piece) for build in sites) for piece in _PIECES})
    pieces = {f.name: sum(getattr(build.cables, f.name) for build in sites) for f in fields(CableBill)}
    return Build(
        month=month,
        gpus=gpus,
        nodes=sum(build.nodes for build in sites),
        bom=bom,
        cables=CableBill(**pieces),
        needed_switches=sum(build.needed_switches for build in sites),
        managed=any(build.managed for build in sites),
        sites=tuple(sites),
    )


def _network(
    cluster: Cluster, option: Option, stages: Sequence[tuple[int, int]], servers_per_rack: int
) -> tuple[Build, ...]:
    """What stands of one network after each stage."""
    arguments = {**shape(cluster, option), "management_links": manager_links(cluster, option, [g for _, g in stages])}
    sizes = [(month, endpoints_for(cluster, option, gpus)) for month, gpus in stages]
    needed = [bill_of_materials(size, **arguments) for _, size in sizes]
    standing = needed
    if len(stages) > 1 and cluster.topology != "dragonfly":
        plan = staged_growth(_distinct(sizes), **arguments)
        by_size = {stage.gpus: _standing(stage, plan) for stage in plan.stages}
        standing = [by_size[size] for _, size in sizes]
    final_nodes = -(-stages[-1][1] // cluster.gpus_per_node)
    plan_of_cables = cable_plan(option, standing[-1], final_nodes, servers_per_rack)
    return tuple(
        Build(
            month=month,
            gpus=gpus,
            nodes=-(-gpus // cluster.gpus_per_node),
            bom=bom,
            cables=optics_and_cables(bom, plan_of_cables),
            needed_switches=least.switches,
            managed=standing[-1].switches > 1,
        )
        for (month, gpus), bom, least in zip(stages, standing, needed, strict=True)
    )


def _distinct(sizes: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """Sizes without repeats: two stages may need the same number of servers."""
    first: dict[int, int] = {}
    for month, size in sizes:
        first.setdefault(size, month)
    return [(month, size) for size, month in first.items()]


def _standing(stage: GrowthStage, plan: GrowthPlan) -> BillOfMaterials:
    """A stage's standing fabric as a bill, with its cables by layer."""
    between = stage.cables - stage.needed.cables_node_leaf
    lower = min(between, stage.leaf * plan.final.up_links) if stage.spine else 0
    return replace(
        stage.needed,
        leaf=stage.leaf,
        spine=stage.spine,
        core=stage.core,
        cables_leaf_spine=lower,
        cables_spine_core=between - lower,
        tiers=1 + (stage.spine > 0) + (stage.core > 0),
    )


def capex(build: Build, option: OptionInputs, common: Common) -> dict[str, Any]:
    """Capital of the standing fabric by part, spares by piece, all bought at today's prices; sites add up."""
    if build.sites:
        return added([capex(site, option, common) for site in build.sites])
    extras = Extras(
        common.spares_share,
        common.labour_per_cable,
        management_nodes=1 if build.managed else 0,
        management_node_usd=option.management_servers * option.manager.at(build.gpus),
    )
    parts = dict(fabric_capex_usd(build.bom, build.cables, option.prices, extras))
    return parts | (common.site_links.capex_usd(build.site_ports) if common.site_links else {})


def added(parts: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Amounts by part, added up over several bills."""
    names = dict.fromkeys(name for part in parts for name in part)
    return {name: sum(part.get(name, 0.0) for part in parts) for name in names}


def watts(build: Build, option: OptionInputs, common: Common) -> Mapping[str, Any]:
    """Watts of the standing fabric by group, adapters included."""
    parts = fabric_watts(build.bom, build.cables, option.watts)
    return parts | ({"site links": build.site_ports * common.site_links.watts} if common.site_links else {})


def licences_per_year(build: Build, option: OptionInputs) -> Any:
    """Yearly licences of the standing fabric: the manager by endpoint, the switches' system by switch."""
    if build.sites:
        return sum(licences_per_year(site, option) for site in build.sites)
    manager = option.manager.usd_per_year(build.cables.nics if build.managed else 0, build.gpus)
    return manager + option.system.usd_per_year(build.bom.switches, build.gpus)


@dataclass(frozen=True)
class GrowthCost:
    """Growing as planned from day one against the smallest fabric at each stage, present values on switches and cables."""

    planned: Any
    as_needed: Any
    recabled: int
    adds_tier_at: tuple[int, ...]


def growth_cost(cluster: Cluster, option: Option, inputs: OptionInputs, common: Common) -> GrowthCost | None:
    """What planning ahead costs, or None for a client that does not grow (or a dragonfly, which is re-sized).

    Sites add up; one that is filled at once grows no further and has nothing to plan.
    """
    stages = site_stages(cluster, common.stages) if apart(cluster) else [common.stages]
    found = [cost for own in stages if (cost := _grown(cluster, option, inputs, common, own))]
    if not found:
        return None
    return GrowthCost(
        sum(cost.planned for cost in found),
        sum(cost.as_needed for cost in found),
        sum(cost.recabled for cost in found),
        tuple(sorted({month for cost in found for month in cost.adds_tier_at})),
    )


def _grown(
    cluster: Cluster, option: Option, inputs: OptionInputs, common: Common, stages: Sequence[tuple[int, int]]
) -> GrowthCost | None:
    """What planning one network ahead costs."""
    sizes = _distinct([(month, endpoints_for(cluster, option, gpus)) for month, gpus in stages])
    if len(sizes) < 2 or cluster.topology == "dragonfly":
        return None
    plan = staged_growth(sizes, **shape(cluster, option))
    bill = optics_and_cables(plan.final, CablePlan(links_per_cage=option.links_per_cage))
    parts = fabric_capex_usd(plan.final, bill, inputs.prices)
    cable = (parts["optics"] + parts["copper and fibre"]) / plan.final.cables
    prices = GrowthPrices(inputs.prices.switch, cable + common.labour_per_cable, common.labour_per_cable)
    planned, as_needed = growth_flows(plan, prices, common.months)
    value = common.discounting.present_value
    return GrowthCost(value(planned), value(as_needed), plan.recabled, plan.adds_tier_at)


def quantities(given: Inputs, option: Option, build: Build) -> tuple[dict[str, int], dict[str, int]]:
    """Pieces of each item, spares included, and the spares among them; endpoints and switches for what is licensed by them."""
    share = given.central("evidence:spares-share")
    counts: dict[str, int] = defaultdict(int)
    spares: dict[str, int] = defaultdict(int)
    for item, kinds in items_of(option).items():
        for kind in kinds:
            for site in build.sites or (build,):
                installed = _installed(given, option, site, kind)
                kept = int(with_spares(installed, share)) if kind.id in option.pieces else 0
                counts[item] += installed + kept
                spares[item] += kept
    return counts, spares


def _installed(given: Inputs, option: Option, build: Build, kind: Kind) -> int:
    """Pieces of a kind that one network takes."""
    if kind.id in option.pieces:
        return pieces(build.bom, build.cables)[kind.id]
    if kind.id == "licence":
        return build.cables.nics if build.managed else 0
    if kind.id == "operating_system":
        return build.bom.switches
    if kind.id == "management":
        nodes = option.management.nodes
        return int(given.central(nodes) if isinstance(nodes, str) else nodes) if build.managed else 0
    return int(given.params.organisation.network_engineers)
