"""Logs of benchmarks, as files and made up: what the tests that read them share."""

from __future__ import annotations

from pathlib import Path

import pandas as pd

from fabricreport.books.logs.measurements import Finding

LOGS = Path(__file__).parents[1] / "data" / "logs"
CLEAN, BROKEN = LOGS / "xe9680_16gpu_mpirun.txt", LOGS / "gpu64_slurm_broken.txt"
PERFTEST, BENCH = LOGS / "roce_perftest.txt", LOGS / "b200_32gpu_all_reduce_bench.txt"
ROW = "1073741824 268435456 float sum -1 4484.9 239.41 448.90 0 4490.1 239.14 448.38 0"


def kinds(frame: pd.DataFrame) -> list[str]:
    return [f.kind for f in frame.attrs["findings"]]


def finding(frame: pd.DataFrame, kind: str) -> Finding:
    return next(f for f in frame.attrs["findings"] if f.kind == kind)


def table(*rows: tuple[int, float], n: int = 16, head: str = "# Collective test starting: all_reduce_perf") -> str:
    """An AllReduce table of (size, time_us) as the tool would print it for n ranks."""
    lines = [head]
    for size, time_us in rows:
        algbw = size / time_us / 1e3
        busbw = algbw * 2 * (n - 1) / n
        lines.append(f"{size} {size // 4} float sum -1 {time_us} {algbw:.2f} {busbw:.2f} 0")
    return "\n".join(lines) + "\n"


def curve(n: int = 32, peak: float = 200.0, start: int = 20, end: int = 33) -> list[tuple[int, float]]:
    """A smooth latency-plus-bandwidth curve whose largest algbw nears `peak` GB/s."""
    return [(2**p, round(40.0 + 2**p / peak / 1e3, 1)) for p in range(start, end)]
