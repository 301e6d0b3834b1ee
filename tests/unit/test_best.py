"""How often an option is the best, how sure that is, and what a wrong choice costs: laws and known answers."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from scipy import special

from fabricreport.models.judgement.acceptability import Linear, acceptability
from fabricreport.models.judgement.best import by_hypercube, cheapest, regret, sampling_error
from fabricreport.models.judgement.comparison import evpi
from fabricreport.models.sampling import Hypercubes, Sampler

COSTS = arrays.arrays(float, st.tuples(st.integers(2, 40), st.integers(2, 5)), elements=st.integers(-50, 50).map(float))


def synthetic(sampler: Sampler) -> np.ndarray:
    """Three options whose costs are neither additive in the inputs nor independent: (draws, options)."""
    z = [special.ndtri(sampler.uniforms(key, "group" if key in "ab" else "")) for key in "abcdef"]
    first = z[0] + z[2] + 0.5 * z[4] ** 2
    return np.stack([first, 0.3 + 1.2 * z[1] - 0.3 * z[3] * z[4], 1.4 + 0.6 * z[5] + z[0] * z[1]], axis=1)


def test_hypercubes_are_each_stratified_and_scrambled_on_their_own() -> None:
    u = Hypercubes(3, 20 * 64, 0.6, 20).uniforms("a").reshape(20, 64)
    assert all(sorted(np.floor(part * 64).astype(int)) == list(range(64)) for part in u)
    assert np.abs(np.corrcoef(u) - np.eye(20)).max() < 0.6
    assert not any(np.array_equal(part, Sampler(3, 64).uniforms("a")) for part in u)
    a, b = (special.ndtri(Hypercubes(1, 20 * 256, 0.6, 20).uniforms(k, "g")) for k in "ab")
    assert np.corrcoef(a, b)[0, 1] == pytest.approx(0.6, abs=0.03)


def test_a_fresh_hypercube_lies_within_two_errors_in_93_to_97_percent_of_200_seeds() -> None:
    """Each seed draws all three anew: the printed share, the twenty hypercubes its error comes from, and a fresh one."""
    size, small = 1024, 64
    held = []
    for seed in range(200):
        printed, fresh = (cheapest(synthetic(Sampler(s, size, 0.6))) for s in (seed, 10_000 + seed))
        replicates = by_hypercube(synthetic(Hypercubes(seed, 20 * small, 0.6, 20)), 20, cheapest)
        held.append(np.abs(fresh - printed) <= 2 * sampling_error(replicates, small, size))
    shares = np.mean(held, axis=0)
    assert 0.93 <= float(shares.mean()) <= 0.97, shares
    assert np.all((shares >= 0.91) & (shares <= 0.98)), shares


def test_the_error_is_that_of_the_size_printed() -> None:
    replicates = by_hypercube(synthetic(Hypercubes(5, 20 * 128, 0.6, 20)), 20, cheapest)
    small, large = (sampling_error(replicates, 128, n) for n in (128, 4 * 128))
    assert small == pytest.approx(2 * large)
    assert np.all(sampling_error(np.ones((20, 3)), 128, 4096) == 0)


@given(COSTS)
def test_shares_add_up_and_regret_is_never_negative(costs: np.ndarray) -> None:
    found = regret(costs)
    assert cheapest(costs).sum() == pytest.approx(1.0)
    assert np.all(found.mean >= 0) and np.all(found.p95 >= 0)


@given(COSTS, st.integers(1, 30))
def test_a_dominated_option_never_reorders_the_rest(costs: np.ndarray, more: int) -> None:
    dominated = costs[:, :1] + more
    both = np.hstack([costs, dominated])
    assert cheapest(both)[:-1] == pytest.approx(cheapest(costs))
    assert cheapest(both)[-1] == 0
    assert regret(both).mean[:-1] == pytest.approx(regret(costs).mean)
    assert regret(both).mean[-1] == pytest.approx(regret(costs).mean[0] + more)


@given(COSTS)
def test_the_least_regret_is_what_perfect_information_is_worth(costs: np.ndarray) -> None:
    found = regret(costs)
    assert found.mean.min() == pytest.approx(costs.mean(axis=0).min() - costs.min(axis=1).mean())
    assert found.mean[found.least_mean] == found.mean.min() and found.p95[found.least_p95] == found.p95.min()
    pair = costs[:, :2]
    assert regret(pair).mean.min() == pytest.approx(evpi(pair), abs=1e-9)


def test_regret_of_a_known_pair() -> None:
    """D normal(mu, s): the regret of the better one is s phi(u) - mu Phi(-u)."""
    z = special.ndtri((np.arange(200_000) + 0.5) / 200_000)
    costs = np.stack([np.zeros(z.size), 0.4 + z], axis=1)
    phi = np.exp(-0.08) / np.sqrt(2 * np.pi)
    assert regret(costs).mean[0] == pytest.approx(phi - 0.4 * special.ndtr(-0.4), abs=1e-4)


def test_acceptability_adds_up_at_each_value_and_crosses_where_it_must() -> None:
    """Cost of A: 10 + N(0, 1); of B: 4 + 2 v. The shares are level where B costs 10, at v = 3."""
    z = special.ndtri(Sampler(1, 4096).uniforms("z"))
    costs = Linear.through(
        1.0, np.stack([10 + z, np.full(z.size, 6.0)], axis=1), 2.0, np.stack([10 + z, np.full(z.size, 8.0)], axis=1)
    )
    found = acceptability(costs, [float(v) for v in np.geomspace(0.5, 12, 15)])
    assert found.shares.sum(axis=1) == pytest.approx(np.ones(15))
    (crossing,) = found.crossings
    assert crossing.value == pytest.approx(3.0, abs=0.01)
    assert (crossing.below, crossing.above) == (1, 0)
    assert found.nearest(1.0) == crossing
    assert found.shares[:, 0] == pytest.approx(special.ndtr(4 + 2 * found.values - 10), abs=0.001)
    assert costs.at(np.full(z.size, 5.0)) == pytest.approx(costs.at(5.0))


def test_one_option_that_is_always_the_cheapest_crosses_nowhere() -> None:
    found = acceptability(Linear(np.array([[1.0, 2.0]] * 8), np.array([[1.0, 1.0]] * 8)), [1.0, 2.0, 4.0])
    assert found.crossings == () and found.nearest(2.0) is None
