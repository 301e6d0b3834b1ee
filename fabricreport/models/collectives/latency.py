"""When the gap between RoCEv2 and InfiniBand matters: penalty maps, and where latency rules.

All functions are pure and take a `parameters.Job`, as `timing.allreduce` does. Its uncertain inputs
(`extra_step_us`, `bandwidth_share`) may carry a leading draw axis of shape (draws, 1); results then lead with it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from fabricreport.errors import InputError, Problem
from fabricreport.models.collectives.parameters import Array, Job, checked_sizes
from fabricreport.models.collectives.timing import allreduce, allreduce_pairs, best_parts

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


def decompose(size_bytes: ArrayLike, where: Job, *, algorithm: str = "auto", protocol: str = "auto") -> Decomposition:
    """Split an AllReduce's time into in-node latency, inter-node latency and bandwidth terms."""
    pairs = allreduce_pairs(where, algorithm, protocol)
    parts, algorithms, protocols = best_parts(checked_sizes(size_bytes), where, pairs)
    return Decomposition(parts.launch_us, parts.network_us, parts.bandwidth_us, parts.total_us, algorithms, protocols)


def half_latency_size_bytes(where: Job, *, algorithm: str = "auto", protocol: str = "auto") -> Array:
    """The message size where latency is half of an AllReduce's time, bytes, shape () or (draws).

    Below it steps rule, above it bytes do. With `auto` the algorithm changes along the way, so latency may fall
    under half more than once: the size is then where as much of the scale (in octaves) lies under latency's rule.
    """
    grid = np.exp2(np.arange(OCTAVES * STEPS_PER_OCTAVE + 1) / STEPS_PER_OCTAVE)
    split = decompose(grid, where, algorithm=algorithm, protocol=protocol)
    latency_rules = split.latency_us >= 0.5 * split.total_us
    size: Array = np.exp2(np.sum(latency_rules, axis=-1) / STEPS_PER_OCTAVE)
    return size


def penalty_map(
    pairs: Sequence[tuple[Job, Job]], size_bytes: Sequence[float], *, algorithm: str = "auto", protocol: str = "auto"
) -> PenaltyMap:
    """Relative penalty of a fabric over a baseline across cluster sizes and message sizes.

    `pairs` holds a (contender, baseline) of equal ranks for each cluster size; an algorithm named is forced on both.
    """
    if not len(pairs) or not len(size_bytes):
        raise InputError(
            Problem(
                "a map needs at least one cluster size and one message size",
                key="pairs, size_bytes",
                value=f"{len(pairs)} and {len(size_bytes)}",
                remedy="Give both: two jobs for each size, and sizes such as (2**20, 2**30).",
            )
        )
    sizes = np.asanyarray(size_bytes, dtype=float)
    ours, base = (
        [allreduce(sizes, pair[side], algorithm=algorithm, protocol=protocol) for pair in pairs] for side in (0, 1)
    )
    contender_us = np.stack(np.broadcast_arrays(*(t.time_us for t in ours)), axis=-2)
    baseline_us = np.stack([t.time_us for t in base], axis=-2)
    names = [np.stack([_first_draw(getattr(t, key), sizes.size) for t in ours]) for key in ("algorithm", "protocol")]
    return PenaltyMap(
        tuple(where.ranks for where, _ in pairs),
        tuple(float(s) for s in size_bytes),
        contender_us / baseline_us - 1.0,
        baseline_us,
        contender_us,
        names[0],
        names[1],
    )


def _first_draw(names: str | Array, sizes: int) -> Array:
    if isinstance(names, str):
        return np.full(sizes, names)
    flat: Array = np.broadcast_to(names, (*names.shape[:-1], sizes)).reshape(-1, sizes)[0]
    return flat
