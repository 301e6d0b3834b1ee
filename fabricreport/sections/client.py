"""Facts of this client that several sections ask for: sizes, who runs the fabric, its server, hours and sites, and where models were tried.

One rule for every fabric: a share of GPU time that a model gives outside its range is drawn wider about the same mean, by
the factor of one library entry, and a box at the figure says so. The mean is kept, so that not knowing more favours no
option. A client's log has a rule of its own (`latency.inputs.speaks_for`): outside its range it moves nothing.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from enum import StrEnum
from typing import Any

import numpy as np

from fabricreport.base.formats import listed
from fabricreport.base.units import SECONDS_PER_DAY
from fabricreport.books.equipment import LARGEST_SERVER, ROLES, GpuType, families, gpu_types
from fabricreport.books.options import Option
from fabricreport.inputs.inputs import Inputs
from fabricreport.ledger.facts import Name, Named
from fabricreport.models.money.cashflow import Discounting
from fabricreport.models.training.parallel import BILLION
from fabricreport.models.training.step import Network, SiteLinks
from fabricreport.scenario import Cluster

_BY_CHANCE = 0.05
"""Calibration below which the misses of known answers are more than chance."""
SHARED_JOBS: Mapping[int, str] = {size: f"evidence:shared-cluster-time-{size}" for size in (8, 64, 256, 512, 1024)}
"""The entry for the share of GPU time in jobs up to so many GPUs, and more than the size before, of a shared cluster."""
_FLOPS_PER_PARAMETER_AND_TOKEN = 6  # forward and backward pass


def time_lost(given: Inputs, *before: str) -> str:
    """What lost time is called where it is summed up, after what stands `before` it: a price of delay that is stated is part of it."""
    return listed([*before, "GPU time", *(["delay"] if given.params.money.price_of_delay_usd_per_day else [])])


def judges(given: Inputs) -> Name:
    """Names of the experts who judged what nobody has published; empty without any."""
    return Name(listed(expert.expert for expert in given.elicited.experts))


def judges_missed(given: Inputs) -> bool:
    """Whether experts were asked, and every one missed the known answers by more than chance explains."""
    return bool(given.elicited) and max(s.calibration for s in given.elicited.scores) < _BY_CHANCE


def one_node(given: Inputs, gpus: int) -> bool:
    """Whether all GPUs share one node, so that no traffic meets a fabric."""
    return gpus <= int(given.params.cluster.gpus_per_node)


def whole_nodes(given: Inputs, gpus: int) -> int:
    """The size in whole nodes; a part of a single node stays what it is."""
    per_node = int(given.params.cluster.gpus_per_node)
    return gpus if gpus <= per_node else per_node * -(-gpus // per_node)


def stages_of(given: Inputs) -> tuple[tuple[int, int], ...]:
    """(month, GPUs) of every size within the horizon; a stage at or after its end is not bought any more."""
    cluster, months = given.params.cluster, int(given.params.money.horizon_months)
    return ((0, cluster.gpus), *((s.month, s.gpus) for s in cluster.trajectory if s.month < months))


def fabric_gpus(given: Inputs, gpus: int) -> int:
    """GPUs of the fullest site in a cluster of so many."""
    return given.params.cluster.halls(gpus)[0]


def shared_cluster(given: Inputs) -> bool:
    """Whether several parties or kinds of work run side by side and nothing says in what sizes of job.

    A renter's GPUs run the renter's own jobs, whoever else the provider serves; a stated plan is one job on all GPUs; and
    a copy of a model that serves requests is no job of the whole cluster.
    """
    workload = given.params.workload
    if workload.jobs or workload.parallelism != "choose" or str(workload.kind).startswith("inference"):
        return False
    return workload.kind == "mixed" or (given.params.cluster.tenancy == "multi" and not given.team.rented)


def side_by_side(given: Inputs) -> bool:
    """Whether several parties share the fabric, so that one may flood what another needs; an owner's own jobs are planned."""
    return given.params.cluster.tenancy == "multi"


def job_sizes(given: Inputs) -> tuple[tuple[int, float], ...]:
    """(GPUs, share of GPU time) of the client's jobs, wherever there is room: as stated, or as published; empty for one job."""
    stated = given.params.workload.jobs
    if stated:
        shares = [(int(job.gpus), float(job.share)) for job in stated]
    elif shared_cluster(given):
        shares = [(gpus, given.central(entry)) for gpus, entry in SHARED_JOBS.items()]
    else:
        return ()
    whole = sum(share for _, share in shares)
    return tuple((gpus, share / whole) for gpus, share in shares)


def mix_of(given: Inputs, gpus: int) -> tuple[tuple[int, float], ...]:
    """(GPUs, share of GPU time) of what a cluster of so many GPUs runs, the smallest first.

    A job stays on one network; one that finds no room takes the whole of it. Without sizes each network runs one job.
    """
    found: dict[int, float] = {}
    for joined in given.params.cluster.networks(gpus):
        for size, share in job_sizes(given) or ((joined, 1.0),):
            taken = min(whole_nodes(given, size), joined)
            found[taken] = found.get(taken, 0.0) + share * (joined / gpus)
    return tuple(sorted(found.items()))


def largest_job(given: Inputs, gpus: int) -> int:
    """GPUs of the largest job that a cluster of so many GPUs runs."""
    return mix_of(given, gpus)[-1][0]


def estate_entry(given: Inputs, option: Option) -> str:
    """The entry of what an estate of the option's kind spares, by its id; '' where it spares nothing."""
    estate = given.team.estate(option)
    return f"estate-{estate}-effort" if estate != "none" and not option.one_switch else ""


def behaviour_ids(given: Inputs, option: Option) -> dict[str, str]:
    """The input that answers each role of an option's behaviour with the team that runs it, where it has one."""
    found = {role: str(getattr(option.behaviour, role)) for role in ROLES}
    found |= {role: found[role] and f"{found[role]}-{given.team.maturity}" for role in ("tuning", "staff")}
    return {role: i if ":" in i else f"evidence:{i}" for role, i in found.items() if i}


def gpu_type(given: Inputs) -> GpuType:
    """What is known of the client's GPU type."""
    return gpu_types().of(str(given.params.cluster.gpu))


def domain_gpus(given: Inputs) -> int:
    """GPUs that share one scale-up network: those of a server, or of a rack that joins its servers."""
    per_node = int(given.params.cluster.gpus_per_node)
    return max(per_node, gpu_type(given).domain_gpus if per_node <= LARGEST_SERVER else 0)


def discounting_of(given: Inputs) -> Discounting:
    """The params' rate, its kind, and the inflation between the two kinds."""
    return Discounting(
        given.value("param:money.discount_rate_per_year"),
        str(given.params.money.discounting),
        given.value("param:money.inflation_per_year"),
    )


def planned_days(given: Inputs) -> float:
    """Days the run is planned to take: as stated, or from its tokens at the central efficiency of the kernels."""
    stated = given.params.workload.run_days
    return days_of_tokens(given) if stated is None else float(stated)


def days_of_tokens(given: Inputs) -> float:
    """Days that the run's tokens take at the central efficiency of the kernels, on the largest job at the start."""
    workload, cluster = given.params.workload, given.params.cluster
    gpu = given.practice.gpu(str(cluster.gpu))
    tokens = float(workload.tokens_billion or 0.0) * 1e9
    work = _FLOPS_PER_PARAMETER_AND_TOKEN * _active_parameters(given) * tokens
    rate = largest_job(given, int(cluster.gpus)) * gpu.peak_flops * given.central(f"evidence:{gpu.efficiency}")
    return float(work / rate / SECONDS_PER_DAY)


def _active_parameters(given: Inputs) -> float:
    """Parameters a token passes through: all of a dense model, the share of the nearest preset for a mixture."""
    parameters = float(given.params.workload.model_parameters_billion) * BILLION
    if given.params.workload.kind != "pretraining-moe":
        return parameters
    mixtures = [m for m in given.practice.presets.values() if m.kind == "moe"]
    near = min(mixtures, key=lambda m: abs(np.log(m.parameters / parameters)))
    return parameters * near.active / near.parameters


REQUIREMENT = "evidence:nvidia-cloud-partner-networks"
"""The entry of the library that tells what is allowed."""


def barred(given: Inputs) -> tuple[str, ...]:
    """Ids of the options that the requirement takes out of this client's advice."""
    return tuple(o.id for o in given.options if bars(given, o))


def bars(given: Inputs, option: Option) -> bool:
    """Whether it takes an option out, compared or not; a single node has nothing between nodes."""
    bound = given.params.organisation.nvidia_cloud_partner and not one_node(given, int(given.params.cluster.final_gpus))
    return bound and not families()[option.family].cloud_partner


def newer_gpu(given: Inputs) -> GpuType | None:
    """The type that the client's GPU is held against; None for a renter, whose GPUs are the provider's."""
    return None if given.team.rented else newer_than(gpu_type(given), given.as_of.year)


def newer_than(mine: GpuType, year: int) -> GpuType | None:
    """The newest type of a later generation that the same maker has sold since a year before this one.

    Only what is sold in the same form counts, a rack or a server. None where the type's own generation is the newest.
    """
    later = [
        gpu
        for gpu in gpu_types().known.values()
        if (gpu.vendor, gpu.rack) == (mine.vendor, mine.rack)
        and first_sold(mine.generation) < first_sold(gpu.generation)
        and gpu.on_sale < year
    ]
    return max(later, key=lambda gpu: gpu.on_sale, default=None)


def told(gpu: GpuType) -> Named:
    """A type of GPU as prose names it, with the year in which it was first sold."""
    return Named(gpu.name, gpu.id, since=Name(str(gpu.on_sale)))


def first_sold(generation: str) -> int:
    """The year in which the first GPU of a generation was sold."""
    return min(gpu.on_sale for gpu in gpu_types().known.values() if gpu.generation == generation)


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


_MOST = 0.99


class Outside(StrEnum):
    """A way in which a client lies outside what a model was tried on."""

    MIXTURE = "a mixture of experts"
    SIMULATION = "a simulation"
    INFERENCE = "inference"
    FEW = "fewer GPUs"
    MANY = "more GPUs"


STEP = frozenset(Outside)
"""What takes the model of a step out of its range."""
GOODPUT = STEP - {Outside.MIXTURE}
"""What takes the model of goodput out of its range: faults end a job whatever it trains."""
_KINDS = {
    "pretraining-moe": Outside.MIXTURE,
    "mixed": Outside.MIXTURE,
    "hpc-simulation": Outside.SIMULATION,
    "inference": Outside.INFERENCE,
    "inference-multi-node": Outside.INFERENCE,
}


def outside(given: Inputs, gpus: int, model: Iterable[Outside] = STEP) -> tuple[Outside, ...]:
    """In what ways a model is outside its range for this client at a size; none where it was tried on such runs."""
    found = [_KINDS[kind]] if (kind := str(given.params.workload.kind)) in _KINDS else []
    if gpus < given.central("evidence:validated-from-gpus"):
        found.append(Outside.FEW)
    if gpus > given.central("evidence:validated-up-to-gpus"):
        found.append(Outside.MANY)
    known = frozenset(model)
    return tuple(one for one in found if one in known)


def beyond(given: Inputs, model: Iterable[Outside] = STEP) -> tuple[Outside, ...]:
    """In what ways a model is outside its range for any job that the client plans and that spans several nodes."""
    jobs = {size for _, gpus in stages_of(given) for size, _ in mix_of(given, gpus)}
    sizes = [gpus for gpus in sorted(jobs) if not one_node(given, gpus)]
    return tuple(dict.fromkeys(one for gpus in sizes for one in outside(given, gpus, model)))


def widened(given: Inputs, gpus: int, share: Any, model: Iterable[Outside] = STEP) -> Any:
    """Draws of a share as they are inside the range, and wider about the same mean outside it."""
    if not outside(given, gpus, model):
        return share
    return wider(share, given.central("evidence:outside-range-factor"))


def wider(share: Any, factor: float) -> Any:
    """Draws whose ratios to one another are raised to a power, their mean kept; what is zero stays zero."""
    raised = np.asanyarray(share, dtype=float) ** factor
    mean = np.mean(raised)
    level = np.mean(np.asanyarray(share, dtype=float)) / (mean if np.asarray(mean) > 0 else 1.0)
    return np.minimum(raised * level, _MOST)
