"""The risk section: what it says of three clients, and that it says the same of fabrics nobody tells apart."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import yaml

from fabricreport.blocks import Section
from fabricreport.case import PROJECT, Case, open_case
from fabricreport.models.risk.answers import p_late
from fabricreport.provenance import Traced, inputs_of, plain
from fabricreport.sections.tail_risk import charts
from fabricreport.sections.tail_risk import study as tail_risk
from fabricreport.sections.tail_risk.horizon import CAUSES
from fabricreport.sections.tail_risk.inputs import maturity_of, planned_days, subject

COMMUNICATION = 0.05


def opened(path: Path) -> Case:
    """A case whose latency section is a plain figure, so that this section is tested alone."""
    case = open_case(path)
    size = case.sampler.size
    same = {o.id: Traced(np.full(size, COMMUNICATION)) for o in case.options}
    step = {o.id: Traced(np.full(size, 4.0)) for o in case.options}
    case._results["latency"] = SimpleNamespace(exposed_share=same, step_time_s=step, numbers={})
    return case


def changed(tmp_path: Path, **sections: dict[str, object]) -> Case:
    """The example's client with some keys changed."""
    data = yaml.safe_load((PROJECT / "params" / "example.yaml").read_text())
    for section, keys in sections.items():
        data[section].update(keys)
    path = tmp_path / "client.yaml"
    path.write_text(yaml.safe_dump(data | {"as_of": "2026-11-20"}))
    return opened(path)


@pytest.fixture(scope="module")
def buyer() -> Case:
    return opened(PROJECT / "params" / "example.yaml")


@pytest.fixture(scope="module")
def bought(buyer: Case) -> tail_risk.TailResult:
    return tail_risk.run(buyer)


@pytest.fixture(scope="module")
def renter() -> Case:
    return opened(PROJECT / "params" / "tern-finetuning.yaml")


@pytest.fixture(scope="module")
def rented(renter: Case) -> tail_risk.TailResult:
    return tail_risk.run(renter)


@pytest.fixture(scope="module")
def growing() -> tail_risk.TailResult:
    return tail_risk.run(opened(PROJECT / "params" / "kestrel-lab.yaml"))


def test_the_article_s_example_is_reproduced_to_the_dollar(bought):
    numbers = bought.numbers
    assert numbers["tail_risk.stress.efficiency-loss.usd"].text == "$110,592"
    assert numbers["tail_risk.stress.efficiency-loss.gpu_hours"].value == pytest.approx(36_864)
    assert numbers["tail_risk.stress.efficiency-loss.days"].value == pytest.approx(1.5)


def test_shares_are_traced_draws_below_one_without_run_luck(buyer, bought):
    for name in ("tail_share", "incident_share", "bring_up_share", "bring_up_weeks"):
        draws = getattr(bought, name)
        assert set(draws) == {o.id for o in buyer.options}
        for value in draws.values():
            assert isinstance(value, Traced) and value.shape == (buyer.sampler.size,) and value.inputs
            assert np.all(plain(value) >= 0)
    for option in bought.tail_share:
        total = sum(plain(bought.lost[option][c]) for c in CAUSES)
        assert np.all(total < 1)
        parts = bought.lost[option]
        assert np.allclose(
            plain(bought.tail_share[option]), plain(parts["servers"] + parts["stalls"] + parts["topology"])
        )


def test_switches_that_nobody_tells_apart_get_the_same_figures(bought):
    one, other = bought.outcomes["rocev2-nvidia-800g"], bought.outcomes["rocev2-whitebox"]
    assert np.array_equal(plain(one.run_days), plain(other.run_days))
    labels = dict(charts.groups_of(bought, {o: o for o in bought.outcomes}))
    assert labels["rocev2-nvidia-800g"] == "RoCEv2, every switch" and "rocev2-whitebox" not in labels


def test_the_fabrics_differ_only_by_their_own_entries(bought):
    own = ("rocev2", "infiniband", "subnet-manager", "qos_expertise")
    first, second = (bought.outcomes[o].run_days for o in bought.pair)
    differing = inputs_of(first) ^ inputs_of(second)
    assert differing and all(any(word in i for word in own) for i in differing)
    laws = {o: {law.kind: law for law in bought.subjects[o].risk.incidents} for o in bought.pair}
    for kind in ("link-flap", "optics", "switch"):
        assert np.array_equal(
            plain(laws[bought.pair[0]][kind].rate_per_unit_year), plain(laws[bought.pair[1]][kind].rate_per_unit_year)
        )


def test_only_infiniband_has_a_subnet_manager_and_only_roce_has_pfc(bought):
    kinds = {o: {law.kind for law in s.risk.incidents} for o, s in bought.subjects.items()}
    assert [o for o in kinds if "subnet-manager" in kinds[o]] == ["infiniband-ndr"]
    labels = {o: " ".join(law.label for law in s.risk.incidents) for o, s in bought.subjects.items()}
    assert {o for o in labels if "PFC" in labels[o]} == {"rocev2-nvidia-800g", "rocev2-whitebox"}


def test_a_later_deadline_is_missed_less_often(bought):
    late = p_late(bought.outcomes[bought.focus].run_days, np.linspace(bought.planned_days, 2 * bought.planned_days, 9))
    assert np.all(np.diff(late) <= 0) and late[0] == 1.0 and late[-1] < 0.05


def test_days_of_a_run_add_up(bought):
    for outcome in bought.outcomes.values():
        risk = outcome.run
        parts = (
            risk.ideal_days
            + risk.tail_days
            + risk.topology_days
            + risk.checkpoint_days
            + risk.fabric_days
            + risk.common_days
        )
        assert np.allclose(plain(outcome.run_days), plain(parts))


def test_better_maturity_never_raises_a_risk(bought):
    for levels in bought.sensitivity.maturity.values():
        for what in ("p_not_ready", "fabric_share", "p_late"):
            values = [float(getattr(levels[level], what)) for level in ("low", "medium", "high")]
            assert values[0] >= values[1] >= values[2]


def test_a_larger_cluster_is_late_at_least_as_often(bought):
    late = [float(s.p_late) for s in bought.sensitivity.sizes]
    assert [s.value for s in bought.sensitivity.sizes] == [128, 1024, 8192]
    assert late == sorted(late)


def test_a_zero_probability_still_names_what_it_rests_on(bought):
    number = bought.numbers["tail_risk.not_ready.infiniband-ndr"]
    assert "evidence:weeks-to-stable-infiniband" in number.inputs and number.grade == "assumption"


def test_levers_come_best_first_and_the_tenant_gets_only_his_own(bought, rented):
    ratios = [float(np.asarray(v.saved_per_dollar)) for v in bought.levers]
    assert ratios == sorted(ratios, reverse=True) and len(ratios) == 6
    assert {v.id for v in rented.levers} == {"faster-detection", "frequent-checkpoints", "asynchronous-checkpoints"}


def test_a_renter_of_two_servers_meets_hardly_any_fabric_fault(renter, rented):
    for option in rented.outcomes:
        in_a_run = rented.numbers[f"tail_risk.incidents.{option}"].value * rented.planned_days / 365.25
        assert in_a_run < 0.02
        assert float(plain(rented.incident_share[option]).mean()) < 0.005
        assert maturity_of(renter, renter.all_options[option]) == "medium"
    assert float(plain(rented.bring_up_weeks["infiniband-ndr"]).mean()) < 1
    assert {"ecmp-collisions", "noisy-neighbour"}.isdisjoint({s.id for s in rented.stress})
    assert plain(rented.lost["rocev2-nvidia-800g"]["topology"]).max() == 0


def test_growth_weighs_every_stage_and_looks_at_every_size(growing):
    assert {512, 1536, 4096, 8192} <= {s.value for s in growing.sensitivity.sizes}
    option = growing.focus
    start = float(np.asarray(growing.outcomes[option].run.fabric_days).mean()) / growing.planned_days
    assert float(plain(growing.incident_share[option]).mean()) > start


def test_one_server_has_no_fabric_to_fail(tmp_path):
    case = changed(tmp_path, cluster={"gpus": 8}, workload={"model_parameters_billion": 8})
    found = tail_risk.run(case)
    for option in found.outcomes:
        assert all(not plain(found.lost[option][c]).any() for c in ("bring_up", "stalls", "topology", "fabric"))
    assert {s.id for s in found.stress} == {"efficiency-loss", "stall"}
    assert found.numbers["tail_risk.difference"].value == 0


def test_skill_with_qos_limits_roce_and_not_infiniband(tmp_path):
    case = changed(tmp_path, organisation={"networking_maturity": "high", "qos_expertise": "none"})
    levels = {o.id: maturity_of(case, o) for o in case.options}
    assert levels["infiniband-ndr"] == "high" and levels["rocev2-whitebox"] == "low"


def test_the_tail_is_small_where_no_rank_waits_for_another(tmp_path):
    bound, free = (changed(tmp_path, workload={"latency_variance_bound": b}) for b in (True, False))
    shares = [float(plain(tail_risk.horizon_shares(c, c.options[0], 30.0)["servers"]).mean()) for c in (bound, free)]
    assert shares[1] < 0.2 * shares[0]


def test_the_length_of_a_run_follows_from_its_tokens(tmp_path):
    case = changed(tmp_path, workload={"run_days": None, "tokens_billion": 2000})
    efficiency = case.central("evidence:kernel-efficiency-hopper")
    by_hand = 6 * 70e9 * 2000e9 / (1024 * 989e12 * efficiency) / 86_400
    assert planned_days(case) == pytest.approx(by_hand)


def test_loss_is_priced_by_the_client_s_figure_or_the_market(buyer, renter):
    option = buyer.options[0]
    assert float(np.asarray(subject(buyer, option, 1024, 30.0).run.gpu_hour_usd)) == pytest.approx(3.0)
    market = subject(renter, renter.options[0], 16, 2.0).run.gpu_hour_usd
    assert "price:gpu-hour-h100-on-demand" in inputs_of(market)


def test_the_charts_name_their_finding_and_carry_their_data(buyer, bought):
    names = {o.id: o.name for o in buyer.options}
    families = {o.id: o.family for o in buyer.options}
    case_with_result = buyer
    case_with_result._results["tail_risk"] = bought
    section = Section("tail_risk", case_with_result)
    grades = dict.fromkeys(CAUSES, "assumption")
    for chart in (
        charts.exceedance_chart(bought, names, families, title="Dates", short=False),
        charts.causes_chart(bought, names, families, grades, title="Causes"),
        charts.maxima_chart(1024, title="Maxima"),
        charts.interval_chart(bought, title="Intervals"),
    ):
        section.chart(chart)
        node = section.emitted[-1].bundle["nodes"][0]
        assert node["alt"] and len(node["data"]) > 4 and node["svg"].startswith("<svg")
