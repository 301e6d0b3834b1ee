"""What knowledge is worth: known answers first, then laws over random cases."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from rows import rows
from scipy import stats

from fabricreport.models.information import Estimate, evpi, evppi, evsi, observed

Draws = NDArray[np.float64]
SIZE = 4096
NORMAL = stats.norm.ppf((np.arange(20_001) + 0.5) / 20_001)


def worth(mean: float, spread: float) -> float:
    """Value of perfect information on a normal difference."""
    u = abs(mean) / spread
    return float(spread * stats.norm.pdf(u) - abs(mean) * stats.norm.cdf(-u))


def against_nothing(difference: Draws) -> Draws:
    """Costs of two courses that differ by this much."""
    return np.column_stack([7.0 + difference, np.full(len(difference), 7.0)])


def within(found: Estimate, truth: float, errors: float = 2.0) -> bool:
    return abs(found.value - truth) <= errors * found.standard_error


# ---- known answers


@rows("mean", [-30.0, -5.0, 0.0, 5.0, 30.0])
def test_evpi_of_a_normal_difference_is_the_closed_form(mean: float) -> None:
    spread = 20.0
    costs = against_nothing(mean + spread * NORMAL)
    assert evpi(costs) == pytest.approx(worth(mean, spread), rel=2e-3)
    assert evpi(costs) == pytest.approx(evpi(costs[:, ::-1]), rel=1e-9)
    assert evpi(against_nothing(np.array([1.0, 2.0]))) == 0.0


def test_evpi_of_three_courses_is_the_mean_regret_of_the_best() -> None:
    assert evpi(np.array([[1.0, 2.0, 9.0], [5.0, 3.0, 2.0], [4.0, 3.0, 1.0]])) == pytest.approx(8 / 3 - 4 / 3)
    assert evpi(np.array([[3.0], [5.0]])) == 0.0


def test_evppi_of_a_sum_of_normals_is_the_closed_form_of_the_part_that_is_known() -> None:
    slopes, spreads = np.array([1.0, -2.0, 0.5]), np.array([1.0, 1.5, 2.0])
    covered, singles = [], []
    for seed in range(60):
        x = np.random.default_rng(seed).normal(size=(SIZE, 3)) * spreads
        costs = against_nothing(0.8 + x @ slopes)
        for i in range(3):
            singles.append(within(evppi(costs, x[:, i], seed=seed), worth(0.8, abs(slopes[i]) * spreads[i])))
        both = evppi(costs, x[:, :2], seed=seed)
        covered.append(within(both, worth(0.8, float(np.hypot(1.0, 3.0)))))
    assert np.mean(singles) >= 0.9
    assert np.mean(covered) >= 0.9


def test_evsi_of_a_noisy_reading_is_that_of_its_preposterior_spread() -> None:
    spread, noise, covered = 2.0, 1.5, []
    truth = worth(0.8, spread**2 / float(np.hypot(spread, noise)))
    for seed in range(200):
        x = np.random.default_rng(seed).normal(size=(SIZE, 2)) * [spread, 1.0]
        costs = against_nothing(0.8 + x.sum(axis=1))
        covered.append(within(evsi(costs, observed(x[:, 0], noise, seed=seed + 1), seed=seed), truth))
    assert np.mean(covered) >= 0.9


def test_the_standard_error_is_the_spread_over_samples() -> None:
    found = []
    for seed in range(120):
        x = np.random.default_rng(seed).normal(size=(1024, 2))
        found.append(evppi(against_nothing(0.5 + x.sum(axis=1)), x[:, 0], seed=seed))
    spread = np.std([e.value for e in found])
    assert np.mean([e.standard_error for e in found]) == pytest.approx(spread, rel=0.25)


def test_three_courses_agree_with_a_nested_sample() -> None:
    def costs(x: Draws, y: Draws) -> Draws:
        """Products of what is known and what is not, and a bend; the same three courses in every shape of x and y."""
        return np.stack([3.0 + x * (1 + 0.5 * y), 3.2 - 0.6 * x + y, 2.6 + 0.4 * x**2 + 0.3 * y**3], axis=-1)

    rng = np.random.default_rng(11)
    outer, inner = rng.normal(size=(20_000, 1)), stats.norm.ppf((np.arange(400) + 0.5) / 400)[None]
    inside = costs(outer, inner).mean(axis=1)
    truth = evpi(inside)
    misses = []
    for seed in range(30):
        x, y = np.random.default_rng(seed).normal(size=(2, SIZE))
        misses.append(within(evppi(costs(x, y), x, seed=seed), truth))
    assert truth > 0.1
    assert np.mean(misses) >= 0.9


def counted(rates: Draws, exposure: float, seed: int) -> Draws:
    """Events counted while exposed, of events that come at these rates."""
    return np.random.default_rng(seed).poisson(rates * exposure).astype(float)


def test_a_count_of_events_tells_of_their_rate() -> None:
    """Gamma rates and Poisson counts: the mean given a count is (shape + count) / (1 / scale + exposure)."""
    shape, scale, exposure = 3.0, 2.0, 0.7
    rates = np.random.default_rng(5).gamma(shape, scale, 200_000)
    mean = (shape + counted(rates, exposure, 6)) / (1 / scale + exposure)
    truth = evpi(against_nothing(mean - 7.0))
    covered = []
    for seed in range(40):
        r = np.random.default_rng(seed).gamma(shape, scale, SIZE)
        covered.append(within(evsi(against_nothing(r - 7.0), counted(r, exposure, seed + 1), seed=seed), truth))
    assert np.mean(covered) >= 0.9


# ---- laws


def cases(count: int) -> Iterator[tuple[int, Draws, Draws]]:
    """A seed, costs (draws, courses) and inputs (draws, k) of random cases, skewed inputs and close calls among them."""
    for seed in range(count):
        rng = np.random.default_rng([42, seed])
        courses, k = int(rng.integers(2, 5)), int(rng.integers(2, 7))
        x = rng.normal(size=(1024, k))
        x[:, 0] = np.exp(x[:, 0])
        slopes = rng.normal(size=(k, courses)) * (rng.random((k, courses)) < 0.7)
        yield seed, 20 + rng.normal(size=courses) * 1.5 + x @ slopes + 0.1 * x[:, :1] * x[:, 1:2], x


def test_no_part_of_knowledge_is_worth_less_than_nothing_or_a_sample_more_than_the_part() -> None:
    positive, ordered = [], []
    for seed, costs, x in cases(120):
        part = evppi(costs, x[:, :2], seed=seed)
        signals = np.column_stack([observed(x[:, i], 1.0, seed=seed + i) for i in range(2)])
        sample = evsi(costs, signals, seed=seed)
        positive += [e.value >= -2 * e.standard_error for e in (part, sample)]
        ordered.append(sample.value <= part.value + 2 * float(np.hypot(part.standard_error, sample.standard_error)))
        assert part.value <= evpi(costs) + 1e-9
    assert np.mean(positive) >= 0.95
    assert np.mean(ordered) >= 0.95


def test_an_input_that_moves_nothing_is_below_noise() -> None:
    below = []
    for seed, costs, _ in cases(100):
        below.append(evppi(costs, np.random.default_rng(seed).normal(size=(1024, 2)), seed=seed).below_noise)
    assert np.mean(below) >= 0.95


def test_values_are_not_clipped_at_zero() -> None:
    found = [evppi(costs, np.random.default_rng(seed).random(1024), seed=seed).value for seed, costs, _ in cases(100)]
    assert min(found) < 0


def bounded(low: float, high: float) -> st.SearchStrategy[float]:
    return st.floats(low, high, allow_nan=False)


@settings(deadline=None, max_examples=40)
@given(st.integers(0, 10_000), st.integers(2, 5), st.integers(1, 4), bounded(-3, 3), bounded(0.1, 5))
def test_laws_of_any_sample(seed: int, courses: int, k: int, shift: float, rate: float) -> None:
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(300, k))
    costs = 50 + x @ rng.normal(size=(k, courses)) + rng.normal(size=(300, courses)) + shift * np.arange(courses)
    found = evppi(costs, x, seed=seed)
    assert found.value <= evpi(costs) + 1e-9
    other = evppi(costs * rate + 1_000 * rng.random((300, 1)).mean(), x, seed=seed)
    assert other.value == pytest.approx(found.value * rate, rel=1e-6, abs=1e-6)
    assert other.standard_error == pytest.approx(found.standard_error * rate, rel=1e-6, abs=1e-6)
    turned = rng.permutation(courses)
    assert evppi(costs[:, turned], x, seed=seed).value == pytest.approx(found.value, rel=1e-9, abs=1e-9)
    assert evppi(costs, x * rate - 3, seed=seed).value == pytest.approx(found.value, rel=1e-9, abs=1e-9)


@settings(deadline=None, max_examples=30)
@given(st.integers(0, 10_000), st.integers(2, 4), bounded(0, 10))
def test_a_dominated_course_changes_nothing(seed: int, courses: int, dearer: float) -> None:
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(300, 2))
    costs = 50 + x @ rng.normal(size=(2, courses)) + rng.normal(size=(300, courses))
    more = np.column_stack([costs, costs[:, 0] + dearer * rng.random(300)])
    assert evpi(more) == evpi(costs)
    assert evppi(more, x, seed=seed) == evppi(costs, x, seed=seed)


def test_what_is_known_or_left_without_a_choice_is_worth_nothing() -> None:
    x = np.random.default_rng(0).normal(size=(SIZE, 1))
    costs = against_nothing(x[:, 0])
    assert evppi(costs, np.ones(SIZE), seed=0).below_noise
    assert evppi(costs[:, :1], x, seed=0) == Estimate(0.0, 0.0)
    assert evppi(np.column_stack([x, x]), x, seed=0) == Estimate(0.0, 0.0)
    assert Estimate(0.0, 0.0).below_noise
    assert Estimate(1.9, 1.0).below_noise
    assert not Estimate(2.1, 1.0).below_noise


def test_the_same_seed_gives_the_same_estimate_and_few_draws_are_no_error() -> None:
    x = np.random.default_rng(0).normal(size=(SIZE, 8))
    costs = against_nothing(x.sum(axis=1))
    assert evppi(costs, x, seed=3) == evppi(costs, x, seed=3)
    for size in (2, 16, 64):
        assert np.isfinite(evppi(costs[:size], x[:size], seed=3).value)
    with pytest.raises(ValueError, match="costs must be"):
        evpi(x[:, 0])
