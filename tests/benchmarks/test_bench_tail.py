"""Cost in N and against simulation; figures go to the benchmark report, no time is asserted.

Run with `pytest tests/benchmarks/test_bench_tail.py --benchmark-enable`.
"""

from __future__ import annotations

from time import perf_counter

import numpy as np
import pytest
from scipy import stats

from fabricreport.books.equipment import families
from fabricreport.books.evidence import read_evidence
from fabricreport.models.risk.entries import common_incidents, fabric_risk
from fabricreport.models.risk.goodput import Run, simulate
from fabricreport.models.risk.incidents import Cluster, Luck
from fabricreport.models.risk.tail import expected_max

DRAWS = 100_000
SIZES = (128, 131_072)
central = read_evidence().central


@pytest.mark.parametrize("n", SIZES)
def test_expected_maximum_of_a_hundred_thousand_draws(benchmark, n):
    sigma = np.linspace(0.1, 1.0, DRAWS)
    result = benchmark.pedantic(lambda: expected_max(stats.lognorm(sigma), n), rounds=3, warmup_rounds=1)
    assert result.shape == (DRAWS,)


@pytest.mark.parametrize("n", SIZES)
def test_a_hundred_thousand_runs_with_fresh_luck(benchmark, n):
    run = Run(Cluster(n, n, n / 21), 30.0, 0.3, 60.0, common_incidents(central))
    rate = np.linspace(0.5, 2.0, DRAWS) * central("link-failures-per-link-year")
    risk = fabric_risk(
        lambda i: rate if i == "link-failures-per-link-year" else central(i), families()["rocev2"].behaviour, gpus=n
    )
    seeds = iter(range(100))
    result = benchmark.pedantic(lambda: simulate(run, risk, Luck(next(seeds), DRAWS)), rounds=3, warmup_rounds=1)
    assert result.finish_days.shape == (DRAWS,)


def test_quadrature_against_monte_carlo(benchmark):
    """Time of simulating 1,024 workers to 1 % over the time of the quadrature; both must agree."""
    rng = np.random.default_rng(0)
    start = perf_counter()
    simulated = rng.lognormal(0.0, 0.5, (10_000, 1_024)).max(axis=1).mean()
    monte_carlo_s = perf_counter() - start
    exact = benchmark.pedantic(lambda: expected_max(stats.lognorm(0.5), 1_024), rounds=5, warmup_rounds=1)
    start = perf_counter()
    expected_max(stats.lognorm(0.5), 1_024)
    benchmark.extra_info["monte_carlo_over_quadrature"] = monte_carlo_s / (perf_counter() - start)
    assert simulated == pytest.approx(exact, rel=0.02)
