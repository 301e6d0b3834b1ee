"""Cooke's classical model by hand, and the laws of a pool."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fabricreport.models.judgement.elicitation import BINS, calibration, information, multiple, pool, said_range, scores
from fabricreport.models.sampling import Sampler
from fabricreport.uncertain import Judgement, Scaled, Uncertain

WIDE = Judgement(1.0, 10.0, 100.0)
QUANTILES = (0.05, 0.5, 0.95)


def chi_square_3_above(x: float) -> float:
    """The share of a χ² with three degrees of freedom above x, in closed form."""
    return math.erfc(math.sqrt(x / 2)) + math.sqrt(2 * x / math.pi) * math.exp(-x / 2)


def test_a_calibration_score_worked_by_hand() -> None:
    # three seeds, one below the median and two above: s = 0, 1/3, 2/3, 0
    divergence = 1 / 3 * math.log((1 / 3) / 0.45) + 2 / 3 * math.log((2 / 3) / 0.45)
    assert divergence == pytest.approx(0.16199, abs=1e-5)
    assert calibration([1, 2, 2]) == pytest.approx(chi_square_3_above(6 * divergence))
    assert calibration([1, 2, 2]) == pytest.approx(0.808, abs=5e-4)
    assert calibration([0, 1, 2]) == pytest.approx(0.459, abs=5e-4), "one surprise of three is no proof of anything"
    assert calibration([3, 3, 3]) == pytest.approx(0.00045, abs=1e-5), "three on one side are"


def test_twenty_truths_in_the_shares_stated_score_one() -> None:
    bins = [0] * 1 + [1] * 9 + [2] * 9 + [3] * 1
    assert calibration(bins) == pytest.approx(1.0)


def test_information_worked_by_hand() -> None:
    # log10: from -0.2 to 2.2; the bins take 0.2, 1, 1, 0.2 of 2.4
    low, high = said_range([WIDE])
    assert (math.log10(low), math.log10(high)) == (pytest.approx(-0.2), pytest.approx(2.2))
    by_hand = 2 * 0.05 * math.log(0.05 / (0.2 / 2.4)) + 2 * 0.45 * math.log(0.45 / (1 / 2.4))
    assert information(WIDE, low, high) == pytest.approx(by_hand)
    assert information(Judgement(9, 10, 11), low, high) > information(WIDE, low, high)


def test_a_truth_on_a_quantile_is_below_it_and_no_surprise_at_p95() -> None:
    assert [WIDE.bin_of(x) for x in (0.9, 1.0, 1.1, 10.0, 100.0, 101.0)] == [0, 0, 1, 1, 2, 3]
    assert not WIDE.surprised_by(100.0) and WIDE.surprised_by(101.0)


def test_one_expert_gets_back_what_he_said() -> None:
    (score,) = scores([[WIDE, WIDE, WIDE]], [5.0, 20.0, 50.0])
    assert score.weight == 1.0 and (score.seeds, score.surprises) == (3, 0)
    alone = pool([Judgement(2, 4, 9)], [score.weight])
    assert (alone.low, alone.mode, alone.high) == pytest.approx((2, 4, 9))


def test_two_who_say_the_same_are_as_one() -> None:
    seeds, truths = [WIDE, Judgement(3, 4, 5), WIDE], [5.0, 20.0, 50.0]
    first, second = scores([seeds, seeds], truths)
    assert first == second and first.weight == 0.5
    said = Judgement(2, 4, 9)
    both, alone = pool([said, said], [0.5, 0.5]), pool([said], [1.0])
    assert np.allclose(both.steps, alone.steps)


def test_who_knows_his_limits_outweighs_who_is_too_sure() -> None:
    truths = [3.0, 40.0, 8.0, 15.0, 60.0, 2.0, 12.0, 9.0]
    sure = [Judgement(t * 1.5, t * 1.7, t * 2.0) for t in truths]
    calibrated, confident = scores([[WIDE] * 8, sure], truths)
    assert confident.surprises == 8 and confident.information > calibrated.information
    assert calibrated.weight > 0.999 > 1e-9 > 0 and confident.weight > 0, "nobody's weight is nothing"


def test_with_three_seeds_one_surprise_moves_weights_little() -> None:
    truths = [5.0, 20.0, 200.0]
    clean, surprised = scores([[WIDE, WIDE, Judgement(2, 20, 400)], [WIDE] * 3], truths)
    assert (clean.surprises, surprised.surprises) == (0, 1)
    assert 0.2 < surprised.weight < clean.weight < 0.8


def test_seeds_that_an_expert_knew_do_not_count_and_the_fewest_set_the_power() -> None:
    truths = [5.0, 20.0, 50.0, 7.0]
    few, many = scores([[WIDE, None, WIDE, WIDE], [WIDE] * 4], truths)
    assert (few.seeds, many.seeds) == (3, 4)
    assert many.calibration == calibration([1, 2, 2, 1], 3)
    with pytest.raises(ValueError, match="at least one seed"):
        scores([[None, None, None, None]], truths)


def test_a_multiple_of_lognormals_comes_out_as_theirs() -> None:
    base, ratio = pool([Judgement(2, 4, 8)], [1]), pool([Judgement(0.5, 1, 2)], [1])
    found = Uncertain.pooled(multiple(base, ratio))
    rng = np.random.default_rng(1)
    drawn = base.quantile(rng.random(200_000)) * ratio.quantile(rng.random(200_000))
    assert found.quantile(QUANTILES) == pytest.approx(np.quantile(drawn, QUANTILES), rel=0.01)
    assert found.mode == pytest.approx(4.0, rel=1e-3)


def test_draws_of_a_multiple_follow_the_draws_of_its_base() -> None:
    base, ratio = pool([Judgement(2, 4, 8)], [1]), pool([Judgement(1.19, 1.2, 1.21)], [1])
    scaled = Uncertain.pooled(multiple(base, ratio), Scaled("evidence:base", base, ratio))
    sampler = Sampler(7, 512, 0.6)
    below, above = sampler.draws(base, "evidence:base", "g"), sampler.draws(scaled, "evidence:other", "g")
    assert np.all(above > 1.15 * below) and np.all(above < 1.25 * below)
    twice = scaled.times(2.0)
    assert np.allclose(sampler.draws(twice, "evidence:other", "g"), 2 * above)


judgements = st.lists(st.floats(0.01, 1000), min_size=3, max_size=3, unique=True).map(sorted).filter(
    lambda q: q[1] > 1.001 * q[0] and q[2] > 1.001 * q[1]
).map(lambda q: Judgement(*q))  # fmt: skip
experts = st.lists(st.tuples(judgements, st.lists(judgements, min_size=4, max_size=4)), min_size=1, max_size=5)
truths = st.lists(st.floats(0.01, 1000), min_size=4, max_size=4)


@given(experts, truths)
def test_weights_are_shares_of_one_whatever_the_order(
    found: list[tuple[Judgement, list[Judgement]]], truth: list[float]
) -> None:
    made = scores([seeds for _, seeds in found], truth)
    assert sum(s.weight for s in made) == pytest.approx(1.0)
    assert all(0 <= s.calibration <= 1 + 1e-12 and s.information >= -1e-12 and s.weight >= 0 for s in made)
    turned = scores([seeds for _, seeds in reversed(found)], truth)
    assert [s.weight for s in reversed(turned)] == pytest.approx([s.weight for s in made])


@given(experts, truths)
def test_a_pool_lies_within_what_was_said_and_in_any_order(
    found: list[tuple[Judgement, list[Judgement]]], truth: list[float]
) -> None:
    weights = [s.weight for s in scores([seeds for _, seeds in found], truth)]
    said = [j for j, _ in found]
    pooled = pool(said, weights)
    for n, quantile in enumerate((pooled.low, pooled.mode, pooled.high)):
        each = [j.quantiles[n] for j in said]
        assert min(each) * (1 - 1e-9) <= quantile <= max(each) * (1 + 1e-9)
    low, high = said_range(said)
    assert pooled.quantile([0.0, 1.0]) == pytest.approx([low, high])
    turned = pool(said[::-1], weights[::-1])
    assert turned.quantile(QUANTILES) == pytest.approx(pooled.quantile(QUANTILES))
    assert sum(BINS) == pytest.approx(1.0)
