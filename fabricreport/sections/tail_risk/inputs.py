"""What the risk section rests on, drawn from the case: each option's cluster, run and fabric risk, and shares of GPU time lost by cause.

Every fabric has the same classes of hardware incident at the same draws. A difference between options comes from what
is theirs alone: the rates and times that the evidence states by family, the number of switches, and who tunes. Loss of
bandwidth by oversubscription is charged with latency and loss by path collisions here, so neither is counted twice.

A client that grows is met at every stage: each size has its own rates, and every enlargement its own weeks to stable
for the GPUs it adds. Stages weigh by their GPU-months.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from fabricreport.base.provenance import Traced, plain
from fabricreport.base.units import DAYS_PER_MONTH, DAYS_PER_WEEK
from fabricreport.books.options import Option
from fabricreport.inputs.inputs import Inputs
from fabricreport.inputs.options import burden, endpoints_for, shape
from fabricreport.models.fabric.topology import bill_of_materials
from fabricreport.models.money.ownership import COMMON
from fabricreport.models.risk.entries import Effort, common_incidents, fabric_risk, maturity_effect, node_loss, tail_law
from fabricreport.models.risk.goodput import FabricRisk, Run, TopologyEffect, lost_shares, operated, optimal_interval_s
from fabricreport.models.risk.incidents import Cluster, Standby
from fabricreport.models.risk.tail import TailLaw
from fabricreport.sections.client import mix_of, one_node, planned_days, side_by_side, stages_of
from fabricreport.sections.validity import GOODPUT, widened

PROFILE = (
    "param:cluster.gpus",
    "param:organisation.networking_maturity",
    "param:organisation.qos_expertise",
    "param:organisation.operations",
    "param:organisation.existing_infiniband",
    "param:organisation.existing_ethernet",
    "param:money.acquisition",
    "param:cluster.tenancy",
)
"""Params that choose branches here and so leave no mark in the arrays."""
INTERVAL = "param:workload.checkpoint_minutes"


@dataclass(frozen=True)
class Subject:
    """One option as this client would run it at one size: the run that is planned and the fabric's risk.

    tiers: of switches, 0 without a fabric. slow: the tail that servers cause on any network. exposed: exposed communication
    as a share of GPU time.
    """

    option: Option
    run: Run
    risk: FabricRisk
    tiers: int
    slow: TailLaw
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
    within: int = 0,
    spares: int | None = None,
) -> Subject:
    """The option at the size of a job (GPUs) for a run of `days`.

    What no fabric causes is met by the same operators on every option, so it never differs with skill in one fabric.
    within: GPUs of the cluster that is brought up, the job's own where left out. exposed: exposed communication as a
    share of GPU time. gpu_hour: what a lost GPU-hour is worth. spares: nodes at hand for the place of one that fails; None:
    always one.
    """
    cluster, tiers = _cluster(given, option, gpus)
    takes = given.effort(option)
    shared = exposed if tiers > 1 else 0.0
    risk = _risk(given, option, gpus, shared, takes)
    if within > gpus:
        risk = replace(risk, bring_up=_risk(given, option, within, shared, takes).bring_up)
    read = reader(given)
    engineer = 0.0 if given.team.rented else engineer_hour(given)
    effect = maturity_effect(read, given.team.jobs_maturity)
    count = -(-gpus // int(given.params.cluster.gpus_per_node))
    nodes = None if spares is None else node_loss(read, count, spares, effect)
    planned = Run(
        cluster,
        days,
        read("restart-hours"),
        read("checkpoint-write-seconds"),
        common_incidents(read, nodes),
        gpu_hour_usd=gpu_hour,
        engineer_hour_usd=engineer,
    )
    run = operated(planned, effect)
    slow = _paced(given, replace(tail_law(read, option.behaviour), shared_stall_share=0.0))
    return Subject(option, replace(run, checkpoint_interval_s=_interval_s(given, run)), risk, tiers, slow, exposed)


def _interval_s(given: Inputs, run: Run) -> Any:
    """Seconds between checkpoints, the same on every network: the client's, else the optimum for what stops a job on any."""
    if given.params.workload.checkpoint_minutes is None:
        return optimal_interval_s(run)
    return 60.0 * given.value(INTERVAL)


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


def _risk(given: Inputs, option: Option, gpus: int, communication: Any, takes: Effort) -> FabricRisk:
    read = reader(given)
    if one_node(given, gpus):
        law = replace(tail_law(read, option.behaviour), shared_stall_share=0.0)
        return FabricRisk(option.id, _paced(given, law), ())
    risk = fabric_risk(
        read,
        option.behaviour,
        option=option.id,
        operators=maturity_effect(read, given.team.maturity),
        topology=str(given.params.cluster.topology),
        communication_share=communication,
        gpus=None if option.one_switch and option.rdma else gpus,  # what is stated of one switch is of no other size
        burden=burden(given.params, option, given.params.cluster.networks(gpus)[0], read),
        takes=takes,
        neighbours=side_by_side(given),
    )
    bring_up = risk.bring_up
    if given.team.rented:
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


FABRIC_CAUSES = ("bring_up", "stalls", "topology", "fabric")
CAUSES = (*COMMON, *FABRIC_CAUSES)
"""Causes of lost GPU time: those that no network changes, which are alike for every option, then the fabric's own."""
STANDBY = "faults"
"""The cause that hot spares are charged to: they stand by for these."""


def horizon_shares(
    given: Inputs,
    option: Option,
    days: float,
    exposed: Mapping[int, Traced],
    standby: Mapping[int, Standby],
    seen_weeks: float | None = None,
) -> tuple[dict[str, Traced], Traced]:
    """Share of GPU time lost to each of `CAUSES` over the horizon on one option, and the first weeks to stable, draws (n,).

    exposed: exposed communication as a share of GPU time, by GPUs of the job. Jobs weigh by their GPU time and runs take
    `days`. Common causes come first, and the fabric's are shares of the time that these leave. Where the model was tried
    on no such run they are drawn wider; collisions follow from exposed communication, which is so already.
    standby: what stands by of a job, whose idle time is `STANDBY`'s. seen_weeks: weeks that the first size took, where it
    stands: later ones are taken to differ by as much from what is expected.
    """
    months = int(given.params.money.horizon_months)
    stages = stages_of(given)
    ends = [month for month, _ in stages[1:]] + [months]
    whole = sum(gpus * (end - month) for (month, gpus), end in zip(stages, ends, strict=True))
    totals: dict[str, Any] = dict.fromkeys(CAUSES, 0.0)
    before, weeks, longer = 0, None, np.asanyarray(1.0)
    running = {
        size: running_shares(subject(given, option, size, days, share, spares=standby[size].nodes))
        for size, share in exposed.items()
    }
    for (month, gpus), end in zip(stages, ends, strict=True):
        mix = mix_of(given, gpus)
        at = subject(given, option, mix[-1][0], days, exposed[mix[-1][0]], within=gpus)
        expected = np.asanyarray(at.risk.bring_up.expected_weeks)
        if weeks is None and seen_weeks is not None:
            longer = np.divide(seen_weeks, expected, out=np.ones_like(plain(expected)), where=plain(expected) > 0)
            weeks = np.asanyarray(seen_weeks)
        weeks = at.risk.bring_up.weeks if weeks is None else weeks
        weight = gpus * (end - month) / whole
        for size, part in mix:
            for cause, share in running[size].items():
                drawn = share if cause == "topology" else widened(given, size, share, GOODPUT)
                drawn = standby[size].beside(drawn) if cause == STANDBY else drawn
                totals[cause] = totals[cause] + weight * part * drawn
        again = given.value("evidence:expansion-bring-up-factor") if before else 1.0
        left = DAYS_PER_MONTH * (months - month)
        unstable = np.minimum(DAYS_PER_WEEK * expected * longer * again, left)
        lost = unstable * (1.0 - np.asanyarray(at.risk.bring_up.productivity))
        totals["bring_up"] = totals["bring_up"] + (gpus - before) * lost / (DAYS_PER_MONTH * whole)
        before = gpus
    return {cause: given.spread(value) for cause, value in totals.items()}, given.spread(weeks)


@dataclass(frozen=True)
class Losses:
    """By option id: the shares of GPU time lost over the horizon by cause (of `CAUSES`), and weeks to stable, (draws,)."""

    lost: Mapping[str, Mapping[str, Traced]]
    weeks: Mapping[str, Traced]

    @cached_property
    def tail(self) -> dict[str, Any]:
        """What the network's stalls and contention take."""
        return {o: lost["stalls"] + lost["topology"] for o, lost in self.lost.items()}

    @cached_property
    def incidents(self) -> dict[str, Traced]:
        """What faults of the fabric take."""
        return {o: lost["fabric"] for o, lost in self.lost.items()}

    @cached_property
    def bring_up(self) -> dict[str, Traced]:
        """What the weeks until stable take."""
        return {o: lost["bring_up"] for o, lost in self.lost.items()}


def losses(
    given: Inputs,
    option: Option,
    exposed: Mapping[int, Traced],
    standby: Mapping[int, Standby],
    seen_weeks: float | None = None,
) -> tuple[dict[str, Traced], Traced]:
    """What one option loses over the horizon by cause, and its weeks to stable.

    exposed: exposed communication as a share of GPU time; standby: what stands by; by GPUs of the job. seen_weeks: what it
    took, where it stands.
    """
    return horizon_shares(given, option, planned_days(given), exposed, standby, seen_weeks)


def running_shares(at: Subject) -> dict[str, Any]:
    """Shares of running time lost at one size, the common ones as on a perfect network."""
    return lost_shares(at.run, at.risk, at.slow)
