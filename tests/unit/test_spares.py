"""Laws of spare nodes: a plan takes a convenient number of nodes, the rest stand by, are paid for, and spare the job its waits."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import islice, pairwise
from typing import Any

import bench
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rows import rows

from fabricreport.base.provenance import plain
from fabricreport.case import Case
from fabricreport.models.money.ownership import LOST, gpu_hours
from fabricreport.models.risk.incidents import NodeLoss, none_left


@rows("spares, away, chance", [(0, 3.0, 1.0), (1, 1.0, 1 - np.exp(-1)), (2, 1.0, 1 - 2 * np.exp(-1)), (4, 0.0, 0.0)])
def test_no_spare_is_left_as_often_as_a_poisson_number_of_nodes_is_away(
    spares: int, away: float, chance: float
) -> None:
    assert next(islice(none_left(away), spares, None)) == pytest.approx(chance, abs=1e-12)


@settings(max_examples=60, deadline=None)
@given(
    st.integers(1, 512), st.integers(0, 12), st.floats(0, 3), st.floats(0.01, 1), st.floats(1, 200), st.floats(0, 12)
)
def test_a_further_spare_never_costs_stops_and_no_job_loses_more_than_a_wait_a_fault(
    nodes: int, spares: int, stops_per_hour: float, share: float, repair_h: float, wait_h: float
) -> None:
    fewer, more = (
        NodeLoss(nodes, k, share, repair_h, wait_h).wait_per_stop_h(stops_per_hour) for k in (spares, spares + 1)
    )
    assert 0.0 <= more <= fewer + 1e-12
    assert fewer <= share * wait_h + 1e-12
    assert NodeLoss(nodes, spares, share, repair_h, 0.0).working_share(stops_per_hour) == 1.0


def of_size(gpus: int, **changes: Any) -> Case:
    return bench.changed("example", cluster__gpus=gpus, **changes)


def totals(case: Case) -> dict[str, float]:
    return {o: float(plain(total).mean()) for o, total in case.chain.bills.totals.items()}


def of_a_node(case: Case) -> dict[str, float]:
    """What a node costs on each option, its share of all that is paid, and its GPU time over the horizon."""
    made, cluster = case.chain.bills, case.params.cluster
    hours = gpu_hours(((0, int(cluster.gpus_per_node)),), made.common.months)
    time = np.mean(plain(made.common.discounting.present_value(hours) * made.common.gpu_hour_value))
    share = cluster.gpus_per_node / cluster.gpus
    paid = {o: [plain(v).mean() for n, v in parts.items() if not n.startswith(LOST)] for o, parts in made.parts.items()}
    return {o: share * float(sum(parts)) + float(time) for o, parts in paid.items()}


def kind_of(case: Case) -> tuple[int, ...]:
    """How plans spread a model: over so many GPUs of a node, in stages or not, weights sharded or not, experts apart or not."""
    plans = [jobs[max(jobs)].plan for jobs in case.chain.exposure.jobs.own.values()]
    return tuple(k for p in plans if p is not None for k in (p.tp, p.pp > 1, p.shard > 1, p.ep > 1))


def steps_of(sizes: range, **changes: Any) -> Mapping[int, Case]:
    return {gpus: of_size(gpus, **changes) for gpus in sizes}


@pytest.mark.slow
@rows("first, last", [(1016, 1056), (2016, 2048)])
def test_one_node_more_or_less_moves_a_total_by_no_more_than_itself(first: int, last: int) -> None:
    cases = steps_of(range(first, last + 1, 8))
    for (gpus, smaller), (_, larger) in pairwise(cases.items()):
        before, after, most = totals(smaller), totals(larger), of_a_node(smaller)
        for option, total in before.items():
            assert abs(after[option] - total) <= most[option], (gpus, option)


DRAWN = 60


@pytest.mark.slow
@pytest.mark.laws
@pytest.mark.parametrize("seed", range(DRAWN))
def test_so_it_does_for_any_model_and_size_whose_plan_stays_of_its_kind(seed: int) -> None:
    rng = np.random.default_rng(seed)
    model = {"workload__model_parameters_billion": float(rng.choice([8, 30, 70, 175, 405]))}
    if seed % 2:
        model = {"workload__kind": "pretraining-moe", "workload__model_parameters_billion": 47.0}
    gpus = 8 * int(rng.choice([rng.integers(96, 126), rng.integers(132, 160)]))
    smaller, larger = steps_of(range(gpus, gpus + 9, 8), **model).values()
    if kind_of(smaller) != kind_of(larger):
        return  # a plan of another kind trades traffic for gaps or for work inside nodes, which no network causes
    before, after, most = totals(smaller), totals(larger), of_a_node(smaller)
    assert all(abs(after[o] - before[o]) <= most[o] for o in before), (gpus, model)


@pytest.mark.slow
def test_hot_spares_are_charged_to_faults_on_every_network_alike() -> None:
    case = of_size(1024)
    work = case.chain.exposure.jobs.shared[1024]
    assert work.spare_nodes == work.at_hand == (1024 - work.used) // 8 > 0
    for option, jobs in case.chain.exposure.jobs.own.items():
        assert jobs[1024].used == work.used, option
    stands = work.standby.idle
    faults = [plain(lost["faults"]) for lost in case.chain.losses.lost.values()]
    assert stands == pytest.approx(work.spare_nodes / 128)
    assert all(np.all(lost > stands) and np.array_equal(lost, faults[0]) for lost in faults)


@pytest.mark.slow
def test_a_stated_plan_uses_what_it_states_and_waits_for_nodes() -> None:
    stated = of_size(1024, workload__parallelism={"tp": 8, "pp": 4, "dp": 32})
    work = stated.chain.exposure.jobs.shared[1024]
    assert (work.used, work.spare_nodes, work.at_hand) == (1024, 0, 0)
