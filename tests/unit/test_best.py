"""How often an option is the best, and how sure that is: laws and known answers."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from scipy import special

from fabricreport.models.draws import Hypercubes, Sampler
from fabricreport.models.judgement.choice import by_hypercube, cheapest, sampling_error

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
def test_shares_add_up(costs: np.ndarray) -> None:
    assert cheapest(costs).sum() == pytest.approx(1.0)


@given(COSTS, st.integers(1, 30))
def test_a_dominated_option_never_reorders_the_rest(costs: np.ndarray, more: int) -> None:
    dominated = costs[:, :1] + more
    both = np.hstack([costs, dominated])
    assert cheapest(both)[:-1] == pytest.approx(cheapest(costs))
    assert cheapest(both)[-1] == 0
