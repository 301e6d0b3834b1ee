"""The terms of the contract, one object that memo, letters, clauses, plan and credit read; and the exchange that their prices rest on.

Two losses of a time are told apart: one of *tuning*, in which the network stands and is not stable, and one *without GPUs*.
Both are stated once, the former as its part of the latter. Damages are a share of the loss as it is stated, and never more than what caps them: the rent of that time, or a share of what
the network costs. Credits for bandwidth begin at what the total cost assumes, on the exchange that the client's job runs, and
are priced for the GPUs of one stage. An end of them is only told where they can reach it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from fabricreport.base.formats import significant
from fabricreport.base.provenance import Traced, inputs_of, mean_of, plain, stated
from fabricreport.base.units import DAYS_PER_WEEK, HOURS_PER_WEEK
from fabricreport.books.acceptance import PlanEntry, read_acceptance
from fabricreport.inputs.inputs import Inputs
from fabricreport.ledger.numbers import Number
from fabricreport.models.audit import diligence as model
from fabricreport.models.audit.acceptance import written
from fabricreport.models.money.cashflow import loss_per_week
from fabricreport.models.money.ownership import gpu_hours
from fabricreport.models.training.step import Network, Traffic
from fabricreport.sections.client import one_node, stages_of
from fabricreport.sections.diligence.inputs import Ground
from fabricreport.sections.diligence.plan.result import Stage
from fabricreport.sections.latency import inputs
from fabricreport.sections.latency.result import LatencyResult
from fabricreport.sections.tco.cost import LOST_CAUSES, hours_of
from fabricreport.sections.tco.inputs import Common

EVERY = 4
"""Steps made slower are timed on every so many draws: their ratio varies little."""
BANDWIDTH = "bandwidth"
"""The rule of the tests that time one exchange among all GPUs, at large messages."""
_FIRST = "all-reduce"


@dataclass(frozen=True)
class Exchange:
    """One exchange among all GPUs: the `test` that times it, what its logs `measure`, its `name`, and whether the step sends it
    over the network (`sent`). Where the step sends none that a test times, it is AllReduce, which sellers publish."""

    test: str
    measures: str
    name: str
    sent: bool


def exchange_of(latency: LatencyResult, options: Sequence[str]) -> Exchange:
    """The exchange that keeps the largest job waiting longest on each of these options, of those that a test times."""
    tests = [entry for entry in read_acceptance().tests if entry.bar == BANDWIDTH]

    def waited(entry: PlanEntry) -> tuple[float, float]:
        each = [_seconds([t for t in latency.steps[o].traffic if is_sent(entry, t)]) for o in options]
        return min(each)

    longest = max(tests, key=waited)
    sent = waited(longest) > (0.0, 0.0)
    found = longest if sent else next(entry for entry in tests if entry.collective == _FIRST)
    return Exchange(found.id, found.measures, found.title.partition(",")[0], sent)


def is_sent(entry: PlanEntry, traffic: Traffic) -> bool:
    """Whether traffic of a step is of the kind that a test times: over the network, and in messages that bandwidth rules."""
    small = max(read_acceptance().sizes["small"])
    return traffic.collective == entry.collective and traffic.on_fabric and traffic.size_bytes > small


def _seconds(traffic: Sequence[Traffic]) -> tuple[float, float]:
    """Mean seconds of a step that wait for it, and that it takes."""
    return sum(mean_of(t.exposed_s) for t in traffic), sum(mean_of(t.time_s) for t in traffic)


@dataclass(frozen=True)
class Slower:
    """What a worse network costs: the share of GPU time lost at each size of the cluster, on every `EVERY`-th draw."""

    on: Ground
    shares: Mapping[int, Any]

    @property
    def whole(self) -> Any:
        """Money lost over the horizon, all stages together."""
        sizes = inputs.stages(self.on.given)
        return horizon_worth(self.on)[::EVERY] * sum(weight * self.shares[gpus] for gpus, weight in sizes)

    def at(self, stage: Stage) -> Any:
        """Money lost over the rest of the horizon on the GPUs that a stage adds to one network."""
        total = dict(stages_of(self.on.given))[stage.month]
        return horizon_worth(self.on)[::EVERY] * share_of_hours(self.on, stage) * self.shares[total]


def slower(on: Ground, wires: Network, worse: Network) -> Slower:
    """What a worse network costs, jobs weighted by their GPU time; both networks on every `EVERY`-th draw."""
    jobs, shares = on.latency.jobs, {}
    lost: dict[int, Any] = {}
    for gpus, _ in inputs.stages(on.given):
        share: Any = 0.0
        for size, part in jobs.mixes[gpus]:
            if one_node(on.given, size):
                continue
            if size not in lost:
                work = jobs.own[on.option.id][size]
                steps = [inputs.step(on.given, work, w, every=EVERY).step_time_s for w in (wires, worse)]
                lost[size] = model.slower_step_share(*steps)
            share = share + part * lost[size]
        shares[gpus] = share
    return Slower(on, shares)


def share_of_hours(on: Ground, stage: Stage) -> float:
    """The GPUs that a stage adds to one network, as a share of the horizon's GPU time, both discounted."""
    common = on.tco.common
    own = gpu_hours(((stage.month, stage.gpus - stage.before),), common.months)
    worth = common.discounting.present_value
    return float(plain(np.mean(worth(own) / worth(hours_of(common)))))


def horizon_worth(on: Ground) -> Traced:
    """Present worth of the GPU time of the horizon that no network loses, (draws,)."""
    choice, tco, tail = on.option.id, on.tco, on.tail
    cost: Any = 0.0
    for cause in LOST_CAUSES:
        cost = cost + tco.components[choice].get(cause, 0.0)
    share = model.combined_share(
        tail.bring_up_share[choice],
        on.latency.exposed_share[choice],
        tail.tail_share[choice],
        tail.incident_share[choice],
    )
    found: Traced = on.given.spread(model.time_per_lost_share(cost, share))
    return found


@dataclass(frozen=True)
class Percent:
    """A percent of bandwidth: what it costs (`lost`), and the share of what is assumed at which the lead is gone.

    `gone` is None where nobody leads, or no lead is used up within reach; `footing`: the inputs it rests on.
    """

    lost: Slower
    gone: float | None
    footing: frozenset[str]


def percent_of(on: Ground, less: Network, wires: Network) -> Percent:
    """What a percent of bandwidth costs, and how many use up the lead; `less`: the same wires with a percent less of it."""
    lost = slower(on, wires, less)
    whole, lead = lost.whole, on.comparison.lead
    left = None
    if not on.comparison.verdict.open:
        left = model.lead_lost_at(100.0, float(plain(lead).mean()), float(plain(whole).mean()))
    footing = inputs_of(lead, whole) | {*inputs.PROFILE}
    return Percent(lost, None if left is None else left / 100.0, frozenset(footing))


PROMISED, SHARE = "evidence:course-damages-promised", "evidence:course-damages-share"
DAMAGES_CAP, CREDIT_CAP = "evidence:course-damages-cap", "evidence:acceptance-credit-cap"
_STATED = 3
"""Significant digits of a loss and of damages, as a contract writes them."""
_DAYS: Mapping[str, float] = {"week": DAYS_PER_WEEK, "day": 1.0}


@dataclass(frozen=True)
class Damages:
    """What is paid for a time too late, by the `unit` of it: `week` or `day`.

    `limit`: units until it is late; 0 where a date is promised. `loss`: what one more costs the client, as it is stated, and
    `share` of it is paid. Amounts age as what they were stated of does. `rent`: of a unit of that time, None where the network is bought; then all that is paid ends at
    `cap`. `of_loss`: the inputs behind the loss; `capped_by`: behind what caps it.
    """

    unit: str
    limit: float
    loss: Any
    share: float
    rent: Any | None
    cap: Any | None
    of_loss: frozenset[str] = field(compare=False)
    capped_by: frozenset[str] = field(compare=False)

    @property
    def rests_on(self) -> frozenset[str]:
        """The inputs behind what is paid in all."""
        return self.of_loss | self.capped_by

    @property
    def most(self) -> Any:
        """The most that is paid for one unit."""
        return self.rent if self.rent is not None else 0.0 if self.cap is None else self.cap

    @property
    def by_share(self) -> bool:
        """Whether the share of the loss is paid, and not the less that caps it."""
        return bool(self.share * self.loss <= self.most)

    @property
    def per_unit(self) -> Any:
        """What is paid for one unit, as it is written down."""
        if self.by_share:
            return stated(significant(self.share * float(self.loss), _STATED), self.loss)
        return stated(written(float(self.most), at_least=True), self.most)

    @property
    def days_until_cap(self) -> float:
        """Whole days late with which all that is paid has come to its end; asked for where it ends."""
        assert self.cap is not None, "asked for where it ends"
        return float(np.ceil(float(self.cap) / float(self.per_unit) * _DAYS[self.unit] - 1e-9))

    @property
    def loss_per_week(self) -> float:
        """The loss of a week, as it is stated for its unit."""
        return float(self.loss) * DAYS_PER_WEEK / _DAYS[self.unit]

    @property
    def limit_weeks(self) -> float:
        """The limit in weeks."""
        return self.limit * _DAYS[self.unit] / DAYS_PER_WEEK

    def paid(self, weeks_beyond: Any) -> Any:
        """What is paid for so many weeks beyond the limit, or the date; nothing below zero."""
        units = np.maximum(np.asanyarray(weeks_beyond), 0.0) * (DAYS_PER_WEEK / _DAYS[self.unit])
        return np.minimum(units * self.per_unit, np.inf if self.cap is None else self.cap)


def tuning(given: Inputs, common: Common, weeks: Any, price: Any, *, unit: str = "") -> Damages:
    """Damages for a network that takes `weeks` (draws,) from power-on until it is stable, beyond what is promised.

    `price`: of the network in the first order, (draws,); None where it is rented. The promise is the entry's percentile of
    those weeks, in whole weeks, or in days where that is less than one; in `unit`s where another option's is named beside it.
    """
    middle = float(np.quantile(plain(given.spread(weeks)), given.central(PROMISED)))
    unit = unit or ("week" if middle >= 1.0 else "day")
    limit = max(float(np.ceil(middle * DAYS_PER_WEEK / _DAYS[unit] - 1e-9)), 1.0)
    return _late(given, common, unit, limit, given.value("evidence:bring-up-productivity"), price)


def delivery(given: Inputs, common: Common, price: Any) -> Damages:
    """Damages for GPUs that are handed over after the date promised: nothing is done in that time."""
    return _late(given, common, "day" if given.team.rented else "week", 0.0, 0.0, price)


def _late(given: Inputs, common: Common, unit: str, limit: float, productive: Any, price: Any) -> Damages:
    part, gpus = _DAYS[unit] / DAYS_PER_WEEK, common.stages[0][1]
    loss, idle = (loss_per_week(gpus, done, common.gpu_hour_value, common.delay_per_day) for done in (productive, 0.0))
    rent, cap, capped_by = None, None, loss
    if price is None:
        capped_by = np.asanyarray(common.server.rent_per_gpu_hour)
        rent = np.mean(capped_by) * gpus * HOURS_PER_WEEK * part
    else:
        capped_by = np.asanyarray(price)
        cap = given.central(DAMAGES_CAP) * np.mean(capped_by)
    whole = significant(part * mean_of(idle), _STATED)  # a loss is told as its part of a time without the GPUs
    told = stated(significant(whole * mean_of(loss) / mean_of(idle), _STATED) if whole else 0.0, loss)
    of_loss = inputs_of(loss) | {"param:cluster.gpus"}
    return Damages(unit, limit, told, given.central(SHARE), rent, cap, of_loss, inputs_of(capped_by))


@dataclass(frozen=True)
class Credit:
    """What is credited for bandwidth at one stage: `rate` for each percent below what is assumed, of a network at `price`.

    `most`: where credits come to an end; `ends`: whether that is the share of the price, because they reach it.
    """

    rate: Number
    price: float
    most: Number
    ends: bool


def paid_for(given: Inputs) -> str:
    """What a share is of where credits are held against what the seller is paid."""
    return "the rent of the term" if given.team.rented else "the price of the network"


def most_credited(rate: float, price: float, share: float) -> tuple[float, bool]:
    """The most that is credited at `rate` for a percent, and whether the share of the price is where credits end.

    No more than all of the bandwidth can be lost, so that a share above a hundred percents is never reached.
    """
    whole, end = 100.0 * rate, share * price
    return (end, True) if end < whole else (whole, False)


@dataclass(frozen=True)
class Terms:
    """Everything that a seller of one `option` promises with an amount.

    `weeks`: until the network runs stably, within the `limit` of them, None where no network between nodes is bought, and
    `delivery`: of the GPUs, each with its figures (`loss`, `damages`, by the names of the two). `exchange`: what the bandwidth is promised of. `credits`: by number of the stage, none where the step sends
    nothing that is timed, or a percent costs nothing; `latency`: what a microsecond costs, likewise. `worth`: what a promise
    brings on average, in what is paid for breaking it, by its id.
    """

    option: str
    weeks: Damages | None
    delivery: Damages
    limit: Number | None
    loss: Mapping[str, Number]
    damages: Mapping[str, Number]
    exchange: Exchange
    credits: Mapping[int, Credit]
    latency: Mapping[int, Number]
    worth: Mapping[str, Any]
