"""The facts of a client that the articles' rules ask for: those of the framework, and some that only articles name."""

from __future__ import annotations

from typing import Any

from fabricreport.inputs import Inputs
from fabricreport.scenario import is_given
from fabricreport.sections.client import rented
from fabricreport.sections.decision.inputs import framework_facts, target_gpus, weights_stated
from fabricreport.vocabulary import Side

_SERVES = "inference"
"""What the name of a workload begins with that serves and trains nothing."""
_BUDGET = "scale_and_budget"


def article_facts(given: Inputs) -> dict[str, Any]:
    """Every fact that a rule of `articles.yaml` may ask for."""
    params = given.params
    ethernet = {o.operating_model for o in given.options if o.side != Side.INFINIBAND}
    shares = params.weights.shares
    largest = max((job.gpus for job in params.workload.jobs), default=target_gpus(params))
    variance = params.workload.latency_variance_bound and is_given(params, "workload.latency_variance_bound")
    return framework_facts(params, ethernet) | {
        "nodes": -(-target_gpus(params) // params.cluster.gpus_per_node),
        "job_gpus": largest,
        "trains": not str(params.workload.kind).startswith(_SERVES),
        "rents": rented(given),
        "variance_stated": variance,
        "cost_first": weights_stated(params) and shares[_BUDGET] > max(v for a, v in shares.items() if a != _BUDGET),
    }
