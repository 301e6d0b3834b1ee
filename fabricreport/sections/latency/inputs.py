"""What the latency section rests on: each option's network and the client's step, drawn from the case.

InfiniBand is the reference. RoCEv2 differs by a contested time per inter-node step and a contested share of
bandwidth; either fabric falls short of its tuned bandwidth by what the team that runs it leaves undone. Everything
else (kernels, overlap, the model's own error) is drawn once and is the same for every option.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from fabricreport.books.options import Option
from fabricreport.errors import InputError
from fabricreport.models.collectives.parameters import fabric_class
from fabricreport.models.collectives.timing import Calibration
from fabricreport.models.training import other_steps, parallel
from fabricreport.models.training.parallel import Model, Plan
from fabricreport.models.training.step import Network, Overlap, StepTime, best_plan, training_step
from fabricreport.provenance import Traced, plain
from fabricreport.scenario.schema import PRETRAINING
from fabricreport.sections.tail_risk.inputs import maturity_of

if TYPE_CHECKING:
    from fabricreport.case import Case

STEP = "contested:roce-extra-latency-per-step"
SHARE = "contested:roce-bandwidth-share"
MOE_KINDS = ("pretraining-moe", "mixed")
"""Workloads judged as mixtures of experts: a mix by its most demanding part."""
TRAINING_KINDS = ("pretraining-dense", "pretraining-moe", "fine-tuning", "mixed")
PROFILE = (
    "param:cluster.gpus",
    "param:cluster.gpus_per_node",
    "param:cluster.gpu",
    "param:workload.kind",
    "param:workload.model_parameters_billion",
    "param:organisation.networking_maturity",
    "param:organisation.qos_expertise",
    "param:money.acquisition",
)
"""Params that choose branches here and so leave no mark in the arrays."""

_P95_OVER_MEDIAN = 2.44
"""The 95th percentile of a normal error over the median of its absolute value."""


@dataclass(frozen=True)
class Measured:
    """Factors fitted to the client's own logs; they replace the assumed state of tuning.

    `residual` is the median absolute error they leave: the model's error is drawn that much narrower.
    """

    latency_factor: float
    bandwidth_factor: float
    residual: float = 0.0


@dataclass(frozen=True)
class Job:
    """The client's workload at one size: the model (None for a simulation) and the plan all options share."""

    kind: str
    gpus: int
    model: Model | None
    plan: Plan | None


def one_node(case: Case, gpus: int) -> bool:
    """Whether all GPUs share one node, so that no traffic meets a fabric."""
    return gpus <= int(case.params.cluster.gpus_per_node)


def whole_nodes(case: Case, gpus: int) -> int:
    """The size in whole nodes; a part of a single node stays what it is."""
    per_node = int(case.params.cluster.gpus_per_node)
    return gpus if gpus <= per_node else per_node * -(-gpus // per_node)


def links_per_gpu(case: Case, option: Option) -> float:
    """Links of the option's fabric class per GPU that give this client's bandwidth."""
    cluster = case.params.cluster
    links = cluster.links_per_gpu if option.links_per_node is None else option.links_per_node / cluster.gpus_per_node
    rate = option.link_gbits_per_s
    if option.links_per_node is None:
        rate = min(rate, float(cluster.link_gbits_per_s))
    return float(links * rate / fabric_class(option.fabric, cluster.gpu).link_gbits_per_s)


def network(case: Case, option: Option, *, every: int = 1, measured: Measured | None = None) -> Network:
    """The option's network as this client would run it; `every` keeps one draw in so many."""

    def draw(input_id: str) -> Any:
        return case.sample(input_id)[::every]

    kind = fabric_class(option.fabric, case.params.cluster.gpu).kind
    tuned: Any = 1.0 if measured or kind not in ("infiniband", "rocev2") else draw(tuning_id(case, option))
    ratio = draw(SHARE)
    step: Any = None
    share: Any = None
    if kind == "infiniband":
        # Where sources say that RoCEv2 carries more, the pair is scaled so that neither exceeds its links.
        step, share = 0.0, tuned * np.minimum(1.0 / ratio, 1.0)
    elif kind == "rocev2":
        step, share = draw(STEP), tuned * np.minimum(ratio, 1.0)
    elif kind == "tcp":
        step, share = draw("evidence:tcp-extra-latency-per-step"), draw("evidence:tcp-bandwidth-share")
    return Network(
        gpu=str(case.params.cluster.gpu),
        gpus_per_node=int(case.params.cluster.gpus_per_node),
        fabric=option.fabric,
        links_per_gpu=links_per_gpu(case, option),
        extra_step_us=step,
        bandwidth_share=share,
        calibration=calibration(case, every=every, measured=measured),
        slowdown=oversubscription(case, every=every),
    )


def tuning_id(case: Case, option: Option) -> str:
    """The entry for how much of its tuned bandwidth this option reaches with the team that runs it."""
    return f"evidence:fabric-tuning-{option.family}-{maturity_of(case, option)}"


def calibration(case: Case, *, every: int = 1, measured: Measured | None = None) -> Calibration:
    """The model's error on clusters it never saw, drawn; or the client's factors and the error they leave."""
    small = case.sample("evidence:collective-model-error-small")[::every]
    large = case.sample("evidence:collective-model-error-large")[::every]
    if measured is None:
        return Calibration(small, 1.0 / large)
    usual = float(np.log(case.evidence["collective-model-error-large"].high))
    narrower = min(1.0, _P95_OVER_MEDIAN * measured.residual / usual)
    return Calibration(measured.latency_factor * small**narrower, measured.bandwidth_factor / large**narrower)


def oversubscription(case: Case, *, every: int = 1) -> Any:
    """Factor on the time of traffic between nodes: what crosses the oversubscribed tier takes its ratio longer."""
    ratio = float(case.params.cluster.oversubscription)
    if ratio <= 1.0:
        return 1.0
    return 1.0 + case.sample("evidence:cross-leaf-traffic-share")[::every] * (ratio - 1.0)


def reference(case: Case) -> Network:
    """A tuned InfiniBand network of the client's build, without draws: what plans are compared on."""
    return Network(str(case.params.cluster.gpu), int(case.params.cluster.gpus_per_node), "infiniband-ndr")


def job(case: Case, gpus: int) -> Job:
    """The client's workload on `gpus`: its model, and its plan as given or by the rule."""
    workload, size = case.params.workload, whole_nodes(case, gpus)
    kind = str(workload.kind)
    if kind == "hpc-simulation":
        return Job(kind, size, None, None)
    model = _model(case)
    if kind not in TRAINING_KINDS:
        memory = parallel.memory_gbytes(str(case.params.cluster.gpu))
        per_node = int(case.params.cluster.gpus_per_node)
        plan = other_steps.inference_plan(model, gpus=size, gpus_per_node=per_node, memory_gbytes=memory)
        return Job(kind, size, model, plan)
    if workload.parallelism == "choose":
        plan = _chosen(model, reference(case), size)
        return Job(kind, size, parallel.filled(model, plan), plan)
    given = workload.parallelism
    plan = parallel.given_plan(
        gpus=size, tp=given.tp, pp=given.pp, ep=given.ep, cp=given.cp, interleave=_chunks(model, given.pp)
    )
    return Job(kind, size, model, plan)


def weights_fit(case: Case, gpus: int) -> bool:
    """Whether the client's model has room in the memory of so many GPUs at all; a simulation has no model."""
    workload, size = case.params.workload, whole_nodes(case, gpus)
    if workload.kind == "hpc-simulation":
        return True
    return parallel.weights_fit(
        _model(case),
        gpus=size,
        memory_gbytes=parallel.memory_gbytes(str(case.params.cluster.gpu)),
        pretraining=workload.kind in PRETRAINING,
    )


def held(case: Case, gpus: int) -> bool:
    """Whether a plan of the rules holds the client's model and its states in memory, or the client states a plan."""
    workload, cluster = case.params.workload, case.params.cluster
    if workload.kind not in TRAINING_KINDS or workload.parallelism != "choose":
        return True
    memory = parallel.memory_gbytes(str(cluster.gpu))
    per_node = int(cluster.gpus_per_node)
    try:
        parallel.candidate_plans(
            _model(case), gpus=whole_nodes(case, gpus), gpus_per_node=per_node, memory_gbytes=memory
        )
    except InputError:
        return False
    return True


def _model(case: Case) -> Model:
    kind = "moe" if case.params.workload.kind in MOE_KINDS else "dense"
    return parallel.custom(kind, float(case.params.workload.model_parameters_billion))


@lru_cache(maxsize=64)
def _chosen(model: Model, wires: Network, gpus: int) -> Plan:
    try:
        return best_plan(model, wires, gpus=gpus)
    except InputError:  # lighter ways to train than the rules count: adapters, offloading; `held` tells
        return parallel.nearest_plan(model, gpus=gpus, gpus_per_node=wires.gpus_per_node)


def _chunks(model: Model, stages: int) -> int:
    wanted = int(parallel.rules()["interleave"])
    return wanted if stages > 1 and stages * wanted <= model.layers else 1


def overlap_id(work: Job) -> str:
    """The entry for the overlap that counts most: of the exchange between experts where it leaves a node."""
    return "overlap-alltoall" if work.plan is not None and work.plan.ep > 1 else "overlap-data-parallel"


def step(case: Case, work: Job, wires: Network, *, every: int = 1, overlap: float | None = None) -> StepTime:
    """One step of the client's workload on a network; `overlap` replaces the draws of `overlap_id`."""
    replaced = overlap_id(work) if overlap is not None else ""

    def draw(entry: str) -> Any:
        return overlap if entry == replaced else case.sample(f"evidence:{entry}")[::every]

    if work.model is None or work.plan is None:
        return other_steps.simulation_step(
            wires,
            gpus=work.gpus,
            compute_ms=draw("hpc-step-compute-ms"),
            halo_mbytes=draw("hpc-halo-mbytes"),
            small_allreduces=draw("hpc-small-allreduces"),
            overlap=draw("overlap-data-parallel"),
        )
    if work.kind not in TRAINING_KINDS:
        return other_steps.inference_step(
            work.model,
            work.plan,
            wires,
            batch=draw("inference-batch"),
            memory_efficiency=draw("inference-memory-efficiency"),
        )
    return training_step(
        work.model,
        work.plan,
        wires,
        kernel_efficiency=draw(parallel.efficiency_id(wires.gpu)),
        overlap=Overlap(
            draw("overlap-data-parallel"),
            draw("overlap-pipeline"),
            draw("overlap-alltoall"),
            draw("overlap-interference"),
        ),
        optimiser_share=draw("optimizer-share-of-step"),
    )


def stages(case: Case) -> tuple[tuple[int, float], ...]:
    """(GPUs, share of the horizon's GPU-months) of each size of the cluster within the horizon."""
    horizon = int(case.params.money.horizon_months)
    sizes = [(0, int(case.params.cluster.gpus))]
    sizes += [(int(s.month), int(s.gpus)) for s in case.params.cluster.trajectory if s.month < horizon]
    ends = [*(month for month, _ in sizes[1:]), horizon]
    months = [gpus * (end - month) for (month, gpus), end in zip(sizes, ends, strict=True)]
    return tuple((gpus, m / sum(months)) for (_, gpus), m in zip(sizes, months, strict=True))


def pair(case: Case) -> tuple[Option, Option]:
    """(InfiniBand, RoCEv2): the client's first option of each family, or a shipped one where it names none."""
    chosen = []
    for family in ("infiniband", "rocev2"):
        own = [o for o in case.options if o.family == family]
        chosen.append(own[0] if own else next(o for o in case.all_options.values() if o.family == family))
    return chosen[0], chosen[1]


def as_draws(case: Case, value: Any) -> Traced:
    """A vector over the case's draws, whatever the value depends on."""
    size = case.sample(STEP).shape
    array = np.asanyarray(value, dtype=float)
    full: Any = array if array.shape == size else array + 0.0 * Traced(np.ones(size))
    return full if isinstance(full, Traced) else Traced(plain(full))
