"""The exchange that the client's job runs, and what less bandwidth or more latency costs it, stage by stage of the network."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from fabricreport.books.acceptance import PlanEntry, read_acceptance
from fabricreport.models.audit import diligence as model
from fabricreport.models.money.ownership import gpu_hours
from fabricreport.models.training.step import Network, Traffic
from fabricreport.provenance import Traced, inputs_of, mean_of, plain
from fabricreport.sections.client import one_node, stages_of
from fabricreport.sections.diligence.inputs import Ground
from fabricreport.sections.diligence.plan.stages import Stage
from fabricreport.sections.latency import inputs
from fabricreport.sections.latency.result import LatencyResult
from fabricreport.sections.tco.cost import LOST_CAUSES, hours_of

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
