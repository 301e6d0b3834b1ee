"""Draws are vectorised: one call over all of them against a Python loop over the same draws, in the same run.

`make bench` prints both; the ratio of a pair is the figure to quote.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from fabricreport.books.constants import catalogue
from fabricreport.models.collectives.parameters import job
from fabricreport.models.collectives.timing import allreduce
from fabricreport.models.money.cashflow import Discounting, level

KNOWN = catalogue()
DRAWS = 256
RNG = np.random.default_rng(7)
STEP_US = RNG.uniform(0, 9, (DRAWS, 1))
MONTHLY_USD = RNG.uniform(1e4, 2e4, DRAWS)
JOB: dict[str, Any] = {
    "gpus": 1024,
    "gpus_per_node": 8,
    "gpu": "h100",
    "fabric": "rocev2-400g",
    "bandwidth_share": 0.98,
}
SIZES = [2**16, 2**22, 2**30]


def present_values(flows: Any) -> Any:
    return Discounting(0.08).present_value(level(flows, 48))


@pytest.mark.benchmark(group="allreduce over draws")
def test_allreduce_takes_all_draws_at_once(benchmark: Any) -> None:
    times = benchmark(lambda: allreduce(SIZES, job(KNOWN, extra_step_us=STEP_US, **JOB)).time_us)
    assert times.shape == (DRAWS, len(SIZES))


@pytest.mark.benchmark(group="allreduce over draws")
def test_allreduce_one_draw_at_a_time_is_the_same(benchmark: Any) -> None:
    def loop() -> Any:
        return np.stack(
            [allreduce(SIZES, job(KNOWN, extra_step_us=float(step), **JOB)).time_us for step in STEP_US[:, 0]]
        )

    times = benchmark.pedantic(loop, rounds=2, iterations=1)
    assert times == pytest.approx(allreduce(SIZES, job(KNOWN, extra_step_us=STEP_US, **JOB)).time_us)


@pytest.mark.benchmark(group="present value over draws")
def test_present_value_takes_all_draws_at_once(benchmark: Any) -> None:
    assert benchmark(present_values, MONTHLY_USD).shape == (DRAWS,)


@pytest.mark.benchmark(group="present value over draws")
def test_present_value_one_draw_at_a_time_is_the_same(benchmark: Any) -> None:
    values = benchmark(lambda: np.array([float(present_values(flow)) for flow in MONTHLY_USD]))
    assert values == pytest.approx(np.asarray(present_values(MONTHLY_USD)))
