"""Facts of this client that several sections ask for: sizes, jobs, its server and hours, and what its GPU and its partners ask."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from fabricreport.base.formats import listed
from fabricreport.base.units import SECONDS_PER_DAY
from fabricreport.books.equipment import LARGEST_SERVER, ROLES, GpuType, families, gpu_types
from fabricreport.books.names import whole_names
from fabricreport.books.options import Option
from fabricreport.inputs.inputs import Inputs
from fabricreport.ledger.facts import Name, Named, OptionName
from fabricreport.models.money.cashflow import Discounting
from fabricreport.models.training.parallel import BILLION

_BY_CHANCE = 0.05
"""Calibration below which the misses of known answers are more than chance."""
SHARED_JOBS: Mapping[int, str] = {size: f"evidence:shared-cluster-time-{size}" for size in (8, 64, 256, 512, 1024)}
"""The entry for the share of GPU time in jobs up to so many GPUs, and more than the size before, of a shared cluster."""
_FLOPS_PER_PARAMETER_AND_TOKEN = 6  # forward and backward pass


@dataclass(frozen=True)
class OptionNames:
    """What figures or steps are made from; the options of the inputs are called by name."""

    given: Inputs

    @cached_property
    def names(self) -> Mapping[str, OptionName]:
        """Names of the options by id."""
        return whole_names(self.given.options)

    def name(self, option: str) -> str:
        """The name of an option."""
        return self.names[option]


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
