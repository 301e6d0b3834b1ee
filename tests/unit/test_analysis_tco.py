"""The total cost as a section sees it: books and params in, causes that add up out."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from bench import drawn

from fabricreport.base.errors import InputError, OutOfRange
from fabricreport.base.provenance import inputs_of, mean_of, plain
from fabricreport.case import open_case
from fabricreport.sections.client import stages_of
from fabricreport.sections.tail_risk.inputs import Losses
from fabricreport.sections.tco import fabric, tables
from fabricreport.sections.tco.cost import CAUSES, COMMON_CAUSES, FABRIC_CAUSES, LOST_CAUSES, delay_days
from fabricreport.sections.tco.inputs import common_inputs, option_inputs
from fabricreport.sections.tco.result import bills, builds_of

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
    parts = bills(given, common_inputs(given), own, builds_of(given)).components
    for cause in LOST_CAUSES:
        assert np.any(plain(parts["rocev2-whitebox-800g"][cause]))
        np.testing.assert_array_equal(
            plain(parts["rocev2-whitebox-800g"][cause]), plain(parts["rocev2-branded-800g"][cause])
        )


def test_an_amortised_hour_makes_the_cheapest_total_its_cash_over_its_useful_share(grower):
    result, cheapest = grower.tco(), grower.chain.bills.order[0]
    lost = sum(plain(result.components[cheapest][c]) for c in (*LOST_CAUSES, *COMMON_CAUSES, "delay"))
    cash = plain(result.totals[cheapest]) - lost
    whole = cash / plain(result.useful_share[cheapest])
    delay = plain(result.components[cheapest]["delay"])
    np.testing.assert_allclose(plain(result.totals[cheapest]) - delay, whole, rtol=1e-9)


def test_ethernet_without_rdma_has_two_links_a_server(buyer):
    small = buyer.changed(options=["infiniband-ndr", "ethernet-tcp"], cluster__gpus=128)
    assert small.tco().numbers["tco.count.nics.ethernet-tcp"].value == 16 * 2


def test_fabrics_that_cannot_carry_the_work_or_be_ordered_are_known_by_name_and_not_compared(buyer):
    stated = ["infiniband-ndr", "rocev2-branded-400g", "ethernet-tcp", "ethernet-sprayed-800g"]

    def compared(**changes):
        return {o.id for o in buyer.changed(options=stated, **changes).inputs.options}

    late = {"ethernet-sprayed-800g"}
    assert compared() == set(stated) - late - {"ethernet-tcp"}
    assert compared(cluster__gpus=136) == compared()
    assert compared(cluster__gpus=128) == set(stated) - late
    assert compared(workload__kind="fine-tuning") == set(stated) - late
    told = buyer.changed(options=stated).inputs
    assert set(told.excluded) == {"ethernet-tcp", *late}


def test_a_client_with_nothing_left_to_compare_is_told_so_at_its_options(buyer):
    with pytest.raises(InputError, match="leaves 1 to compare") as refused:
        open_case(
            buyer.params.model_dump(mode="json", by_alias=True, exclude_unset=True)
            | {"options": ["infiniband-ndr", "ethernet-tcp"]}
        )
    assert [problem.key for problem in refused.value.problems] == ["options"]


def test_manager_takes_ports_only_where_some_are_free(buyer):
    cluster, option = buyer.params.cluster, buyer.inputs.all_options["infiniband-ndr"]
    assert fabric.manager_links(cluster, option, [1024]) == 0
    assert fabric.manager_links(cluster, option, [1000]) == option.management.links
    assert fabric.manager_links(cluster, option, [1000, 1024]) == 0


def test_one_rack_is_wired_in_copper_and_runs_the_switchs_own_manager(buyer):
    option = buyer.inputs.all_options["infiniband-ndr"]
    (build,) = fabric.builds(buyer.params.cluster, option, ((0, 16),), servers_per_rack=4)
    assert build.cables.node_optics == build.cables.switch_optics == 0 and build.cables.dac > 0
    assert not build.managed and build.bom.switches == 1


def test_stages_buy_up_to_the_bill_of_the_last_one(grower):
    owned = grower.tco().ownership
    for option, builds in owned.builds.items():
        assert [b.gpus for b in builds] == [512, 1536, 4096, 8192]
        assert builds[-1].bom.switches == builds[-1].needed_switches
        assert builds[-1].cables.cables == builds[-1].bom.cables
        bought = {c: sum(mean_of(stage[c]) for stage in owned.bought[option]) for c in FABRIC_CAUSES}
        for cause in FABRIC_CAUSES:
            assert bought[cause] == pytest.approx(float(np.mean(plain(owned.capital[option][cause]))))


def test_a_generation_decides_whether_infiniband_needs_a_third_tier(grower):
    def tiers(case):
        return [stages[-1].bom.tiers for stages in case.tco().ownership.builds.values()]

    assert tiers(grower.changed(options=["infiniband-xdr", "rocev2-branded-800g"])) == [2, 2]
    assert tiers(grower.changed(options=["infiniband-ndr", "rocev2-branded-400g"], cluster__link_gbits_per_s=400)) == [
        3,
        2,
    ]


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


def test_leasing_leaves_nothing_to_resell(buyer):
    result = buyer.changed(money__acquisition="lease").tco()
    assert "residual" not in result.labels
    assert result.ownership is not None


def test_a_renter_pays_no_capital_and_the_hours_its_work_takes(renter):
    result = renter.tco()
    assert result.ownership is None
    assert set(result.labels) == {"rent", *LOST_CAUSES, *COMMON_CAUSES}
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
    lost = sum(plain(result.components[result.choice][c]) for c in (*LOST_CAUSES, *COMMON_CAUSES))
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
    weeks = plain(own.production_weeks)
    np.testing.assert_allclose(late, np.maximum(weeks - common.weeks_allowed, 0) * 7)
    assert np.all(plain(delay_days(own, common)) > late)


def test_a_tier_is_added_above_what_a_switch_and_its_leaves_carry(buyer):
    numbers = buyer.tco().numbers
    assert [numbers[f"tco.step.{tiers}.infiniband-ndr"].value for tiers in (1, 2)] == [64, 2048]


def test_a_size_beyond_three_tiers_is_an_error_for_the_client(buyer):
    option = buyer.inputs.all_options["infiniband-ndr"]
    with pytest.raises(OutOfRange, match="do not fit"):
        fabric.builds(buyer.params.cluster, option, ((0, 100_000),), 4)


def test_the_parts_list_of_each_option_adds_up_to_what_its_network_costs(grower):
    amounts = []
    for row in tables.materials(grower.inputs, grower.tco()).rows:
        if row.role == "total":
            assert sum(amounts) == pytest.approx(row.cells[-1].value)
            amounts = []
        elif row.role != "group":
            amounts.append(row.cells[-1].value)
    assert amounts == []


def test_a_used_server_costs_what_a_new_one_has_kept_and_is_supported_like_it(buyer):
    used, years = buyer.changed(cluster__server_age_months=18.0), 1.5
    kept = plain(buyer.inputs.draw("evidence:retention-per-year-servers")) ** years
    for option in (o.id for o in buyer.options):
        new, old = ({name: plain(v) for name, v in c.chain.bills.parts[option].items()} for c in (buyer, used))
        np.testing.assert_allclose(old["servers"], new["servers"] * kept, rtol=1e-12)
        np.testing.assert_allclose(old["residual of servers"], new["residual of servers"] * kept, rtol=1e-12)
        np.testing.assert_allclose(old["support of servers"], new["support of servers"], rtol=1e-12)
        np.testing.assert_array_equal(old["switches"], new["switches"])
