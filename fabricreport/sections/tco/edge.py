"""The edge of a tier of switches near the client's size: what one node beyond it costs, by the model run again."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from fabricreport.books.options import Option
from fabricreport.errors import InputError
from fabricreport.inputs import Inputs
from fabricreport.models.fabric.topology import tier_capacity
from fabricreport.provenance import Traced, plain
from fabricreport.scenario import Cluster
from fabricreport.sections.tco import fabric
from fabricreport.sections.tco.bills import Bills

NEAR = 0.125
"""A size is at an edge where it is at most so much smaller or larger."""


@dataclass(frozen=True)
class Edge:
    """The most GPUs that so few tiers of an option's largest switches join, and what one node more costs (draws,).

    `tiers` are those that one node more needs; `network` is the part of `cost` that is paid to buy it. `passed`: the
    client's size is beyond the edge.
    """

    option: str
    gpus: int
    tiers: int
    cost: Traced
    network: Traced
    passed: bool


def tier_steps(cluster: Cluster, option: Option) -> tuple[int, ...]:
    """Sizes in GPUs up to which one and two tiers of the option's largest switches are enough."""
    links = option.links_per_node or cluster.gpus_per_node * cluster.links_per_gpu
    radix = max(one.radix for one in option.ladder)
    one, two, _ = tier_capacity(radix, cluster.oversubscription)
    return tuple(ports // links * cluster.gpus_per_node for ports in (one, two))


def edge_of(given: Inputs, options: Sequence[str], sized: Callable[[int], Bills]) -> Edge | None:
    """The nearest edge of the first of these options that has one where a node more costs more; `sized` gives the bills of
    so many GPUs. None for a renter, for a client who grows or has several sites, and without an edge near the size.
    """
    cluster = given.params.cluster
    if given.team.rented or cluster.trajectory or cluster.sites > 1 or cluster.topology == "dragonfly":
        return None
    near = [
        (option, gpus)
        for option in options
        for gpus in tier_steps(cluster, given.priced_options[option])
        if gpus > cluster.gpus_per_node and abs(cluster.gpus - gpus) <= NEAR * gpus
    ]
    return next((found for option, gpus in near if (found := _edge(cluster, option, gpus, sized))), None)


def _edge(cluster: Cluster, option: str, gpus: int, sized: Callable[[int], Bills]) -> Edge | None:
    """The edge at a size, if one node more does ask for another tier and for more money."""
    try:
        at, beyond = sized(gpus), sized(gpus + cluster.gpus_per_node)
    except InputError:  # what is planned for this size fits neither
        return None
    before, after = at.built[option][-1], beyond.built[option][-1]
    capital = [sum(fabric.capex(b, m.own[option], m.common).values()) for b, m in ((before, at), (after, beyond))]
    cost, network = Traced(beyond.totals[option] - at.totals[option]), Traced(capital[1] - capital[0])
    if after.bom.tiers <= before.bom.tiers or min(np.mean(plain(cost)), np.mean(plain(network))) <= 0:
        return None
    return Edge(option, gpus, after.bom.tiers, cost, network, cluster.gpus > gpus)
