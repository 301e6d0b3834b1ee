"""Two inputs at once, and regions: linear cases have analytic answers."""

from __future__ import annotations

import numpy as np
import pytest
from rows import rows
from scipy import special

from fabricreport.models.judgement.joint import FARTHEST, Pair, Scores, nearest_level, pairs
from fabricreport.models.judgement.regions import Condition, measured, region
from fabricreport.models.sampling import Sampler

SIZE = 4096


def normals(*keys: str, correlation: float = 0.0, seed: int = 1) -> list[np.ndarray]:
    sampler = Sampler(seed, SIZE, correlation)
    return [np.asarray(special.ndtri(sampler.uniforms(k, "g"))) for k in keys]


# ---- the nearest pair


def pair_of(slopes: tuple[float, float], rho: float = 0.0) -> Pair:
    return Pair(("a", "b"), np.array(slopes), np.array([[1, rho], [rho, 1.0]]), 0.0)


@rows("rho", [0.0, 0.3])
@rows("slopes", [(-1.0, 0.8), (0.8, 0.7), (-0.6, -0.9)])
def test_of_a_linear_difference_the_nearest_point_is_the_analytic_one(slopes: tuple[float, float], rho: float) -> None:
    mean, g, start = 1.2, np.array(slopes), np.array([0.1, -0.2])
    metric = np.array([[1, rho], [rho, 1.0]])
    found = nearest_level(lambda z: mean + float(g @ (z - start)), start, pair_of(slopes, rho))
    expected = start - mean * metric @ g / (g @ metric @ g)
    assert found == pytest.approx(expected, abs=2e-3)


def test_correlated_inputs_that_pull_apart_are_farther_than_those_that_do_not() -> None:
    a, b = normals("a", "b", correlation=0.4)
    apart, along = (pairs(1.0, {"a": -1.0, "b": s}, {"a": a, "b": b})[0].distance for s in (0.9, -0.9))
    assert apart == pytest.approx(1 / np.sqrt(1.81 - 0.72), rel=0.03)
    assert along == pytest.approx(1 / np.sqrt(1.81 + 0.72), rel=0.03)


def test_the_screen_knows_a_linear_difference_and_its_nearest_pair() -> None:
    a, b, c = normals("a", "b", "c")
    found = pairs(2.0, {"a": -1.0, "b": 0.8, "c": 0.1}, {"a": a, "b": b, "c": c})
    assert found[0].names == ("a", "b")
    assert found[0].distance == pytest.approx(2 / np.hypot(1.0, 0.8), rel=0.03)
    assert all(pair.distance > 3 for pair in found[1:])  # what does next to nothing would have to move far


def test_wrong_slopes_are_corrected_by_the_model() -> None:
    """Told are (1, 1); the model's slopes are (-1.6, -0.9), and its level is curved."""
    found = nearest_level(lambda z: 1.0 - 1.6 * z[0] - 0.9 * z[1] - 0.1 * z[0] ** 2, np.zeros(2), pair_of((-1.0, -1.0)))
    assert found is not None
    grid = np.linspace(-1, 2, 3001)
    level = (1.0 - 1.6 * grid - 0.1 * grid**2) / 0.9
    assert np.hypot(*found) == pytest.approx(np.hypot(grid, level).min(), rel=0.02)
    assert 1.0 - 1.6 * found[0] - 0.9 * found[1] - 0.1 * found[0] ** 2 == pytest.approx(0.0, abs=5e-3)


def test_nothing_is_found_beyond_reach_and_of_one_input_alone() -> None:
    assert nearest_level(lambda z: 9.0 - z[0] - z[1], np.zeros(2), pair_of((-1.0, -1.0))) is None
    assert nearest_level(lambda z: 1.0 - z[0], np.zeros(2), pair_of((-1.0, 0.0))) is None
    assert pairs(1.0, {"a": 1.0}, {"a": np.arange(8.0)}) == ()
    assert pairs(0.0, {"a": 1.0, "b": 1.0}, {"a": np.arange(8.0), "b": np.arange(8.0)[::-1]}) == ()
    assert pairs(1.0, {"a": 1.0, "b": 1.0}, {"a": np.arange(8.0), "b": np.ones(8)}) == ()


def test_what_is_asked_for_stays_within_reach() -> None:
    asked = []

    def model(z: np.ndarray) -> float:
        asked.append(z)
        return 2.0 - 0.7 * float(z[0]) - 0.5 * float(z[1])

    nearest_level(model, np.zeros(2), pair_of((-0.7, -0.5)))
    assert asked and max(np.abs(z).max() for z in asked) <= FARTHEST


def test_both_inputs_do_their_share_even_where_one_alone_would_be_nearer() -> None:
    """Strongly tied inputs that would have to part: the nearest point of all lies on one of them."""
    g, rho = np.array([-1.0, 0.5]), 0.6
    found = nearest_level(lambda z: 1.0 + float(g @ z), np.zeros(2), pair_of((-1.0, 0.5), rho))
    assert found == pytest.approx([0.8, -0.4], abs=2e-3)


def test_scores_and_values_are_each_other_s_inverse() -> None:
    draws = np.exp(normals("a")[0])
    scores = Scores.of(draws)
    assert scores.value(1.0) == pytest.approx(np.e, rel=0.01)
    assert scores.score(scores.value(0.7)) == pytest.approx(0.7)
    assert scores.each(draws) == pytest.approx(np.log(draws), abs=0.2)


# ---- regions


def test_the_region_of_a_known_box_is_that_box() -> None:
    x = np.stack([Sampler(1, SIZE).uniforms(k) for k in "abcd"], axis=1) * 10
    hits = (x[:, 1] > 6.3) & (x[:, 3] < 4.7)
    found = region(x, hits)
    assert {(c.column, c.above) for c in found} == {(1, True), (3, False)}
    assert {c.column: c.bound for c in found} == pytest.approx({1: 6.3, 3: 4.7}, abs=0.05)
    told = measured(found, x, hits)
    assert told.density > 0.98 and told.coverage > 0.98
    assert told.base == pytest.approx(0.37 * 0.47, abs=0.01)


def test_the_region_of_a_linear_difference_lies_on_its_side_and_holds_on_a_fresh_sample() -> None:
    def sample(seed: int) -> tuple[np.ndarray, np.ndarray]:
        x = np.stack(normals("a", "b", "c", seed=seed), axis=1)
        return x, 0.8 - x[:, 0] + x[:, 1] < 0

    box, fresh = region(*sample(1)), sample(2)
    assert {(c.column, c.above) for c in box} == {(0, True), (1, False)}
    told = measured(box, *fresh)
    assert told.tells and told.density > told.base + 0.2


def test_no_region_is_found_where_none_holds() -> None:
    rng = np.random.default_rng(5)
    x = rng.random((SIZE, 4))
    assert region(x, rng.random(SIZE) < 0.2) == ()
    assert region(x, np.zeros(SIZE, dtype=bool)) == ()
    assert region(x, np.ones(SIZE, dtype=bool)) == ()


def test_statistics_of_a_box_are_counted() -> None:
    x = np.array([[1.0], [2.0], [3.0], [4.0]])
    told = measured((Condition(0, True, 1.5),), x, np.array([True, True, True, False]))
    assert (told.density, told.coverage, told.base, told.inside) == (2 / 3, 2 / 3, 0.75, 3)
    assert not told.tells
    none = measured((Condition(0, True, 9.0),), x, np.zeros(4, dtype=bool))
    assert (none.density, none.coverage, none.inside) == (0.0, 0.0, 0) and not none.tells
