from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from rows import rows

from fabricreport.base.errors import InputError
from fabricreport.base.provenance import Traced
from fabricreport.base.units import HOURS_PER_MONTH, HOURS_PER_YEAR
from fabricreport.base.yaml_files import read_rows
from fabricreport.models.fabric.bill import (
    CablePlan,
    Extras,
    PerPiece,
    energy_usd_per_month,
    fabric_capex_usd,
    fabric_watts,
    optics_and_cables,
)
from fabricreport.models.fabric.topology import bill_of_materials
from fabricreport.models.judgement.choice import difference, relative_difference
from fabricreport.models.money.cashflow import Discounting
from fabricreport.models.money.ownership import (
    CostComponents,
    Lease,
    LostTime,
    Purchase,
    Rental,
    Running,
    StaffRule,
    amortised_gpu_hour_usd,
    bring_up_share,
    charge_lost_time,
    fabric_fte,
    gpu_hours,
    ownership_cost,
    rent_cost,
    slip_days,
)

law = settings(max_examples=50, deadline=None)
shares = st.floats(0, 0.6)
FLAT = Discounting(0.0)
LIST = {"nic": 1599, "node_optic": 769, "switch_optic": 879, "dac": 299, "fibre": 0}


def fabric(radix, switch_usd, gpus=1024, **extras):
    bom = bill_of_materials(gpus, radix=radix)
    prices = PerPiece(switch=switch_usd, **LIST)
    return fabric_capex_usd(bom, optics_and_cables(bom), prices, Extras(**extras))


@rows(
    ("radix", "switch_usd", "total"),
    [(64, 32_870, 5.353e6), (128, 51_999, 5.023e6), (128, 67_213, 5.388e6)],
)
def test_1024_gpus_at_list_prices_cost_what_the_worked_check_says(radix, switch_usd, total):
    assert sum(fabric(radix, switch_usd).values()) == pytest.approx(total, abs=500)


def test_switches_are_a_quarter_to_a_third_of_that_bill_and_optics_more():
    bill = fabric(64, 32_870)
    whole = sum(bill.values())
    assert 0.25 < bill["switches"] / whole < 0.30
    assert bill["optics"] / whole == pytest.approx(0.40, abs=0.005)
    assert sum(fabric(128, 51_999).values()) / whole - 1 == pytest.approx(-0.062, abs=5e-4)


def test_infiniband_draws_13_kw_more_there_which_is_14_thousand_a_year():
    def watts(radix, each):
        bom = bill_of_materials(1024, radix=radix)
        unit = PerPiece(switch=each, nic=24.9, node_optic=8, switch_optic=16)
        return sum(fabric_watts(bom, optics_and_cables(bom), unit).values())

    more = watts(64, 747) - watts(128, 940)
    assert more == pytest.approx(13_296)
    equipment, cooling = energy_usd_per_month(more, 0.078, 1.54)
    assert 12 * (equipment + cooling) == pytest.approx(14_000, rel=0.005)


def test_a_piece_without_a_price_is_an_error_and_not_free():
    bom = bill_of_materials(64)
    with pytest.raises(InputError, match="fibre"):
        fabric_capex_usd(bom, optics_and_cables(bom), PerPiece(switch=1, nic=1, node_optic=1, switch_optic=1))
    copper = optics_and_cables(bom, CablePlan(node_leaf="dac"))
    assert fabric_capex_usd(bom, copper, PerPiece(switch=1, nic=1, dac=1))["copper and fibre"] == 32


def test_spares_labour_and_management_are_added_by_name():
    bill = fabric(64, 100.0, spares_share=0.02, labour_usd_per_cable=10.0, management_nodes=3, management_node_usd=5.0)
    assert sum(v for k, v in bill.items() if k.startswith("spares of ")) == 1 * 100 + 21 * 1599 + 21 * 769 + 31 * 879
    assert bill["installation"] == 20_480
    assert bill["management servers"] == 15


def test_pue_below_one_is_refused():
    with pytest.raises(InputError, match="PUE"):
        energy_usd_per_month(1000.0, 0.1, 0.9)


def test_a_seeds_5_percent_of_a_30_day_run_is_36864_gpu_hours_and_110592_dollars():
    hours = np.array([0.0, 1024 * 24 * 30])
    charged = charge_lost_time(CostComponents({}), LostTime(exposed_communication=0.05), hours, 3.0, FLAT)
    assert charged["lost: exposed communication"] == pytest.approx(110_592)
    assert hours[1] * (1 - LostTime(tail=0.05).useful) == pytest.approx(36_864)
    assert slip_days(0.05, 30) == pytest.approx(30 / 0.95 - 30)


def test_lost_shares_act_on_the_time_the_others_leave():
    """By hand: a perfect network leaves 0.9 × 0.8 = 0.72 of the time, this one half of that: 0.28 and 0.36 are lost."""
    lost = LostTime(servers=0.1, faults=0.2, interruptions=0.5)
    assert lost.useful == pytest.approx(0.36)
    parts = lost.by_cause()
    assert parts["interruptions"] == pytest.approx(0.36) and parts["tail"] == 0
    assert parts["servers"] == pytest.approx(0.28 * np.log(0.9) / np.log(0.72))
    assert parts["servers"] + parts["faults"] == pytest.approx(0.28)


def test_what_no_network_changes_costs_the_same_on_each():
    """By hand: 1,000 hours at $2 with a quarter lost on any network, and a fifth of the rest on this one."""
    hours = np.array([0.0, 1000.0])
    perfect, poor = LostTime(servers=0.25), LostTime(servers=0.25, tail=0.2)
    owned = [charge_lost_time(CostComponents({}), lost, hours, 2.0, FLAT) for lost in (perfect, poor)]
    rented = [rent_cost(Rental(2.0), lost, hours, FLAT) for lost in (perfect, poor)]
    assert [bill["lost: servers"] for bill in owned] == pytest.approx([500.0, 500.0])
    assert owned[1]["lost: tail"] == pytest.approx(2000 * 0.75 * 0.2)
    assert [bill["lost: servers"] for bill in rented] == pytest.approx([2000 / 3] * 2)
    assert rented[1]["lost: tail"] == pytest.approx(2000 / 0.6 - 2000 / 0.75)


def test_the_split_by_cause_does_not_depend_on_their_order():
    one, other = LostTime(bring_up=0.3, tail=0.1).by_cause(), LostTime(bring_up=0.1, tail=0.3).by_cause()
    assert one["bring_up"] == pytest.approx(other["tail"])
    assert one["bring_up"] / one["tail"] == pytest.approx(np.log(0.7) / np.log(0.9))


@rows("share", [-0.1, 1.0, float("nan")])
def test_a_share_that_is_none_is_refused(share):
    with pytest.raises(InputError, match="tail"):
        LostTime(tail=share)


def test_weeks_to_stable_become_a_share_of_the_horizon():
    assert bring_up_share(HOURS_PER_MONTH / 168, 1, idle_share=0.5) == pytest.approx(0.5)


def test_the_same_loss_cannot_be_charged_twice():
    hours = gpu_hours([(0, 8)], 12)
    lost = LostTime(tail=0.1)
    bill = charge_lost_time(CostComponents({"servers": np.array([100.0])}), lost, hours, 2.0, FLAT)
    with pytest.raises(InputError, match="already charged"):
        charge_lost_time(bill, LostTime(interruptions=0.1), hours, 2.0, FLAT)
    with pytest.raises(InputError, match="already charged"):
        amortised_gpu_hour_usd(bill, lost, hours, FLAT)
    with pytest.raises(InputError, match="already charged"):
        charge_lost_time(rent_cost(Rental(2.0), lost, hours, FLAT), lost, hours, 2.0, FLAT)
    with pytest.raises(InputError, match="in the bill already"):
        bill.plus({"servers": np.array([1.0])})


def own(price, *, months=48, discounting=FLAT, lease=None, watts=0.0, **running):
    capital = {"servers": price, "switches": price / 10}
    bought = Purchase(0, capital, watts={"servers": watts}, licences_usd_per_year=12.0)
    return ownership_cost([bought], Running(0.1, 1.5, **running), months=months, discounting=discounting, lease=lease)


def test_components_of_ownership_are_what_was_put_in():
    bill = own(
        np.array([1000.0, 2000.0]),
        watts=1000.0,
        support_per_year={"servers": 0.1},
        retention_per_year={"servers": 0.5},
        staff_usd_per_year=100.0,
        training_usd=7.0,
        colocation_usd_per_kw_month=184.06,
    )
    assert list(bill["support of servers"]) == pytest.approx([400, 800])
    assert list(bill["residual of servers"]) == pytest.approx([-1000 / 16, -2000 / 16])
    assert bill["power of servers"] == pytest.approx(0.1 * HOURS_PER_YEAR * 4)
    assert bill["cooling of servers"] == pytest.approx(bill["power of servers"] / 2)
    assert bill["colocation of servers"] == pytest.approx(184.06 * 48)
    assert (bill["staff"], bill["training"], bill["licences"]) == pytest.approx((400, 7, 48))
    assert bill.total == pytest.approx(sum(bill.values()))


def test_a_later_stage_is_discounted_and_starts_its_running_costs_late():
    d = Discounting(0.1)
    stages = [Purchase(month, {"servers": 100.0}, watts={"servers": 1000.0}) for month in (0, 24)]
    bill = ownership_cost(stages, Running(0.1, 1.0, retention_per_year={"servers": 0.5}), months=48, discounting=d)
    assert bill["servers"] == pytest.approx(100 + 100 / 1.21)
    assert bill["power of servers"] == pytest.approx(
        0.1 * HOURS_PER_MONTH * (d.annuity(48, 0, 48, "today") + d.annuity(24, 0, 24, "today") / 1.21)
    )
    assert bill["residual of servers"] == pytest.approx(-(100 / 16 + 100 / 4) / 1.1**4)


def test_a_lease_at_the_clients_own_rate_costs_what_buying_does():
    d = Discounting(0.08, "nominal", 0.025)
    bought, leased = own(1000.0, discounting=d), own(1000.0, discounting=d, lease=Lease(0.08))
    assert leased["servers"] == pytest.approx(bought["servers"])
    assert own(1000.0, discounting=d, lease=Lease(0.14))["servers"] > bought["servers"]
    assert own(1000.0, discounting=d, lease=Lease(0.08, 0.2))["servers"] < bought["servers"]
    assert not [name for name in leased if name.startswith("residual")]


def test_nothing_bought_is_refused():
    with pytest.raises(InputError, match="at least one purchase"):
        ownership_cost([], Running(0.1, 1.5), months=12, discounting=FLAT)


def test_installed_hours_follow_the_stages():
    hours = gpu_hours([(0, 8), (2, 16)], 4)
    assert list(hours) == [gpus * HOURS_PER_MONTH for gpus in (0, 8, 8, 16, 16)]


def test_rent_is_compared_by_work_done_and_not_by_the_hour():
    hours = gpu_hours([(0, 1000)], 12)
    cheap_but_slow = rent_cost(Rental(2.0), LostTime(tail=0.4), hours, FLAT)
    dear_but_fast = rent_cost(Rental(2.5), LostTime(tail=0.1), hours, FLAT)
    assert cheap_but_slow.total > dear_but_fast.total
    assert dear_but_fast.total / FLAT.present_value(hours) == pytest.approx(2.5 / 0.9)


def test_add_ons_of_an_offer_are_kept_apart():
    hours = gpu_hours([(0, 1)], 12)
    bill = rent_cost(Rental(2.0, {"InfiniBand tier": 0.5}), LostTime(tail=0.5), hours, FLAT)
    assert bill["InfiniBand tier"] == pytest.approx(0.5 * HOURS_PER_YEAR)
    assert bill["lost: tail"] == pytest.approx(2.5 * HOURS_PER_YEAR)
    assert bill.total == pytest.approx(2 * 2.5 * HOURS_PER_YEAR)


@law
@given(shares, shares, shares, st.floats(0, 0.3), st.floats(1e3, 1e9), st.sampled_from(["nominal", "real"]))
def test_rent_and_buy_agree_at_the_amortised_price(a, b, c, rate, price, kind):
    d = Discounting(rate, kind, 0.02)
    hours = gpu_hours([(0, 64), (12, 128)], 36)
    lost = LostTime(faults=a, bring_up=b, tail=c, interruptions=0.01)
    bill = own(price, months=36, discounting=d, watts=5000.0, staff_usd_per_year=1e5)
    value = amortised_gpu_hour_usd(bill, lost, hours, d)
    owned = charge_lost_time(bill, lost, hours, value, d)
    per_paid_hour = value * lost.useful
    fixed = (
        per_paid_hour * d.present_value(hours) / d.present_value(hours, "fixed")
    )  # a contract's price stays as it is
    rented = rent_cost(Rental(fixed), lost, hours, d)
    assert rented.total == pytest.approx(owned.total)
    assert owned.total / d.present_value(hours) == pytest.approx(value)


@law
@given(shares, shares, shares, shares)
def test_lost_time_is_charged_once_and_never_more_than_there_is(a, b, c, d):
    lost = LostTime(servers=a, checkpoints=b, tail=c, interruptions=d)
    parts = lost.by_cause()
    assert sum(parts.values()) == pytest.approx(1 - (1 - a) * (1 - b) * (1 - c) * (1 - d), abs=1e-12)
    assert sum(parts.values()) <= a + b + c + d + 1e-12
    assert all(part >= 0 for part in parts.values())


@law
@given(st.sampled_from(["switch", *LIST]), st.floats(0, 1e4), st.integers(9, 4096))
def test_cost_is_monotone_in_each_price(kind, more, gpus):
    bom = bill_of_materials(gpus)
    cables = optics_and_cables(bom)
    low = {"switch": 32_870, **LIST}
    extras = Extras(spares_share=0.02)
    cheap = fabric_capex_usd(bom, cables, PerPiece(**low), extras)
    dear = fabric_capex_usd(bom, cables, PerPiece(**{**low, kind: low[kind] + more}), extras)
    assert all(dear[name] >= cheap[name] for name in cheap)
    if more > 1 and kind not in ("dac",):
        assert sum(dear.values()) > sum(cheap.values())


@law
@given(st.floats(0.01, 100))
def test_scaling_all_prices_by_k_scales_capex_by_k(k):
    bom = bill_of_materials(1024)
    cables = optics_and_cables(bom)
    unit = {"switch": np.array([30_000.0, 40_000.0]), **LIST}

    def capex(factor):
        prices = PerPiece(**{name: factor * value for name, value in unit.items()})
        extras = Extras(0.03, 12.0 * factor, 3, 9000.0 * factor)
        return sum(fabric_capex_usd(bom, cables, prices, extras).values())

    assert capex(k) == pytest.approx(k * capex(1.0))


@law
@given(st.floats(1e-6, 10), st.floats(1e-6, 1))
def test_dearer_power_and_worse_pue_never_cost_less(usd_per_kwh, worse):
    low = sum(energy_usd_per_month(1000.0, usd_per_kwh, 1.2))
    assert sum(energy_usd_per_month(1000.0, usd_per_kwh * (1 + worse), 1.2)) > low
    assert sum(energy_usd_per_month(1000.0, usd_per_kwh, 1.2 + worse)) > low


def test_grouping_keeps_the_total():
    bill = own(1000.0, watts=10.0)
    grouped = bill.grouped({"electricity": ("power", "cooling")})
    assert grouped.total == pytest.approx(bill.total)
    assert grouped["electricity"] == pytest.approx(bill["power of servers"] + bill["cooling of servers"])
    assert "support of servers" not in grouped and len(grouped) < len(bill)


def test_every_component_knows_which_prices_move_it():
    price = Traced([1000.0, 1100.0], {"price:server"})
    tail = Traced([0.1, 0.2], {"evidence:tail"})
    hours = gpu_hours([(0, 8)], 48)
    bill = own(price, discounting=Discounting(0.08), support_per_year={"servers": 0.1})
    assert bill["servers"].inputs == bill["support of servers"].inputs == {"price:server"}
    assert not getattr(bill["staff"], "inputs", ())
    lost = LostTime(tail=tail)
    value = amortised_gpu_hour_usd(bill, lost, hours, FLAT)
    charged = charge_lost_time(bill, lost, hours, value, FLAT)
    assert charged["lost: tail"].inputs == {"price:server", "evidence:tail"}
    assert charged.total.inputs == {"price:server", "evidence:tail"}


def test_the_reference_designs_ship_with_the_package():
    assert len(read_rows("superpod_bom")) == 14


RULE = StaffRule(0.3, 1.0, 2.5, 0.3, 1.2)


@rows(("gpus", "fte"), [(8, 0.36), (128, 0.36), (576, 0.78), (1024, 1.2), (1536, 2.1), (2048, 3.0), (3072, 3.36)])
def test_staff_grows_in_proportion_between_the_sizes_it_is_stated_for(gpus, fte):
    assert fabric_fte(gpus, RULE) == pytest.approx(fte)


def test_effort_adds_or_saves_posts_up_to_a_limit_and_a_service_is_paid_by_the_post():
    assert fabric_fte(1024, replace(RULE, effort=1.5, most_apart=1.0)) == pytest.approx(1.2 * 1.5)
    assert fabric_fte(2048, replace(RULE, effort=1.5, most_apart=1.0)) == pytest.approx(3.0 + 1.0)
    assert fabric_fte(2048, replace(RULE, effort=0.5, most_apart=1.0)) == pytest.approx(3.0 - 1.0)
    assert fabric_fte(1024, replace(RULE, markup=1.5, own=0.25)) == pytest.approx(1.2 * 1.5 + 0.25)


def test_no_gpus_is_refused():
    with pytest.raises(InputError):
        fabric_fte(0, RULE)


@settings(max_examples=50, deadline=None)
@given(st.integers(1, 40_000), st.integers(0, 40_000), *[st.floats(0, 5)] * 4)
def test_a_larger_cluster_never_needs_fewer_people(gpus, more, small, mid, large, per):
    rule = StaffRule(small, mid, large, per)
    assert fabric_fte(gpus + more, rule) >= fabric_fte(gpus, rule)


draws = hnp.arrays(float, 20, elements=st.floats(-1e9, 1e9))


def test_a_seeds_table_is_21_percent_less_or_27_percent_more_never_both_at_once():
    infiniband, rocev2 = 7.715e6, 6.096e6
    relative = relative_difference(infiniband, rocev2)
    assert relative.b_less_than_a == pytest.approx(0.210, abs=5e-4)
    assert relative.a_more_than_b == pytest.approx(0.266, abs=5e-4)


def test_what_both_options_share_cancels_draw_by_draw():
    servers = np.random.default_rng(1).normal(1e8, 1e7, 500)
    a = CostComponents({"servers": servers, "switches": np.full(500, 5.0)})
    b = CostComponents({"servers": servers, "switches": np.full(500, 3.0)})
    d = difference(a, b)
    assert set(d.draws) == {2.0}
    assert list(d.waterfall()) == ["switches", "servers"]


def test_a_cause_only_one_option_has_counts_in_full():
    d = difference({"rent": np.array([4.0, 6.0])}, {"servers": np.array([1.0, 9.0])})
    assert list(d.draws) == [3.0, -3.0]
    assert d.waterfall() == {"rent": 5.0, "servers": -5.0}


def test_different_draws_are_refused():
    with pytest.raises(InputError, match="different draws"):
        difference({"x": np.zeros(4)}, {"x": np.zeros(5)})


@law
@given(draws, draws, draws)
def test_the_parts_of_a_waterfall_sum_to_the_difference(x, y, z):
    d = difference({"p": x, "q": y, "s": np.array(2.0)}, {"q": z})
    assert sum(d.parts.values()) == pytest.approx(d.draws, rel=1e-9, abs=1e-3)
    assert sum(d.waterfall().values()) == pytest.approx(float(np.mean(d.draws)), rel=1e-9, abs=1e-3)


@law
@given(draws, draws)
def test_swapping_the_options_turns_the_sign(x, y):
    one, other = difference({"p": x}, {"p": y}), difference({"p": y}, {"p": x})
    assert list(one.draws) == list(-other.draws)


def test_a_cancelled_component_leaves_no_trace():
    servers, switch = Traced([1.0, 2.0], {"price:server"}), Traced([3.0, 5.0], {"price:switch"})
    d = difference({"servers": servers, "switches": switch}, {"servers": servers})
    assert d.draws.inputs == {"price:switch"}
    assert np.mean(d.draws).inputs == {"price:switch"}
