"""What of a step's traffic stays inside scale-up domains (NVLink's, of a server or a rack) and never meets the fabric.

A collective over `n` ranks that sit in `K` domains sends, by every rank on the mean, as many bytes as the bus bandwidth of
nccl-tests counts for it (doc/PERFORMANCE.md). Of the hops they take, those that leave a domain are

    ring, and to the next rank  K of n            tree  K - 1 of n - 1            all to all  n - n/K of n - 1

so that of a group inside one domain nothing leaves. A step's share is over all its traffic, each kind by its bytes.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from fabricreport.models.training.step import StepTime, Traffic


@dataclass(frozen=True)
class Kept:
    """Shares of a step's communicated bytes, and of the time of its collectives, that never meet the fabric."""

    bytes_share: Any
    time_share: Any


def kept(step: StepTime) -> Kept | None:
    """What scale-up domains keep off the fabric; None of a step that communicates nothing."""
    if not step.traffic:
        return None
    sent = [sent_bytes(t) for t in step.traffic]
    inside = [size * (1.0 - leaving(t)) for size, t in zip(sent, step.traffic, strict=True)]
    time = sum((t.time_s for t in step.traffic), np.asanyarray(0.0))
    return Kept(sum(inside) / sum(sent), 1.0 - step.communication_s / time)


def sent_bytes(traffic: Traffic) -> Any:
    """Bytes that a rank sends in a step, on the mean over the ranks."""
    others = (traffic.ranks - 1.0) / traffic.ranks
    passes = {"all-reduce": 2.0 * others, "send-recv": 1.0}.get(traffic.collective, others)
    return traffic.size_bytes * traffic.count * passes


def leaving(traffic: Traffic) -> float:
    """Share of the hops of a collective that leave their domain."""
    ranks, domains = traffic.ranks, traffic.domains
    if domains < 2:
        return 0.0
    if traffic.collective == "all-to-all":
        return (ranks - ranks / domains) / (ranks - 1.0)
    if traffic.collective == "send-recv" or traffic.algorithm == "ring":
        return domains / ranks
    return (domains - 1.0) / (ranks - 1.0)
