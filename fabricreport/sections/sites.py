"""A client’s sites: which are in use, and the links between them."""

from __future__ import annotations

import math

from fabricreport.books.options import Option
from fabricreport.inputs.inputs import Inputs
from fabricreport.models.training.step import Network, SiteLinks
from fabricreport.scenario import Cluster

PORT_GBITS_PER_S = 400.0
"""Rate of the ports in which links between sites are counted and priced, on every option alike."""
LINKS = ("param:cluster.site_distance_km", "param:cluster.site_tbits_per_s")
"""What the links rest on, where there are some."""
DELAY = "evidence:fibre-delay-ns-per-metre"
GBITS_PER_TBIT = 1000.0


def sites_in_use(cluster: Cluster, gpus: int) -> int:
    """Sites that one network joins in a cluster of so many GPUs; 1 where each has a network of its own."""
    return len(cluster.halls(gpus)) if cluster.sites_joined else 1


def links_assumed(given: Inputs) -> bool:
    """Whether an owner's sites are joined, and the length or the rate of the links between them is not stated."""
    cluster = given.params.cluster
    stated = {"site_distance_km", "site_tbits_per_s"} <= cluster.model_fields_set
    return sites_in_use(cluster, cluster.final_gpus) > 1 and not given.team.rented and not stated


def gbits_per_gpu(cluster: Cluster, option: Option) -> float:
    """What a GPU sends on the option's network, each way."""
    if option.links_per_node is not None:
        return float(option.links_per_node * option.link_gbits_per_s / cluster.gpus_per_node)
    return float(cluster.links_per_gpu * min(option.link_gbits_per_s, float(cluster.link_gbits_per_s)))


def gbits_per_gpu_of(wires: Network) -> float:
    """The same of a network as it is timed."""
    known = wires.practice.collectives.fabric(wires.fabric, wires.gpu)
    links = known.links_per_gpu if wires.links_per_gpu is None else wires.links_per_gpu
    return float(links * known.link_gbits_per_s)


def site_gbits_per_s(cluster: Cluster, per_gpu: float) -> float:
    """Rate each way between a site and the others, on the mean over the sites: as stated, else what the top tier of one
    network over all of them carries between sites, n - 1 of n parts of what its GPUs send."""
    sites = len(cluster.halls(cluster.final_gpus))
    carried = cluster.final_gpus / sites * per_gpu / cluster.oversubscription
    if cluster.site_tbits_per_s is None:
        return carried * (sites - 1) / sites
    return min(cluster.site_tbits_per_s * GBITS_PER_TBIT, carried)


def port_count(cluster: Cluster, option: Option, gpus: int) -> int:
    """Ports at the ends of the links between sites, two to a link, in a cluster of so many GPUs; 0 where none is joined."""
    sites = sites_in_use(cluster, gpus)
    if sites == 1:
        return 0
    rate = sites * site_gbits_per_s(cluster, gbits_per_gpu(cluster, option))
    return 2 * math.ceil(rate / PORT_GBITS_PER_S / 2)


def job_links(given: Inputs, gpus: int, per_gpu: float) -> SiteLinks | None:
    """The links that a job of so many GPUs crosses, or None where it stays within a site: jobs fill sites one by one."""
    cluster = given.params.cluster
    spanned = min(-(-gpus // cluster.site_gpus), sites_in_use(cluster, cluster.final_gpus))
    if spanned == 1:
        return None
    delay_us = given.value(DELAY) * given.value("param:cluster.site_distance_km")  # ns a metre are us a km
    return SiteLinks(spanned, site_gbits_per_s(cluster, per_gpu), delay_us)
