"""What an answer does to a figure: known answers of the conjugate update, and its laws."""

from __future__ import annotations

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rows import rows

from fabricreport.base.uncertain import Z95, Judgement, Uncertain, exactly
from fabricreport.models.audit.diligence import Observed, taper_loss, tapered, updated, weight_of
from fabricreport.models.judgement.elicitation import pool

WEEKS = Uncertain.of({"p5": 2.0, "p95": 12.0})
TUNED = Uncertain.of({"low": 0.75, "mode": 0.96, "high": 1.0})
HOURS = Uncertain.of({"low": 2.0, "mode": 24.0, "high": 240.0})

values = st.floats(0.05, 500.0)
noises = st.floats(1.001, 1000.0)


def said(value: float, noise: float) -> Observed:
    return Observed(value, value, noise)


def width(figure: Uncertain, *, share: bool = False) -> float:
    """Of a figure on the scale on which it is moved."""
    low, high = (float(q) for q in figure.quantile([0.05, 0.95]))
    return high - low if share else math.log(high / low)


# ---- known answers


@rows(("prior", "share"), [(WEEKS, False), (HOURS, False), (TUNED, True)])
def test_an_answer_that_says_nothing_leaves_the_figure_as_it_is(prior: Uncertain, share: bool) -> None:
    assert updated(prior, [said(0.5, math.inf)], share=share) == prior
    assert updated(prior, [], share=share) == prior


@rows(("prior", "share"), [(WEEKS, False), (HOURS, False), (TUNED, True)])
def test_a_fact_is_the_figure(prior: Uncertain, share: bool) -> None:
    found = updated(prior, [said(0.9, 1.0), said(0.1, 3.0)], share=share)
    assert found.fixed
    assert found.central == pytest.approx(0.9)


def test_the_posterior_of_an_interval_is_the_normal_normal_formula_in_logarithms() -> None:
    # prior: median sqrt(24) weeks, sd ln(6) / 3.2897 = 0.54466; noise: ln(2) / 1.64485 = 0.42140; answer: 3 weeks
    mean, sd = math.log(24.0) / 2, math.log(6.0) / (2 * Z95)
    noise = math.log(2.0) / Z95
    precision = sd**-2 + noise**-2
    expected_mean = (mean * sd**-2 + math.log(3.0) * noise**-2) / precision
    expected_sd = precision**-0.5
    found = updated(WEEKS, [said(3.0, 2.0)])
    assert found.kind == "interval"
    assert math.log(found.low) == pytest.approx(expected_mean - Z95 * expected_sd)
    assert math.log(found.high) == pytest.approx(expected_mean + Z95 * expected_sd)
    assert found.central == pytest.approx(3.605, abs=0.001)


def test_the_weight_is_what_the_range_shrinks_by() -> None:
    assert weight_of(WEEKS, []) == 0.0
    assert weight_of(WEEKS, [said(3.0, 1.0)]) == 1.0
    weight = weight_of(WEEKS, [said(3.0, 2.0)])
    assert weight == pytest.approx(0.6256, abs=0.0001)
    assert width(updated(WEEKS, [said(3.0, 2.0)])) == pytest.approx(width(WEEKS) * math.sqrt(1 - weight))


def test_two_equal_answers_weigh_as_one_with_half_the_variance() -> None:
    twice = updated(WEEKS, [said(3.0, 2.0), said(3.0, 2.0)])
    once = updated(WEEKS, [said(3.0, 2.0 ** math.sqrt(0.5))])
    assert twice.low == pytest.approx(once.low)
    assert twice.high == pytest.approx(once.high)


def test_two_answers_at_once_are_the_same_as_one_after_the_other() -> None:
    together = updated(WEEKS, [said(3.0, 1.5), said(8.0, 3.0)])
    in_turn = updated(updated(WEEKS, [said(3.0, 1.5)]), [said(8.0, 3.0)])
    assert together.low == pytest.approx(in_turn.low)
    assert together.high == pytest.approx(in_turn.high)


def test_a_share_moves_on_its_own_scale_and_stays_one() -> None:
    found = updated(TUNED, [said(1.0, 1.1)], share=True)
    assert found.kind == "pert"
    assert TUNED.central < found.central < 1.0
    assert found.high == 1.0


def test_what_experts_judged_keeps_its_shape() -> None:
    judged = pool([Judgement(2.0, 5.0, 14.0)], [1.0])
    found = updated(judged, [said(4.0, 1.5)])
    assert found.kind == "pooled"
    assert width(found) < width(judged)
    assert 4.0 < found.central < 5.0


def test_a_figure_that_is_known_exactly_is_not_moved_by_an_answer_that_may_be_off() -> None:
    assert updated(exactly(4.0), [said(9.0, 1.1)]) == exactly(4.0)


def test_an_answer_that_cannot_be_is_refused() -> None:
    with pytest.raises(ValueError, match="rises"):
        Observed(3.0, 2.0, 1.5)
    with pytest.raises(ValueError, match="noise"):
        Observed(2.0, 2.0, 0.5)
    with pytest.raises(ValueError, match="positive"):
        updated(WEEKS, [said(0.0, 1.5)])


def test_a_taper_of_two_to_one_halves_what_all_of_the_traffic_crosses() -> None:
    assert taper_loss(1.0, 2.0, 1.0) == pytest.approx(0.5)
    assert taper_loss(0.4, 2.0, 1.0) == pytest.approx(1 - 1 / 1.4)
    assert taper_loss(0.4, 2.0, 2.0) == 0.0
    assert taper_loss(0.4, 1.0, 2.0) == 0.0
    assert tapered(Uncertain.of({"low": 0.0, "mode": 0.1, "high": 0.2}), 0.5) == Uncertain("pert", 0.5, 0.55, 0.6)


# ---- laws


@given(values, noises)
def test_an_answer_never_widens_what_is_known(value: float, noise: float) -> None:
    assert width(updated(WEEKS, [said(value, noise)])) <= width(WEEKS) + 1e-12
    assert width(updated(HOURS, [said(value, noise)])) <= width(HOURS) + 1e-12


@given(st.floats(0.0, 1.0), noises)
def test_an_answer_never_widens_a_share(value: float, noise: float) -> None:
    found = updated(TUNED, [said(value, noise)], share=True)
    assert width(found, share=True) <= width(TUNED, share=True) + 1e-12
    assert 0.0 <= found.low <= found.high <= 1.0


@given(values, noises, noises)
def test_firmer_evidence_never_leaves_a_wider_range(value: float, one: float, other: float) -> None:
    firm, weak = sorted((one, other))
    assert width(updated(WEEKS, [said(value, firm)])) <= width(updated(WEEKS, [said(value, weak)])) + 1e-12


@given(values, noises)
def test_the_centre_lies_between_the_figure_and_the_answer(value: float, noise: float) -> None:
    low, high = sorted((WEEKS.central, value))
    assert low * (1 - 1e-12) <= updated(WEEKS, [said(value, noise)]).central <= high * (1 + 1e-12)


@given(values, values, noises)
def test_a_higher_answer_never_gives_a_lower_figure(one: float, other: float, noise: float) -> None:
    low, high = sorted((one, other))
    below, above = (updated(WEEKS, [said(v, noise)]) for v in (low, high))
    assert below.low <= above.low * (1 + 1e-12)
    assert below.high <= above.high * (1 + 1e-12)


@given(st.floats(0.0, 1.0), st.floats(0.0, 1.0), noises)
def test_a_higher_answer_never_gives_a_lower_share(one: float, other: float, noise: float) -> None:
    low, high = sorted((one, other))
    below, above = (updated(TUNED, [said(v, noise)], share=True) for v in (low, high))
    assert below.central <= above.central + 1e-12


@settings(max_examples=50)
@given(values, st.floats(1.0, 5.0), noises)
def test_a_wider_answer_leaves_no_narrower_range(value: float, ratio: float, noise: float) -> None:
    one = updated(WEEKS, [said(value, noise)])
    ranged = updated(WEEKS, [Observed(value / ratio, value * ratio, noise)])
    assert width(one) <= width(ranged) + 1e-12
