"""All break-evens of a memo against its analyses, in one process: the ratio is the figure to quote, no time is asserted.

Run with `pytest tests/benchmarks/test_bench_break_evens.py --benchmark-enable`.
"""

from __future__ import annotations

from pathlib import Path
from time import process_time
from typing import Any

import pytest

from fabricreport.case import Case, open_case
from fabricreport.sections.decision.turning import Search, Turns, turns_of

PARAMS = Path(__file__).parents[2] / "params"


def analysed(name: str) -> tuple[Case, float]:
    """A case with every analysis made but the break-evens, and the seconds of processor time that took."""
    case = open_case(PARAMS / f"{name}.yaml")
    start = process_time()
    for study in (case.latency, case.tail, case.tco, case.diligence):
        study()
    return case, process_time() - start


@pytest.mark.parametrize("name", ["example", "tern-finetuning", "kestrel-lab"])
def test_break_evens_against_the_analyses_of_the_memo(benchmark: Any, name: str) -> None:
    spent: list[float] = []

    def turns(case: Case) -> Turns:
        start = process_time()
        found = turns_of(Search(case.chain, case.comparison))
        spent.append(process_time() - start)
        return found

    analysed(name)  # what a process reads once, it has read
    case, seconds = analysed(name)
    found = benchmark.pedantic(lambda: turns(case), rounds=1, iterations=1)
    benchmark.extra_info["break_evens_over_analyses"] = spent[-1] / seconds
    assert found.drawn and found.choices
