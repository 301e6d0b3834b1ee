"""Verdicts, the rank check, the priced acceptance test, and the section for the three clients."""

import math
import shutil

import bench
import numpy as np
import pytest
from bench import PARAMS
from hypothesis import given, settings
from hypothesis import strategies as st
from rows import rows

from fabricreport.case import open_case
from fabricreport.models.audit import diligence as model

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("few_draws")]

NEED = model.Need(1024, 1024, 8, 400.0, 1.0, 240.0, 8)
WORDS = model.Words(("best effort", "up to"), ("left to the customer",), 6)


@pytest.fixture(scope="module")
def buyer():
    return bench.case("example").diligence()


@pytest.fixture(scope="module")
def close():
    """Who has two fabrics too close to tell, so that knowing more is worth something."""
    case = bench.changed("example", organisation__qos_expertise="none")
    assert case.comparison.verdict.confidence == "close"
    return case.diligence()


@pytest.fixture(scope="module")
def renter():
    return bench.case("tern-finetuning").diligence()


@pytest.fixture(scope="module")
def answered(tmp_path_factory):
    folder = tmp_path_factory.mktemp("params")
    (folder / "providers").mkdir()
    shutil.copy(PARAMS / "providers" / "example-answers.yaml", folder / "providers")
    text = (PARAMS / "example.yaml").read_text("utf-8")
    named = "  - {name: Example Cloud, answers: providers/example-answers.yaml}\n"
    (folder / "client.yaml").write_text(text.replace("  - {name: CoreWeave}\n", named), encoding="utf-8")
    return open_case(folder / "client.yaml").diligence()


# ---- the rank check


def test_the_published_log_labelled_64_gpus_comes_from_96():
    assert model.rank_range(197.9, 100.0) == pytest.approx((96, 96), rel=0.02)
    assert not model.ranks_agree(64, 197.9, 100.0)


@given(st.integers(2, 20_000), st.floats(20.0, 400.0))
@settings(max_examples=50, deadline=None)
def test_two_bandwidths_agree_with_the_ranks_they_came_from(ranks, algbw):
    busbw = algbw * 2 * (ranks - 1) / ranks
    assert model.ranks_agree(ranks, round(busbw, 2), round(algbw, 2))


def test_a_log_of_sixteen_ranks_does_not_pass_for_a_thousand():
    assert not model.ranks_agree(1024, 455.0, 242.67)
    assert model.ranks_agree(16, 455.0, 242.67)


def test_a_busbw_of_twice_the_algbw_sets_no_upper_bound_to_the_ranks():
    assert model.rank_range(400.0, 200.0)[1] == math.inf


# ---- verdicts


def log(gpus=1024, busbw=310.0, algbw=155.15, low=240.0, high=400.0):
    return model.Benchmark(gpus, busbw, algbw, low, high)


@rows(
    ("check", "form", "reply", "verdict"),
    [
        ("form", "text", None, "missing"),
        ("form", "text", model.Reply("  "), "missing"),
        ("form", "text", model.Reply("Best effort, always"), "vague"),
        ("form", "text", model.Reply("Ring and tree every night, kept for a year"), "specific"),
        ("form", "document", model.Reply("A written process with times"), "vague"),
        ("form", "document", model.Reply("", document="process.pdf"), "specific"),
        ("link-speed", "number", model.Reply("NDR", 400.0, 400.0), "specific"),
        ("link-speed", "number", model.Reply("HDR", 200.0, 400.0), "fails"),
        ("oversubscription", "document", model.Reply("tapered", 2.0, 2.0, "plan.pdf"), "fails"),
        ("floor", "number", model.Reply("yes", 250.0, 250.0), "specific"),
        ("floor", "number", model.Reply("yes", 100.0, 250.0), "fails"),
        ("floor", "number", model.Reply("yes, gladly"), "vague"),
        ("own-team", "text", model.Reply("Tuning is left to the customer, who likes it"), "fails"),
        ("gpus", "number", model.Reply("", 512.0, 512.0), "fails"),
        ("busbw", "table", model.Reply("", benchmark=log()), "specific"),
        ("busbw", "table", model.Reply("", benchmark=log(gpus=16, busbw=455.0, algbw=242.67, high=500.0)), "fails"),
        ("busbw", "table", model.Reply("", benchmark=log(busbw=455.0, algbw=227.72)), "fails"),
        ("busbw", "table", model.Reply("", benchmark=log(busbw=100.0, algbw=50.05)), "fails"),
        ("busbw", "table", model.Reply("", benchmark=log(gpus=32, busbw=320.0, algbw=165.16)), "vague"),
        ("ranks", "number", model.Reply("", benchmark=log(algbw=160.0)), "fails"),
        ("ranks", "number", model.Reply("", benchmark=log(algbw=None)), "vague"),
        ("nodes", "table", model.Reply("trust us"), "vague"),
    ],
)
def test_a_verdict_follows_from_form_and_figures(check, form, reply, verdict):
    assert model.judge(check, form, reply, NEED, WORDS).verdict == verdict


def test_two_nodes_are_no_flattery_for_a_cluster_of_two():
    need = model.Need(16, 16, 8, 400.0, 1.0, 300.0, 8)
    reply = model.Reply("", benchmark=log(gpus=16, busbw=455.0, algbw=242.67, high=500.0))
    assert model.judge("nodes", "table", reply, need, WORDS).verdict == "specific"
    assert model.judge("nodes", "table", reply, NEED, WORDS).verdict == "fails"


def test_a_switch_by_name_is_no_topology():
    words = ("fat tree", "rail"), ("varies",)
    assert model.topology_stated("Rail-optimised", *words) == "stated"
    assert model.topology_stated("Nokia 7220 named", *words) == "equipment only"
    assert model.topology_stated("varies by host", *words) == "differs by host"
    assert model.topology_stated("", *words) == "not documented"


@rows(("low", "high", "fit"), [(400, 400, "enough"), (200, 400, "some"), (25, 100, "short"), (None, None, "unknown")])
def test_a_link_fits_only_if_every_node_has_it(low, high, fit):
    assert model.speed_fit(low, high, 400.0) == fit


# ---- prices


def test_lost_shares_and_their_cost_give_the_worth_of_all_time():
    share = model.combined_share(np.array([0.1]), np.array([0.2]))
    assert share == pytest.approx(0.28)
    assert model.time_per_lost_share(28.0, share) == pytest.approx(100.0)
    assert model.time_per_lost_share(np.array([5.0]), np.array([0.0])) == 0.0


def test_a_step_a_quarter_longer_wastes_a_fifth_of_the_time():
    assert model.slower_step_share(1.0, 1.25) == pytest.approx(0.2)


def test_a_lead_is_used_up_where_shortfall_times_price_equals_it():
    assert model.lead_lost_at(100.0, 300.0, 10.0) == 70.0
    assert model.lead_lost_at(100.0, 2_000.0, 10.0) is None
    assert model.lead_lost_at(6.0, -1.0, 100.0) is None


def test_what_inputs_explain_together_is_a_share_and_more_than_either_alone():
    rng = np.random.default_rng(2)
    x, y = rng.uniform(size=(2, 4_000))
    d = x + y
    alone = [model.joint_share(d, {"v": v}) for v in (x, y)]
    assert max(alone) < model.joint_share(d, {"x": x, "y": y}) <= 1.0
    assert model.joint_share(d, {"c": np.ones(4_000)}) == 0.0


def test_slopes_have_the_signs_of_what_each_input_does():
    rng = np.random.default_rng(3)
    x, y = rng.uniform(size=(2, 4_000))
    slopes = model.slopes_of(10.0 - 4.0 * x + y, {"x": x, "y": y})
    assert slopes["x"] == pytest.approx(-4.0 * x.std()) and slopes["y"] == pytest.approx(y.std())


def test_an_answer_can_lower_the_lead_and_raise_it(buyer):
    lead = float(np.mean(np.asarray(buyer.difference)))
    assert buyer.priced
    assert all(q.difference.at_low < lead < q.difference.at_high for q in buyer.priced)


# ---- the section


def test_the_credit_begins_at_what_the_cost_rests_on_and_the_floor_below_and_the_ceiling_above(buyer):
    tests = {p.id: p for p in buyer.promises}
    busbw, latency = tests["busbw"], tests["latency"]
    assert 0.7 * busbw.expected.value < busbw.passes.value < busbw.credit.value == busbw.expected.value
    assert latency.passes.value > latency.credit.value == latency.expected.value
    assert tests["ranks"].passes.value == pytest.approx(2 * 1023 / 1024)


def test_the_test_is_for_the_cheapest_option_and_its_prices_are_positive(buyer):
    case = bench.case("example")
    means = {o: float(t.mean()) for o, t in case.tco().totals.items()}
    assert buyer.option.id == min(means, key=means.get)
    assert all(p.price.value > 0 for p in buyer.promises if p.price)
    assert buyer.numbers["diligence.lead"].value == pytest.approx(means[buyer.rival.id] - means[buyer.option.id])


def test_no_seller_is_refused_for_one_interruption_a_month():
    rare = bench.changed("tern-finetuning", options=["spectrum-x-400g", "rocev2-branded-400g"]).diligence()
    count = next(p for p in rare.promises if p.id == "interruptions")
    assert count.expected.value < 0.1 and count.passes.value == 1


def test_a_percent_of_bandwidth_costs_about_a_percent_of_the_exposed_communication(buyer):
    case = bench.case("example")
    exposed = float(case.tco().components[buyer.option.id]["lost_communication"].mean())
    price = next(p.price for p in buyer.promises if p.id == "busbw").value
    assert 0.5 * exposed < 100 * price < 3.0 * exposed


def test_two_nodes_flatter_a_large_cluster_and_not_a_small_one(buyer, renter):
    assert buyer.numbers["diligence.flattery"].value > 0.2
    assert renter.numbers["diligence.flattery"].value == 0.0


def test_a_growing_laboratory_gets_a_floor_for_every_size_of_network():
    result = bench.case("kestrel-lab").diligence()
    assert list(result.floors) == [512, 1536, 4096]
    values = [n.value for n in result.floors.values()]
    assert values == sorted(values, reverse=True)


def test_eleven_of_the_seventeen_sellers_do_not_state_a_topology(renter):
    assert renter.numbers["diligence.shortlisted"].value == 17
    assert len(renter.undocumented) == 11
    assert {s.name for s in renter.fitting} == {
        "CoreWeave",
        "Crusoe",
        "DataCrunch/Verda",
        "Lambda",
        "TensorWave",
        "Vultr",
    }
    assert set(renter.shown) == set(renter.fitting)


def test_a_tenant_is_asked_other_questions_than_a_builder(buyer, renter):
    put = [{q.question.id for q in r.questions} for r in (buyer, renter)]
    assert "Q-COM-04" in put[1] - put[0]
    assert "Q-NET-09" in put[0] - put[1]


def test_questions_stand_in_the_order_of_their_worth_and_settle_only_what_is_drawn(close):
    orders = [q.order for q in close.questions]
    assert orders == sorted(orders, reverse=True)
    assert orders[0][0] > 0
    worth = {q.question.id: q for q in close.questions}
    assert "evidence:weeks-to-stable-rocev2" in worth["Q-OPS-03"].settles
    assert worth["Q-NET-08"].difference is None


def test_a_seller_that_is_not_in_the_table_has_everything_open(answered):
    row = next(s for s in answered.shortlist if s.name == "Example Cloud")
    assert row.seller is None
    assert not row.fits


def test_the_invented_answers_get_the_verdicts_they_were_written_for(answered):
    verdicts = {q: f.verdict for q, f in answered.judged[0].findings.items()}
    assert verdicts["Q-NET-01"] == "specific"
    assert verdicts["Q-NET-09"] == "specific"
    assert verdicts["Q-OPS-03"] == "vague"
    assert verdicts["Q-OPS-04"] == verdicts["Q-NET-10"] == "missing"
    for failing in ("Q-NET-07", "Q-NET-08", "Q-OPS-02", "Q-NET-12"):
        assert verdicts[failing] == "fails"
    assert answered.numbers["diligence.answers.example-cloud.fails"].value == 4


def test_one_server_has_no_fabric_to_accept():
    result = bench.case("one node rented").diligence()
    assert result.promises == ()
    assert result.floors == {}
    assert result.at_ends is None
