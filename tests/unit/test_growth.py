import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rows import rows

from fabricreport.errors import InputError
from fabricreport.models.fabric.growth import GrowthPrices, growth_flows, staged_growth

law = settings(max_examples=50, deadline=None)


def test_a_second_stage_of_the_same_tiers_over_builds_spines_only():
    plan = staged_growth([(0, 512), (12, 1024)])
    first, last = plan.stages
    assert (first.leaf, first.spine, first.core) == (16, 16, 0)
    assert first.needed.spine == 8
    assert first.overbuilt == 8
    assert last.switches == plan.final.switches == 48
    assert last.overbuilt == 0


def test_without_over_building_half_the_bundles_are_moved():
    plan = staged_growth([(0, 512), (12, 1024)])
    assert plan.recabled == 256
    assert plan.adds_tier_at == ()


def test_growing_past_two_tiers_builds_pods_and_the_core_first():
    plan = staged_growth([(0, 2048), (30, 8192)])
    first, last = plan.stages
    assert (first.leaf, first.spine, first.core) == (64, 64, 128)
    assert (last.leaf, last.spine, last.core) == (256, 256, 128)
    assert first.needed.switches == 96
    assert plan.adds_tier_at == (30,)
    assert plan.recabled == 2048


def test_one_pod_needs_no_core_yet():
    first = staged_growth([(0, 1024), (30, 8192)]).stages[0]
    assert (first.leaf, first.spine, first.core) == (32, 32, 0)


def test_a_single_switch_that_will_grow_is_wired_as_leaves():
    first, _ = staged_growth([(0, 64), (6, 512)]).stages
    assert (first.leaf, first.spine) == (2, 8)
    assert staged_growth([(0, 32), (6, 64)]).stages[0].switches == 1


def test_one_stage_over_builds_nothing():
    plan = staged_growth([(0, 1024)])
    assert plan.stages[0].overbuilt == plan.recabled == 0


@rows(
    ("stages", "message"),
    [
        ([], "at least one stage"),
        ([(0, 1024), (12, 512)], "must not shrink"),
        ([(12, 512), (12, 1024)], "in order of month"),
        ([(-1, 512)], "count from 0"),
    ],
)
def test_a_trajectory_that_makes_no_sense_is_refused(stages, message):
    with pytest.raises(InputError, match=message):
        staged_growth(stages)


def test_growth_of_a_dragonfly_is_refused():
    with pytest.raises(InputError, match="fat trees only"):
        staged_growth([(0, 512)], topology="dragonfly")


def test_planned_growth_pays_earlier_and_as_needed_growth_pays_for_moves():
    plan = staged_growth([(0, 512), (12, 1024)])
    prices = GrowthPrices(np.array([100.0, 200.0]), 1.0, 10.0, rebuild_hours=2.0, gpu_hour_usd=3.0)
    planned, as_needed = growth_flows(plan, prices, 24)
    assert np.all(planned[:, 0] > as_needed[:, 0])
    moves = 256 * 10 + 512 * 2 * 3
    assert np.allclose(as_needed.sum(-1) - planned.sum(-1), moves)


@law
@given(st.lists(st.integers(1, 12_000), min_size=1, max_size=4))
def test_planned_growth_ends_at_the_last_stage_and_never_sells_a_switch(sizes):
    plan = staged_growth([(12 * i, gpus) for i, gpus in enumerate(sorted(sizes))])
    last = plan.stages[-1]
    assert (last.leaf, last.spine, last.core) == (plan.final.leaf, plan.final.spine, plan.final.core)
    assert last.cables == plan.final.cables
    assert all(stage.bought_switches >= 0 and stage.bought_cables >= 0 for stage in plan.stages)
    assert sum(stage.bought_switches for stage in plan.stages) == plan.final.switches
    assert sum(stage.bought_gpus for stage in plan.stages) == max(sizes)
    assert all(0 <= stage.recabled <= stage.needed.cables for stage in plan.stages)
