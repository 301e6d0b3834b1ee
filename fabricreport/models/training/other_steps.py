"""Steps of workloads other than training: decoding on several nodes, and a simulation with halos.

Both are simple on purpose: their inputs are labelled assumptions, and the card claims nothing on them.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from fabricreport.models.collectives import timing as nccl
from fabricreport.models.training.parallel import BILLION, Model, Plan, Rules
from fabricreport.models.training.step import Network, SiteLinks, StepTime, Traffic, counted, crossing, timed

MS = 1e-3
MBYTE = 1e6


def inference_plan(model: Model, rule: Rules, *, gpus: int, gpus_per_node: int, memory_gbytes: float) -> Plan:
    """One copy of the model over as few whole nodes as hold its weights: tensor parallel inside, pipeline between."""
    room = rule.memory_for_weights_share * memory_gbytes * BILLION
    weights = model.parameters * rule.parameter_bytes
    nodes = 1
    while weights / (nodes * gpus_per_node) > room and 2 * nodes * gpus_per_node <= gpus:
        nodes *= 2
    tp = min(gpus_per_node, gpus)
    return Plan(tp, nodes, max(1, gpus // (tp * nodes)))


def inference_step(
    model: Model,
    plan: Plan,
    network: Network,
    *,
    batch: Any,
    memory_efficiency: Any,
) -> StepTime:
    """Time of one token for every request of a batch: weights read once, activations passed on between the nodes.

    Pipeline stages hand a small message on, one step each. `batch` is a number or draws (n,): its median sets the message
    size, for a collective has one size.
    """
    gpus = plan.tp * plan.pp
    active = model.active * network.rules.parameter_bytes
    rate = network.accelerator.memory_gbytes_per_s * BILLION
    compute = active / (gpus * rate * np.asanyarray(memory_efficiency)) * plan.pp
    size = float(np.median(np.asarray(batch))) * model.hidden * network.rules.activation_bytes
    inside = timed("all-reduce", nccl.allreduce, network, size, plan.tp, 1)
    used = [counted(inside, "tensor", 2.0 * model.layers, 1.0)] if plan.tp > 1 else []
    if plan.pp > 1:
        one = timed("send-recv", nccl.sendrecv, network, size / plan.tp, plan.pp, plan.tp)
        used.append(counted(one, "pipeline", plan.pp - 1.0, 1.0))
    return _step(compute, used)


def simulation_step(
    network: Network,
    *,
    gpus: int,
    compute_ms: Any,
    halo_mbytes: Any,
    small_allreduces: Any,
    overlap: Any,
    links: SiteLinks | None = None,
) -> StepTime:
    """One time step of a simulation: halos to the neighbours, then small AllReduces that nothing hides.

    Halos may run behind `overlap` of the compute. Over `links` that join sites the small AllReduces cross; few of the halos
    do, and they are left out. Inputs are numbers or draws (n,).
    """
    rule = network.rules
    compute = np.asanyarray(compute_ms) * MS
    used = []
    if gpus > 1:
        # A collective has one size: time the middle one and scale, the halo being large enough for bytes to rule.
        middle = float(np.median(np.asarray(halo_mbytes))) * MBYTE
        halo = timed("send-recv", nccl.sendrecv, network, middle, gpus, 1)
        per_halo = halo.time_s * (np.asanyarray(halo_mbytes) * MBYTE / middle)
        time = per_halo * rule.halo_neighbours
        left = np.maximum(time - np.asanyarray(overlap) * compute, 0.0)
        used.append(
            Traffic(
                "halo",
                "send-recv",
                middle,
                rule.halo_neighbours,
                gpus,
                halo.domains,
                halo.on_fabric,
                time,
                left,
                "direct",
                "simple",
            )
        )
        small = timed("all-reduce", nccl.allreduce, network, float(rule.small_allreduce_bytes), gpus, 1)
        used.append(counted(small, "reduction", np.asanyarray(small_allreduces), 1.0))
        if links is not None:
            across = crossing(links, float(rule.small_allreduce_bytes))
            used.append(counted(across, "sites", np.asanyarray(small_allreduces), 1.0))
    return _step(compute, used)


def _step(compute: Any, used: list[Traffic]) -> StepTime:
    in_node = sum((t.exposed_s for t in used if not t.on_fabric), np.asanyarray(0.0))
    exposed = sum((t.exposed_s for t in used if t.on_fabric), np.asanyarray(0.0))
    zero = 0.0 * compute
    return StepTime(compute + in_node + exposed, compute, in_node, exposed, zero, zero, tuple(used))
