"""What an owner may do beside signing: find out first, rent first, tie the seller to a date, buy in stages, run jobs within a node."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from fabricreport.base.provenance import mean_of, plain
from fabricreport.base.units import DAYS_PER_MONTH, DAYS_PER_WEEK
from fabricreport.base.vocabulary import Basis, CourseKind
from fabricreport.inputs.inputs import Inputs
from fabricreport.models.money import cashflow as money
from fabricreport.models.money.ownership import COMMON, OF, Purchase, bring_up_share, charge_lost_time, ownership_cost
from fabricreport.models.training.step import StepTime
from fabricreport.scenario.schema import PRETRAINING
from fabricreport.sections.arrivals import hired
from fabricreport.sections.chain import Chain
from fabricreport.sections.client import job_sizes, largest_job, one_node, planned_days, stages_of
from fabricreport.sections.decision.courses.result import (
    RENTED_WEEKS,
    TEST_OF,
    WAIT_OF,
    Clause,
    Growing,
    Late,
    Learning,
    OneNode,
    RentFirst,
    SingleNode,
    Stop,
)
from fabricreport.sections.decision.information import Information
from fabricreport.sections.diligence.terms import tuning
from fabricreport.sections.latency import inputs as steps
from fabricreport.sections.tail_risk.inputs import running_shares, subject
from fabricreport.sections.tco import fabric
from fabricreport.sections.tco.cost import (
    FABRIC_CAUSES,
    by_cause,
    delay_days,
    hours_of,
    own_cost,
    purchases,
    rented_hours,
    running,
    useful_hour_usd,
)
from fabricreport.sections.tco.fabric import Build
from fabricreport.sections.tco.inputs import Common, OptionInputs
from fabricreport.sections.tco.result import Bills, servers_per_rack
from fabricreport.sections.validity import GOODPUT, widened

_MOST = 0.99
"""No more than this share of any hours is taken to be lost, so that some work is done in them."""
_WITH_SERVERS = ("servers", "adapters", "spares of nic")
"""Pieces that come when the servers do, whenever the fabric is ordered."""


def _worth_of_a_week(bills: Bills, option: str, delay_per_day: Any) -> Any:
    """What a week without the first stage costs (draws,), in the memo's currency; `delay_per_day` likewise."""
    common = bills.common
    costs = useful_hour_usd(bills.paid[option], bills.own[option], common)
    return money.worth_per_week(common.stages[0][1], common.gpu_hour_value, costs, delay_per_day)


def waiting(bills: Bills, option: str, weeks: Any) -> Any:
    """What it costs to begin so many weeks later on an option, (draws,) in the memo's currency."""
    common = bills.common
    per_week = _worth_of_a_week(bills, option, common.delay_per_day)
    return money.waiting_cost(weeks, bills.own[option].production_weeks, common.weeks_allowed, per_week)


def lateness(bills: Bills, option: str, weeks: Any) -> Late:
    """What it costs that production begins so many weeks after the memo's date, (draws,): the price of delay, which totals
    have, and the hours."""
    common = bills.common
    late = np.maximum(np.asanyarray(weeks) - common.weeks_allowed, 0.0)
    return Late(late * DAYS_PER_WEEK * common.delay_per_day, late * _worth_of_a_week(bills, option, 0.0))


def learning(given: Inputs, bills: Bills, option: str, kind: CourseKind, known: Information) -> Learning | None:
    """A test before one of the two is taken, as the study of what could be found out prices it, and the wait for it.

    None where the test shows nothing of this case. `option`: the one whose start waits.
    """
    test = known.tried(TEST_OF[kind])
    if test is None:
        return None
    return Learning(test.estimate, test.cost, waiting(bills, option, given.value(WAIT_OF[kind])))


def months_of_rent(given: Inputs, bills: Bills, option: str) -> int:
    """Months to rent so that the option's own network, ordered now, is in production when they end, in the share of outcomes
    that the client wants; no fewer than the library's."""
    share = float(given.params.schedule.share_wanted)
    weeks = [
        np.quantile(plain(own.production_weeks), share) for own in (bills.own[option], _rented(given, bills, option))
    ]
    least = given.central("evidence:course-rent-first-months")
    return int(max(least, math.ceil((weeks[0] - weeks[1]) * DAYS_PER_WEEK / DAYS_PER_MONTH)))


def _rented(given: Inputs, bills: Bills, option: str) -> OptionInputs:
    """The option as a network that a provider runs already: handed over sooner, and part of its weeks to stable."""
    own = bills.own[option]
    return replace(own, bring_up_weeks=own.bring_up_weeks * given.value(RENTED_WEEKS), arrival=hired(given))


def rent_first(given: Inputs, bills: Bills, option: str, months: int) -> RentFirst:
    """The same work over the same horizon: so many months at the market's rent, then the option bought and run.

    What is rented is a network that runs already and behaves as the option does; nobody waits for the delivery of what is
    bought, nor for its weeks to stable, before the first result. Until work starts on the rented one, the
    weeks of a fabric that already runs are lost, as to any renter. An hour lost costs the same in both: the client's value.
    """
    common, own = bills.common, bills.own[option]
    stages = money.later(common.stages, months)
    after = replace(common, stages=stages)
    builds = tuple(replace(build, month=max(build.month, months)) for build in bills.built[option])
    whole, owned = hours_of(common), hours_of(after)
    cash = own_cost(builds, own, after)
    later = replace(own.lost, bring_up=_share_of(own.lost.bring_up, whole, owned))
    cost = charge_lost_time(cash, later, owned, common.gpu_hour_value, common.discounting).total
    first = _rented(given, bills, option) if months else own
    delay = delay_days(first, common) * common.delay_per_day
    rent: Any = 0.0
    if months:
        idle = first.bring_up_weeks * (1 - given.value("evidence:bring-up-productivity"))
        lost = replace(own.lost, bring_up=np.minimum(bring_up_share(idle, months), _MOST))
        worth = common.discounting.present_value(whole - owned)
        rent = money.hours_on_rented(worth, common.server.rent_per_gpu_hour, common.gpu_hour_value, lost.useful)
    return RentFirst(option, months, given.spread(rent), given.spread(cost + delay))


def _share_of(share: Any, whole: Any, part: Any) -> Any:
    """A share of all hours as one of a part of them."""
    return np.minimum(np.asanyarray(share) * (float(np.sum(whole)) / float(np.sum(part))), _MOST)


def clause(given: Inputs, bills: Bills, option: str, *, unit: str = "") -> Clause:
    """Damages for the time that an option is stable too late, on the terms of the contract; `unit`: of time, if it is set."""
    common, own = bills.common, bills.own[option]
    order = sum(fabric.capex(bills.built[option][0], own, common).values())
    terms = tuning(given, bills.late, own.bring_up_weeks, order, unit=unit)
    return Clause(terms, given.spread(terms.paid(own.bring_up_weeks - terms.limit_weeks)))


# ---- in stages


def growing(given: Inputs, bills: Bills, pair: Sequence[str], base: str) -> Growing:
    """A plan in stages, ended after each of them; and all of its fabric ordered at the start."""
    stops = tuple(_stop(given, bills, pair, last) for last in range(len(bills.common.stages)))
    return Growing(
        stops,
        {o: given.spread(_left(bills, o)) for o in pair},
        given.spread(ahead_cost(bills.built[base], bills.own[base], bills.common)),
    )


def _stop(given: Inputs, bills: Bills, pair: Sequence[str], last: int) -> Stop:
    common, rack = bills.common, servers_per_rack(given)
    cut = replace(common, stages=common.stages[: last + 1])
    options = {o.id: o for o in given.options}
    paid, wasted, causes = {}, {}, {}
    for o in dict.fromkeys(pair):
        bill = own_cost(bills.built[o][: last + 1], bills.own[o], cut)
        planned, causes[o] = bill.total, by_cause(bill.parts)
        paid[o] = given.spread(planned)
        if last + 1 == len(common.stages):
            wasted[o] = given.spread(0.0)
            continue
        least = fabric.builds(given.params.cluster, options[o], cut.stages, rack)
        wasted[o] = given.spread(planned - own_cost(least, bills.own[o], cut).total)
    month, gpus = common.stages[last]
    return Stop(month, gpus, paid, wasted, causes)


def _left(bills: Bills, option: str) -> Any:
    """Present value of what the fabric's later stages cost to buy."""
    common = bills.common
    bought = purchases(bills.built[option], bills.own[option], common)[1:]
    return sum(
        (common.discounting.lump(_capital(purchase), purchase.month, common.months) for purchase in bought), start=0.0
    )


def _capital(bought: Purchase) -> Any:
    causes = by_cause(bought.capex_usd)
    return sum((causes[c] for c in FABRIC_CAUSES if c in causes), start=0.0)


def ahead_cost(builds: Sequence[Build], own: OptionInputs, common: Common) -> Any:
    """What it adds to order the fabric of every stage at the start, to be powered when its stage comes: present value (draws,).

    It is paid for and supported from the start, and is older at the end. Adapters come with their servers.
    """
    planned = purchases(builds, own, common)
    early = [Purchase(0, {n: v for n, v in p.capex_usd.items() if not _waits(n)}) for p in planned]
    in_time = [replace(p, capex_usd={n: v for n, v in p.capex_usd.items() if _waits(n)}) for p in planned]

    def cost(bought: Sequence[Purchase]) -> Any:
        terms = running(own, common)
        found = ownership_cost(bought, terms, months=common.months, discounting=common.discounting, lease=common.lease)
        return found.total

    return cost([*early, *in_time]) - cost(planned)


def _waits(piece: str) -> bool:
    """Whether a piece comes with the servers, spares of such pieces included."""
    return piece in _WITH_SERVERS


_SERVERS = "servers"
LONGEST = "evidence:course-single-run-days"
"""Days that one run may take in a node for the course to be advised."""


def single_node(given: Inputs, base: Chain, option: str) -> SingleNode:
    """The same work in jobs within nodes, beside the option's jobs across nodes."""
    standing = standing_of(given)
    if standing != OneNode.PRICED:
        trained = standing == OneNode.NO_ROOM and str(given.params.workload.kind) in steps.TRAINING_KINDS
        per_node = int(given.params.cluster.gpus_per_node)
        return SingleNode(standing, memory=steps.memory_taken(given, per_node) if trained else None)
    bills, common = base.bills, base.bills.common
    useful, across = _useful(given, base, option), bills.own[option].lost
    hours = common.discounting.present_value(hours_of(common))
    rent, level = common.server.rent_per_gpu_hour, None
    cash: Any
    causes: dict[str, Any] = {}
    if given.team.rented and common.value_basis != Basis.STATED:
        cash = total = money.work_on_rented(rented_hours(common), rent, useful)
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
