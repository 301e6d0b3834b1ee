"""Three clients whose answer an expert knows before any bill is made."""

from __future__ import annotations

from typing import Any

import bench
import pytest

from fabricreport.base.vocabulary import CourseKind, Side

pytestmark = pytest.mark.slow
HPC: dict[str, Any] = {
    "cluster__gpus": 2048,
    "workload__kind": "hpc-simulation",
    "organisation__existing_infiniband": "large",
}
OFFICE: dict[str, Any] = {
    "cluster__gpus": 64,
    "cluster__premises": "office",
    "workload__kind": "fine-tuning",
    "workload__model_parameters_billion": 13,
    "workload__run_days": 2,
    "options": ["infiniband-ndr", "rocev2-branded-400g"],
}


def test_simulations_on_a_large_infiniband_estate_take_infiniband() -> None:
    case = bench.drawn("example", **HPC)
    assert {o.id: o.side for o in case.options}[case.comparison.choice] == Side.INFINIBAND
    assert not case.comparison.verdict.open


def test_short_runs_on_64_gpus_in_an_office_stay_within_a_node() -> None:
    assert bench.drawn("example", **OFFICE).decision().courses.advised.kind == CourseKind.SINGLE_NODE


@pytest.mark.parametrize("extra_us", [0.1, 0.4, 0.5, 0.6, 0.9, 1.2, 1.3, 1.4, 1.7])
def test_a_slower_rocev2_never_turns_simulations_away_from_infiniband(extra_us: float) -> None:
    """The case of which the former rule said take it, either, take it, as RoCEv2 became faster."""
    verdict = bench.drawn("example", **HPC, contested={"roce-extra-latency-per-step": extra_us}).comparison.verdict
    faster = bench.drawn("example", **HPC, contested={"roce-extra-latency-per-step": 0.05}).comparison.verdict
    if faster.choice == "infiniband-ndr" and not faster.open:
        assert verdict.choice == "infiniband-ndr" and not verdict.open
    assert verdict.materiality == pytest.approx(faster.materiality, rel=0.5)
