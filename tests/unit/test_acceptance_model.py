"""Acceptance by repeated runs: stated chances of error are those met on simulated fabrics, and the laws of the rule."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rows import rows

from fabricreport.models.audit.acceptance import (
    Reach,
    Reason,
    Rule,
    Threshold,
    fewest_runs,
    held,
    luck,
    pass_chance,
    threshold,
    written,
)

RULE = Rule(noise=0.03, counted=2, least_runs=5, most_runs=30, false_fail=0.05, false_pass=0.05, margin=0.05)
FABRICS = 20_000


def runs_of(true: float, noise: float, runs: int, seed: int) -> np.ndarray:
    """(fabrics, runs) of a fabric of that true value."""
    return true * np.exp(noise * np.random.default_rng(seed).standard_normal((FABRICS, runs)))


def share_passed(true: float, bar: float, noise: float, runs: int, counted: int, *, at_least: bool, seed: int) -> float:
    ordered = np.sort(runs_of(true, noise, runs, seed), axis=1)
    shown = ordered[:, counted - 1] if at_least else ordered[:, -counted]
    return float(np.mean(shown >= bar if at_least else shown <= bar))


def fails(true: float, made: Threshold, *, at_least: bool = True) -> float:
    return 1.0 - pass_chance(true, made.floor, RULE.noise, made.runs, RULE.counted, at_least=at_least)


# ---- known answers


def test_one_run_of_one_passes_by_the_tail_of_its_noise() -> None:
    assert pass_chance(100.0, 100.0, 0.03, 1, 1) == pytest.approx(0.5)
    assert pass_chance(100.0, 100.0 * np.exp(-0.03 * 1.6448536), 0.03, 1, 1) == pytest.approx(0.95, abs=1e-6)


def test_the_second_worst_of_two_is_the_better_one() -> None:
    assert pass_chance(100.0, 100.0, 0.03, 2, 2) == pytest.approx(0.75)
    assert pass_chance(100.0, 100.0, 0.03, 2, 1) == pytest.approx(0.25)


def test_without_noise_a_fabric_passes_if_it_is_good_enough() -> None:
    assert pass_chance(100.0, 100.0, 0.0, 5, 2) == 1.0
    assert pass_chance(99.9, 100.0, 0.0, 5, 2) == 0.0
    assert held(100.0, 5, RULE, at_least=True) < 100.0


@rows(
    ("value", "at_least", "expected"),
    [(308.96, True, 308.0), (308.04, False, 309.0), (0.0, True, 0.0), (5.0, False, 5.0)],
)
def test_a_threshold_is_written_to_three_digits_in_the_sellers_favour(
    value: float, at_least: bool, expected: float
) -> None:
    assert written(value, at_least=at_least) == pytest.approx(expected, rel=1e-12)


# ---- simulated fabrics of known degradation


@rows("at_least", [True, False])
@rows("lost", [0.0, 0.02, 0.04, 0.07, 0.1])
def test_simulated_fabrics_pass_as_often_as_stated(lost: float, at_least: bool) -> None:
    """Each of many fabrics that lost so much is tested by its own runs; the share that passes is the chance stated."""
    made = threshold(320.0, 290.0 if at_least else None, RULE, at_least=at_least)
    true = 320.0 * (1.0 - lost) if at_least else 320.0 / (1.0 - lost)
    stated = pass_chance(true, made.floor, RULE.noise, made.runs, RULE.counted, at_least=at_least)
    met = share_passed(true, made.floor, RULE.noise, made.runs, RULE.counted, at_least=at_least, seed=7)
    error = 4.0 * np.sqrt(max(stated * (1.0 - stated), 1e-4) / FABRICS)
    assert abs(met - stated) <= error


def test_simulated_fabrics_err_no_more_often_than_the_plan_states() -> None:
    made = threshold(320.0, 298.0, RULE)
    assert made.false_pass is not None
    sound = share_passed(320.0, made.floor, RULE.noise, made.runs, RULE.counted, at_least=True, seed=1)
    gone = share_passed(298.0, made.floor, RULE.noise, made.runs, RULE.counted, at_least=True, seed=2)
    error = 4.0 * np.sqrt(0.05 * 0.95 / FABRICS)
    assert abs((1.0 - sound) - fails(320.0, made)) <= error
    assert abs(gone - made.false_pass) <= error
    assert max(made.false_pass, fails(320.0, made)) <= 0.05


# ---- laws

VALUES = st.floats(10.0, 1000.0)
NOISE = st.floats(0.005, 0.2)


@given(VALUES, VALUES, NOISE, st.integers(2, 40))
def test_a_better_fabric_and_a_lower_bar_pass_more_often(a: float, b: float, noise: float, runs: int) -> None:
    low, high = sorted((a, b))
    assert pass_chance(low, 100.0, noise, runs, 2) <= pass_chance(high, 100.0, noise, runs, 2) + 1e-12
    assert pass_chance(100.0, low, noise, runs, 2) >= pass_chance(100.0, high, noise, runs, 2) - 1e-12


@given(VALUES, NOISE, st.integers(2, 40))
def test_each_run_more_can_only_fail_a_fabric(true: float, noise: float, runs: int) -> None:
    assert pass_chance(true, 100.0, noise, runs + 1, 2) <= pass_chance(true, 100.0, noise, runs, 2) + 1e-12


@given(VALUES, NOISE, st.integers(2, 40))
def test_a_ceiling_is_a_floor_seen_in_a_mirror(true: float, noise: float, runs: int) -> None:
    floor = pass_chance(true, 100.0, noise, runs, 2)
    assert pass_chance(1.0 / true, 1.0 / 100.0, noise, runs, 2, at_least=False) == pytest.approx(floor, abs=1e-9)


@settings(deadline=None)
@given(st.floats(0.5, 0.99))
def test_more_runs_are_needed_the_nearer_the_value_at_which_the_lead_is_gone(share: float) -> None:
    nearer, farther = (fewest_runs(300.0, 300.0 * s, RULE) for s in (share, share * 0.98))
    assert farther is not None if nearer is not None else True
    assert nearer is None or (farther is not None and farther <= nearer)


@settings(deadline=None)
@given(VALUES, st.floats(0.3, 0.999), NOISE)
def test_a_threshold_keeps_the_lead_or_says_that_only_the_credit_can(sound: float, share: float, noise: float) -> None:
    rule = Rule(noise, RULE.counted, RULE.least_runs, RULE.most_runs, RULE.false_fail, RULE.false_pass, RULE.margin)
    gone = sound * share
    made = threshold(sound, gone, rule)
    assert made.floor <= sound
    failed = 1.0 - pass_chance(sound, made.floor, rule.noise, made.runs, rule.counted)
    assert failed <= rule.false_fail + 1e-9
    if made.reason is Reason.HELD:
        assert made.floor >= gone * (1.0 + rule.margin) * (1.0 - 1e-12)
        assert made.false_pass is not None and made.false_pass <= rule.false_pass + 1e-9
    else:
        assert made.reason is Reason.CREDIT_ONLY


def test_where_nobody_leads_the_threshold_rests_on_the_sound_fabric_alone() -> None:
    made = threshold(320.0, None, RULE)
    assert made.reason is Reason.NO_LEAD
    assert made.false_pass is None
    assert made.runs == RULE.least_runs
    assert made.floor == threshold(320.0, 200.0, RULE).floor


def test_a_ceiling_lies_above_what_a_sound_fabric_takes() -> None:
    made = threshold(90.0, None, RULE, at_least=False)
    assert made.floor > 90.0
    assert fails(90.0, made, at_least=False) <= RULE.false_fail


@settings(deadline=None)
@given(VALUES, st.floats(0.5, 1.5), st.floats(0.3, 1.5) | st.none(), st.floats(0.3, 0.999) | st.none(), st.booleans())
def test_a_floor_asks_no_more_than_a_sound_fabric_one_at_the_model_s_end_and_a_healthy_run_hold(
    sound: float, end: float, healthy: float | None, gone: float | None, at_least: bool
) -> None:
    """Mirrored for a ceiling; the credit begins at the sound value, and never on the far side of the floor."""

    def at(share: float) -> float:
        return sound * share if at_least else sound / share

    reach = Reach(at(end), None if healthy is None else at(healthy))
    made = threshold(sound, None if gone is None else at(gone), RULE, at_least=at_least, reach=reach)
    assert made.credit == pytest.approx(sound, rel=0.005)
    asked = [held(true, made.runs, RULE, at_least=at_least) for true in (sound, reach.end)]
    least = (min if at_least else max)([*asked, *([reach.healthy] if reach.healthy else [])])
    assert made.floor == pytest.approx(least, rel=0.01)
    sign = 1.0 if at_least else -1.0
    assert all(sign * made.floor <= sign * limit * (1.0 + sign * 1e-9) for limit in (least, made.credit))
    for true in (sound, reach.end):
        assert fails(true, made, at_least=at_least) <= RULE.false_fail + 1e-9
    assert made.saving == (None if gone is None else at(gone))


def test_the_middle_run_of_a_sound_fabric_falls_short_by_its_luck_on_average() -> None:
    assert luck(0.03, 9) == pytest.approx(0.005)
    middle = np.median(runs_of(1.0, 0.03, 9, seed=3), axis=1)
    assert np.mean(np.maximum(1.0 - middle, 0.0)) == pytest.approx(luck(0.03, 9), rel=0.05)
