"""The decision made again with what was measured in the place of what was expected of the fabric that stands."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from statistics import median

import numpy as np

from fabricreport.acceptance.judging import BANDWIDTH, Judged, TestVerdict, assigned
from fabricreport.acceptance.runs import ALLREDUCE, Run
from fabricreport.case import Case
from fabricreport.chain import Delivered
from fabricreport.durations import DAYS_PER_WEEK
from fabricreport.models.judgement.comparison import Verdict
from fabricreport.models.training.step import Network
from fabricreport.provenance import Traced, plain
from fabricreport.sections.decision.inputs import comparison_of
from fabricreport.sections.diligence.plan.result import Plan
from fabricreport.sections.latency.inputs import cluster_allreduce, speaks_for

WEEKS, INTERRUPTIONS = "T-WEEKS", "T-INTERRUPTIONS"
_IN_WEEKS = {"week": 1.0, "day": 1.0 / DAYS_PER_WEEK}


@dataclass(frozen=True)
class Evidence:
    """What of the delivery enters the decision; None where nothing was seen of it.

    `busbw_gbytes_per_s`: median of the sound AllReduce runs on `gpus` at `size_bytes`, the largest that the plan asks for.
    `weeks` until stable; `faults`: interruptions seen over those expected, where more came than the plan allows.
    """

    gpus: int = 0
    size_bytes: int = 0
    busbw_gbytes_per_s: float | None = None
    weeks: float | None = None
    faults: float | None = None

    @property
    def any(self) -> bool:
        """Whether anything does."""
        return not (self.busbw_gbytes_per_s is None and self.weeks is None and self.faults is None)


@dataclass(frozen=True)
class Decided:
    """The decision with and without what was seen: verdicts, and the lead of the option that stands over its rival, by draw."""

    before: Verdict
    after: Verdict
    rival: str
    lead_before: Traced
    lead_after: Traced

    def is_advised(self, option: str, verdict: Verdict) -> bool:
        """Whether the option is advised, or one of two that money does not tell apart."""
        return option in verdict.course.options


def evidence_of(case: Case, plan: Plan, runs: Sequence[Run], judged: Sequence[Judged]) -> Evidence:
    """What the runs say about the quantities that the decision rests on.

    Bandwidth counts as the plan's first test of AllReduce has it: idle, at the most GPUs and the largest message run.
    """
    found = Evidence(weeks=_weeks(judged), faults=_faults(case, judged))
    first = next((t for t in plan.tests if (t.measures, t.unit) == (ALLREDUCE, BANDWIDTH)), None)
    if first is None:
        return found
    tests = plan.of(first.id)
    own = [run for test in tests for run in assigned(plan, test, runs) if run.flaw is None]
    per_node, cluster = int(case.params.cluster.gpus_per_node), int(case.params.cluster.gpus)
    for gpus, size in sorted({point for test in tests for point in test.thresholds}, reverse=True):
        shown = [
            r.busbw_gbytes_per_s for r in set(own) if (r.gpus, r.size_bytes) == (gpus, size) and r.busbw_gbytes_per_s
        ]
        if shown and speaks_for(case.inputs, gpus // per_node, cluster):
            return replace(found, gpus=gpus, size_bytes=size, busbw_gbytes_per_s=median(shown))
    return found


def decide_again(case: Case, option: str, seen: Evidence) -> Decided:
    """The decision of the case before and after what was seen of the option, every other input at its draws."""
    before, chain = case.comparison, case.chain
    rival = before.rival if option == before.choice else before.choice
    network = None if seen.busbw_gbytes_per_s is None else _as_measured(case, option, seen)
    faults = 1.0 if seen.faults is None else seen.faults
    bills = chain.delivered(Delivered(option, network, seen.weeks, faults)).bills if seen.any else chain.bills
    after = comparison_of(case.inputs, bills)
    return Decided(before.verdict, after.verdict, rival, chain.bills.gap(rival, option), bills.gap(rival, option))


def _as_measured(case: Case, option: str, seen: Evidence) -> Network:
    """The option's network, slowed in each draw until it shows the bandwidth that was measured."""
    wires = case.chain.exposure.timed[option].network
    modelled = cluster_allreduce(case.inputs, wires, seen.gpus, [float(seen.size_bytes)]).busbw_gbytes_per_s[..., 0]
    assert seen.busbw_gbytes_per_s is not None
    return replace(wires, slowdown=np.asanyarray(wires.slowdown) * modelled / seen.busbw_gbytes_per_s)


def first_weeks(judged: Sequence[Judged]) -> Judged | None:
    """The first stage of the test of the time until stable that has a record."""
    return next((one for one in judged if one.test.id == WEEKS and one.measured is not None), None)


def _weeks(judged: Sequence[Judged]) -> float | None:
    """Weeks until stable as recorded."""
    one = first_weeks(judged)
    return None if one is None or one.measured is None else one.measured * _IN_WEEKS[one.test.unit]


def _faults(case: Case, judged: Sequence[Judged]) -> float | None:
    """Interruptions seen over those expected, where they fail their test; None otherwise: one month of luck proves nothing."""
    failed = [one for one in judged if one.test.id == INTERRUPTIONS and one.verdict is TestVerdict.FAIL]
    expected = next((p.expected for p in case.diligence().promises if p.id == "interruptions"), None)
    if not failed or expected is None or not expected.value:
        return None
    return max(one.measured or 0.0 for one in failed) / expected.value


def mean_of(draws: Traced) -> float:
    """Mean of draws, without provenance."""
    return float(plain(draws).mean())
