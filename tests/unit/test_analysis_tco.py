"""The total cost as a section sees it: books and params in, causes that add up out."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from bench import drawn
from rows import rows

from fabricreport.errors import OutOfRange
from fabricreport.models.money.cashflow import Discounting
from fabricreport.models.money.ownership import Lease
from fabricreport.provenance import inputs_of, plain
from fabricreport.sections.client import stages_of
from fabricreport.sections.tail_risk.horizon import Losses
from fabricreport.sections.tco import fabric
from fabricreport.sections.tco.bills import bills, builds_of
from fabricreport.sections.tco.cost import (
    CAUSES,
    FABRIC_CAUSES,
    LOST_CAUSES,
    cash_bill,
    delay_days,
    monthly_cash,
)
from fabricreport.sections.tco.inputs import common_inputs, option_inputs, thinned
from fabricreport.sections.tco.sweep import STEP

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def buyer():
    return drawn("example")


@pytest.fixture(scope="module")
def grower():
    return drawn("kestrel-lab")


@pytest.fixture(scope="module")
def renter():
    return drawn("tern-finetuning")


@pytest.fixture(params=["buyer", "grower", "renter"])
def client(request):
    return request.getfixturevalue(request.param)


def test_causes_add_up_to_every_total_in_every_draw(client):
    result = client.tco()
    for option, parts in result.components.items():
        assert set(parts) == set(result.labels) <= set(CAUSES)
        np.testing.assert_allclose(sum(plain(v) for v in parts.values()), plain(result.totals[option]), rtol=1e-12)


def test_parts_of_the_difference_add_up_to_the_lead(client):
    result = client.tco()
    parts = sum(float(np.mean(plain(v))) for v in result.difference.parts.values())
    assert parts == pytest.approx(client.comparison.verdict.lead, rel=1e-9)
    assert parts == pytest.approx(result.numbers["tco.difference"].value, rel=1e-9)
    gap = plain(result.totals[result.rival]) - plain(result.totals[result.choice])
    np.testing.assert_allclose(plain(result.difference.draws), gap, atol=1e-6 * np.abs(gap).max())


def test_choice_and_rival_are_those_of_the_comparison_and_the_cheapest_of_their_families(client):
    result, verdict = client.tco(), client.comparison.verdict
    families = {o.id: o.family for o in client.options}
    means = {o: float(np.mean(plain(t))) for o, t in result.totals.items()}
    assert (result.choice, result.rival) == (verdict.choice, verdict.runner_up)
    assert families[result.rival] != families[result.choice]
    for option in (result.choice, result.rival):
        assert means[option] == min(m for o, m in means.items() if families[o] == families[option])


def test_every_total_knows_its_inputs(client):
    result = client.tco()
    assert all(t.shape == (client.inputs.sampler.size,) and t.inputs for t in result.totals.values())
    assert set(result.numbers[f"tco.total.{result.choice}"].inputs) <= result.inputs | {
        "param:cluster.gpus",
        "param:money.horizon_months",
    }


@rows(
    ("key", "total"),
    [
        ("infiniband-ndr.switch-qm9700", 5.353e6),
        ("rocev2-branded-400g.switch-sn5610", 5.023e6),
        ("rocev2-branded-400g.switch-sn5600", 5.388e6),
    ],
)
def test_list_bills_of_1024_gpus_are_those_worked_by_hand(buyer, key, total):
    assert buyer.tco().numbers[f"tco.list.total.{key}"].value == pytest.approx(total, abs=500)


def test_infiniband_draws_fourteen_thousand_dollars_a_year_more_at_the_electricity_of_2024(buyer):
    numbers = buyer.changed(prices={"electricity": 0.078}).tco().numbers
    by_hand = (48 * 747 - 24 * 940) / 1000 * 8_760 * 0.078 * 1.54
    assert numbers["tco.power_penalty_per_year"].value == pytest.approx(by_hand, rel=0.001)


def test_servers_and_adapters_together_cost_what_servers_with_adapters_cost(buyer):
    parts = buyer.tco().components["infiniband-ndr"]
    whole = 128 * plain(buyer.inputs.draw("price:server-h100-8gpu"))
    np.testing.assert_allclose(plain(parts["servers"] + parts["adapters"]), whole, rtol=1e-12)


def test_servers_cancel_between_fabrics(client):
    result = client.tco()
    shared = "servers" if result.ownership else "rent"
    assert not np.any(plain(result.difference.parts[shared]))


def test_equal_losses_cancel_even_when_an_hour_is_valued_at_the_clients_own_cost(grower):
    assert grower.params.money.gpu_hour_value == "amortised"
    exposed, found = grower.chain.exposed, grower.chain.losses
    same = Losses(*(dict.fromkeys(by_option, by_option["infiniband-xdr"]) for by_option in (found.lost, found.weeks)))
    given = grower.inputs
    own = {o.id: option_inputs(given, o, exposed["infiniband-xdr"], same) for o in grower.options}
    parts = bills(given, common_inputs(given), own, same, builds_of(given)).components
    for cause in LOST_CAUSES:
        assert np.any(plain(parts["rocev2-whitebox-800g"][cause]))
        np.testing.assert_array_equal(
            plain(parts["rocev2-whitebox-800g"][cause]), plain(parts["rocev2-branded-800g"][cause])
        )


def test_an_amortised_hour_makes_the_cheapest_total_its_cash_over_its_useful_share(grower):
    result = grower.tco()
    lost = sum(plain(result.components[result.choice][c]) for c in (*LOST_CAUSES, "delay"))
    cash = plain(result.totals[result.choice]) - lost
    whole = cash / plain(result.useful_share[result.choice])
    delay = plain(result.components[result.choice]["delay"])
    np.testing.assert_allclose(plain(result.totals[result.choice]) - delay, whole, rtol=1e-9)


def test_ethernet_without_rdma_has_two_links_a_server(buyer):
    assert buyer.tco().numbers["tco.count.nics.ethernet-tcp"].value == 128 * 2


def test_manager_takes_ports_only_where_some_are_free(buyer):
    cluster, option = buyer.params.cluster, buyer.inputs.all_options["infiniband-ndr"]
    assert fabric.manager_links(cluster, option, [1024]) == 0
    assert fabric.manager_links(cluster, option, [1000]) == option.management.links
    assert fabric.manager_links(cluster, option, [1000, 1024]) == 0


def test_one_rack_is_wired_in_copper_and_runs_the_switchs_own_manager(buyer):
    option = buyer.inputs.all_options["infiniband-ndr"]
    (build,) = fabric.builds(buyer.params.cluster, option, ((0, 16),), servers_per_rack=4)
    assert build.cables.transceivers == 0 and build.cables.dac > 0
    assert not build.managed and build.bom.switches == 1


def test_stages_buy_up_to_the_bill_of_the_last_one(grower):
    owned = grower.tco().ownership
    for option, builds in owned.builds.items():
        assert [b.gpus for b in builds] == [512, 1536, 4096, 8192]
        assert builds[-1].bom.switches == builds[-1].needed_switches
        assert builds[-1].cables.cables == builds[-1].bom.cables
        bought = {c: sum(stage[c] for stage in owned.bought[option]) for c in FABRIC_CAUSES}
        for cause in FABRIC_CAUSES:
            assert bought[cause] == pytest.approx(float(np.mean(plain(owned.capital[option][cause]))))


def test_a_generation_decides_whether_infiniband_needs_a_third_tier(grower):
    numbers = grower.tco().numbers
    assert numbers["tco.count.tiers.infiniband-xdr"].value == 2
    assert numbers["tco.count.tiers.rocev2-branded-800g"].value == 2
    older = grower.changed(options=["infiniband-ndr", "rocev2-branded-400g"], cluster__link_gbits_per_s=400)
    assert older.tco().numbers["tco.count.tiers.infiniband-ndr"].value == 3
    assert older.tco().numbers["tco.count.tiers.rocev2-branded-400g"].value == 2


def test_a_stage_in_the_last_month_is_not_bought(grower):
    trajectory = [{"month": month, "gpus": gpus} for month, gpus in ((10, 1536), (20, 4096), (60, 8192))]
    grown = grower.changed(cluster__trajectory=trajectory, money__horizon_months=60)
    assert stages_of(grown.inputs) == ((0, 512), (10, 1536), (20, 4096))


def test_a_discount_and_its_premium_are_the_same_gap(buyer):
    numbers = buyer.tco().numbers
    discount = numbers["tco.discount.fabric.rocev2-whitebox-400g"].value
    premium = numbers["tco.premium.fabric.rocev2-whitebox-400g"].value
    assert premium == pytest.approx(discount / (1 - discount), rel=0.01)


def test_the_wider_the_base_the_smaller_the_discount(buyer):
    numbers = buyer.tco().numbers
    bases = ("switches", "hardware", "cluster")
    shares = [numbers[f"tco.discount.{b}.rocev2-whitebox-400g"].value for b in bases]
    assert shares == sorted(shares, reverse=True)


def test_cash_without_discounting_is_the_bill_without_lost_time(grower):
    found = grower.chain.bills
    common = replace(found.common, discounting=Discounting(0.0))
    for lease in (None, Lease(0.0, 0.0)):
        terms = replace(common, lease=lease)
        for option in grower.options:
            own = found.own[option.id]
            built = fabric.builds(grower.params.cluster, option, terms.stages, 4)
            total = float(np.mean(plain(cash_bill(built, own, terms, rent=False).total)))
            assert monthly_cash(built, own, terms).sum() == pytest.approx(total, rel=1e-9)


def test_leasing_leaves_nothing_to_resell(buyer):
    result = buyer.changed(money__acquisition="lease").tco()
    assert "residual" not in result.labels
    assert result.ownership is not None


def test_a_renter_pays_no_capital_and_the_hours_its_work_takes(renter):
    result = renter.tco()
    assert result.ownership is None
    assert set(result.labels) == {"rent", *LOST_CAUSES}
    rent = plain(result.common.server.rent_per_gpu_hour)
    for option, hour in result.useful_hour.items():
        np.testing.assert_allclose(plain(hour), rent / plain(result.useful_share[option]), rtol=1e-12)
        total = plain(result.components[option]["rent"]) / plain(result.useful_share[option])
        np.testing.assert_allclose(plain(result.totals[option]), total, rtol=1e-9)


def test_an_hour_is_worth_less_where_more_of_it_is_lost(renter):
    result = renter.tco()
    worth = {o: float(np.mean(plain(w))) for o, w in result.worth_per_gpu_hour.items()}
    assert worth["ethernet-tcp"] < worth["rocev2-branded-400g"] < worth["infiniband-ndr"]


def test_a_renter_who_values_an_hour_higher_is_charged_that_for_lost_hours(renter):
    result = renter.changed(money__gpu_hour_value=10).tco()
    lost = sum(plain(result.components[result.choice][c]) for c in LOST_CAUSES)
    share = 1 - plain(result.useful_share[result.choice])
    assert np.all(lost > plain(result.components[result.choice]["rent"]) * share)


def test_a_memo_in_euro_is_the_dollar_memo_at_the_days_rate(buyer):
    euro = buyer.changed(money__currency="EUR")
    a, b = (plain(c.tco().totals["infiniband-ndr"]) for c in (euro, buyer))
    rate = a / b
    quoted = euro.prices.rate("USD", "EUR")
    assert quoted.low <= rate.min() and rate.max() <= quoted.high
    assert "price:fx-eur-usd" in inputs_of(euro.tco().totals["infiniband-ndr"])


def test_known_skills_need_no_training(grower):
    training = {option: own.training for option, own in grower.chain.bills.own.items()}
    assert training["infiniband-xdr"] == 0.0 and training["rocev2-whitebox-800g"] == 0.0


def test_delay_counts_weeks_beyond_those_allowed_and_the_first_runs_slip(buyer):
    found = buyer.chain.bills
    common, own = found.common, found.own[buyer.options[0].id]
    late = plain(delay_days(own, replace(common, run_days=None)))
    weeks = plain(own.bring_up_weeks)
    np.testing.assert_allclose(late, np.maximum(weeks - common.weeks_allowed, 0) * 7)
    assert np.all(plain(delay_days(own, common)) > late)


def test_thinning_takes_every_eighth_draw_and_keeps_scalars(buyer):
    common = buyer.chain.bills.common
    few = thinned(common, 8)
    assert few.server.price.shape == (buyer.inputs.sampler.size // 8,)
    np.testing.assert_array_equal(few.server.price, plain(common.server.price)[::8])
    assert few.discounting.rate_per_year.shape == ()
    assert few.stages == common.stages


def test_the_sweep_steps_where_a_tier_is_added(buyer):
    sweep = buyer.tco().ownership.sweep
    assert sweep.steps["infiniband-ndr"] == (64, 2048)
    cost = dict(zip(sweep.gpus, np.nanmedian(plain(sweep.fabric_per_gpu["infiniband-ndr"]), axis=1), strict=True))
    assert cost[2056] > 1.15 * cost[2048]


def test_the_sweep_agrees_with_the_memo_at_the_clients_own_size(buyer):
    result = buyer.tco()
    sweep = result.ownership.sweep
    for option, hour in result.useful_hour.items():
        here = plain(sweep.useful_hour[option])[sweep.gpus.index(1024)]
        np.testing.assert_allclose(here, plain(hour)[::STEP], rtol=1e-12)


def test_the_sweep_keeps_the_provenance_of_its_prices(buyer):
    sweep = buyer.tco().ownership.sweep
    assert "price:switch-qm9700" in sweep.fabric_per_gpu["infiniband-ndr"].inputs
    assert "price:switch-qm9700" not in sweep.fabric_per_gpu["rocev2-whitebox-400g"].inputs
    assert "evidence:pue" in sweep.useful_hour["infiniband-ndr"].inputs


def test_a_size_beyond_three_tiers_is_an_error_for_the_client(buyer):
    option = buyer.inputs.all_options["infiniband-ndr"]
    with pytest.raises(OutOfRange, match="do not fit"):
        fabric.builds(buyer.params.cluster, option, ((0, 100_000),), 4)
