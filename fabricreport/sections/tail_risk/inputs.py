"""What the risk section rests on, drawn from the case: each option's cluster, planned run and fabric risk.

Every fabric has the same classes of hardware incident at the same draws. A difference between options comes from what
is theirs alone: the rates and times that the evidence states by family, the number of switches, and who tunes. Loss of
bandwidth by oversubscription is charged with latency and loss by path collisions here, so neither is counted twice.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from fabricreport.books.options import Option
from fabricreport.inputs import Inputs
from fabricreport.models.fabric.topology import bill_of_materials
from fabricreport.models.risk.entries import Effort, common_incidents, fabric_risk, maturity_effect, tail_law
from fabricreport.models.risk.goodput import FabricRisk, Run, TopologyEffect, operated
from fabricreport.models.risk.incidents import Cluster
from fabricreport.models.risk.steps import TailLaw
from fabricreport.sections.client import effort_of, fabric_gpus, maturity_of, one_node, rented, side_by_side
from fabricreport.switching import burden, endpoints_for, shape

PROFILE = (
    "param:cluster.gpus",
    "param:organisation.networking_maturity",
    "param:organisation.qos_expertise",
    "param:organisation.existing_infiniband",
    "param:organisation.existing_ethernet",
    "param:money.acquisition",
    "param:cluster.tenancy",
)
"""Params that choose branches here and so leave no mark in the arrays."""


@dataclass(frozen=True)
class Subject:
    """One option as this client would run it at one size: the run that is planned and the fabric's risk.

    tiers: of switches, 0 without a fabric. stall_share: the part of the tail that stops every worker at once. exposed:
    exposed communication as a share of GPU time.
    """

    option: Option
    run: Run
    risk: FabricRisk
    tiers: int
    stall_share: Any
    exposed: Any


def reader(given: Inputs) -> Any:
    """A function from the id of a risk entry to its draws (a scalar where it is known exactly)."""
    return lambda entry: given.value(f"evidence:{entry}")


def subject(
    given: Inputs,
    option: Option,
    gpus: int,
    days: float,
    exposed: Any,
    *,
    gpu_hour: Any = 0.0,
    maturity: str = "",
    within: int = 0,
) -> Subject:
    """The option at the size of a job (GPUs) for a run of `days`, at its own maturity unless one is named.

    What no fabric causes is met by the same operators on every option, so it never differs with skill in one fabric.
    within: GPUs of the cluster that is brought up, the job's own where left out. exposed: exposed communication as a
    share of GPU time. gpu_hour: what a lost GPU-hour is worth.
    """
    cluster, tiers = _cluster(given, option, gpus)
    takes, level = effort_of(given, option), maturity or maturity_of(given)
    shared = exposed if tiers > 1 else 0.0
    risk = _risk(given, option, gpus, level, shared, takes)
    if within > gpus:
        risk = replace(risk, bring_up=_risk(given, option, within, level, shared, takes).bring_up)
    read = reader(given)
    engineer = 0.0 if rented(given) else engineer_hour(given)
    planned = Run(
        cluster,
        days,
        read("restart-hours"),
        read("checkpoint-write-seconds"),
        common_incidents(read),
        gpu_hour_usd=gpu_hour,
        engineer_hour_usd=engineer,
    )
    run = operated(planned, maturity_effect(read, maturity or maturity_of(given)))
    stalls = 0.0 if one_node(given, gpus) else _tail(given, option, takes).shared_stall_share
    return Subject(option, run, risk, tiers, stalls, exposed)


def engineer_hour(given: Inputs) -> Any:
    """What an hour of a network engineer costs, in the memo's currency."""
    yearly = given.money("evidence:network-architect-pay") * given.value("evidence:pay-loading")
    return yearly / given.value("evidence:engineer-hours-per-year")


def _cluster(given: Inputs, option: Option, gpus: int) -> tuple[Cluster, int]:
    """What can break at a size, and the tiers of switches."""
    own = given.params.cluster
    if one_node(given, gpus):
        return Cluster(gpus, 0.0, 0.0, 0.0, own.gpus_per_node), 0
    bill = bill_of_materials(endpoints_for(own, option, gpus), **shape(own, option))
    return Cluster(gpus, bill.cables_node_leaf, bill.switches, own.subnets, own.gpus_per_node), bill.tiers


def _tail(given: Inputs, option: Option, takes: Effort) -> TailLaw:
    return tail_law(reader(given), option.behaviour, takes, neighbours=side_by_side(given))


def _risk(given: Inputs, option: Option, gpus: int, maturity: str, communication: Any, takes: Effort) -> FabricRisk:
    read = reader(given)
    if one_node(given, gpus):
        law = replace(tail_law(read, option.behaviour), shared_stall_share=0.0)
        return FabricRisk(option.id, _paced(given, law), ())
    risk = fabric_risk(
        read,
        option.behaviour,
        option=option.id,
        maturity=maturity,
        topology=str(given.params.cluster.topology),
        communication_share=communication,
        gpus=None if option.one_switch and option.rdma else gpus,  # what is stated of one switch is of no other size
        burden=burden(given.params, option, fabric_gpus(given, gpus), read),
        takes=takes,
        neighbours=side_by_side(given),
    )
    bring_up = risk.bring_up
    if rented(given):
        weeks = np.asanyarray(bring_up.weeks) * read("rented-bring-up-factor")
        bring_up = replace(bring_up, weeks=weeks)
    topology = TopologyEffect(communication, risk.topology.contention_loss)
    return replace(risk, tail=_paced(given, risk.tail), bring_up=bring_up, topology=topology)


def _paced(given: Inputs, law: TailLaw) -> TailLaw:
    """The tail as it is where the slowest of all sets the pace; where it does not, workers only lose their own time."""
    if given.params.workload.latency_variance_bound:
        return law
    own = np.asanyarray(law.slow_node_share) * law.slow_node_penalty * law.slow_node_presence
    return TailLaw(0.0, shared_stall_share=np.asanyarray(law.shared_stall_share) + own)
