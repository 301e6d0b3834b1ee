"""Stress cases and levers: the arithmetic, its known answers, and what moves it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from rows import rows, words

from fabricreport.base.errors import OutOfRange
from fabricreport.base.units import DAYS_PER_YEAR, HOURS_PER_YEAR
from fabricreport.books.equipment import families
from fabricreport.books.evidence import read_evidence
from fabricreport.models.money.ownership import COMMON, LostTime
from fabricreport.models.risk.entries import common_incidents, fabric_risk, maturity_effect
from fabricreport.models.risk.goodput import Run, lost_shares, useful_share
from fabricreport.models.risk.incidents import Cluster
from fabricreport.models.risk.levers import Lever, levers, standard_levers
from fabricreport.models.risk.stress import (
    Exposure,
    bandwidth_loss,
    efficiency_loss,
    flapping_link,
    incast,
    noisy_tenant,
    packet_drop,
    stall,
    stress_table,
)

central = read_evidence().central
ARTICLE = Exposure(gpus=1_024, run_days=30.0, gpu_hour_usd=3.0)
CLIENT = replace(ARTICLE, communication_share=0.2, step_s=5.0, restart_h=0.25, interval_s=3_600.0)


def test_five_per_cent_of_thirty_days_reproduces_the_articles_figures():
    case = efficiency_loss(ARTICLE, 0.05)
    assert (case.lost_gpu_hours, case.cost_usd, case.delay_days) == pytest.approx((36_864, 110_592, 1.5))


def test_a_stall_of_thirty_five_minutes_idles_every_gpu_until_the_work_is_redone():
    case = stall(CLIENT, 35.0)
    assert case.lost_gpu_hours == pytest.approx(1_024 * (35 / 60 + 0.25 + 0.5))
    assert stall(CLIENT, 5.0).cost_usd < case.cost_usd


def test_a_flapping_link_costs_flaps_times_stall_and_a_restart_for_each_fatal_one():
    mild = flapping_link(CLIENT, 60, 3.0)
    assert mild.lost_gpu_hours == pytest.approx(1_024 * 60 * 3 / 3600)
    assert flapping_link(CLIENT, 60, 3.0, fatal_flaps=2).lost_gpu_hours == pytest.approx(1_024 * (0.05 + 2 * 0.75))
    assert flapping_link(CLIENT, 1e6, 60.0).loss_share == 1.0


def test_losing_half_the_bandwidth_with_a_fifth_exposed_costs_a_sixth_of_the_throughput():
    case = bandwidth_loss(CLIENT, 0.5, 7.0, id="x", title="x")
    assert case.loss_share == pytest.approx(1 - 1 / 1.2)
    assert bandwidth_loss(ARTICLE, 0.5, 7.0, id="x", title="x").cost_usd == 0


def test_incast_pays_the_drain_and_a_time_out_only_when_the_buffer_overflows():
    def waits(**changes):
        arguments = {"senders": 33, "message_mbytes": 1.0, "buffer_mbytes": 8.0, "events_per_step": 1} | changes
        left = 1 - incast(CLIENT, **arguments, retransmit_ms=4.0).loss_share
        return 1000 * CLIENT.step_s * (1 / left - 1)

    assert waits() == pytest.approx(32 / 50 + 4.0)
    assert waits(buffer_mbytes=64.0) == pytest.approx(32 / 50)
    assert waits(senders=1) == pytest.approx(0)


def test_packet_drops_shrink_goodput_by_the_window():
    case = packet_drop(CLIENT, 0.01, packet_bytes=4_096, round_trip_us=10.0)
    window, waiting = 400e9 / 8 * 10e-6 / 4_096, CLIENT.communication_share
    goodput = 0.99 / (1 + 0.01 * (window - 1))
    assert 1 / (1 - case.loss_share) == pytest.approx(1 + waiting * (1 / goodput - 1))
    assert packet_drop(CLIENT, 0.0, packet_bytes=4_096, round_trip_us=10.0).cost_usd == 0


def test_one_per_cent_drops_cost_less_than_the_claimed_quarter_million_a_week_here():
    case = next(c for c in stress_table(CLIENT, central) if c.id == "packet-drop")
    assert case.cost_usd < central("netpilot-packet-drop-cost-per-week")
    assert case.cost_usd < 1_024 * 168 * 3.0


def test_the_table_has_every_named_case_and_each_loss_is_the_same_in_days_and_dollars():
    table = stress_table(CLIENT, central, dragonfly=True, neighbours="noisy-neighbour-slowdown-rocev2")
    assert {c.id for c in table} >= set(
        words("""incast misconfiguration efficiency-loss stall flapping-link ecmp-collisions noisy-neighbour noisy-tenant
    packet-drop""")
    )
    for case in table:
        assert case.lost_gpu_hours == pytest.approx(case.delay_days * 24 * 1_024)
        assert case.cost_usd == pytest.approx(case.lost_gpu_hours * 3.0)
        assert case.sources


def test_a_neighbour_is_met_where_one_can_be():
    def listed(**shared):
        return {c.id for c in stress_table(CLIENT, central, **shared)} & {"noisy-neighbour", "noisy-tenant"}

    assert listed() == set()
    assert listed(dragonfly=True) == {"noisy-neighbour"}
    assert listed(neighbours="noisy-neighbour-slowdown-infiniband") == {"noisy-tenant"}


def test_a_tenant_who_floods_the_fabric_takes_what_a_longer_step_takes():
    case = noisy_tenant(CLIENT, 0.25, 2.0)
    assert case.loss_share == pytest.approx(0.2)
    assert case.delay_days == pytest.approx(0.4)
    assert noisy_tenant(CLIENT, 0.0, 2.0).cost_usd == 0


def test_the_table_follows_its_inputs():
    def doubled(entry_id):
        return central(entry_id) * (2 if entry_id == "stress-stall-detection" else 1)

    before = {c.id: c.cost_usd for c in stress_table(CLIENT, central)}
    after = {c.id: c.cost_usd for c in stress_table(CLIENT, doubled)}
    assert {i for i in before if before[i] != after[i]} == {"stall"}


def test_stress_cases_take_draws():
    case = efficiency_loss(ARTICLE, np.array([0.01, 0.05]))
    assert case.cost_usd == pytest.approx([22_118.4, 110_592])
    with pytest.raises(OutOfRange):
        efficiency_loss(ARTICLE, 1.5)


_STOPS = ("faults", "checkpoints", "interruptions")
ACTS_ON = {
    "faster-detection": ("faults", "interruptions"),
    "frequent-checkpoints": _STOPS,
    "asynchronous-checkpoints": _STOPS,
    "managed-tuning": ("bring_up", "interruptions"),
    "spares-on-site": ("faults", "interruptions"),
    "burn-in": ("interruptions",),
}
"""Causes of lost time that each measure acts on."""


def run_and_risk():
    cluster = Cluster(1_024, 1_024, 48)
    run = Run(cluster, 30.0, 0.3, 60.0, common_incidents(central), checkpoint_interval_s=14_400.0, gpu_hour_usd=3.0)
    risk = fabric_risk(central, families()["rocev2"].behaviour, operators=maturity_effect(central, "low"))
    return run, risk, replace(risk.tail, shared_stall_share=0.0)


def test_levers_are_ranked_by_saving_per_dollar_and_none_hurts():
    values = levers(*run_and_risk(), standard_levers(central, dict.fromkeys(ACTS_ON, 10_000.0)))
    assert {v.id for v in values} == set(ACTS_ON)
    ratios = [float(v.saved_per_dollar) for v in values]
    assert ratios == sorted(ratios, reverse=True)
    assert min(ratios) >= 0
    assert values[0].net_usd == pytest.approx(np.mean(values[0].saved_usd) - 10_000)


@rows("restart_h", [0.5, 24.0, 24.0 * 30])
def test_no_lever_saves_more_than_the_bill_charges_for_what_it_acts_on(restart_h: float):
    """A law: of a year's GPU time at its value, split as the bill splits it, however hard a job runs."""
    run, risk, slow = run_and_risk()
    stuck = replace(run, restart_h=restart_h, checkpoint_interval_s=6 * 3600.0)
    shares = lost_shares(stuck, risk, slow)
    lost = LostTime(
        **{cause: shares[cause] for cause in COMMON},
        bring_up=risk.bring_up.lost_days / DAYS_PER_YEAR,
        tail=shares["stalls"] + shares["topology"],
        interruptions=shares["fabric"],
    )
    assert lost.useful == pytest.approx(useful_share(stuck, risk, slow))
    year = HOURS_PER_YEAR * run.cluster.gpus * run.gpu_hour_usd
    lines = {cause: float(year * share) for cause, share in lost.by_cause().items()}
    for value in levers(stuck, risk, slow, standard_levers(central, dict.fromkeys(ACTS_ON, 1.0))):
        assert value.saved_usd <= sum(lines[cause] for cause in ACTS_ON[value.id])


def test_a_cheaper_lever_rises_and_an_unpriced_one_is_left_out():
    costs = {"faster-detection": 1.0, "managed-tuning": 1e9}
    values = levers(*run_and_risk(), standard_levers(central, costs))
    assert [v.id for v in values] == ["faster-detection", "managed-tuning"]


def test_a_lever_that_does_nothing_saves_nothing_and_a_free_one_that_helps_comes_first():
    menu = (Lever("nothing", "Nothing", 100.0), Lever("free", "Free", 0.0, bring_up=0.5))
    free, nothing = levers(*run_and_risk(), menu)
    assert (free.id, nothing.id) == ("free", "nothing")
    assert np.mean(nothing.saved_usd) == 0
    assert np.isinf(free.saved_per_dollar)
