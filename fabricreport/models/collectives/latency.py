"""When the gap between RoCEv2 and InfiniBand matters: penalty maps, where latency rules, and what is disputed.

All functions are pure and take the same job keywords as `collectives.allreduce`. Uncertain inputs (`extra_step_us`,
`bandwidth_share`) may carry a leading draw axis of shape (draws, 1); results then lead with it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from fabricreport.errors import InputError, OutOfRange, Problem
from fabricreport.evidence import read_yaml
from fabricreport.models.collectives.parameters import MATURITIES, Array, checked_choice, checked_sizes, job
from fabricreport.models.collectives.timing import allreduce, allreduce_pairs, best_parts

BASELINE = "infiniband-ndr"
CONTENDER = "rocev2-400g"
OCTAVES = 44
STEPS_PER_OCTAVE = 16


@dataclass(frozen=True)
class Decomposition:
    """An AllReduce's time in microseconds, split: inside the nodes, from NIC to NIC, and the bytes themselves.

    Shapes as the time's: (sizes) or (draws, sizes). `latency_us` is what an empty message costs.
    """

    node_us: Array
    network_us: Array
    bandwidth_us: Array
    total_us: Array
    algorithm: str | Array
    protocol: str | Array

    @property
    def latency_us(self) -> Array:
        """In-node and NIC-to-NIC steps together."""
        return self.node_us + self.network_us


@dataclass(frozen=True)
class PenaltyMap:
    """Relative penalty of one fabric over another, shape (gpus, sizes) or (draws, gpus, sizes).

    `penalty` is time over time, less one. `algorithm` and `protocol` name what the first draw of the contender
    runs, (gpus, sizes).
    """

    gpus: tuple[int, ...]
    size_bytes: tuple[float, ...]
    penalty: Array
    baseline_us: Array
    contender_us: Array
    algorithm: Array
    protocol: Array


@dataclass(frozen=True)
class Contested:
    """A quantity on which sources disagree: PERT (low, mode, high) for who tunes the fabric, and the claims."""

    what: str
    unit: str
    low: float
    mode: float
    high: float
    central: float
    grade: str
    use: str
    claims: tuple[Mapping[str, Any], ...]


def decompose(
    size_bytes: ArrayLike,
    *,
    gpus: int,
    gpus_per_node: int,
    gpu: str,
    fabric: str,
    links_per_gpu: float | None = None,
    algorithm: str = "auto",
    protocol: str = "auto",
    extra_step_us: ArrayLike | None = None,
    bandwidth_share: ArrayLike | None = None,
) -> Decomposition:
    """Split an AllReduce's time into in-node latency, inter-node latency and bandwidth terms."""
    where = job(
        gpus=gpus,
        gpus_per_node=gpus_per_node,
        gpu=gpu,
        fabric=fabric,
        links_per_gpu=links_per_gpu,
        extra_step_us=extra_step_us,
        bandwidth_share=bandwidth_share,
    )
    pairs = allreduce_pairs(where, algorithm, protocol)
    parts, algorithms, protocols = best_parts(checked_sizes(size_bytes), where, pairs)
    return Decomposition(parts.launch_us, parts.network_us, parts.bandwidth_us, parts.total_us, algorithms, protocols)


def half_latency_size_bytes(
    *,
    gpus: int,
    gpus_per_node: int,
    gpu: str,
    fabric: str,
    links_per_gpu: float | None = None,
    algorithm: str = "auto",
    protocol: str = "auto",
    extra_step_us: ArrayLike | None = None,
    bandwidth_share: ArrayLike | None = None,
) -> Array:
    """The message size where latency is half of an AllReduce's time, bytes, shape () or (draws).

    Below it steps rule, above it bytes do. With `auto` the algorithm changes along the way, so latency may fall
    under half more than once: the size is then where as much of the scale (in octaves) lies under latency's rule.
    """
    grid = np.exp2(np.arange(OCTAVES * STEPS_PER_OCTAVE + 1) / STEPS_PER_OCTAVE)
    split = decompose(
        grid,
        gpus=gpus,
        gpus_per_node=gpus_per_node,
        gpu=gpu,
        fabric=fabric,
        links_per_gpu=links_per_gpu,
        algorithm=algorithm,
        protocol=protocol,
        extra_step_us=extra_step_us,
        bandwidth_share=bandwidth_share,
    )
    latency_rules = split.latency_us >= 0.5 * split.total_us
    size: Array = np.exp2(np.sum(latency_rules, axis=-1) / STEPS_PER_OCTAVE)
    return size


def penalty_map(
    gpus: Sequence[int],
    size_bytes: Sequence[float],
    *,
    gpus_per_node: int,
    gpu: str,
    fabric: str = CONTENDER,
    baseline: str = BASELINE,
    links_per_gpu: float | None = None,
    algorithm: str = "auto",
    protocol: str = "auto",
    extra_step_us: ArrayLike | None = None,
    bandwidth_share: ArrayLike | None = None,
) -> PenaltyMap:
    """Relative penalty of `fabric` over `baseline` across cluster sizes and message sizes.

    `extra_step_us` and `bandwidth_share` belong to `fabric` (default: its central values); `baseline` keeps its own
    defaults. An algorithm named is forced on both.
    """
    if not len(gpus) or not len(size_bytes):
        raise InputError(
            Problem(
                "a map needs at least one cluster size and one message size",
                key="gpus, size_bytes",
                value=f"{len(gpus)} and {len(size_bytes)}",
                remedy="Give both, such as (16, 1024) and (2**20, 2**30).",
            )
        )
    sizes = np.asanyarray(size_bytes, dtype=float)
    same: dict[str, Any] = {
        "gpus_per_node": gpus_per_node,
        "gpu": gpu,
        "links_per_gpu": links_per_gpu,
        "algorithm": algorithm,
        "protocol": protocol,
    }
    uncertain: dict[str, Any] = {"extra_step_us": extra_step_us, "bandwidth_share": bandwidth_share}
    ours = [allreduce(sizes, gpus=n, fabric=fabric, **same, **uncertain) for n in gpus]
    base = [allreduce(sizes, gpus=n, fabric=baseline, **same) for n in gpus]
    contender_us = np.stack(np.broadcast_arrays(*(t.time_us for t in ours)), axis=-2)
    baseline_us = np.stack([t.time_us for t in base], axis=-2)
    names = [np.stack([_first_draw(getattr(t, key), sizes.size) for t in ours]) for key in ("algorithm", "protocol")]
    return PenaltyMap(
        tuple(int(n) for n in gpus),
        tuple(float(s) for s in size_bytes),
        contender_us / baseline_us - 1.0,
        baseline_us,
        contender_us,
        names[0],
        names[1],
    )


def step_penalty(
    baseline_us: ArrayLike, contender_us: ArrayLike, *, compute_us: ArrayLike, overlap_share: ArrayLike
) -> Array:
    """Longer training step as a share of the baseline's, when part of the compute hides communication.

    `exposed = max(0, communication - overlap_share * compute)`; arguments broadcast. With enough overlap the
    penalty is zero whatever the fabric. `compute_us` must be positive and `overlap_share` from 0 to 1.
    """
    base, ours = np.asanyarray(baseline_us), np.asanyarray(contender_us)
    compute, overlap = np.asanyarray(compute_us), np.asanyarray(overlap_share)
    _within("compute_us", compute, 1e-9, np.inf)
    _within("overlap_share", overlap, 0.0, 1.0)
    exposed_base = np.maximum(base - overlap * compute, 0.0)
    exposed_ours = np.maximum(ours - overlap * compute, 0.0)
    penalty: Array = (exposed_ours - exposed_base) / (compute + exposed_base)
    return penalty


def gpus_below_which_it_does_not_matter(
    threshold_share: float = 0.01,
    *,
    size_bytes: float,
    gpus_per_node: int,
    gpu: str,
    exposed_share: ArrayLike = 1.0,
    fabric: str = CONTENDER,
    baseline: str = BASELINE,
    links_per_gpu: float | None = None,
    algorithm: str = "auto",
    protocol: str = "auto",
    extra_step_us: ArrayLike | None = None,
    bandwidth_share: ArrayLike | None = None,
    most_gpus: int = 131_072,
) -> Array:
    """The largest cluster up to which the fabric costs no more than `threshold_share`, in GPUs, shape () or (draws).

    Nodes double from one (no fabric, no penalty) to `most_gpus`; the answer is the last size before the penalty
    on messages of `size_bytes`, times `exposed_share` (the share of a step that is exposed communication; 1 judges
    the collective alone), first exceeds the threshold. `most_gpus` means that it never did.
    """
    limit = np.asanyarray(threshold_share)
    _within("threshold_share", limit, 0.0, np.inf)
    share = np.asanyarray(exposed_share)
    _within("exposed_share", share, 0.0, 1.0)
    doublings = int(np.log2(max(most_gpus // gpus_per_node, 1)))
    sizes = [gpus_per_node * 2**k for k in range(doublings + 1)]
    found = penalty_map(
        sizes,
        (float(size_bytes),),
        gpus_per_node=gpus_per_node,
        gpu=gpu,
        fabric=fabric,
        baseline=baseline,
        links_per_gpu=links_per_gpu,
        algorithm=algorithm,
        protocol=protocol,
        extra_step_us=extra_step_us,
        bandwidth_share=bandwidth_share,
    )
    penalty = found.penalty[..., 0] * share
    # A penalty equal to the threshold up to rounding does not exceed it.
    small = np.cumprod(penalty <= limit + 1e-12, axis=-1)
    largest: Array = gpus_per_node * np.exp2(np.maximum(np.sum(small, axis=-1) - 1.0, 0.0))
    return largest


def contested(quantity: str, networking_maturity: str = "medium") -> Contested:
    """The distribution of `step-us` or `bandwidth-share` for an organisation's networking maturity.

    How the range moves with maturity (`low`, `medium`, `high`: who tunes the fabric) is an assumption, graded so;
    the claims behind the whole range carry their sources.
    """
    table = read_yaml("collectives")["contested"]
    entry = table[checked_choice("quantity", quantity, tuple(table))]
    spread = entry["by_maturity"][checked_choice("networking_maturity", networking_maturity, MATURITIES)]
    return Contested(
        what=entry["what"],
        unit=entry["unit"],
        low=float(spread["low"]),
        mode=float(spread["mode"]),
        high=float(spread["high"]),
        central=float(entry["central"]),
        grade=entry["grade"],
        use=entry["use"],
        claims=tuple(entry["claims"]),
    )


def claim_value(claim: Mapping[str, Any]) -> float:
    """One number for a claim: its value, or the middle of its range."""
    value = claim["value"]
    return 0.5 * (float(value["low"]) + float(value["high"])) if isinstance(value, Mapping) else float(value)


def _first_draw(names: str | Array, sizes: int) -> Array:
    if isinstance(names, str):
        return np.full(sizes, names)
    flat: Array = np.broadcast_to(names, (*names.shape[:-1], sizes)).reshape(-1, sizes)[0]
    return flat


def _within(key: str, value: Array, low: float, high: float) -> None:
    plain = value.view(np.ndarray)
    if not np.all(np.isfinite(plain) & (plain >= low) & (plain <= high)):
        raise OutOfRange(
            Problem(
                f"must be finite, from {low:g} to {high:g}",
                key=key,
                value=str(plain),
                remedy="Give a number in that range.",
            )
        )
