"""The four axes beyond money for one client: the facts that their rules ask for, and what they lean to."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from fabricreport.evidence import read_yaml
from fabricreport.inputs import Inputs
from fabricreport.models.judgement.framework import AXES, FrameworkResult, evaluate, rules_from
from fabricreport.scenario import Params, is_given
from fabricreport.vocabulary import OperatingModel, Side

LOOK_AHEAD_MONTHS = 36
"""The trajectory counts up to the longer end of the window in which growth is said to lock the fabric in."""


def weights_stated(params: Params) -> bool:
    """Whether the client's weights state a preference: some are given, and they are not all alike."""
    given = any(is_given(params, f"weights.{a}") for a in AXES)
    return given and len(set(params.weights.shares.values())) > 1


def framework_facts(params: Params, ethernet: Collection[str]) -> dict[str, Any]:
    """The facts the framework's rules may ask for; `ethernet` are the operating models of the Ethernet that is compared."""
    cluster, organisation = params.cluster, params.organisation
    return {
        "kind": params.workload.kind,
        "latency_variance_bound": params.workload.latency_variance_bound,
        "vendor": cluster.vendor,
        "target_gpus": target_gpus(params),
        "one_node": target_gpus(params) <= cluster.gpus_per_node,
        "spans_subnets": cluster.subnets > 1,
        "tenancy": cluster.tenancy,
        "networking_maturity": organisation.networking_maturity,
        "qos_expertise": organisation.qos_expertise,
        "existing_ethernet": organisation.existing_ethernet,
        "existing_infiniband": organisation.existing_infiniband,
        "single_vendor_policy": organisation.single_vendor_policy,
        "ethernet_of_one_maker": OperatingModel.TURNKEY in ethernet,
        "ethernet_of_another_maker": any(model != OperatingModel.TURNKEY for model in ethernet),
        "nvidia_cloud_partner": organisation.nvidia_cloud_partner,
        "weeks_to_production": params.weeks_allowed if params.dated else None,
    }


def facts_of(given: Inputs) -> dict[str, Any]:
    """The framework's facts for this client and the options compared."""
    return framework_facts(given.params, {o.operating_model for o in given.options if o.side != Side.INFINIBAND})


def target_gpus(params: Params) -> int:
    """The largest size the client plans within LOOK_AHEAD_MONTHS."""
    stages = [s.gpus for s in params.cluster.trajectory if s.month <= LOOK_AHEAD_MONTHS]
    return max([params.cluster.gpus, *stages])


def framework_of(given: Inputs) -> FrameworkResult:
    """The four axes for this client."""
    data = read_yaml("framework")
    return evaluate(
        rules_from(data["rules"]),
        {a["id"]: a["title"] for a in data["axes"]},
        facts_of(given),
        given.params.weights.model_dump(),
        assumed=assumed_facts(given.params),
    )


def assumed_facts(params: Params) -> dict[str, str]:
    """The framework's facts that the client did not state, with their names in prose."""
    facts: Mapping[str, Any] = read_yaml("framework")["facts"]
    return {f: entry["name"] for f, entry in facts.items() if not any(is_given(params, k) for k in entry["keys"])}
