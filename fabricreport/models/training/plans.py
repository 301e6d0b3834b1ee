"""The fastest of the plans that fit in memory, on one network."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np

from fabricreport.models.training import parallel
from fabricreport.models.training.parallel import Model, Plan, Practice
from fabricreport.models.training.step import Network, layers, training_step


def best_plan(model: Model, network: Network, *, gpus: int) -> Plan:
    """Of the plans that fit in memory the fastest on this network, compared at the rules' central inputs.

    The whole step is timed of those alone whose layers let them be as fast as the best found.
    """
    rule = network.rules
    how: dict[str, Any] = {"kernel_efficiency": rule.kernel_efficiency, "overlap": rule.overlap}
    plans = _filled_plans(model, network.practice, network.gpu, gpus, network.gpus_per_node)
    most = [float(layers(full, plan, network, **how).most_per_s) for plan, full in plans]
    fastest = (-np.inf, 0)
    for place in sorted(range(len(plans)), key=lambda n: -most[n]):
        if most[place] < fastest[0]:
            break
        plan, full = plans[place]
        fastest = max(fastest, (float(training_step(full, plan, network, **how).tokens_per_s), -place))
    return plans[-fastest[1]][0]


@lru_cache(maxsize=64)
def _filled_plans(
    model: Model, practice: Practice, gpu: str, gpus: int, gpus_per_node: int
) -> tuple[tuple[Plan, Model], ...]:
    """The plans that fit in memory, each with the model that fills it."""
    rule, memory = practice.rules, practice.gpu(gpu).memory_gbytes
    plans = parallel.candidate_plans(model, rule, gpus=gpus, gpus_per_node=gpus_per_node, memory_gbytes=memory)
    return tuple((plan, parallel.filled(model, plan, rule)) for plan in plans)


def trained(model: Model, plan: Plan, network: Network) -> float:
    """Tokens a second of a plan on a network, at the rules' central inputs."""
    rule = network.rules
    step = training_step(
        parallel.filled(model, plan, rule),
        plan,
        network,
        kernel_efficiency=rule.kernel_efficiency,
        overlap=rule.overlap,
    )
    return float(step.tokens_per_s)
