"""What is said of a client's latency is true of it: every finding holds on one result and not on another."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cache
from typing import Any
from unittest import mock

import numpy as np
import pytest
from bench import DRAWS, case
from rows import rows

from fabricreport.case import Case
from fabricreport.figures import DeclaredFigures
from fabricreport.findings import Findings, Named, Spoken
from fabricreport.inputs import Inputs
from fabricreport.models.collectives.timing import CollectiveTime
from fabricreport.provenance import Traced
from fabricreport.sections.latency import findings
from fabricreport.sections.latency.figure_context import LatencyFigures
from fabricreport.sections.latency.figures import FIGURES
from fabricreport.sections.latency.findings import LatencyFinding as F
from fabricreport.sections.latency.findings import spoken
from fabricreport.sections.latency.gap import Sweep
from fabricreport.sections.latency.inputs import Measured
from fabricreport.sections.latency.measured import ClientLog, ClientMeasurements
from fabricreport.sections.latency.result import LatencyResult
from fabricreport.validation.training import training_card

pytestmark = pytest.mark.slow

GROUPS = (
    (F.OPENS_ONE_NODE, F.OPENS_INSIDE, F.OPENS_HIDDEN, F.OPENS_SMALL, F.OPENS_EXPERTS, F.OPENS_LONGER, F.OPENS_SHORTER),
    (F.LOSE_NOTHING, F.LOSE_BY_TCP, F.LOSE_TO_EXPERTS, F.LOSE_ALIKE, F.LOSE_APART),
    (F.STEP_EXCEEDS, F.STEP_QUIET),
    (F.ALLREDUCE_ALIKE, F.ALLREDUCE_SMALL, F.ALLREDUCE_OTHER),
    (F.OVERLAP_QUIET, F.OVERLAP_COUNTS),
    (F.CARD_MISSED, F.CARD_MET),
)
"""Of each of these exactly one holds."""
WITH_TRAFFIC = (
    (F.LONGER_RUN, F.LONGER, F.SHORTER_RUN, F.SHORTER, F.LEVEL),
    (F.PLAN_CHOSEN, F.PLAN_GIVEN),
    (F.RUNS_RING, F.RUNS_TREE, F.RUNS_NVLSTREE, F.RUNS_DIRECT),
)
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


def gaps(result: LatencyResult, **changes: Any) -> LatencyResult:
    return replace(result, gap=replace(result.gap, **changes))


def sweep(result: LatencyResult, *medians: float) -> Sweep:
    """A gap that is the same in every draw, at the first sizes tried."""
    at = result.gap.ring.at[: len(medians)]
    return Sweep(at, Traced(np.tile(medians, (DRAWS, 1))))


def allreduce(result: LatencyResult, *longer: float) -> LatencyResult:
    """RoCEv2's AllReduce longer than InfiniBand's by these shares, by size."""
    found: dict[str, CollectiveTime] = dict(result.collectives)
    infiniband, rocev2 = result.pair
    times = found[infiniband.id]
    found[rocev2.id] = replace(times, time_us=np.asarray(times.time_us) * (1 + np.array(longer)))
    return replace(result, collectives=found)


def client_log(factors: Measured | None, nodes: int = 8) -> ClientLog:
    sizes = np.array([1e6, 1e7, 1e8])
    times = sizes / 1e4
    return ClientLog("own.txt", 8 * nodes, nodes, sizes, times, times * 1.2, times * 1.1, 0, (), factors)


def logs(result: LatencyResult, factors: Measured | None, nodes: int = 8) -> LatencyResult:
    measured = ClientMeasurements((client_log(factors, nodes),), result.pair[0])
    return replace(result, measurements=measured)


Made = Callable[[LatencyResult], LatencyResult]


def growing(final: float) -> Made:
    """A plan of two sizes, with RoCEv2's step longer by a share at the last."""
    return lambda r: replace(r, stages=((1024, 0.5), (2048, 0.5)), penalty_final=flat(final))


RACK = {
    "cluster__gpu": "gb200-nvl72",
    "cluster__gpus": 1152,
    "cluster__gpus_per_node": 72,
    "cluster__nic_ports_per_node": 144,
}
PLAN = {"tp": 8, "pp": 2, "dp": 64}
SCENARIOS: Mapping[str, tuple[Made, Mapping[str, Any], tuple[F, ...]]] = {
    "as it is": (lambda r: r, {}, (F.TRAFFIC, F.PLAN_CHOSEN, F.LOSE_BY_TCP, F.WIDEST_BEARS, F.UNSURE, F.CARD_MISSED)),
    "one node": (lambda r: replace(sending(r), one_node=True), {}, (F.OPENS_ONE_NODE, F.LOSE_NOTHING)),
    "inside": (lambda r: sending(r), {}, (F.OPENS_INSIDE, F.LOSE_NOTHING)),
    "hidden": (
        lambda r: exposing(replace(r, penalty=flat(0.001)), 0.002),
        {},
        (F.OPENS_HIDDEN, F.LONGER_RUN, F.LOSE_ALIKE),
    ),
    "small": (
        lambda r: exposing(replace(r, penalty=flat(-0.001)), 0.2),
        {},
        (F.OPENS_SMALL, F.SHORTER_RUN, F.LOSE_ALIKE),
    ),
    "tcp": (
        lambda r: exposing(replace(r, penalty=flat(0.0)), 0.1, ethernet_tcp=0.21),
        {},
        (F.OPENS_SMALL, F.LEVEL, F.LOSE_BY_TCP),
    ),
    "tcp, not so far": (
        lambda r: exposing(replace(r, penalty=flat(0.0)), 0.1, ethernet_tcp=0.19),
        {},
        (F.OPENS_SMALL, F.LOSE_ALIKE),
    ),
    "experts": (
        lambda r: sending(replace(r, penalty=flat(0.02)), kind="experts", algorithm="direct"),
        {},
        (F.OPENS_EXPERTS, F.RUNS_DIRECT, F.LOSE_TO_EXPERTS),
    ),
    "longer": (
        lambda r: exposing(replace(r, penalty=flat(0.02)), 0.1, ethernet_tcp=0.2),
        {"workload__run_days": None},
        (F.OPENS_LONGER, F.LONGER, F.LOSE_APART),
    ),
    "shorter": (
        lambda r: exposing(replace(r, penalty=flat(-0.02)), 0.1, infiniband_ndr=0.2),
        {"workload__run_days": None},
        (F.OPENS_SHORTER, F.SHORTER, F.LOSE_ALIKE),
    ),
    "a wide spread": (
        lambda r: replace(r, penalty=Traced(np.linspace(-0.001, 0.03, DRAWS))),
        {},
        (F.OPENS_LONGER, F.LONGER_RUN),
    ),
    "rings": (lambda r: sending(r, algorithm="ring"), {}, (F.RUNS_RING,)),
    "trees": (lambda r: sending(r, algorithm="tree"), {}, (F.RUNS_TREE,)),
    "sums in switches": (lambda r: sending(r, algorithm="nvlstree"), {}, (F.RUNS_NVLSTREE,)),
    "plan stated": (lambda r: r, {"workload__parallelism": PLAN}, (F.PLAN_GIVEN,)),
    "few GPUs": (lambda r: r, {"cluster__gpus": 64}, (F.TRAFFIC,)),
    "grows": (growing(0.01), {}, (F.GROWS, F.FINAL_LONGER)),
    "grows, and is shorter": (growing(-0.01), {}, (F.GROWS, F.FINAL_SHORTER)),
    "grows, and is level": (growing(0.0), {}, (F.GROWS, F.FINAL_LEVEL)),
    "sizes stated": (lambda r: r, {"workload__jobs": [{"gpus": 64, "share": 1.0}]}, (F.JOBS_STATED,)),
    "shared": (lambda r: r, {"cluster__tenancy": "multi"}, (F.JOBS_PUBLISHED,)),
    "two sites": (lambda r: r, {"cluster__sites": 2}, (F.SITES,)),
    "tunes": (lambda r: replace(r, job=replace(r.job, kind="fine-tuning")), {}, (F.TUNES,)),
    "tunes one copy": (
        lambda r: replace(r, job=replace(r.job, kind="fine-tuning", plan=replace(r.job.plan, dp=1))),
        {},
        (F.TUNES_ONE,),
    ),
    "quiet at every size": (
        lambda r: gaps(r, ring=sweep(r, 0.0, 0.01), step_by_size=sweep(r, 0.01, 0.0)),
        {},
        (F.STEP_QUIET,),
    ),
    "loud at some size": (
        lambda r: gaps(r, ring=sweep(r, 0.0, 0.011), step_by_size=sweep(r, 0.02, 0.0)),
        {},
        (F.STEP_EXCEEDS, F.RING_EXCEEDS),
    ),
    "sources first": (
        lambda r: gaps(
            r,
            hangs_on={
                "bandwidth, on which sources disagree": 0.5,
                "who tunes RoCEv2": 0.4,
                "time per step, on which sources disagree": 0.1,
            },
        ),
        {},
        (F.UNSURE, F.MOST_BY_SOURCES),
    ),
    "one source first": (
        lambda r: gaps(r, hangs_on={"bandwidth, on which sources disagree": 0.6, "who tunes RoCEv2": 0.4}),
        {},
        (F.UNSURE, F.ALL_BY_SOURCES),
    ),
    "tuning first": (
        lambda r: gaps(r, hangs_on={"who tunes RoCEv2": 0.6, "bandwidth, on which sources disagree": 0.4}),
        {},
        (F.UNSURE, F.MOST_BY_OTHER),
    ),
    "no spread": (lambda r: gaps(r, hangs_on={}), {}, ()),
    "collectives alike": (lambda r: allreduce(r, 0.009, -0.009, 0.0, 0.0), {}, (F.ALLREDUCE_ALIKE,)),
    "small messages pay": (lambda r: allreduce(r, 0.4, 0.1, 0.05, 0.02), {}, (F.ALLREDUCE_SMALL,)),
    "large messages pay": (lambda r: allreduce(r, 0.02, 0.1, 0.2, 0.4), {}, (F.ALLREDUCE_OTHER,)),
    "overlap quiet": (lambda r: gaps(r, by_overlap=sweep(r, 0.009, -0.009)), {}, (F.OVERLAP_QUIET,)),
    "overlap loud": (lambda r: gaps(r, by_overlap=sweep(r, 0.0, -0.011)), {}, (F.OVERLAP_COUNTS,)),
    "logs unused": (lambda r: logs(r, None), {}, (F.LOGS,)),
    "logs used": (lambda r: logs(r, Measured(1.0, 0.9, 0.05, 8)), {}, (F.LOGS, F.LOGS_USED, F.LOGS_CARRIED)),
    "logs of two nodes": (lambda r: logs(r, Measured(1.0, 1.1, 0.05, 2), 2), {}, (F.LOGS, F.LOGS_USED, F.LOGS_SMALL)),
    "a mixture": (lambda r: r, {"workload__kind": "pretraining-moe"}, (F.BEYOND, F.BEYOND_MIXTURE)),
    "a simulation": (lambda r: r, {"workload__kind": "hpc-simulation"}, (F.BEYOND, F.BEYOND_SIMULATION)),
    "inference": (lambda r: r, {"workload__kind": "inference-multi-node"}, (F.BEYOND, F.BEYOND_INFERENCE)),
    "a rack that keeps most": (
        lambda r: sending(r, algorithm="ring", ranks=16, domains=2),
        RACK,
        (F.KEEPS_MOST,),
    ),
    "a rack that keeps half": (lambda r: sending(r, algorithm="ring", ranks=4, domains=2), RACK, (F.KEEPS_LESS,)),
    "a rack that keeps less": (
        lambda r: sending(r, algorithm="ring", ranks=16, domains=16),
        {**RACK, "cluster__gpu": "vr200-nvl72"},
        (F.KEEPS_LESS, F.COUNTED),
    ),
    "a rack, and nothing sent": (lambda r: sending(r), RACK, (F.OPENS_INSIDE,)),
    "spares": (
        lambda r: replace(r, job=replace(r.job, plan=replace(r.job.plan, dp=r.job.plan.dp - 1))),
        {},
        (F.SPARES,),
    ),
    "four nodes": (lambda r: r, {"cluster__gpus": 32}, (F.BEYOND, F.BEYOND_FEW)),
    "more than was tried": (lambda r: r, {"cluster__gpus": 20_480}, (F.BEYOND, F.BEYOND_MANY)),
}
"""By name: what is changed of the result, what of the params, and what then holds among other things."""
NOT_THERE: Mapping[str, tuple[F, ...]] = {
    "a rack, and nothing sent": (F.KEEPS_MOST, F.KEEPS_LESS, F.COUNTED),
    "as it is": (F.GROWS, F.LOGS, F.BEYOND, F.KEEPS_MOST, F.KEEPS_LESS, F.COUNTED),
    "inside": (F.TRAFFIC, F.GROWS, F.WIDEST_BEARS),
    "few GPUs": (F.WIDEST_BEARS, F.RING_EXCEEDS),
    "experts": (F.WIDEST_BEARS,),
    "quiet at every size": (F.RING_EXCEEDS,),
    "no spread": (F.UNSURE, F.ALL_BY_SOURCES, F.MOST_BY_SOURCES, F.MOST_BY_OTHER),
    "logs unused": (F.LOGS_USED, F.LOGS_CARRIED, F.LOGS_SMALL),
    "logs used": (F.LOGS_SMALL,),
    "logs of two nodes": (F.LOGS_CARRIED,),
}


@cache
def of(name: str) -> Spoken:
    made, keys, _ = SCENARIOS[name]
    example, result = base()
    return said(example.changed(**keys).inputs if keys else example.inputs, made(result))


@cache
def all_met() -> Spoken:
    card = training_card()
    met = replace(card, as_expected=dict.fromkeys(card.as_expected, True))
    example, result = base()
    with mock.patch.object(findings, "training_card", lambda: met):
        return said(example.inputs, result)


def holding(found: Findings) -> set[F]:
    return {member for member in F if member in found}


@rows("name", SCENARIOS)
def test_what_holds_is_found(name: str) -> None:
    found = holding(of(name).findings)
    assert found >= set(SCENARIOS[name][2])
    assert not found & set(NOT_THERE.get(name, ()))


def test_what_was_expected_of_the_card_and_came_true_is_not_told_as_missed() -> None:
    assert F.CARD_MET in all_met().findings and F.CARD_MISSED not in all_met().findings
    assert all_met().words["missed"] is None and of("as it is").words["missed"]


def test_every_finding_is_met_and_missed_somewhere() -> None:
    held = [holding(of(name).findings) for name in SCENARIOS] + [holding(all_met().findings)]
    assert set().union(*held) == set(F)
    assert not set.intersection(*held)


@rows("name", SCENARIOS)
def test_findings_of_a_group_exclude_each_other(name: str) -> None:
    found = holding(of(name).findings)
    assert [len(found & set(group)) for group in GROUPS] == [1] * len(GROUPS)
    travels = int(F.TRAFFIC in found)
    assert [len(found & set(group)) for group in WITH_TRAFFIC] == [travels] * len(WITH_TRAFFIC)
    assert (F.UNSURE in found) == (len(found & {F.ALL_BY_SOURCES, F.MOST_BY_SOURCES, F.MOST_BY_OTHER}) == 1)
    assert (F.GROWS in found) == (len(found & {F.FINAL_LONGER, F.FINAL_SHORTER, F.FINAL_LEVEL}) == 1)


def test_words_are_the_same_set_whatever_is_found() -> None:
    words = [of(name).words for name in SCENARIOS]
    assert len({frozenset(said) for said in words}) == 1
    for word in words[0]:
        things = [v for said in words for v in (said[word] if isinstance(said[word], tuple) else (said[word],))]
        assert len({frozenset(v.said) for v in things if isinstance(v, Named)}) <= 1, word


def test_a_word_that_is_not_there_stands_behind_its_finding() -> None:
    behind = {
        "carried": F.TRAFFIC,
        "cause": F.UNSURE,
        "fabric_of_logs": F.LOGS,
        "log": F.LOGS_USED,
        "whole": F.LOGS_CARRIED,
        "few": F.LOGS_SMALL,
        "counted": F.COUNTED,
    }
    for name in SCENARIOS:
        for word, finding in behind.items():
            assert (of(name).words[word] is None) == (finding not in of(name).findings), (name, word)


def test_the_named_options_are_those_that_lose_least_and_most() -> None:
    words = of("tcp").words
    assert isinstance(words["worst"], Named) and words["worst"].key == "ethernet-tcp" == words["most"].key  # type: ignore[attr-defined]
    assert isinstance(words["base"], Named) and words["base"].key == "infiniband-ndr"
