"""Deliveries made up: logs as the tools print them, for every test of a plan, as good or as bad as is asked for."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

from fabricreport.sections.diligence.plan.result import Plan, PlannedTest, Tool

PROGRAM = {
    "allreduce": "all_reduce_perf",
    "allgather": "all_gather_perf",
    "reduce_scatter": "reduce_scatter_perf",
    "alltoall": "alltoall_perf",
}
_HEAD = """#
#                                                              out-of-place                       in-place
#       size         count      type   redop    root     time   algbw   busbw #wrong     time   algbw   busbw #wrong
#        (B)    (elements)                               (us)  (GB/s)  (GB/s)            (us)  (GB/s)  (GB/s)
"""


def factor(collective: str, gpus: int) -> float:
    """busbw over algbw."""
    return (2.0 if collective == "allreduce" else 1.0) * (gpus - 1) / gpus


def nccl_log(
    collective: str,
    gpus: int,
    times_us: Mapping[int, float],
    *,
    claims: int = 0,
    per_node: int = 8,
    wrong: int = 0,
    run: int = 1,
) -> str:
    """One run of nccl-tests over `gpus` at sizes in bytes; `claims`: ranks that the list names, as many unless given."""
    listed = claims or gpus
    redop = "sum" if collective in ("allreduce", "reduce_scatter") else "none"
    lines = [
        f"# nThread 1 nGpus 1 minBytes {min(times_us)} maxBytes {max(times_us)} step: 2(factor) warmup iters: 5 iters: 20 "
        "agg iters: 1 validation: 1 graph: 0",
        f"# {PROGRAM[collective]}",
        "#",
        "# Using devices",
    ]
    for rank in range(listed):
        node, device = divmod(rank, per_node)
        lines.append(
            f"#  Rank {rank:2} Group  0 Pid {1000 * run + rank:6} on gpu-{node + 1:03} device {device:2} [0x1b] NVIDIA H100 80GB HBM3"
        )
    rows, shown = [], []
    for size, time in sorted(times_us.items()):
        algbw = size / time / 1e3
        busbw = algbw * factor(collective, gpus)
        shown.append(round(busbw, 2))
        figures = f"{time:9.2f} {algbw:7.2f} {busbw:7.2f} {wrong:6}"
        rows.append(f"{size:12} {size // 4:12} {'float':>9} {redop:>7} {-1:7} {figures} {figures}")
    average = sum(shown) / len(shown)
    foot = [
        f"# Out of bounds values : {wrong} {'OK' if not wrong else 'FAILED'}",
        f"# Avg bus bandwidth    : {average:g} ",
        "#",
    ]
    return "\n".join([*lines, *_HEAD.rstrip("\n").split("\n"), *rows, *foot]) + "\n"


def bandwidth_log(collective: str, gpus: int, busbw: Mapping[int, float], **more: int) -> str:
    """The same from busbw in GB/s."""
    times = {size: size / 1e3 / (value / factor(collective, gpus)) for size, value in busbw.items()}
    return nccl_log(collective, gpus, times, **more)


def perftest_log(gbytes_per_s: float, size: int = 1048576, run: int = 1) -> str:
    """One `ib_write_bw` between two adapters."""
    gbits = gbytes_per_s * 8
    return f"""---------------------------------------------------------------------------------------
                    RDMA_Write BW Test
 Dual-port       : OFF\t\tDevice         : mlx5_0
 Number of qps   : 4\t\tTransport type : IB
 Connection type : RC\t\tUsing SRQ      : OFF
 Link type       : IB
---------------------------------------------------------------------------------------
 local address: LID 0x11 QPN {run:#06x} PSN 0x9a2f1c RKey 0x1820a1 VAddr 0x007f2a8c000000
---------------------------------------------------------------------------------------
 #bytes     #iterations    BW peak[Gb/sec]    BW average[Gb/sec]   MsgRate[Mpps]
 {size}     90000            {gbits + 0.02:.2f}             {gbits:.2f}             {gbits / 8 / size * 1e3:.6f}
---------------------------------------------------------------------------------------
"""


def delivery(plan: Plan, *, share: float = 1.0, gpus: int = 0, per_node: int = 8) -> dict[str, str]:
    """Files of a delivery by name, every test of the plan run as often as it asks and named as its commands do.

    A share of 1 is a fabric that holds where each credit begins with two percent to spare; `share` scales all bandwidths (and times by
    its inverse). `gpus`: what the runs that claim the whole cluster really ran on.
    """
    files: dict[str, str] = {}
    for test in plan.tests:
        if test.tool is not Tool.RECORD and test.unit != "ratio":
            files |= dict(_logs(test, share, gpus, per_node))
    return files | {"records.yaml": records(plan)}


def records(plan: Plan) -> str:
    """What no benchmark prints, each as the plan asks."""
    lines = ["tests:"]
    for test in plan.tests:
        for (gpus, _), threshold in test.thresholds.items() if test.tool is Tool.RECORD else ():
            seen = float(int(threshold)) if test.unit == "count" else 0.97 * threshold
            for number in range(test.runs):
                lines += [
                    f"  - test: {test.id}",
                    f"    gpus: {gpus}",
                    f"    value: {seen:g}",
                    f"    unit: {test.unit}",
                    f"    evidence: Protocol of the acceptance, entry {number + 1}",
                ]
    return "\n".join(lines) + "\n"


def _logs(test: PlannedTest, share: float, gpus: int, per_node: int) -> Iterator[tuple[str, str]]:
    points: dict[int, dict[int, float]] = {}
    for (on, size), line in test.lines.items():
        points.setdefault(on, {})[size] = line.credit.value
    for on, sizes in points.items():
        for run in range(1, test.runs + 1):
            room = 1.02 + 0.002 * (run % 3)
            name = f"{test.id}.{on // per_node}.{run}.log"
            if test.tool is Tool.PERFTEST:
                (bar,) = sizes.values()
                rate = (bar / 8 if test.unit == "gbits/s" else bar) * room * share
                yield name, perftest_log(rate, run=run)
                continue
            ran = gpus if gpus and on > gpus else on
            if test.unit == "us":
                times = {size: bar / room / share for size, bar in sizes.items()}
                yield name, nccl_log(test.measures, ran, times, claims=on, per_node=per_node, run=run)
            else:
                rates = {size or 2**34: bar * room * share for size, bar in sizes.items()}
                yield name, bandwidth_log(test.measures, ran, rates, claims=on, per_node=per_node, run=run)


def write(files: Mapping[str, str], folder: Path) -> list[Path]:
    """The files written into a folder, and where they are."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in files.items():
        (folder / name).write_text(text, encoding="utf-8")
    return [folder / name for name in files]
