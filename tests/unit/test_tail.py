"""Order statistics, and step inflation against closed forms, quadrature and laws."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rows import rows
from scipy import integrate, special, stats

from fabricreport.base.errors import InputError, OutOfRange
from fabricreport.base.provenance import Traced
from fabricreport.models.risk import tail
from fabricreport.models.risk.tail import TailLaw, expected_max, lognormal_from_quantiles, step_inflation

few = settings(max_examples=30, deadline=None)


def quadrature(dist, n):
    """E[max] as the integral of 1 - F**n, minus the integral of F**n below zero."""
    centre, far = float(dist.isf(0.5 / n)), float(dist.isf(1e-13 / n))
    up = integrate.quad(lambda x: -np.expm1(n * dist.logcdf(x)), 0, far, points=[centre], limit=500)[0]
    down = integrate.quad(lambda x: np.exp(n * dist.logcdf(x)), min(float(dist.ppf(1e-13)), 0.0), 0, limit=500)[0]
    return up - down


@rows("n", [1, 2, 10, 1_024, 131_072])
def test_exponential_maximum_is_the_harmonic_number_over_the_rate(n):
    harmonic = np.sum(1.0 / np.arange(1, n + 1))
    assert expected_max(stats.expon(scale=0.25), n) == pytest.approx(0.25 * harmonic, rel=1e-10)


@rows("dist", [stats.norm(10, 2), stats.lognorm(0.5, scale=3), stats.lognorm(1.5), stats.t(3)])
@rows("n", [2, 64, 1_024, 131_072])
def test_maximum_agrees_with_direct_integration_of_its_distribution(dist, n):
    assert expected_max(dist, n) == pytest.approx(quadrature(dist, n), rel=2e-6)


def test_pareto_maximum_has_its_closed_form_even_with_a_heavy_tail():
    for index in (1.2, 2.0, 5.0):
        n = 1_000
        exact = np.exp(special.gammaln(n + 1) + special.gammaln(1 - 1 / index) - special.gammaln(n + 1 - 1 / index))
        assert expected_max(stats.pareto(index), n) == pytest.approx(exact, rel=1e-8)


def test_uniform_maximum_is_n_over_n_plus_one():
    assert expected_max(stats.uniform(), [1, 3, 99]) == pytest.approx([1 / 2, 3 / 4, 99 / 100])


def test_normal_with_half_correlation_gives_the_contract_value():
    assert expected_max(stats.norm(10, 2), 1_024, correlation=0.5) == pytest.approx(14.594, abs=5e-4)


@rows("rho", [0.001, 0.2, 0.49, 0.5, 0.51, 0.9, 0.999])
def test_correlated_normal_maximum_shrinks_by_the_root_of_what_is_not_shared(rho):
    spread = expected_max(stats.norm(), 4_096)
    assert expected_max(stats.norm(3, 2), 4_096, correlation=rho) == pytest.approx(3 + 2 * np.sqrt(1 - rho) * spread)


def test_correlation_one_means_no_growth():
    for dist in (stats.norm(10, 2), stats.lognorm(1.0), stats.expon()):
        assert expected_max(dist, 131_072, correlation=1.0) == pytest.approx(dist.mean(), rel=1e-12)


def test_correlated_lognormal_agrees_with_simulation_of_the_copula():
    rng = np.random.default_rng(11)
    shared, own = rng.standard_normal((40_000, 1)), rng.standard_normal((40_000, 64))
    largest = np.exp(0.5 * (np.sqrt(0.3) * shared + np.sqrt(0.7) * own)).max(axis=1)
    exact = expected_max(stats.lognorm(0.5), 64, correlation=0.3)
    assert abs(largest.mean() - exact) < 4 * largest.std() / np.sqrt(largest.size)


def test_parameters_workers_and_correlation_broadcast():
    scale, n = np.array([[1.0], [2.0], [3.0]]), np.array([2, 8, 64, 512])
    table = expected_max(stats.lognorm(0.4, scale=scale), n, correlation=0.25)
    assert table.shape == (3, 4)
    assert table[2, 1] == pytest.approx(expected_max(stats.lognorm(0.4, scale=3.0), 8, correlation=0.25))
    shapes = np.array([0.2, 0.9])
    assert expected_max(stats.lognorm(shapes), [16, 1_024])[1] == pytest.approx(expected_max(stats.lognorm(0.9), 1_024))


def test_many_distinct_correlations_agree_with_one_at_a_time():
    rho = np.linspace(0.0, 1.0, 101)
    assert expected_max(stats.norm(), 256, correlation=rho) == pytest.approx(
        np.sqrt(1 - rho) * expected_max(stats.norm(), 256), abs=1e-6
    )
    shapes = np.linspace(0.1, 1.0, 101)
    joint = expected_max(stats.lognorm(shapes), 256, correlation=rho)
    assert joint[40] == pytest.approx(expected_max(stats.lognorm(shapes[40]), 256, correlation=rho[40]), rel=1e-6)


def test_a_large_batch_uses_the_coarse_rule_and_still_agrees():
    shapes = np.linspace(0.1, 2.0, 1_500)
    batch = expected_max(stats.lognorm(shapes), 131_072)
    assert batch[::300] == pytest.approx([expected_max(stats.lognorm(s), 131_072) for s in shapes[::300]], rel=1e-9)


def test_provenance_survives_the_quadrature():
    sigma = Traced([0.1, 0.2], {"evidence:jitter"})
    assert expected_max(stats.lognorm(sigma), 64).inputs == {"evidence:jitter"}
    assert expected_max(stats.norm(0, 1), 64, correlation=Traced([0.1, 0.2], {"evidence:rho"})).inputs == {
        "evidence:rho"
    }


@rows("dist", [stats.cauchy(), stats.pareto(0.9), stats.norm(0, -1), stats.t(1.0)])
def test_an_infinite_mean_or_invalid_parameter_is_refused(dist):
    with pytest.raises(OutOfRange, match="mean"):
        expected_max(dist, 8)


@rows("dist", [stats.norm, 3.0, [1, 2], stats.poisson(3), None])
def test_anything_but_a_frozen_continuous_law_is_refused(dist):
    with pytest.raises(InputError):
        expected_max(dist, 8)


@rows("kwargs", [{"n": 0}, {"n": 2.5}, {"n": np.nan}, {"n": 4, "correlation": 1.1}, {"n": 4, "correlation": -0.1}])
def test_counts_and_correlations_outside_their_domain_are_refused(kwargs):
    with pytest.raises(OutOfRange):
        expected_max(stats.norm(), **kwargs)


@few
@given(n=st.integers(1, 100_000), extra=st.integers(1, 100_000), rho=st.floats(0, 0.99), s=st.floats(0.05, 1.5))
def test_more_workers_never_lower_the_maximum(n, extra, rho, s):
    small, large = (expected_max(stats.lognorm(s), m, correlation=round(rho, 2)) for m in (n, n + extra))
    assert large >= small * (1 - 1e-9)


@few
@given(rho=st.floats(0, 0.9), step=st.floats(0.01, 0.1), s=st.floats(0.05, 1.5))
def test_more_correlation_never_raises_the_maximum(rho, step, s):
    low, high = (expected_max(stats.lognorm(s), 1_024, correlation=r) for r in (rho, rho + step))
    assert high <= low * (1 + 1e-9)


def test_noise_of_alike_workers_is_the_gumbel_maximum():
    scale = 0.01 * np.sqrt(6) / np.pi
    law = stats.gumbel_r(-np.euler_gamma * scale, scale)
    assert step_inflation(TailLaw(0.01), 1_024).noise == pytest.approx(expected_max(law, 1_024))
    shared = step_inflation(TailLaw(0.01, correlation=0.9), 1_024).noise
    assert shared == pytest.approx(np.sqrt(0.1) * expected_max(law, 1_024))


def test_slow_nodes_and_noise_agree_with_simulation():
    rng = np.random.default_rng(5)
    scale, n, slow = 0.01 * np.sqrt(6) / np.pi, 64, 3
    steps = rng.gumbel(-np.euler_gamma * scale, scale, (40_000, n))
    steps[:, :slow] += 0.02
    luck = stats.poisson(n * 0.05).cdf(slow) - 1e-6
    ours = step_inflation(TailLaw(0.01, slow_node_share=0.05, slow_node_penalty=0.02), n, luck=luck)
    assert ours.multiplier - 1 == pytest.approx(steps.max(axis=1).mean(), rel=0.01)


def test_a_slow_node_costs_its_whole_penalty_when_noise_is_small_and_does_not_average_out():
    law = TailLaw(1e-6, slow_node_share=0.5, slow_node_penalty=0.1)
    assert step_inflation(law, 10_000).slow_nodes == pytest.approx(0.1, rel=1e-3)
    assert step_inflation(law, 8, workers_per_node=8, luck=np.array([0.1, 0.99])).slow_nodes == pytest.approx(
        [0.0, 0.1], abs=1e-4
    )


def test_shared_stalls_add_and_do_not_grow_with_workers():
    law = TailLaw(0.0, shared_stall_share=0.03)
    assert step_inflation(law, [1, 100_000]).multiplier == pytest.approx([1.03, 1.03])


@few
@given(
    n=st.integers(1, 60_000),
    extra=st.integers(0, 60_000),
    jitter=st.floats(0, 0.1),
    rho=st.floats(0, 0.9),
    share=st.floats(0, 0.05),
    penalty=st.floats(0, 0.5),
    luck=st.one_of(st.none(), st.floats(0.001, 0.999)),
)
def test_more_workers_never_shorten_a_step(n, extra, jitter, rho, share, penalty, luck):
    law = TailLaw(jitter, rho, share, penalty)
    small, large = (step_inflation(law, m, luck=luck).multiplier for m in (n, n + extra))
    assert large >= small - 1e-9


@rows("bad", [{"correlation": 1.2}, {"jitter_share": -0.1}, {"slow_node_share": 2.0}])
def test_step_inputs_outside_their_domain_are_refused(bad):
    with pytest.raises(OutOfRange):
        step_inflation(TailLaw(**({"jitter_share": 0.01} | bad)), 8)


def test_a_lognormal_goes_through_both_quantiles():
    for pair in (((0.5, 10.0), (0.99, 40.0)), ((0.99, 90.0), (0.999, 200.0))):
        law = lognormal_from_quantiles(*pair)
        for probability, value in pair:
            assert law.ppf(probability) == pytest.approx(value)
    with pytest.raises(OutOfRange):
        lognormal_from_quantiles((0.99, 90.0), (0.999, 80.0))


def test_the_cost_of_a_maximum_does_not_grow_with_workers(monkeypatch):
    """Counted in quantiles evaluated, not in seconds."""
    family = type(stats.expon)
    evaluated = []
    for side in ("isf", "ppf"):
        original = getattr(family, side)

        def counting(self, q, *args, _original=original, **kwargs):
            evaluated.append(np.size(q))
            return _original(self, q, *args, **kwargs)

        monkeypatch.setattr(family, side, counting)
    totals = []
    for n in (128, 131_072):
        evaluated.clear()
        expected_max(stats.expon(), n)
        totals.append(sum(evaluated))
    assert 0 < totals[1] <= totals[0]


@rows("dist", [stats.laplace(), stats.burr12(3, 1), stats.beta(0.5, 0.5)])
def test_laws_with_kinks_and_ends_work_too(dist):
    assert expected_max(dist, 1_024) == pytest.approx(quadrature(dist, 1_024), rel=1e-5)
    assert expected_max(stats.laplace(), 2) == pytest.approx(0.75, abs=1e-6)


def test_a_law_whose_quantiles_scipy_must_search_for_works_too(monkeypatch):
    monkeypatch.setattr(
        tail, "_FINE", tail._COARSE
    )  # each quantile is a search: the rule of large batches asks for fewer
    law = stats.norminvgauss(1, 0.5)
    assert law.mean() < expected_max(law, 2) < expected_max(law, 8)


SOME = TailLaw(0.01, 0.3, 0.005, 0.1, 0.5, 0.002)


@rows("timed", [256, 1_024, 8_192])
def test_jitter_that_timed_steps_hold_already_is_not_charged_again(timed):
    law = replace(SOME, timed_workers=timed)
    assert step_inflation(law, timed, workers_per_node=8).noise == 0.0
    assert step_inflation(law, timed // 2, workers_per_node=8).noise == 0.0
    beyond = step_inflation(SOME, 4 * timed).noise - step_inflation(SOME, timed).noise
    assert step_inflation(law, 4 * timed).noise == pytest.approx(beyond)


def test_slow_nodes_and_stalls_are_charged_in_full_whatever_was_timed():
    for timed in (1, 256, 8_192):
        found = step_inflation(replace(SOME, timed_workers=timed), 1_024, workers_per_node=8)
        whole = step_inflation(SOME, 1_024, workers_per_node=8)
        assert found.slow_nodes == whole.slow_nodes and found.stalls == whole.stalls


@few
@given(st.integers(1, 100_000), st.integers(1, 100_000), st.floats(1, 20_000))
def test_the_tail_never_falls_with_size_nor_rises_with_the_size_timed(a, b, timed):
    small, large = sorted((a, b))
    law = replace(SOME, timed_workers=timed)
    assert step_inflation(law, small).multiplier <= step_inflation(law, large).multiplier + 1e-12
    assert step_inflation(law, large).multiplier <= step_inflation(SOME, large).multiplier + 1e-12


def test_fewer_than_one_timed_worker_is_refused():
    with pytest.raises(OutOfRange):
        step_inflation(replace(SOME, timed_workers=0.5), 8)
