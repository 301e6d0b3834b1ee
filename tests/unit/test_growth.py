"""Money over time and a cluster that grows: known answers, and laws of discounting and of stages."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rows import rows

from fabricreport.base.errors import InputError
from fabricreport.base.provenance import Traced
from fabricreport.models.fabric.bill import GrowthPrices, growth_flows, staged_growth
from fabricreport.models.money.cashflow import Discounting, lease_payment, level, lump

law = settings(max_examples=50, deadline=None)


def test_a_second_stage_of_the_same_tiers_over_builds_spines_only():
    plan = staged_growth([(0, 512), (12, 1024)])
    first, last = plan.stages
    assert (first.leaf, first.spine, first.core) == (16, 16, 0)
    assert first.needed.spine == 8
    assert first.switches - first.needed.switches == 8
    assert last.switches == plan.final.switches == 48
    assert last.switches == last.needed.switches


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
    assert plan.stages[0].switches - plan.stages[0].needed.switches == plan.recabled == 0


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
    prices = GrowthPrices(np.array([100.0, 200.0]), 1.0, 10.0)
    planned, as_needed = growth_flows(plan, prices, 24)
    assert np.all(planned[:, 0] > as_needed[:, 0])
    assert np.allclose(as_needed.sum(-1) - planned.sum(-1), 256 * 10)


@law
@given(st.lists(st.integers(1, 12_000), min_size=1, max_size=4))
def test_planned_growth_ends_at_the_last_stage_and_never_sells_a_switch(sizes):
    plan = staged_growth([(12 * i, gpus) for i, gpus in enumerate(sorted(sizes))])
    last = plan.stages[-1]
    assert (last.leaf, last.spine, last.core) == (plan.final.leaf, plan.final.spine, plan.final.core)
    assert last.cables == plan.final.cables
    assert all(stage.bought_switches >= 0 and stage.bought_cables >= 0 for stage in plan.stages)
    assert sum(stage.bought_switches for stage in plan.stages) == plan.final.switches
    assert all(0 <= stage.recabled <= stage.needed.cables for stage in plan.stages)


rates = st.floats(0.001, 0.4)
terms = st.integers(1, 120)


@rows("rate", [0.03, 0.08, 0.2])
def test_a_lease_is_the_textbook_annuity_paid_in_advance(rate):
    i = 1.0 + rate
    monthly = i ** (1 / 12) - 1
    paid_at_ends = 1000 * monthly / (1 - (1 + monthly) ** -48)
    assert lease_payment(1000.0, rate, 48) == pytest.approx(paid_at_ends / (1 + monthly))


def test_a_lease_at_rate_zero_is_the_plain_share():
    assert lease_payment(480.0, 0.0, 48) == pytest.approx(10.0)


def test_present_value_at_rate_zero_is_the_sum():
    flows = np.arange(25.0)
    assert Discounting(0.0).present_value(flows) == 300.0


def test_a_lease_that_returns_the_price_is_worth_the_price():
    payment = lease_payment(1000.0, 0.1, 36, residual=200.0)
    flows = level(payment, 36, after=-1, until=35) + lump(200.0, 36, 36)
    assert Discounting(0.1).present_value(flows, "fixed") == pytest.approx(1000.0)


def test_a_flow_outside_the_horizon_is_refused():
    with pytest.raises(InputError, match="within the horizon"):
        lump(1.0, 49, 48)
    with pytest.raises(InputError, match="at least one month"):
        lease_payment(1.0, 0.1, 0)


def test_flows_start_after_and_end_at_the_given_months():
    assert list(level(2.0, 5, after=1, until=3)) == [0, 0, 2, 2, 0, 0]


@rows("fault", [{"kind": "both"}, {"rate_per_year": -1.0}, {"inflation_per_year": float("nan")}])
def test_discounting_refuses_what_is_no_rate(fault):
    with pytest.raises(InputError):
        Discounting(**{"rate_per_year": 0.08, **fault})
    with pytest.raises(InputError, match="today or fixed"):
        Discounting(0.08).factors(12, "mixed")


@law
@given(rates, st.floats(-0.02, 0.1), terms)
def test_real_and_nominal_statements_of_one_rate_agree(real, inflation, months):
    nominal = (1 + real) * (1 + inflation) - 1
    as_real, as_nominal = Discounting(real, "real", inflation), Discounting(nominal, "nominal", inflation)
    flows = level(3.0, months)
    for kind in ("today", "fixed"):
        assert as_real.present_value(flows, kind) == pytest.approx(as_nominal.present_value(flows, kind))
    escalated = flows * (1 + inflation) ** (np.arange(months + 1) / 12)
    assert as_real.present_value(flows) == pytest.approx(as_real.present_value(escalated, "fixed"))


def test_provenance_survives_discounting():
    price = Traced([100.0, 120.0], {"price:x"})
    rate = Traced([0.05, 0.08], {"param:rate"})
    flows = lump(-price, 0, 12) + level(price / 10, 12)
    assert Discounting(rate).present_value(flows).inputs == {"price:x", "param:rate"}
