"""The same work as jobs that stay within a node each: no traffic between nodes, and no fabric to wait for."""

from __future__ import annotations

from typing import Any

import numpy as np

from fabricreport.chain import Chain
from fabricreport.inputs import Inputs
from fabricreport.models.money import courses as money
from fabricreport.models.money.lost_time import COMMON
from fabricreport.models.money.ownership import OF
from fabricreport.models.training.step import StepTime
from fabricreport.provenance import mean_of
from fabricreport.scenario.schema import PRETRAINING
from fabricreport.sections.client import job_sizes, largest_job, one_node, planned_days, stages_of
from fabricreport.sections.decision.courses.result import OneNode, SingleNode
from fabricreport.sections.latency import inputs as steps
from fabricreport.sections.tail_risk.horizon import running_shares
from fabricreport.sections.tail_risk.inputs import subject
from fabricreport.sections.tco.cost import by_cause, hours_of, rent_terms
from fabricreport.sections.validity import GOODPUT, widened
from fabricreport.vocabulary import Basis

_SERVERS = "servers"
LONGEST = "evidence:course-single-run-days"
"""Days that one run may take in a node for the course to be advised."""


def single_node(given: Inputs, base: Chain, option: str) -> SingleNode:
    """The same work in jobs within nodes, beside the option's jobs across nodes."""
    standing = standing_of(given)
    if standing != OneNode.PRICED:
        return SingleNode(standing)
    bills, common = base.bills, base.bills.common
    useful, across = _useful(given, base, option), bills.own[option].lost
    hours = common.discounting.present_value(hours_of(common))
    rent, level = common.server.rent_per_gpu_hour, None
    cash: Any
    causes: dict[str, Any] = {}
    if given.team.rented and common.value_basis != Basis.STATED:
        rented_hours = common.discounting.present_value(hours_of(common), terms=rent_terms(common))
        cash = total = money.work_on_rented(rented_hours, rent, useful)
        level = np.mean(rent) * np.mean(bills.totals[option]) / np.mean(total)
    else:
        parts = bills.paid[option]
        own = {} if given.team.rented else {name: v for name, v in parts.items() if _of_servers(name)}
        cash, causes = sum(own.values()) if own else parts.total, by_cause(own)
        total = money.work_on_owned(cash, hours, common.gpu_hour_value, useful)
    time = given.spread(across.running.useful / useful)
    days = run_days(given, time)
    return SingleNode(
        standing,
        given.spread(total),
        time,
        level,
        given.spread(rent),
        days=days,
        soon=days is None or mean_of(days) <= given.central(LONGEST),
        cash=given.spread(cash),
        causes={cause: given.spread(v) for cause, v in causes.items()},
    )


def run_days(given: Inputs, time: Any) -> Any:
    """Days of one run within a node: those planned, as many times over as the job has nodes, by the GPU time it takes there.

    None where a run takes no longer so: its jobs are within nodes already, or it serves requests, copy by copy.
    """
    cluster = given.params.cluster
    if within_nodes(given) or str(given.params.workload.kind) not in steps.TRAINING_KINDS:
        return None
    nodes = largest_job(given, int(cluster.gpus)) / int(cluster.gpus_per_node)
    return given.spread(planned_days(given) * max(nodes, 1.0) * time)


def standing_of(given: Inputs) -> OneNode:
    """Whether the client's work can be done in jobs within nodes, by the memory that plans are held to."""
    kind, cluster = str(given.params.workload.kind), given.params.cluster
    largest = max(gpus for _, gpus in stages_of(given))
    if one_node(given, largest):
        return OneNode.NOT_ASKED
    if within_nodes(given):
        return OneNode.PRICED
    if job_sizes(given) or largest > given.central("evidence:course-small-gpus"):
        return OneNode.NOT_ASKED
    if kind == "hpc-simulation":
        return OneNode.NO_MODEL
    if kind in (*PRETRAINING, "mixed"):
        return OneNode.ONE_RUN
    per_node = int(cluster.gpus_per_node)
    if kind in steps.TRAINING_KINDS:
        return OneNode.PRICED if steps.held(given, per_node) else OneNode.NO_ROOM
    work = steps.job(given, largest)
    return OneNode.NO_ROOM if work.plan is None or work.plan.pp > 1 else OneNode.PRICED


def within_nodes(given: Inputs) -> bool:
    """Whether the client states its jobs, and none of them needs more than a node."""
    sizes = job_sizes(given)
    return bool(sizes) and all(one_node(given, size) for size, _ in sizes)


def _of_servers(piece: str) -> bool:
    """Whether a piece of a bill is the servers' own: their price, support, power, cooling, space and resale."""
    return piece == _SERVERS or piece.endswith(f"{OF}{_SERVERS}")


def _useful(given: Inputs, base: Chain, option: str) -> Any:
    """Work in a GPU-hour of single-node jobs, over that of the same hour across nodes had no fabric been met.

    Above 1 where a plan on one node does more in a GPU-hour than the plan across nodes on a perfect network.
    """
    per_node, gpus = int(given.params.cluster.gpus_per_node), base.exposure.largest(base.exposure.stages[0][0])
    pace: Any = 1.0
    if not one_node(given, gpus):
        on_one, shared = steps.job(given, per_node), base.exposure.jobs.shared[gpus]
        wires = base.exposure.timed[option].network
        alone, beside = (steps.step(given, work, wires) for work in (on_one, shared))
        pace = _gpu_seconds(beside, shared) * _free(beside) / _gpu_seconds(alone, on_one)
    chosen = next(o for o in given.options if o.id == option)
    at = subject(given, chosen, per_node, planned_days(given), 0.0)
    lost = running_shares(at)
    for cause in COMMON:
        pace = pace * (1.0 - widened(given, per_node, given.spread(lost[cause]), GOODPUT))
    return pace


def _free(step: StepTime) -> Any:
    """Share of a step that is left without its traffic between nodes."""
    return 1.0 - np.asanyarray(step.exposed_share)


def _gpu_seconds(step: StepTime, work: steps.Job) -> Any:
    """GPU-seconds of a unit of work: of a token, or of a token for each request of a copy's batch."""
    assert work.plan is not None, "a simulation is not asked"
    gpus = work.used if work.kind in steps.TRAINING_KINDS else work.plan.tp * work.plan.pp
    return step.pace_s * gpus
