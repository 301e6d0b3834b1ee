"""Time of NCCL collectives on a GPU cluster: `allreduce`, `allgather`, `reduce_scatter`, `alltoall`, `sendrecv`.

Every function takes message sizes in bytes (a number or an array, sizes on the last axis) and the job that runs it
(`parameters.job`), and returns a `CollectiveTime`. Uncertain inputs (`extra_step_us`, `bandwidth_share` of the
job, the fields of `calibration`) may carry a leading draw axis of shape (draws, 1); results are then (draws, sizes).

Sizes follow nccl-tests: the whole vector for AllReduce, the gathered output for AllGather, the input for
ReduceScatter, one rank's send buffer for AlltoAll and SendRecv.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypedDict, Unpack

import numpy as np
from numpy.typing import ArrayLike

from fabricreport.base.errors import InputError, OutOfRange, Problem
from fabricreport.models.collectives import nccl
from fabricreport.models.collectives.nccl import BYTES_PER_US, Parts, alltoall_parts, sendrecv_parts
from fabricreport.models.collectives.parameters import (
    ALGORITHMS,
    PROTOCOLS,
    Array,
    Job,
    Parameters,
    checked_choice,
    checked_sizes,
)
from fabricreport.models.draws import positive


@dataclass(frozen=True)
class Calibration:
    """A client's own measurements as two factors on the model: above 1 is slower to start, or faster to carry.

    Fields broadcast like the other uncertain inputs: a number, or (draws, 1).
    """

    latency_factor: ArrayLike = 1.0
    bandwidth_factor: ArrayLike = 1.0


@dataclass(frozen=True)
class CollectiveTime:
    """Time and bandwidths of a collective, each of shape (sizes) or (draws, sizes).

    `algbw = size / time`; `busbw` multiplies it by nccl-tests' factor for the collective. `algorithm` and
    `protocol` name what ran: a str when it is one for all elements, else an array of names of the same shape.
    """

    time_us: Array
    algbw_gbytes_per_s: Array
    busbw_gbytes_per_s: Array
    algorithm: str | Array
    protocol: str | Array


class How(TypedDict, total=False):
    """Choices of a collective, all left out as a rule: the algorithm and protocol by name instead of the fastest; a client's
    own measurements; a fit in place of the one of the job's catalogue."""

    algorithm: str
    protocol: str
    calibration: Calibration | None
    parameters: Parameters | None


def allreduce(
    size_bytes: ArrayLike,
    where: Job,
    *,
    algorithm: str = "auto",
    protocol: str = "auto",
    calibration: Calibration | None = None,
    parameters: Parameters | None = None,
) -> CollectiveTime:
    """AllReduce of `size_bytes` over the job's ranks by the fastest algorithm and protocol, or the ones named.

    `parameters` replaces the fit of the job's catalogue. One NVLink domain runs without NICs (NVLS is then reported as
    `nvlstree`); one GPU moves nothing and costs a kernel launch. Raises `InputError` for a name or size that cannot be.
    """
    sizes = checked_sizes(size_bytes)
    pairs = _pairs(where, algorithm, protocol, nccl.available(where))
    parts, algorithms, protocols = best_parts(sizes, where, pairs, calibration, parameters)
    return _result(sizes, parts, 2.0 * (where.ranks - 1) / where.ranks, algorithms, protocols)


def allgather(size_bytes: ArrayLike, where: Job, **how: Unpack[How]) -> CollectiveTime:
    """AllGather of `size_bytes` of output over all ranks: one pass of a ring (the library's multi-node choice)."""
    return _one_pass("AllGather", size_bytes, where, **how)


def reduce_scatter(size_bytes: ArrayLike, where: Job, **how: Unpack[How]) -> CollectiveTime:
    """ReduceScatter of `size_bytes` of input over all ranks: one pass of a ring."""
    return _one_pass("ReduceScatter", size_bytes, where, **how)


def alltoall(size_bytes: ArrayLike, where: Job, **how: Unpack[How]) -> CollectiveTime:
    """AlltoAll: every rank sends `size_bytes / ranks` to every other, over NVLink inside the domain, NICs outside.

    Point to point: there is no algorithm to choose and the protocol is Simple. The NICs' share under this
    many-to-many traffic is an assumption: one public figure exists.
    """
    return _point_to_point("AlltoAll", alltoall_parts, size_bytes, where, **how)


def sendrecv(size_bytes: ArrayLike, where: Job, **how: Unpack[How]) -> CollectiveTime:
    """SendRecv: every rank sends `size_bytes` to the next; the slowest pair crosses NICs if there are any."""
    return _point_to_point("SendRecv", sendrecv_parts, size_bytes, where, **how)


def best_parts(
    sizes: Array,
    where: Job,
    pairs: tuple[tuple[str, str], ...],
    calibration: Calibration | None = None,
    parameters: Parameters | None = None,
) -> tuple[Parts, str | Array, str | Array]:
    """Parts of the fastest AllReduce among `pairs`, with the names of what won element by element."""
    if where.ranks == 1:
        return _nothing_to_send(sizes, where), "none", "none"
    fitted = where.known.fitted if parameters is None else parameters
    tried = [_calibrated(nccl.allreduce_parts(sizes, where, *pair, fitted), calibration) for pair in pairs]
    parts, winner = nccl.fastest(tried)
    return parts, _names(winner, [a for a, _ in pairs]), _names(winner, [p for _, p in pairs])


def _pairs(
    where: Job, algorithm: str, protocol: str, offered: tuple[tuple[str, str], ...]
) -> tuple[tuple[str, str], ...]:
    checked_choice("algorithm", algorithm, ALGORITHMS)
    checked_choice("protocol", protocol, PROTOCOLS)
    left = tuple(p for p in offered if algorithm in ("auto", p[0]) and protocol in ("auto", p[1]))
    if not left:
        message = f"does not exist for {where.ranks} x {where.gpu.name} on {where.fabric.name}"
        remedy = f"Choose among {', '.join(f'{a}/{p}' for a, p in offered)}, or leave both at auto."
        raise InputError(Problem(message, key="algorithm, protocol", value=f"{algorithm}/{protocol}", remedy=remedy))
    return left


def _one_pass(
    name: str,
    size_bytes: ArrayLike,
    where: Job,
    *,
    algorithm: str = "auto",
    protocol: str = "auto",
    calibration: Calibration | None = None,
    parameters: Parameters | None = None,
) -> CollectiveTime:
    sizes = checked_sizes(size_bytes)
    offered = tuple(("ring", p) for p in nccl.RING_PROTOCOLS)
    if algorithm in ("tree", "nvlstree"):
        raise _no_such(name, "algorithm", algorithm, "ring")
    pairs = _pairs(where, algorithm, protocol, offered)
    factor = (where.ranks - 1) / where.ranks
    if where.ranks == 1:
        return _result(sizes, _nothing_to_send(sizes, where), factor, "none", "none")
    fitted = where.known.fitted if parameters is None else parameters
    tried = [_calibrated(nccl.ring_parts(sizes, where, p, fitted, passes=1), calibration) for _, p in pairs]
    parts, winner = nccl.fastest(tried)
    return _result(sizes, parts, factor, "ring", _names(winner, [p for _, p in pairs]))


def _point_to_point(
    name: str,
    cost: Callable[[Array, Job, Parameters], Parts],
    size_bytes: ArrayLike,
    where: Job,
    *,
    algorithm: str = "auto",
    protocol: str = "auto",
    calibration: Calibration | None = None,
    parameters: Parameters | None = None,
) -> CollectiveTime:
    sizes = checked_sizes(size_bytes)
    if checked_choice("algorithm", algorithm, ALGORITHMS) != "auto":
        raise _no_such(name, "algorithm", algorithm, "auto")
    if checked_choice("protocol", protocol, PROTOCOLS) not in ("auto", "simple"):
        raise _no_such(name, "protocol", protocol, "auto or simple")
    factor = (where.ranks - 1) / where.ranks if name == "AlltoAll" else 1.0
    if where.ranks == 1:
        return _result(sizes, _nothing_to_send(sizes, where), 0.0, "none", "none")
    fitted = where.known.fitted if parameters is None else parameters
    parts = _calibrated(cost(sizes, where, fitted), calibration)
    return _result(sizes, parts, factor, "direct", "simple")


def _nothing_to_send(sizes: Array, where: Job) -> Parts:
    launch = where.known.library.base_us["ring"]["ll"] + 0.0 * sizes
    return Parts(launch, 0.0 * sizes, 0.0 * sizes, 0.0 * sizes)


def _calibrated(parts: Parts, calibration: Calibration | None) -> Parts:
    if calibration is None:
        return parts
    latency, bandwidth = np.asanyarray(calibration.latency_factor), np.asanyarray(calibration.bandwidth_factor)
    for key, factor in (("latency_factor", latency), ("bandwidth_factor", bandwidth)):
        if not positive(factor):
            value, told = str(factor.view(np.ndarray)), "must be positive and finite"
            remedy = "Fit it again from measured rows, or leave the calibration out."
            raise OutOfRange(Problem(told, key=f"calibration.{key}", value=value, remedy=remedy))
    return Parts(
        parts.launch_us * latency,
        parts.network_us * latency,
        parts.transfer_us / bandwidth,
        parts.fill_us / bandwidth,
    )


def _names(winner: Array, names: list[str]) -> str | Array:
    if len(set(names)) == 1 or np.ndim(winner) == 0:
        return names[int(winner)] if np.ndim(winner) == 0 else names[0]
    chosen: Array = np.array(names)[winner]
    return chosen


def _result(sizes: Array, parts: Parts, factor: float, algorithm: str | Array, protocol: str | Array) -> CollectiveTime:
    time = parts.total_us
    algbw = sizes / (BYTES_PER_US * time)
    return CollectiveTime(time, algbw, algbw * factor, algorithm, protocol)


def _no_such(collective: str, key: str, value: str, instead: str) -> InputError:
    message = f"{collective} has no such {key} in this library"
    return InputError(Problem(message, key=key, value=repr(value), remedy=f"Use {instead}."))
