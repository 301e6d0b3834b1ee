"""What the latency section rests on: each option's network and the client's step, drawn from the case.

InfiniBand is the reference. A fabric that is not differs by a time per inter-node step and a share of bandwidth, both
contested for RoCEv2; every fabric falls short of its tuned bandwidth by what the team that runs it leaves undone. Everything
else (kernels, overlap, the model's own error) is drawn once and is the same for every option.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from typing import Any

import numpy as np

from fabricreport.base.errors import InputError
from fabricreport.base.provenance import plain
from fabricreport.base.units import HOURS_PER_YEAR
from fabricreport.base.vocabulary import Side
from fabricreport.base.yaml_files import read_yaml
from fabricreport.books.options import Option
from fabricreport.inputs.inputs import Inputs
from fabricreport.inputs.options import wired, wired_as_family
from fabricreport.models.collectives.timing import Calibration, CollectiveTime, allreduce
from fabricreport.models.risk.entries import maturity_effect, node_loss
from fabricreport.models.risk.incidents import Standby
from fabricreport.models.training import other_steps, parallel
from fabricreport.models.training.parallel import Model, Overlap, Plan, over_draws
from fabricreport.models.training.plans import best_plan, trained
from fabricreport.models.training.step import Network, SiteLinks, StepTime, training_step
from fabricreport.scenario.schema import PRETRAINING, ROOM_PER_GPU_BILLION
from fabricreport.sections import sites
from fabricreport.sections.client import job_sizes, largest_job, one_node, stages_of, whole_nodes

STEP = "contested:roce-extra-latency-per-step"
MOE_KINDS = ("pretraining-moe", "mixed")
"""Workloads judged as mixtures of experts: a mix by its most demanding part."""
TRAINING_KINDS = ("pretraining-dense", "pretraining-moe", "fine-tuning", "mixed")
PROFILE = (
    "param:cluster.gpus",
    "param:cluster.gpus_per_node",
    "param:cluster.gpu",
    "param:workload.kind",
    "param:workload.model_parameters_billion",
    "param:workload.method",
    "param:organisation.networking_maturity",
    "param:organisation.qos_expertise",
    "param:organisation.operations",
    "param:money.acquisition",
)
"""Params that choose branches here and so leave no mark in the arrays."""

SPARED = (
    "evidence:common-interruptions-per-gpu-year",
    "evidence:node-fault-share",
    "evidence:node-repair-hours",
    "evidence:node-wait-hours",
)
"""What the number of hot spares rests on beside the speed of the plans."""
_P95_OVER_MEDIAN = 2.44
"""The 95th percentile of a normal error over the median of its absolute value."""


@dataclass(frozen=True)
class Measured:
    """Factors fitted to the client's own logs; they replace the assumed state of tuning.

    `residual` is the median absolute error they leave: the model's error is drawn that much narrower. `nodes`: nodes of
    the smallest log they rest on, which says at what sizes they hold (`speaks_for`).
    """

    latency_factor: float
    bandwidth_factor: float
    residual: float = 0.0
    nodes: int = 0


def speaks_for(given: Inputs, nodes: int, gpus: int) -> bool:
    """Whether a log of so many nodes says something of a job on so many GPUs: it ran on as many, or on enough nodes.

    Enough is what a seller's benchmark must have too. On two nodes the library runs another algorithm, with larger chunks
    and another limit on small messages, and up to four nodes it still mixes the two: on the same hosts two nodes carried
    over 40 % more than four. A log of fewer nodes moves what it measured and nothing larger, on any fabric.
    """
    enough = int(given.central("evidence:acceptance-least-nodes"))
    return nodes >= min(enough, -(-gpus // int(given.params.cluster.gpus_per_node)))


_LITTLE = 0.5
"""Share of what a network carries at which plans are sought that send less over it."""
_LEAST_USED = 0.75
"""Share of a job's GPUs that a plan uses at least."""
_NUMBERS_TRIED = 8
"""Numbers of nodes below a job's own that are tried for its plan, beside those that powers of two divide."""
_STEPS_TRIED = 128
"""They lie this part of the job apart, or a node."""


@dataclass(frozen=True)
class Job:
    """The client's workload at one size: the model (None for a simulation) and a plan for it.

    `spare_nodes` are in no plan: hot spares. `at_hand`: nodes for the place of one that fails, the spares and those of
    other jobs; None where one always is, or where the job goes on without.
    """

    kind: str
    gpus: int
    model: Model | None
    plan: Plan | None
    spare_nodes: int = 0
    at_hand: int | None = None

    @property
    def used(self) -> int:
        """GPUs that the plan uses; the others stand by."""
        return self.gpus if self.plan is None else min(self.plan.gpus, self.gpus)

    @property
    def standby(self) -> Standby:
        """What stands by, and what that takes of the job's GPU time."""
        return Standby(self.at_hand, 1.0 - self.used / self.gpus)


def network(given: Inputs, option: Option, *, every: int = 1, measured: Measured | None = None) -> Network:
    """The option's network as this client would run it; `every` keeps one draw in so many."""

    def draw(input_id: str) -> Any:
        return given.draw(input_id)[::every]

    found = calibration(given, every=every, measured=measured)
    tuned = 1.0 if measured or not tunable(given, option) else tuned_share(given, option)[::every]
    return wired(given.params, given.practice, option, draw, tuned=tuned, calibration=found)


def middle(given: Inputs, option: Option, *, carries: float = 1.0) -> Network:
    """The option's network at the central value of every input, with a share of what it carries: what plans are sought on."""
    tuned = float(np.median(plain(tuned_share(given, option)))) if tunable(given, option) else 1.0
    return wired(given.params, given.practice, option, given.central, tuned=tuned * carries)


def step_id(option: Option) -> str:
    """The input for what a step takes on an option above the reference; for the reference, what sources say of RoCEv2."""
    return option.behaviour.step or STEP


def tunable(given: Inputs, option: Option) -> bool:
    """Whether what the option reaches depends on who tunes it."""
    return bool(option.behaviour.tuning) and wired_as_family(given.params, given.practice, option)


def tuning_id(given: Inputs, option: Option) -> str:
    """The entry for how much of its tuned bandwidth this option reaches with the team that runs it."""
    return f"evidence:{option.behaviour.tuning}-{given.team.maturity}"


def tuned_share(given: Inputs, option: Option) -> Any:
    """Share (draws,) of its tuned bandwidth that this option reaches: the entry's gap to 1 times the effort it takes."""
    return given.effort(option).tuned(given.draw(tuning_id(given, option)))


def calibration(given: Inputs, *, every: int = 1, measured: Measured | None = None) -> Calibration:
    """The model's error on clusters it never saw, drawn; or the client's factors and the error they leave."""
    small = given.draw("evidence:collective-model-error-small")[::every]
    large = given.draw("evidence:collective-model-error-large")[::every]
    if measured is None:
        return Calibration(small, 1.0 / large)
    # Asked at a single value, the usual error may lie on either side of none.
    usual = abs(float(np.log(given.uncertain("evidence:collective-model-error-large").high)))
    narrower = min(1.0, _P95_OVER_MEDIAN * measured.residual / usual) if usual > 0.0 else 1.0
    return Calibration(measured.latency_factor * small**narrower, measured.bandwidth_factor / large**narrower)


def reference(given: Inputs) -> Network:
    """A tuned InfiniBand network of the client's build, without draws: where nothing is known of the fabric."""
    cluster = given.params.cluster
    return Network(given.practice, str(cluster.gpu), int(cluster.gpus_per_node), reference_class())


def reference_class() -> str:
    """The class of fabric that others are measured against."""
    return str(read_yaml("collectives")["reference"])


def job(given: Inputs, gpus: int) -> Job:
    """The client's workload on `gpus`: its model, and its plan as given or the fastest on the reference network."""
    workload, size = given.params.workload, whole_nodes(given, gpus)
    kind, rules = str(workload.kind), given.practice.rules
    if kind == "hpc-simulation":
        return Job(kind, size, None, None)
    model = _model(given, size)
    if kind not in TRAINING_KINDS:
        memory = memory_of(given)
        per_node = int(given.params.cluster.gpus_per_node)
        plan = other_steps.inference_plan(model, rules, gpus=size, gpus_per_node=per_node, memory_gbytes=memory)
        return Job(kind, size, model, plan)
    if workload.parallelism == "choose":
        plan = _roomy(given, model, size)
        model = parallel.filled(model, plan, rules)
    else:
        stated = workload.parallelism
        chunks = parallel.chunks(model, rules, stated.pp)[-1]
        plan = parallel.given_plan(gpus=size, tp=stated.tp, pp=stated.pp, ep=stated.ep, cp=stated.cp, interleave=chunks)
    spares = (size - plan.gpus) // int(given.params.cluster.gpus_per_node)
    others = _others(given, size)
    return Job(kind, size, model, plan, spares, None if others is None else spares + others)


def suited(given: Inputs, work: Job, option: Option) -> Job:
    """The same workload on as many nodes under the plan that loses least there on the option's own network, on the mean over all
    its draws, as it is charged; a stated plan stays as it is.

    Tried are the shared plan, the fastest on the option's network at central values, and the fastest on one that carries half:
    as many whatever the network, so that a better one never gets a slower plan. One plan serves all draws.
    """
    if work.plan is None or work.kind not in TRAINING_KINDS or given.params.workload.parallelism != "choose":
        return work
    scaled = _model(given, work.gpus)
    networks = (middle(given, option), middle(given, option, carries=_LITTLE))
    plans = dict.fromkeys((work.plan, *(_chosen(scaled, wires, work.plan.gpus) for wires in networks)))
    if len(plans) == 1:
        return work
    rules = given.practice.rules
    jobs = [work if p == work.plan else replace(work, model=parallel.filled(scaled, p, rules), plan=p) for p in plans]
    wires = network(given, option)
    beside = step(given, work, wires)
    return min(jobs, key=lambda one: float(np.mean(plain(step(given, one, wires).lost_share(beside)))))


def unhindered(given: Inputs, works: Iterable[Job]) -> Job:
    """Of jobs that differ in their plan the one whose step is shortest, its traffic left out, on the mean over the draws."""
    each = list(dict.fromkeys(works))
    if len(each) == 1:
        return each[0]
    wires = reference(given)
    return min(each, key=lambda one: float(np.mean(plain(step(given, one, wires).free_pace_s))))


def memory_of(given: Inputs) -> float:
    """Memory of one of the client's GPUs, GB."""
    return given.practice.gpu(str(given.params.cluster.gpu)).memory_gbytes


def weights_fit(given: Inputs, gpus: int) -> bool:
    """Whether the model of a job has room in the memory of its GPUs at all; a simulation has no model."""
    workload, size = given.params.workload, whole_nodes(given, gpus)
    if workload.kind == "hpc-simulation":
        return True
    return parallel.weights_fit(
        _model(given, size),
        given.practice.rules,
        gpus=size,
        memory_gbytes=memory_of(given),
        pretraining=workload.kind in PRETRAINING,
    )


def held(given: Inputs, gpus: int) -> bool:
    """Whether a plan of the rules holds the client's model and its states in memory, or the client states a plan."""
    workload, cluster = given.params.workload, given.params.cluster
    if workload.kind not in TRAINING_KINDS or workload.parallelism != "choose":
        return True
    memory = memory_of(given)
    per_node = int(cluster.gpus_per_node)
    try:
        parallel.candidate_plans(
            _model(given, whole_nodes(given, gpus)),
            given.practice.rules,
            gpus=whole_nodes(given, gpus),
            gpus_per_node=per_node,
            memory_gbytes=memory,
        )
    except InputError:
        return False
    return True


def memory_taken(given: Inputs, gpus: int) -> tuple[float, float]:
    """Memory in GB that the plan which needs least takes on so many GPUs of a node, and what these have for it."""
    model, rules = _model(given, gpus), given.practice.rules
    leanest = parallel.nearest_plan(model, rules, gpus=gpus, gpus_per_node=gpus)
    taken = parallel.bytes_per_gpu(model, leanest, rules) / parallel.BILLION
    return gpus * taken, gpus * rules.memory_share * memory_of(given)


def _model(given: Inputs, gpus: int) -> Model:
    """The client's model with the batch of its GPUs, or as it is fine-tuned; a job smaller than the largest trains what surely fits on its own."""
    workload = given.params.workload
    kind, size = "moe" if workload.kind in MOE_KINDS else "dense", float(workload.model_parameters_billion)
    if (
        job_sizes(given)
        and workload.kind in TRAINING_KINDS
        and gpus < largest_job(given, int(given.params.cluster.gpus))
    ):
        size = min(size, ROOM_PER_GPU_BILLION * gpus)
    model = parallel.custom(given.practice, kind, size)
    if workload.kind == "fine-tuning":
        return parallel.tuned(model, given.practice.tuning, str(workload.method))
    return parallel.at_scale(model, given.practice.batches, gpus)


def _roomy(given: Inputs, model: Model, gpus: int) -> Plan:
    """The plan with most work done on the reference network by up to all of the GPUs.

    A few nodes may be left out, where the others divide better and for the place of those that fail: tried are the numbers
    just below all, and those that powers of two divide. Tokens a second count for the time that no fault waits for a node.
    """
    per_node, wires = int(given.params.cluster.gpus_per_node), reference(given)
    nodes = gpus // per_node
    step = max(1, nodes // _STEPS_TRIED)
    smaller = {(nodes // step - few) * step for few in range(_NUMBERS_TRIED + 1)}
    smaller |= {nodes >> k << k for k in range(1, nodes.bit_length())}
    sizes = [n * per_node for n in sorted(smaller - {nodes}, reverse=True) if n * per_node >= _LEAST_USED * gpus]
    found = [_fitting(model, wires, size) for size in sizes]
    plans = [_chosen(model, wires, gpus), *(plan for plan in found if plan is not None)]
    working = cache(lambda spares: _working_share(given, gpus, spares))
    return max(plans, key=lambda plan: trained(model, plan, wires) * working((gpus - plan.gpus) // per_node))


def _working_share(given: Inputs, gpus: int, spares: int) -> float:
    """Share of a job's time in which no fault waits for a node, at the means of what it rests on: that is what is charged."""
    others = _others(given, gpus)
    if others is None:
        return 1.0

    def read(entry: str) -> float:
        return float(np.mean(plain(given.value(f"evidence:{entry}"))))

    effect = maturity_effect(read, given.team.jobs_maturity)
    per_hour = read("common-interruptions-per-gpu-year") * effect.common_faults * gpus / HOURS_PER_YEAR
    nodes = -(-gpus // int(given.params.cluster.gpus_per_node))
    return float(node_loss(read, nodes, others + spares, effect).working_share(per_hour))


def _others(given: Inputs, gpus: int) -> int | None:
    """Nodes of other jobs, the least at any time, that may take the place of one that fails in a job of so many GPUs.

    None where no fault waits: a provider has nodes for its tenants, and a simulation or a copy that serves goes on without.
    """
    if given.team.rented or given.params.workload.kind not in TRAINING_KINDS:
        return None
    joined = [one for _, size in stages_of(given) for one in given.params.cluster.networks(size) if one >= gpus]
    return (min(joined, default=gpus) - gpus) // int(given.params.cluster.gpus_per_node)


def _chosen(model: Model, wires: Network, gpus: int) -> Plan:
    found = _fitting(model, wires, gpus)
    if found is not None:
        return found  # else lighter ways to train than the rules count: adapters, offloading; `held` tells
    return parallel.nearest_plan(model, wires.rules, gpus=gpus, gpus_per_node=wires.gpus_per_node)


@lru_cache(maxsize=256)
def _fitting(model: Model, wires: Network, gpus: int) -> Plan | None:
    """The fastest plan that fits in memory, or None."""
    try:
        return best_plan(model, wires, gpus=gpus)
    except InputError:
        return None


def step(given: Inputs, work: Job, wires: Network, *, every: int = 1) -> StepTime:
    """One step of the client's workload on a network."""

    def draw(entry: str) -> Any:
        return given.draw(f"evidence:{entry}")[::every]

    links = sites.job_links(given, work.gpus, sites.gbits_per_gpu_of(wires))
    if work.model is None or work.plan is None:
        return _simulation(given, work, wires, links, every=every)
    if work.kind not in TRAINING_KINDS:
        return other_steps.inference_step(
            work.model,
            work.plan,
            wires,
            batch=draw("inference-batch"),
            memory_efficiency=draw("inference-memory-efficiency"),
        )
    rollouts = draw("rl-rollout-share") if given.params.workload.method == "rl" else 0.0
    return training_step(
        work.model,
        work.plan,
        wires,
        kernel_efficiency=draw(wires.accelerator.efficiency),
        overlap=Overlap(
            draw("overlap-data-parallel"),
            draw("overlap-pipeline"),
            draw("overlap-alltoall"),
            draw("overlap-interference"),
            draw("overlap-alltoall-paired"),
        ),
        optimiser_share=1.0 - (1.0 - draw("optimizer-share-of-step")) * (1.0 - rollouts),
        links=links,
    )


def _simulation(given: Inputs, work: Job, wires: Network, links: SiteLinks | None, *, every: int) -> StepTime:
    """A time step of a simulation: by the client's profile as far as there is one, else by ranges of ours.

    A measured share of time in MPI says how long ranks compute beside the traffic of the largest job at the start on the
    reference network, whatever the job and the network; a job of one rank has no traffic to say it by.
    """
    stated = given.params.workload
    profiled = "param:workload.calls_per_step" if stated.calls_per_step is not None else "evidence:hpc-small-allreduces"
    profile = whole_nodes(given, largest_job(given, int(given.params.cluster.gpus)))
    traffic: dict[str, Any] = {
        "halo_mbytes": given.draw("evidence:hpc-halo-mbytes")[::every],
        "small_allreduces": given.draw(profiled)[::every],
    }
    if stated.mpi_share is None or profile < 2:
        compute = given.draw("evidence:hpc-step-compute-ms")[::every]
        overlap = given.draw("evidence:overlap-data-parallel")[::every]
        return other_steps.simulation_step(
            wires, gpus=work.gpus, **traffic, compute_ms=compute, overlap=overlap, links=links
        )
    known = replace(reference(given), calibration=wires.calibration)
    in_mpi = other_steps.simulation_step(known, gpus=profile, **traffic, compute_ms=0.0, overlap=0.0).step_time_s
    share = given.draw("param:workload.mpi_share")[::every]
    compute = in_mpi / other_steps.MS * (1.0 - share) / share
    return other_steps.simulation_step(wires, gpus=work.gpus, **traffic, compute_ms=compute, overlap=0.0, links=links)


def cluster_allreduce(given: Inputs, wires: Network, gpus: int, sizes: Sequence[float]) -> CollectiveTime:
    """AllReduce over `gpus` (whole nodes) at sizes in bytes, (draws, sizes), slowed as the option's wires are."""
    where = wires.job(whole_nodes(given, gpus))
    found = allreduce(sizes, where, calibration=wires.calibration_by_draw)
    slower = over_draws(np.asanyarray(wires.slowdown) / np.asanyarray(wires.reduction))
    if one_node(given, gpus) or not np.any(np.asarray(slower) != 1.0):
        return found
    return CollectiveTime(
        found.time_us * slower,
        found.algbw_gbytes_per_s / slower,
        found.busbw_gbytes_per_s / slower,
        found.algorithm,
        found.protocol,
    )


def stages(given: Inputs) -> tuple[tuple[int, float], ...]:
    """(GPUs, share of the horizon's GPU-months) of each size of the cluster within the horizon."""
    sizes = stages_of(given)
    ends = [*(month for month, _ in sizes[1:]), int(given.params.money.horizon_months)]
    months = [gpus * (end - month) for (month, gpus), end in zip(sizes, ends, strict=True)]
    return tuple((gpus, m / sum(months)) for (_, gpus), m in zip(sizes, months, strict=True))


def pair(given: Inputs, compared: Sequence[str] = ()) -> tuple[Option, Option]:
    """(InfiniBand, RoCEv2): of each side the option that is `compared`, else the client's first, or a shipped one where
    it names none."""
    chosen = []
    for side in (Side.INFINIBAND, Side.ROCEV2):
        own = sorted((o for o in given.options if o.side == side), key=lambda o: o.id not in compared)
        chosen.append(own[0] if own else next(o for o in given.all_options.values() if o.side == side))
    return chosen[0], chosen[1]
