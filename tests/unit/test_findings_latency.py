"""What is said of a client's latency is true of it: every finding holds on one result and not on another."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pytest
from bench import DRAWS, case
from rows import rows

from fabricreport.base.provenance import Traced
from fabricreport.case import Case
from fabricreport.inputs.inputs import Inputs
from fabricreport.ledger.facts import Findings, Named, Spoken
from fabricreport.ledger.figures import DeclaredFigures
from fabricreport.sections.latency.facts import LatencyFinding as F
from fabricreport.sections.latency.facts import spoken
from fabricreport.sections.latency.figures import FIGURES, LatencyFigures
from fabricreport.sections.latency.inputs import Measured
from fabricreport.sections.latency.measurements import ClientLog, ClientMeasurements
from fabricreport.sections.latency.result import LatencyResult, Sweep

pytestmark = pytest.mark.slow

GROUPS = (
    (F.OPENS_ONE_NODE, F.OPENS_INSIDE, F.OPENS_HIDDEN, F.OPENS_SMALL, F.OPENS_EXPERTS, F.OPENS_LONGER, F.OPENS_SHORTER),
)
"""Of each of these exactly one holds."""
WITH_TRAFFIC = ((F.PLAN_CHOSEN, F.PLAN_GIVEN),)
"""Of these, where something travels between nodes; none of them elsewhere."""


def base() -> tuple[Case, LatencyResult]:
    """The example: 1,024 GPUs, a dense model, an option without RDMA, a run of some days."""
    return case("example"), case("example").latency()


def said(given: Inputs, result: LatencyResult) -> Spoken:
    numbers = DeclaredFigures(FIGURES, LatencyFigures(given, result), given)
    return spoken(given, result, lambda id: given.figure(id) if ":" in id else numbers[id])


def flat(value: float) -> Traced:
    return Traced(np.full(DRAWS, value))


def sending(result: LatencyResult, **changes: Any) -> LatencyResult:
    """The same with only the largest traffic of each step, changed as said; nothing sent if nothing is said."""
    first = result.traffic[0]
    sent = (replace(first, **changes),) if changes else ()
    return replace(result, steps={o: replace(step, traffic=sent) for o, step in result.steps.items()})


def exposing(result: LatencyResult, share: float, **others: float) -> LatencyResult:
    """Each option loses the same share of GPU time, but for those named (dashes as underscores)."""
    named = {o.replace("_", "-"): v for o, v in others.items()}
    lost = {o: flat(named.get(o, share)) for o in result.exposed_now}
    return replace(result, exposed_share=lost, exposed_now=lost, exposed_final=lost)


def client_log(factors: Measured | None, nodes: int = 8) -> ClientLog:
    sizes = np.array([1e6, 1e7, 1e8])
    times = sizes / 1e4
    return ClientLog("own.txt", 8 * nodes, nodes, sizes, times, times * 1.2, times * 1.1, 0, factors)


def logs(result: LatencyResult, factors: Measured | None, nodes: int = 8) -> LatencyResult:
    measured = ClientMeasurements((client_log(factors, nodes),))
    return replace(result, measurements=measured)


Made = Callable[[LatencyResult], LatencyResult]


PLAN = {"tp": 8, "pp": 2, "dp": 64}
SCENARIOS: Mapping[str, tuple[Made, Mapping[str, Any], tuple[F, ...]]] = {
    "as it is": (lambda r: r, {}, (F.TRAFFIC, F.PLAN_CHOSEN, F.JOB_ONE)),
    "one node": (lambda r: replace(sending(r), one_node=True), {}, (F.OPENS_ONE_NODE,)),
    "inside": (lambda r: sending(r), {}, (F.OPENS_INSIDE,)),
    "hidden": (
        lambda r: exposing(replace(r, penalty=flat(0.001)), 0.002),
        {},
        (F.OPENS_HIDDEN,),
    ),
    "small": (
        lambda r: exposing(replace(r, penalty=flat(-0.001)), 0.2),
        {},
        (F.OPENS_SMALL,),
    ),
    "level": (
        lambda r: exposing(replace(r, penalty=flat(0.0)), 0.1),
        {},
        (F.OPENS_SMALL,),
    ),
    "experts": (
        lambda r: sending(replace(r, penalty=flat(0.02)), kind="experts", algorithm="direct"),
        {},
        (F.OPENS_EXPERTS, F.RUNS_DIRECT),
    ),
    "longer": (
        lambda r: exposing(replace(r, penalty=flat(0.02)), 0.1, ethernet_tcp=0.2),
        {"workload__run_days": None},
        (F.OPENS_LONGER,),
    ),
    "shorter": (
        lambda r: exposing(replace(r, penalty=flat(-0.02)), 0.1, infiniband_ndr=0.2),
        {"workload__run_days": None},
        (F.OPENS_SHORTER,),
    ),
    "a wide spread": (
        lambda r: replace(r, penalty=Traced(np.linspace(-0.001, 0.03, DRAWS))),
        {},
        (F.OPENS_LONGER,),
    ),
    "alike": (lambda r: replace(r, gap=replace(r.gap, step_by_size=Sweep((16.0, 32.0), np.zeros((DRAWS, 2))))), {}, ()),
    "plan stated": (lambda r: r, {"workload__parallelism": PLAN}, (F.PLAN_GIVEN,)),
    "sizes stated": (lambda r: r, {"workload__jobs": [{"gpus": 64, "share": 1.0}]}, (F.JOBS_STATED,)),
    "sites joined": (lambda r: r, {"cluster__sites": 2}, (F.SITES_JOINED,)),
    "sites apart": (
        lambda r: r,
        {"cluster__sites": 2, "cluster__sites_joined": False, "workload__jobs": [{"gpus": 64, "share": 1.0}]},
        (F.SITES_APART,),
    ),
    "shared": (lambda r: r, {"cluster__tenancy": "multi"}, (F.JOBS_PUBLISHED,)),
    "a mixture": (lambda r: r, {"workload__kind": "pretraining-moe"}, (F.BEYOND, F.BEYOND_MIXTURE)),
    "a simulation": (lambda r: r, {"workload__kind": "hpc-simulation"}, (F.BEYOND,)),
    "inference": (lambda r: r, {"workload__kind": "inference-multi-node"}, (F.BEYOND,)),
    "four nodes": (lambda r: r, {"cluster__gpus": 32}, (F.BEYOND, F.BEYOND_FEW)),
    "more than was tried": (lambda r: r, {"cluster__gpus": 20_480}, (F.BEYOND,)),
}
"""By name: what is changed of the result, what of the params, and what then holds among other things."""
NOT_THERE: Mapping[str, tuple[F, ...]] = {
    "as it is": (F.BEYOND,),
    "inside": (F.TRAFFIC, F.PLAN_CHOSEN),
    "alike": (F.GAP_SEEN,),
}


@cache
def of(name: str) -> Spoken:
    made, keys, _ = SCENARIOS[name]
    example, result = base()
    return said(example.changed(**keys).inputs if keys else example.inputs, made(result))


def holding(found: Findings) -> set[F]:
    return {member for member in F if member in found}


@rows("name", SCENARIOS)
def test_what_holds_is_found(name: str) -> None:
    found = holding(of(name).findings)
    assert found >= set(SCENARIOS[name][2])
    assert not found & set(NOT_THERE.get(name, ()))


def test_every_finding_is_met_and_missed_somewhere() -> None:
    held = [holding(of(name).findings) for name in SCENARIOS]
    assert set().union(*held) == set(F)
    assert set.intersection(*held) == set()


@rows("name", SCENARIOS)
def test_findings_of_a_group_exclude_each_other(name: str) -> None:
    found = holding(of(name).findings)
    assert [len(found & set(group)) for group in GROUPS] == [1] * len(GROUPS)
    travels = int(F.TRAFFIC in found)
    assert [len(found & set(group)) for group in WITH_TRAFFIC] == [travels] * len(WITH_TRAFFIC)


def test_words_are_the_same_set_whatever_is_found() -> None:
    words = [of(name).words for name in SCENARIOS]
    assert len({frozenset(said) for said in words}) == 1
    for word in words[0]:
        things = [v for said in words for v in (said[word] if isinstance(said[word], tuple) else (said[word],))]
        assert len({frozenset(v.said) for v in things if isinstance(v, Named)}) <= 1, word


def test_a_word_that_is_not_there_stands_behind_its_finding() -> None:
    for name in SCENARIOS:
        found, words = holding(of(name).findings), of(name).words
        assert (words["carried"] is None) == (F.TRAFFIC not in found), name
