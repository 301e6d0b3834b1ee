"""What the figures of a log say about themselves and about the fabric: one function for each check.

Nothing here changes a figure. A check that needs the NIC rate takes the one given; without it the usual build of the
GPU named in the log is assumed, the message says so, and the severity drops to `info`.
"""

from __future__ import annotations

import itertools
import math
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from statistics import mean, median

from fabricreport.books.logs.lines import ERROR, INFO, WARNING, Device, Finding, LogRow, LogSection, log_rules

_RING_FACTOR = {"allreduce": 2.0, "allgather": 1.0, "reduce_scatter": 1.0, "alltoall": 1.0}


@dataclass(frozen=True)
class Setting:
    """What is known of the machine: ranks, NIC rate of one GPU, GPUs that share NVLink; `assumed` if by device name."""

    ranks: int | None
    nvlink_gpus: int | None
    nic_gbytes_per_s: float | None
    assumed: bool
    one_node_gbytes_per_s: float | None = None

    @property
    def domains(self) -> int | None:
        """Nodes (or NVLink racks) the ranks fill, or None if unknown."""
        return math.ceil(self.ranks / self.nvlink_gpus) if self.ranks and self.nvlink_gpus else None

    @property
    def is_rack(self) -> bool:
        """True if NVLink spans a rack: then the NICs of one node say little about AllReduce."""
        return (self.nvlink_gpus or 0) > log_rules().largest_node_gpus

    @property
    def node_gbytes_per_s(self) -> float | None:
        """NIC rate of a whole node."""
        return self.nic_gbytes_per_s * self.nvlink_gpus if self.nic_gbytes_per_s and self.nvlink_gpus else None


def setting_of(
    section: LogSection, *, ranks: int | None, nic_gbytes_per_s: float | None, gpus_per_node: int | None
) -> Setting:
    """Join what the caller says, what the log's header says and what its device name suggests."""
    device = next((d for d in log_rules().devices if d.contains in section.device), Device(""))
    ranks = ranks or section.ranks or implied_ranks(section)[0]
    domain = gpus_per_node or device.nvlink_gpus
    if not domain and ranks and section.hosts:
        domain = math.ceil(ranks / section.hosts)
    return Setting(
        ranks, domain, nic_gbytes_per_s or device.nic_gbytes_per_s, nic_gbytes_per_s is None,
        device.one_node_gbytes_per_s,
    )  # fmt: skip


def check_collective(section: LogSection, setting: Setting) -> tuple[Finding, ...]:
    """All checks that suit a collective's table, in the order of the lines they point at."""
    rows = tuple(r for r in section.rows if r.size_bytes > 0)
    coarse = log_rules().coarse_algbw_gbytes_per_s
    timed = tuple(r for r in rows if not ("time_derived" in r.extra and r.algbw_gbytes_per_s < coarse))
    found = [
        *_empty_messages(section), *_identity(rows), *_rank_count(section, setting), *_above_cap(section, setting),
        *_warm_up(timed), *_spikes(timed), *_dips(timed), *_two_modes(rows), *_placements(rows),
        *_two_nodes(section, setting), *_shortfall(section, setting), *_average(section),
    ]  # fmt: skip
    return tuple(sorted(found, key=lambda f: f.line or 0))


def check_perftest(section: LogSection, setting: Setting) -> tuple[Finding, ...]:
    """Checks of one perftest table: rate against the NIC's, steadiness, tail."""
    rules, found = log_rules(), []
    nic = setting.nic_gbytes_per_s
    both = section.facts.get("direction") == "both"
    best = max(section.rows, key=lambda r: r.busbw_gbytes_per_s)
    if section.collective.endswith("_bw"):
        if both:
            found.append(Finding("both-directions", INFO, section.line, "the test counts both directions together"))
        elif nic:
            share, numbers = best.busbw_gbytes_per_s / nic, {"best": best.busbw_gbytes_per_s, "nic": nic}
            if share > 1 + rules.cap_tolerance:
                message = f"{best.busbw_gbytes_per_s:.1f} GB/s is more than the NIC's {nic:g} GB/s"
                found.append(Finding("above-cap", ERROR, best.line, message, "Check the NIC rate given.", numbers))
            elif share < rules.perftest_share:
                message = f"best rate {best.busbw_gbytes_per_s:.1f} GB/s is {share:.0%} of the NIC's {nic:g} GB/s"
                remedy = (
                    "Check link speed and width, PCIe (relaxed ordering, payload size), NUMA node, MTU and queue pairs."
                )
                found.append(Finding("far-below", WARNING, best.line, message, remedy, numbers))
        for row in section.rows:
            peak = row.extra.get("peak_gbytes_per_s", 0.0)
            if peak > 0 and row.busbw_gbytes_per_s < rules.unsteady_share * peak:
                message = f"the average is {row.busbw_gbytes_per_s / peak:.0%} of the peak at {row.size_bytes} bytes"
                found.append(Finding("unsteady", WARNING, row.line, message, "Look for pauses, drops or shared links."))
    for row in section.rows:
        tail = row.extra.get("p999_us", 0.0) / row.time_us
        if section.collective.endswith("_lat") and tail > rules.tail_ratio:
            message = f"1 in 1,000 messages of {row.size_bytes} bytes takes {tail:.0f} times the typical time"
            remedy = "Fix CPU frequency and pinning first; then look at pauses and retransmits."
            found.append(Finding("long-tail", WARNING, row.line, message, remedy, {"ratio": tail}))
    return tuple(found)


def implied_ranks(section: LogSection) -> tuple[int | None, float, float]:
    """Ranks that busbw / algbw implies (n = 2/(2 - r) for AllReduce), with the interval printing leaves open."""
    top, half = _RING_FACTOR.get(section.collective, 0.0), log_rules().printed_half_step_gbytes_per_s
    clear = [r for r in section.rows if r.algbw_gbytes_per_s >= log_rules().rank_check_algbw_gbytes_per_s]
    if not top or not clear:
        return None, 1.0, math.inf
    ends = [((r.busbw_gbytes_per_s - half) / (r.algbw_gbytes_per_s + half),
             (r.busbw_gbytes_per_s + half) / (r.algbw_gbytes_per_s - half)) for r in clear]  # fmt: skip
    low, high = median(e[0] for e in ends), median(e[1] for e in ends)
    tight = [e for e in ends if e[0] <= (low + high) / 2 <= e[1]]
    low, high = max((e[0] for e in tight), default=low), min((e[1] for e in tight), default=high)
    fewest, most = top / (top - low) if low < top else math.inf, top / (top - high) if high < top else math.inf
    middle = (low + high) / 2
    return (round(top / (top - middle)) if middle < top else None), fewest, most


def _empty_messages(section: LogSection) -> Iterator[Finding]:
    empty = [r for r in section.rows if r.size_bytes == 0]
    if empty:
        yield Finding("empty-message", INFO, empty[0].line, f"{len(empty)} rows of 0 bytes measure no message")


def _identity(rows: Sequence[LogRow]) -> Iterator[Finding]:
    rules = log_rules()
    off = []
    for r in rows:
        expected = r.size_bytes / r.time_us / 1e3
        allowed = rules.identity_tolerance * expected + rules.printed_half_step_gbytes_per_s
        if abs(r.algbw_gbytes_per_s - expected) > allowed:
            off.append((r, r.algbw_gbytes_per_s / expected))
    if not off:
        return
    factor = median(f for _, f in off)
    slips = [
        s
        for s in rules.unit_slips
        if factor > 0 and abs(abs(math.log(factor)) - math.log(s.factor)) < rules.slip_tolerance
    ]
    if len(off) > 3 or slips:
        reason = f": looks like {slips[0].reason}" if slips else ""
        message = (
            f"in {len(off)} of {len(rows)} rows time x algbw is not the size, typically {factor:.3g} times it{reason}"
        )
        yield Finding(
            "identity", ERROR, off[0][0].line, message, "Ask for the log as the tool wrote it.", {"factor": factor}
        )
        return
    for row, f in off:
        message = f"time x algbw is {f:.3g} times the size of {row.size_bytes} bytes"
        yield Finding("identity", ERROR, row.line, message, "Ask for the log as the tool wrote it.", {"factor": f})


def _rank_count(section: LogSection, setting: Setting) -> Iterator[Finding]:
    implied, fewest, most = implied_ranks(section)
    claimed = setting.ranks if section.ranks or setting.ranks != implied else None
    line = section.rows[-1].line
    if implied is None:
        return
    ends = {"fewest": fewest, "most": most}
    numbers = {"implied": float(implied), **{name: end for name, end in ends.items() if math.isfinite(end)}}
    if claimed is None:
        message = f"the log names no ranks; busbw/algbw implies {implied}"
        yield Finding("ranks-implied", INFO, line, message, "", numbers)
    elif not fewest - 0.01 * claimed <= claimed <= most + 0.01 * claimed:
        message = f"{claimed} ranks are claimed, but busbw/algbw implies {implied}"
        remedy = "Ask which run this table is of: the bandwidth is that of the smaller or larger job."
        yield Finding("rank-count", ERROR, line, message, remedy, numbers | {"claimed": float(claimed)})


def _above_cap(section: LogSection, setting: Setting) -> Iterator[Finding]:
    n, k, nic = setting.ranks, setting.domains, setting.nic_gbytes_per_s
    if setting.assumed or not (n and k and nic) or k < 2 or section.collective not in _RING_FACTOR:
        return
    cap = nic * (n - 1) / (k - 1) if section.collective != "alltoall" else nic * (n - 1) / (n - n / k)
    best = max(section.rows, key=lambda r: r.busbw_gbytes_per_s)
    if best.busbw_gbytes_per_s > cap * (1 + log_rules().cap_tolerance):
        message = (
            f"busbw {best.busbw_gbytes_per_s:g} GB/s is above {cap:.1f} GB/s, the most {nic:g} GB/s a GPU allows "
            f"{n} ranks on {k} nodes"
        )
        remedy = "Check the NIC rate and the GPUs that share NVLink, and that all ranks ran across nodes."
        yield Finding("above-cap", ERROR, best.line, message, remedy, {"cap": cap, "best": best.busbw_gbytes_per_s})


def _warm_up(rows: Sequence[LogRow]) -> Iterator[Finding]:
    if len(rows) < 4 or rows[0].size_bytes > log_rules().warm_up_largest_bytes:
        return
    usual = median(r.time_us for r in rows[1:4])
    if rows[0].time_us > log_rules().warm_up_ratio * usual:
        message = f"the first row ({rows[0].time_us:g} us) is a warm-up outlier: the next sizes take {usual:g} us"
        numbers = {"first_us": rows[0].time_us, "usual_us": usual}
        yield Finding("warm-up", INFO, rows[0].line, message, "Use the second row or the in-place column.", numbers)


def _spikes(rows: Sequence[LogRow]) -> Iterator[Finding]:
    for before, row, after in zip(rows, rows[1:], rows[2:], strict=False):
        if not before.size_bytes < row.size_bytes < after.size_bytes:
            continue
        around = max(before.time_us, after.time_us)
        if row.time_us > log_rules().spike_ratio * around:
            message = f"{row.size_bytes} bytes take {row.time_us:g} us, more than both neighbours ({before.time_us:g}, {after.time_us:g})"
            yield Finding(
                "spike",
                WARNING,
                row.line,
                message,
                "Run it again; do not fit on this row.",
                {"ratio": row.time_us / around},
            )


def _dips(rows: Sequence[LogRow]) -> Iterator[Finding]:
    rules = log_rules()
    spikes = {f.line for f in _spikes(rows)}
    for before, row in itertools.pairwise(rows):
        if row.line in spikes or not rules.dip_smallest_bytes <= row.size_bytes or row.size_bytes <= before.size_bytes:
            continue
        share = row.busbw_gbytes_per_s / before.busbw_gbytes_per_s if before.busbw_gbytes_per_s else 1.0
        if share < rules.dip_share:
            message = f"busbw falls from {before.busbw_gbytes_per_s:g} to {row.busbw_gbytes_per_s:g} GB/s at {row.size_bytes} bytes"
            remedy = "A change of algorithm or protocol at this size, or congestion: compare NCCL_ALGO and NCCL_PROTO."
            yield Finding("dip", WARNING, row.line, message, remedy, {"share": share})


def _two_modes(rows: Sequence[LogRow]) -> Iterator[Finding]:
    rules = log_rules()
    sizes: dict[int, list[LogRow]] = defaultdict(list)
    for r in rows:
        sizes[r.size_bytes].append(r)
    for size, repeats in sizes.items():
        values = sorted(r.busbw_gbytes_per_s for r in repeats)
        if len(values) < rules.bimodal_smallest_count:
            continue
        gap, at = max((b - a, n) for n, (a, b) in enumerate(itertools.pairwise(values), start=1))
        side = min(at, len(values) - at) / len(values)
        if gap > rules.bimodal_gap_share * median(values) and side >= rules.bimodal_side_share:
            low, high = mean(values[:at]), mean(values[at:])
            message = f"{len(values)} repeats of {size} bytes fall into two groups, about {low:.1f} and {high:.1f} GB/s"
            remedy = "Look for a flapping or slow link, a neighbour's job, or routes that collide from run to run."
            yield Finding("bimodal", WARNING, repeats[0].line, message, remedy, {"low": low, "high": high})


def _placements(rows: Sequence[LogRow]) -> Iterator[Finding]:
    rules = log_rules()
    apart = [
        r for r in rows
        if r.in_place_time_us and r.size_bytes >= rules.dip_smallest_bytes
        and max(r.time_us / r.in_place_time_us, r.in_place_time_us / r.time_us) > rules.placement_ratio
    ]  # fmt: skip
    if len(apart) >= rules.placement_smallest_count:
        message = f"out-of-place and in-place times differ by more than a quarter on {len(apart)} sizes"
        yield Finding(
            "bimodal", WARNING, apart[0].line, message, "Run it again: the two should agree for large messages."
        )


def _two_nodes(section: LogSection, setting: Setting) -> Iterator[Finding]:
    large = [r for r in section.rows if r.size_bytes >= log_rules().large_bytes]
    if section.collective != "allreduce" or setting.domains != 2 or setting.is_rack or not large:
        return
    if (setting.ranks or 0) <= 2:
        return
    best, ring, known = (
        max(large, key=lambda r: r.busbw_gbytes_per_s),
        setting.node_gbytes_per_s,
        log_rules().two_nodes,
    )
    above = ring is not None and best.busbw_gbytes_per_s > ring
    message = f"two nodes are the best case of AllReduce: {best.busbw_gbytes_per_s:g} GB/s will not hold at scale"
    if above:
        message += f", it is above the {ring:g} GB/s of a node's NICs" + (" (assumed)" if setting.assumed else "")
    remedy = (
        f"Ask for four nodes or more, or NCCL_ALGO=Ring: one set of hosts fell from {known.two_node_gbytes_per_s:.0f} to "
        f"{known.four_node_gbytes_per_s:.0f} GB/s at four nodes."
    )
    numbers = {"best": best.busbw_gbytes_per_s, "node_nics": ring or 0.0}
    yield Finding("two-node-flattery", WARNING if above else INFO, best.line, message, remedy, numbers)


def _shortfall(section: LogSection, setting: Setting) -> Iterator[Finding]:
    large = [r for r in section.rows if r.size_bytes >= log_rules().large_bytes]
    if section.collective != "allreduce" or not setting.domains:
        return
    if not large:
        message = f"the largest message is {max(r.size_bytes for r in section.rows)} bytes: bandwidth cannot be judged"
        yield Finding("no-large-message", INFO, section.rows[-1].line, message, "Measure up to 8 GiB.")
        return
    best = max(large, key=lambda r: r.busbw_gbytes_per_s)
    if setting.domains == 1:
        floor = setting.one_node_gbytes_per_s
        if floor and setting.ranks == setting.nvlink_gpus and best.busbw_gbytes_per_s < floor:
            message = f"{best.busbw_gbytes_per_s:g} GB/s inside one node, below {floor:g}: NVLS seems not to work"
            yield Finding("far-below", INFO, best.line, message, "Check NCCL_NVLS_ENABLE and the fabric manager.")
        return
    whole = None if setting.is_rack else setting.node_gbytes_per_s
    band = next((b for b in log_rules().shortfall if whole and best.busbw_gbytes_per_s / whole < b.below), None)
    if band and whole:
        share = best.busbw_gbytes_per_s / whole
        base = f"{whole:g} GB/s of a node's NICs" + (" (assumed from the GPU's name)" if setting.assumed else "")
        message = (
            f"peak busbw {best.busbw_gbytes_per_s:g} GB/s is {share:.0%} of the {base}: looks like {band.looks_like}"
        )
        numbers = {"share": share, "best": best.busbw_gbytes_per_s, "node_nics": whole}
        yield Finding("far-below", INFO if setting.assumed else WARNING, best.line, message, band.remedy, numbers)


def _average(section: LogSection) -> Iterator[Finding]:
    printed = section.printed_average
    figures = [v for r in section.rows for v in (r.busbw_gbytes_per_s, r.in_place_busbw_gbytes_per_s) if v is not None]
    if printed is None or not figures:
        return
    ours = mean(figures)
    if abs(ours - printed) > log_rules().average_tolerance * max(printed, ours) + 0.01:
        message = f"the printed average busbw is {printed:g} GB/s, that of the rows here {ours:.4g}: rows are missing or changed"
        yield Finding(
            "average",
            WARNING,
            section.rows[-1].line,
            message,
            "Ask for the whole log.",
            {"printed": printed, "rows": ours},
        )
