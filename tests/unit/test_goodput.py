"""Schedules, incidents and runs against published answers, closed-form moments and laws."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rows import rows
from scipy import stats

from fabricreport.base.errors import InputError, OutOfRange
from fabricreport.base.provenance import Traced
from fabricreport.base.yaml_files import read_yaml
from fabricreport.books.equipment import families
from fabricreport.books.evidence import read_evidence
from fabricreport.models.draws import poisson_quantile
from fabricreport.models.risk.entries import MATURITIES, common_incidents, fabric_risk, maturity_effect
from fabricreport.models.risk.goodput import (
    BringUp,
    FabricRisk,
    Run,
    TopologyEffect,
    daly_interval,
    kokolis_mttf_h,
    lost_shares,
    matured,
    operated,
    p_late,
    simulate,
    spread,
    wall_time_factor,
)
from fabricreport.models.risk.incidents import Cluster, IncidentLaw, Luck, aggregate, event_counts
from fabricreport.models.risk.tail import TailLaw
from fabricreport.validation import risk as published
from fabricreport.validation.risk import goodput_card, tail_card

few = settings(max_examples=30, deadline=None)
LUCK = Luck(seed=3, size=4_000)
central = read_evidence().central


def plan(gpus=1_024, **changes):
    cluster = Cluster(gpus, access_links=gpus, switches=max(1.0, gpus / 21))
    run = Run(cluster, 30.0, 0.3, 60.0, common_incidents(central), gpu_hour_usd=3.0, engineer_hour_usd=100.0)
    return replace(run, **changes)


def effective_share(found):
    """Ideal time over the time from bring-up to the end."""
    return found.ideal_days / (found.finish_days - found.bring_up_days)


@rows("family", ["infiniband", "rocev2"])
def test_shares_of_a_run_multiply_to_its_effective_time_and_the_common_ones_know_no_network(family: str):
    run = plan(8_192, checkpoint_interval_s=3_600.0)
    risk = fabric_risk(central, families()[family].behaviour, communication_share=0.1, gpus=8_192)
    slow = replace(risk.tail, shared_stall_share=0.0)
    found, perfect = lost_shares(run, risk, slow), lost_shares(run, FabricRisk("", slow, ()), slow)
    tail = found.pop("stalls") + found.pop("topology")
    left = np.prod([1.0 - share for share in found.values()]) * (1.0 - tail)
    assert left == pytest.approx(effective_share(simulate(run, risk)))
    assert all(found[cause] == perfect[cause] for cause in ("servers", "faults", "checkpoints"))
    assert tail > 0 and found["fabric"] > 0 and perfect["fabric"] == 0


def test_daly_gives_his_own_figures_for_five_minute_checkpoints():
    hours = np.array([24.0, 6.0, 0.25])
    assert daly_interval(300.0, hours * 3600) / 60 == pytest.approx([116.7, 56.7, 9.14], abs=0.05)


def test_daly_becomes_the_mtbf_when_a_checkpoint_takes_twice_as_long():
    assert daly_interval(200.0, 100.0) == 100.0
    assert daly_interval(5_000.0, 100.0) == 100.0


@few
@given(d=st.floats(1, 1_000), m=st.floats(3_000, 1e7))
def test_dalys_interval_nearly_minimises_the_wall_time(d, m):
    best = wall_time_factor(daly_interval(d, m), d, 600.0, m)
    around = wall_time_factor(daly_interval(d, m) * np.geomspace(0.3, 3, 61), d, 600.0, m)
    assert best <= around.min() * 1.002


@rows("bad", [(0.0, 10.0), (10.0, -1.0), (np.nan, 1.0), (1.0, np.inf)])
def test_intervals_of_no_time_are_refused(bad):
    with pytest.raises(OutOfRange):
        daly_interval(*bad)


def test_kokolis_formula_and_its_miss():
    rate = central("kokolis-node-failures-rsc1")
    assert kokolis_mttf_h([16_384, 131_072, 1_024], rate) == pytest.approx([1.80, 0.225, 28.8], abs=0.05)
    assert kokolis_mttf_h(1_024, rate) / central("kokolis-mttf-1024-gpus") == pytest.approx(3.65, abs=0.02)


def test_wall_time_is_at_least_compute_and_checkpoints_and_finite_when_hopeless():
    assert wall_time_factor(1_000.0, 10.0, 60.0, 1e12) == pytest.approx(1.01)
    assert np.isfinite(wall_time_factor(1_000.0, 10.0, 1e6, 1.0))


def test_llama3_interruptions_give_the_derived_mtbfs():
    hours = central("llama3-run-days") * 24
    network, nic = central("llama3-network-interruptions"), central("llama3-nic-interruptions")
    events = np.array([network, network + nic, central("llama3-unexpected-interruptions")])
    assert events.tolist() == [35, 42, 419]
    assert hours / events == pytest.approx([37.0, 30.9, 3.09], abs=0.05)


@rows("mean", [0.01, 0.7, 5.0, 15.99, 16.0, 80.0, 5_000.0])
def test_poisson_counts_invert_the_distribution(mean):
    u = (np.arange(20_000) + 0.5) / 20_000
    ours, exact = poisson_quantile(u, mean), stats.poisson(mean).ppf(u)
    assert np.max(np.abs(ours - exact)) <= (0 if mean < 15 else 1)
    assert ours.mean() == pytest.approx(mean, rel=0.002, abs=1e-4)


@few
@given(u=st.floats(1e-6, 1 - 1e-6), mean=st.floats(0, 200), more=st.floats(0, 50))
def test_a_higher_rate_never_gives_fewer_events(u, mean, more):
    assert poisson_quantile(u, mean + more) >= poisson_quantile(u, mean)


def test_an_uncertain_clustering_is_taken_draw_by_draw_and_leaves_its_mark():
    sizes = np.where(np.arange(LUCK.size) % 2, 0.5, np.inf)
    mixed = event_counts(5.0, Traced(sizes, {"evidence:incident-clustering"}), LUCK, "any")
    clustered, poisson = (event_counts(np.full(LUCK.size, 5.0), size, LUCK, "any") for size in (0.5, np.inf))
    assert mixed.inputs == {"evidence:incident-clustering"}
    np.testing.assert_array_equal(mixed, np.where(np.isinf(sizes), poisson, clustered))
    assert np.var(clustered) > 5 * np.var(poisson)


def test_a_run_without_clustering_or_with_a_negative_spread_is_refused():
    risk = fabric_risk(central, families()["rocev2"].behaviour)
    for faulty in ({"clustering": 0.0}, {"stop_cv": -1.0}):
        broken = replace(risk, incidents=tuple(replace(law, **faulty) for law in risk.incidents))
        with pytest.raises(OutOfRange, match=next(iter(faulty))):
            simulate(plan(), broken, LUCK)


@rows(("mean", "clustering"), [(0.4, np.inf), (12.0, np.inf), (300.0, np.inf), (3.0, 2.0), (60.0, 2.0)])
def test_aggregate_of_lognormal_losses_has_the_closed_form_moments(mean, clustering):
    luck = Luck(seed=1, size=200_000)
    m, cv = 2.5, 0.8
    counts = event_counts(np.full(luck.size, mean), clustering, luck, "any")
    total = aggregate(counts, m, (cv * m) ** 2, luck.uniforms("severity:any"))
    count_variance = mean + (0.0 if np.isinf(clustering) else mean**2 / clustering)
    variance = mean * (cv * m) ** 2 + count_variance * m**2
    assert total.mean() == pytest.approx(mean * m, rel=0.01)
    assert total.var() == pytest.approx(variance, rel=0.04)


def test_aggregate_has_the_quantiles_of_summing_every_event():
    rng = np.random.default_rng(8)
    sigma = np.sqrt(np.log(2.0))
    counts = rng.poisson(6.0, 60_000)
    losses = rng.lognormal(-0.5 * sigma**2, sigma, counts.sum())
    summed = np.bincount(np.repeat(np.arange(counts.size), counts), losses, counts.size)
    ours = aggregate(counts, 1.0, 1.0, rng.random(counts.size))
    assert np.quantile(ours, [0.1, 0.5, 0.9, 0.99]) == pytest.approx(
        np.quantile(summed, [0.1, 0.5, 0.9, 0.99]), rel=0.04
    )


def test_no_events_cost_nothing():
    assert aggregate(np.zeros(3), 2.0, 1.0, np.array([0.1, 0.5, 0.9])).tolist() == [0, 0, 0]


def test_days_add_up_to_the_finish():
    r = simulate(plan(), fabric_risk(central, families()["rocev2"].behaviour, communication_share=0.2), LUCK)
    parts = r.tail_days + r.topology_days + r.checkpoint_days + r.fabric_days + r.common_days + r.bring_up_days
    assert r.finish_days == pytest.approx(r.ideal_days + parts)
    assert r.lost_gpu_hours == pytest.approx(parts * 24 * 1_024)
    assert r.overrun_usd == pytest.approx(r.lost_gpu_hours * 3.0 + r.engineering_usd)


def test_expectation_without_luck_is_the_mean_over_luck():
    luck = Luck(seed=9, size=100_000)
    risk = fabric_risk(central, families()["infiniband"].behaviour, communication_share=0.2)
    for gpus in (256, 16_384):
        drawn, expected = simulate(plan(gpus), risk, luck), simulate(plan(gpus), risk)
        assert drawn.finish_days.mean() == pytest.approx(float(expected.finish_days), rel=0.005)
        assert drawn.fabric_days.mean() == pytest.approx(float(expected.fabric_days), rel=0.03)


def test_incidents_and_checkpoints_together_lose_what_daly_says():
    run = plan(16_384)
    r = simulate(run, fabric_risk(central, families()["rocev2"].behaviour))
    laws = (*fabric_risk(central, families()["rocev2"].behaviour).incidents, *run.common)
    rate = sum(law.interruptions_per_hour(run.cluster) for law in laws)
    stop = sum(law.interruptions_per_hour(run.cluster) * (law.detection_h + 0.3) for law in laws) / rate
    compute = float(r.ideal_days + r.tail_days + r.topology_days)
    wall = compute * wall_time_factor(r.interval_s, 60.0, stop * 3600, 3600 / rate)
    slow = sum(law.events_per_hour(run.cluster) * wall * law.slow_share * law.slow_h for law in laws)
    assert float(compute + r.checkpoint_days + r.fabric_days + r.common_days) == pytest.approx(wall + slow, rel=1e-6)


def test_common_faults_cancel_in_the_difference_between_equal_options():
    a = simulate(plan(), fabric_risk(central, families()["rocev2"].behaviour, option="a"), LUCK)
    b = simulate(plan(), fabric_risk(central, families()["rocev2"].behaviour, option="b"), LUCK)
    assert np.all(a.finish_days == b.finish_days)
    infiniband = simulate(plan(), fabric_risk(central, families()["infiniband"].behaviour), LUCK)
    difference = a.finish_days - infiniband.finish_days
    assert np.std(difference) < 0.5 * np.hypot(np.std(a.finish_days), np.std(infiniband.finish_days))
    apart = np.abs(a.incidents["common"].events - infiniband.incidents["common"].events)
    assert np.mean(apart) < 0.05 * np.mean(a.incidents["common"].events)


def test_checkpoint_interval_follows_the_total_mtbf():
    small, large = (simulate(plan(n), fabric_risk(central, families()["rocev2"].behaviour)) for n in (512, 8_192))
    assert large.interval_s < small.interval_s
    assert large.interval_s == pytest.approx(daly_interval(60.0, large.mtbf_h * 3600))
    alone = simulate(plan(512, common=()), fabric_risk(central, families()["rocev2"].behaviour))
    assert alone.interval_s > small.interval_s


def test_a_run_with_nothing_to_go_wrong_ends_on_time():
    run = plan(common=(), checkpoint_write_s=1e-9)
    r = simulate(run, FabricRisk("ideal", TailLaw(0.0), ()), LUCK)
    assert r.finish_days == pytest.approx(30.0, rel=1e-6)
    assert np.all(r.fabric_days == 0) and np.all(r.common_days < 1e-6)


def test_the_same_seed_gives_the_same_luck_and_another_seed_another():
    risk = fabric_risk(central, families()["rocev2"].behaviour)
    first, again = simulate(plan(), risk, Luck(1, 500)), simulate(plan(), risk, Luck(1, 500))
    assert np.array_equal(first.finish_days, again.finish_days)
    assert not np.array_equal(first.finish_days, simulate(plan(), risk, Luck(2, 500)).finish_days)


@few
@given(
    gpus=st.sampled_from([64, 1_024, 8_192]),
    low=st.floats(1.0, 5.0),
    high=st.floats(0.05, 1.0),
    family=st.sampled_from(sorted(families())),
)
def test_better_maturity_never_raises_risk(gpus, low, high, family):
    from fabricreport.models.risk.goodput import MaturityEffect

    risk = fabric_risk(central, families()[family].behaviour, communication_share=0.2)
    worse, better = (
        matured(risk, MaturityEffect(low, low, low, low)),
        matured(risk, MaturityEffect(high, high, high, high)),
    )
    expected = [simulate(plan(gpus), r).finish_days for r in (worse, risk, better)]
    assert expected[0] >= expected[1] >= expected[2]
    drawn = [simulate(plan(gpus), r, LUCK) for r in (worse, risk, better)]
    late = [p_late(r.finish_days, [40.0, 50.0, 70.0]) for r in drawn]
    assert np.all(late[0] >= late[1]) and np.all(late[1] >= late[2])


def test_shipped_maturity_levels_are_ordered():
    behaviour = families()["rocev2"].behaviour
    levels = [fabric_risk(central, behaviour, operators=maturity_effect(central, m)) for m in MATURITIES]
    p90 = [float(spread(simulate(plan(), risk, LUCK).finish_days).p90) for risk in levels]
    assert p90 == sorted(set(p90), reverse=True)
    assert maturity_effect(central, "medium").bring_up == 1.0


def test_bigger_clusters_interrupt_more_and_train_for_less_of_the_time():
    risk = fabric_risk(central, families()["rocev2"].behaviour)
    runs = [simulate(plan(gpus), risk, LUCK) for gpus in (128, 1_024, 8_192)]
    shares = [float(np.mean(effective_share(r))) for r in runs]
    assert shares == sorted(shares, reverse=True)
    assert runs[2].mtbf_h < runs[0].mtbf_h / 20


def test_the_daly_interval_beats_intervals_far_from_it():
    risk = fabric_risk(central, families()["rocev2"].behaviour)
    best = simulate(plan(8_192), risk)
    seconds = float(best.interval_s)
    for fixed in (seconds / 10, seconds * 10):
        assert simulate(replace(plan(8_192), checkpoint_interval_s=fixed), risk).finish_days > best.finish_days


@few
@given(st.lists(st.floats(0, 1_000), min_size=1, max_size=60), st.floats(0, 1_000), st.floats(0, 500))
def test_lateness_falls_as_the_deadline_moves_out_and_quantiles_keep_their_order(sample, deadline, later):
    x = np.array(sample)
    assert p_late(x, deadline + later) <= p_late(x, deadline)
    summary = spread(x)
    p50, p95 = np.quantile(x, [0.5, 0.95])
    assert p50 <= summary.p90 <= p95
    assert summary.expected_shortfall_95 >= p95 - 1e-9 or x.size < 20


def test_expected_shortfall_of_a_normal_sample_is_the_textbook_one():
    x = stats.norm(100, 10).ppf((np.arange(200_000) + 0.5) / 200_000)
    assert spread(x).expected_shortfall_95 == pytest.approx(
        100 + 10 * stats.norm.pdf(stats.norm.ppf(0.95)) / 0.05, rel=1e-4
    )


def test_half_of_the_bandwidth_lost_doubles_exposed_communication():
    assert TopologyEffect(0.2, contention_loss=0.5).added_share == pytest.approx(0.2)
    assert TopologyEffect(0.2, oversubscription=2.0, crossing_share=1.0).added_share == pytest.approx(0.2)
    assert TopologyEffect(0.2).added_share == pytest.approx(0.0)
    both = TopologyEffect(0.2, contention_loss=0.5, oversubscription=2.0, crossing_share=1.0)
    assert both.added_share == pytest.approx(0.2 * (2 * 2 - 1)), "what is lost beside the other multiplies it"


def test_bring_up_loses_its_weeks_less_what_is_usable():
    assert BringUp(6.0, 0.5).lost_days == pytest.approx(21.0)


def test_bring_up_grows_with_cluster_size():
    small, large = (
        fabric_risk(central, families()["rocev2"].behaviour, gpus=n).bring_up.lost_days for n in (128, 8_192)
    )
    assert small < fabric_risk(central, families()["rocev2"].behaviour).bring_up.lost_days < large


def test_a_price_reaches_the_overrun_and_not_the_date():
    run = plan(gpu_hour_usd=Traced(np.full(LUCK.size, 3.0), {"price:h100"}))
    flaps = Traced(np.full(LUCK.size, 0.01), {"evidence:flaps"})
    risk = fabric_risk(central, families()["rocev2"].behaviour)
    first = replace(risk.incidents[0], rate_per_unit_year=flaps)
    r = simulate(run, replace(risk, incidents=(first, *risk.incidents[1:])), LUCK)
    assert r.overrun_usd.inputs == {"price:h100", "evidence:flaps"}
    assert r.finish_days.inputs == {"evidence:flaps"}
    assert r.incidents["link-flap"].events.inputs >= {"evidence:flaps"}
    assert spread(r.finish_days).p90.inputs == {"evidence:flaps"}


@rows(
    "law",
    [
        IncidentLaw("x", "x", "link", "hardware", -1.0),
        IncidentLaw("x", "x", "link", "hardware", 1.0, interrupts_share=1.5),
        IncidentLaw("x", "x", "link", "weather", 1.0),
        IncidentLaw("x", "x", "moon", "hardware", 1.0),
        IncidentLaw("common", "x", "link", "hardware", 1.0),
    ],
)
def test_incident_laws_outside_their_domain_are_refused(law):
    with pytest.raises(InputError):
        simulate(plan(), FabricRisk("x", TailLaw(0.0), (law,)))


def test_a_plan_of_no_days_and_an_empty_sample_are_refused():
    with pytest.raises(OutOfRange):
        simulate(plan(ideal_days=0.0), fabric_risk(central, families()["rocev2"].behaviour))
    with pytest.raises(OutOfRange):
        spread(np.array([]))
    with pytest.raises(InputError):
        fabric_risk(central, families()["rocev2"].behaviour, topology="token-ring")


def test_optics_failure_rates_stay_contested_sixty_fold():
    values = [e["value"] for e in read_yaml("library/risk") if e.get("contested") == "optics-afr"]
    ends = [x for v in values for x in (v.values() if isinstance(v, dict) else [v])]
    assert max(ends) / min(ends) == pytest.approx(59, abs=1)


def test_cards_print_the_known_answers_and_the_known_miss():
    rows = {row.case: row for row in goodput_card().rows}
    assert rows["MTTF of 1,024 GPUs, measured"].error == pytest.approx(2.65, abs=0.01)
    assert rows["MTTF of 1,024 GPUs, measured"].ours == pytest.approx(28.8, abs=0.1)
    assert rows["Llama 3, MTBF of every cause at 16,384 GPUs"].ours == pytest.approx(3.09, abs=0.01)
    for gpus in ("16,384", "131,072"):
        assert abs(rows[f"MTTF of {gpus} GPUs, projected by its authors"].error) < 0.03
    assert abs(rows["SemiAnalysis, first optics failure of 100,000"].error) < 0.001
    assert goodput_card().summary["Daly"] < 0.01
    assert tail_card().summary["held out, all"] < 1e-9
    assert any("we found no" in line for line in tail_card().does_not_claim)


def productive(maturity, run=None, **rates):
    """Mean productive share of a run at central inputs, rates of the common law multiplied."""
    base = plan(16_384) if run is None else run
    effect = maturity_effect(central, maturity)
    common = tuple(
        replace(law, rate_per_unit_year=law.rate_per_unit_year * rates.get("common", 1.0)) for law in base.common
    )
    risk = matured(fabric_risk(central, families()["rocev2"].behaviour, gpus=16_384), effect)
    faults = tuple(
        replace(law, rate_per_unit_year=law.rate_per_unit_year * rates.get("fabric", 1.0)) for law in risk.incidents
    )
    return simulate(operated(replace(base, common=common), effect), replace(risk, incidents=faults)).productive_share


@few
@given(
    st.sampled_from(["low", "medium", "high"]),
    st.sampled_from(["common", "fabric"]),
    st.floats(0.1, 5.0),
    st.floats(1.01, 4.0),
)
def test_more_interruptions_of_any_cause_never_leave_more_productive_time(maturity, cause, rate, more):
    assert productive(maturity, **{cause: rate * more}) < productive(maturity, **{cause: rate})


@few
@given(st.floats(0.1, 5.0), st.floats(0.02, 2.0), st.floats(1.0, 200.0))
def test_higher_maturity_never_leaves_less_productive_time(rate, restart_h, write_s):
    run = replace(plan(16_384), restart_h=restart_h, checkpoint_write_s=write_s)
    shares = [productive(level, run, common=rate) for level in ("low", "medium", "high")]
    assert shares == sorted(shares)


def test_what_every_option_shares_does_not_change_with_the_fabric_that_is_matured():
    effect = maturity_effect(central, "high")
    run = plan()
    better = operated(run, effect)
    assert better.restart_h < run.restart_h and better.checkpoint_write_s < run.checkpoint_write_s
    assert better.common[0].rate_per_unit_year < run.common[0].rate_per_unit_year
    assert operated(run, maturity_effect(central, "medium")) == run
    risk = fabric_risk(central, families()["rocev2"].behaviour)
    assert simulate(run, matured(risk, effect)).common_days == pytest.approx(simulate(run, risk).common_days, rel=0.02)


def test_every_expectation_written_down_is_answered_and_came_true():
    card = goodput_card()
    assert len(card.expected) == len(card.as_expected) == 7
    assert all(card.as_expected.values()), card.as_expected


def test_productive_time_at_full_size_lies_where_it_was_published():
    top = published.productive(16_384, "high")
    assert 0.90 <= np.median(top) <= 0.97
    assert np.quantile(top, 0.05) < 0.90 and np.quantile(top, 0.95) > 0.97


@rows("gpus", [64, 1_024, 9_600, 16_384])
def test_a_lower_maturity_is_never_more_productive_in_any_draw(gpus):
    low, medium, high = (published.productive(gpus, level) for level in MATURITIES)
    assert np.all(low <= medium) and np.all(medium <= high)


def test_the_prior_spans_two_publications_that_differ_six_fold_and_both_residuals_are_shown():
    llama = published.per_gpu_year(16_384, central("llama3-mtbf-all"))
    rsc = published.per_gpu_year(1_024, central("kokolis-mttf-1024-gpus"))
    assert rsc / llama == pytest.approx(6.3, abs=0.1)
    p5, p95 = np.quantile(published.drawn(published.COMMON), [0.05, 0.95])
    assert p5 < llama < rsc < p95
    rows = [row for row in goodput_card().rows if row.band == "one rate for both"]
    assert [np.sign(row.error) for row in rows] == [-1, 1] and all(row.note for row in rows)


def test_no_rate_at_all_would_fit_both():
    ours = [row.ours / row.published for row in goodput_card().rows if row.band == "one rate for both"]
    assert max(ours) / min(ours) == pytest.approx(6.2, abs=0.4)
