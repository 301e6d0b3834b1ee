"""Stress cases: one thing goes wrong, and the loss follows from the inputs by arithmetic that is printed.

They are not forecasts and carry no probability. Each function takes its figures as arguments; `stress_table` reads the
figures from the evidence and applies them to one client's cluster.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from fabricreport.base.errors import OutOfRange, Problem
from fabricreport.base.units import DAYS_PER_WEEK, HOURS_PER_DAY

_BITS_PER_BYTE = 8.0
_BURSTS = "Many senders meet at one receiver at every step"


@dataclass(frozen=True)
class Exposure:
    """The cluster a stress case hits.

    communication_share: exposed communication over step time. restart_h: detection to first new step.
    interval_s: compute time between checkpoints. Values may be arrays over draws.
    """

    gpus: int
    run_days: Any
    gpu_hour_usd: Any
    communication_share: Any = 0.0
    step_s: Any = 1.0
    link_gbits_per_s: Any = 400.0
    restart_h: Any = 0.0
    interval_s: Any = 0.0


@dataclass(frozen=True)
class StressCase:
    """One stress case: what it costs and the arithmetic.

    loss_share: throughput lost while it lasts, by `formula`. delay_days, lost_gpu_hours and cost_usd are the same loss in other units,
    not further losses. sources: evidence ids.
    """

    id: str
    title: str
    loss_share: Any
    delay_days: Any
    lost_gpu_hours: Any
    cost_usd: Any
    formula: str
    sources: tuple[str, ...] = ()


def efficiency_loss(exposure: Exposure, loss_share: Any, **kwargs: Any) -> StressCase:
    """A share of throughput is lost through the whole run: share x GPUs x 24 x days of GPU-hours."""
    return _case(
        "efficiency-loss",
        "Efficiency is lower than planned through the whole run",
        exposure,
        loss_share,
        HOURS_PER_DAY * np.asanyarray(exposure.run_days),
        "loss as assumed, through all days of the run",
        **kwargs,
    )


def stall(exposure: Exposure, detection_min: Any, **kwargs: Any) -> StressCase:
    """Every GPU idles until somebody notices, then work since the last checkpoint (half an interval) is redone."""
    detection_h = np.asanyarray(detection_min) / 60.0
    rework_h = np.asanyarray(exposure.interval_s) / 3600.0 / 2.0
    return _case(
        "stall",
        "A collective stalls and the watchdog ends the job",
        exposure,
        1.0,
        detection_h + np.asanyarray(exposure.restart_h) + rework_h,
        "loss = 1, for detection + restart + half a checkpoint interval",
        **kwargs,
    )


def flapping_link(
    exposure: Exposure, flaps_per_day: Any, stall_s: Any, *, fatal_flaps: Any = 0.0, **kwargs: Any
) -> StressCase:
    """One link flaps for a day: each flap stops every worker for `stall_s`; `fatal_flaps` of them end the job as well."""
    stop_h = np.asanyarray(exposure.restart_h) + np.asanyarray(exposure.interval_s) / 7200.0
    lost_h = np.asanyarray(flaps_per_day) * np.asanyarray(stall_s) / 3600.0 + np.asanyarray(fatal_flaps) * stop_h
    return _case(
        "flapping-link",
        "One link flaps for a day",
        exposure,
        np.minimum(lost_h / HOURS_PER_DAY, 1.0),
        HOURS_PER_DAY,
        "loss = (flaps × stall + fatal flaps × (restart + half a checkpoint interval)) ÷ hours it lasts",
        **kwargs,
    )


def bandwidth_loss(exposure: Exposure, loss_share: Any, days: Any, *, id: str, title: str, **kwargs: Any) -> StressCase:
    """Collectives lose a share of their bandwidth for some days; only exposed communication is stretched.

    Step grows by c (1 / (1 - loss) - 1), so throughput falls to 1 / that.
    """
    return _case(
        id,
        title,
        exposure,
        1.0 - 1.0 / _stretched_step(exposure.communication_share, loss_share),
        HOURS_PER_DAY * np.asanyarray(days),
        "loss = 1 − 1 ÷ (1 + c (1 ÷ (1 − share of bandwidth lost) − 1)), c the share of a step that is exposed traffic",
        **kwargs,
    )


def incast(
    exposure: Exposure,
    senders: Any,
    message_mbytes: Any,
    buffer_mbytes: Any,
    events_per_step: Any,
    *,
    retransmit_ms: Any = 0.0,
    id: str = "incast",
    title: str = _BURSTS,
    **kwargs: Any,
) -> StressCase:
    """Many senders meet at one receiver: the burst drains at one link's rate whatever the fabric.

    A lossless fabric (credits or working PFC) pays the drain time beyond one message; a lossy one also pays a
    retransmission time-out when the burst overflows the buffer. Source: conservation of bytes.
    """
    rate_mbytes_per_ms = np.asanyarray(exposure.link_gbits_per_s) / _BITS_PER_BYTE
    queued = (np.asanyarray(senders) - 1.0) * np.asanyarray(message_mbytes)
    drain_ms = queued / rate_mbytes_per_ms
    overflow = queued > np.asanyarray(buffer_mbytes)
    wait_ms = drain_ms + np.where(overflow, np.asanyarray(retransmit_ms), 0.0)
    added = np.asanyarray(events_per_step) * wait_ms / 1000.0 / np.asanyarray(exposure.step_s)
    return _case(
        id,
        title,
        exposure,
        1.0 - 1.0 / (1.0 + added),
        HOURS_PER_DAY * np.asanyarray(exposure.run_days),
        "loss = 1 − step ÷ (step + bursts × wait); wait = (senders − 1) × message ÷ link rate, plus a time-out if the buffer overflows",
        **kwargs,
    )


def packet_drop(
    exposure: Exposure,
    drop_share: Any,
    *,
    packet_bytes: Any,
    round_trip_us: Any,
    **kwargs: Any,
) -> StressCase:
    """Random drops for a week under go-back-N: each loss resends the window, so goodput is (1 - p) / (1 + (W - 1) p).

    W = link rate x round trip / packet, in packets. Source: textbook automatic repeat request (go-back-N) efficiency.
    """
    p = np.asanyarray(drop_share)
    bytes_per_us = np.asanyarray(exposure.link_gbits_per_s) * 1000.0 / _BITS_PER_BYTE
    window = np.maximum(bytes_per_us * np.asanyarray(round_trip_us) / np.asanyarray(packet_bytes), 1.0)
    goodput = (1.0 - p) / (1.0 + (window - 1.0) * p)
    return _case(
        "packet-drop",
        "Packets are dropped at random and nothing holds the network lossless",
        exposure,
        1.0 - 1.0 / _stretched_step(exposure.communication_share, 1.0 - goodput),
        HOURS_PER_DAY * DAYS_PER_WEEK,
        "loss as of a loss of bandwidth, of which (1 − p) ÷ (1 + (W − 1) p) is left; p the share dropped, W = link rate × round trip ÷ packet",
        **kwargs,
    )


def noisy_tenant(exposure: Exposure, slowdown: Any, days: Any, **kwargs: Any) -> StressCase:
    """Another tenant floods the shared fabric for some days: a step takes `slowdown` longer, so 1 / (1 + s) is left."""
    return _case(
        "noisy-tenant",
        "Another tenant floods the network that is shared",
        exposure,
        1.0 - 1.0 / (1.0 + np.asanyarray(slowdown)),
        HOURS_PER_DAY * np.asanyarray(days),
        "loss = 1 − 1 ÷ (1 + s), s by how much longer a step takes",
        **kwargs,
    )


def stress_table(
    exposure: Exposure, read: Callable[[str], Any], *, dragonfly: bool = False, neighbours: str = ""
) -> tuple[StressCase, ...]:
    """The stress cases the articles name, for one client. read: evidence id to value (number or array over draws).

    dragonfly: whether the fabric is one, whose global links a neighbour may fill. neighbours: the entry for how much longer
    a step takes beside other tenants' heavy traffic, '' where no tenants share the fabric.
    """
    shared = _tenant_cases(exposure, read, dragonfly, neighbours)
    return (*_time_cases(exposure, read), *_bandwidth_cases(exposure, read), *shared, *_packet_cases(exposure, read))


def _time_cases(exposure: Exposure, read: Callable[[str], Any]) -> tuple[StressCase, ...]:
    return (
        efficiency_loss(exposure, read("inflect-efficiency-loss"), sources=("inflect-efficiency-loss",)),
        stall(
            exposure,
            read("stress-stall-detection"),
            sources=("nccl-stall-detection", "stress-stall-detection"),
        ),
        flapping_link(
            exposure,
            read("flaps-per-day-of-a-bad-link"),
            read("flap-stall-seconds"),
            fatal_flaps=1.0,
            sources=("flaps-per-day-of-a-bad-link", "flap-stall-seconds"),
        ),
    )


def _bandwidth_cases(exposure: Exposure, read: Callable[[str], Any]) -> tuple[StressCase, ...]:
    untuned = 1.0 - read("untuned-roce-bandwidth-share") / read("tuned-roce-bandwidth-share")
    return (
        bandwidth_loss(
            exposure,
            untuned,
            read("stress-misconfiguration-days"),
            id="misconfiguration",
            title="PFC, ECN or DCQCN is misconfigured until somebody finds it",
            sources=("untuned-roce-bandwidth-share", "tuned-roce-bandwidth-share", "stress-misconfiguration-days"),
        ),
        bandwidth_loss(
            exposure,
            read("ecmp-collision-loss"),
            read("stress-ecmp-days"),
            id="ecmp-collisions",
            title="Hash collisions put several flows on one link",
            sources=("ecmp-collision-loss", "stress-ecmp-days"),
        ),
    )


def _tenant_cases(
    exposure: Exposure, read: Callable[[str], Any], dragonfly: bool, neighbours: str
) -> Iterator[StressCase]:
    if neighbours:
        yield noisy_tenant(
            exposure,
            read(neighbours),
            read("stress-neighbour-days"),
            sources=(neighbours, "stress-neighbour-days"),
        )
    if dragonfly:
        yield bandwidth_loss(
            exposure,
            read("dragonfly-noise-loss"),
            read("stress-neighbour-days"),
            id="noisy-neighbour",
            title="A noisy neighbour shares the dragonfly's global links",
            sources=("dragonfly-noise-loss", "stress-neighbour-days"),
        )


def _packet_cases(exposure: Exposure, read: Callable[[str], Any]) -> tuple[StressCase, ...]:
    return (
        _burst(exposure, read, "roce-local-ack-timeout", id="incast", title=f"{_BURSTS}, the timer at its default"),
        _burst(
            exposure,
            read,
            "roce-local-ack-timeout-tuned",
            id="incast-tuned",
            title=f"{_BURSTS}, with the timer tuned",
        ),
        packet_drop(
            exposure,
            read("netpilot-packet-drop"),
            packet_bytes=read("stress-packet-bytes"),
            round_trip_us=read("stress-path-round-trip-us"),
            sources=(
                "netpilot-packet-drop",
                "netpilot-packet-drop-cost-per-week",
                "go-back-n-one-per-cent",
                "stress-packet-bytes",
                "stress-path-round-trip-us",
            ),
        ),
    )


def _burst(exposure: Exposure, read: Callable[[str], Any], timer: str, *, id: str, title: str) -> StressCase:
    burst = tuple(f"stress-incast-{of}" for of in ("senders", "message-mbytes", "buffer-mbytes", "events-per-step"))
    return incast(
        exposure,
        *(read(entry) for entry in burst),
        retransmit_ms=read(timer),
        id=id,
        title=title,
        sources=(*burst, timer),
    )


def _stretched_step(communication_share: Any, loss_share: Any) -> Any:
    loss = np.minimum(np.asanyarray(loss_share), 0.999)
    return 1.0 + np.asanyarray(communication_share) * (1.0 / (1.0 - loss) - 1.0)


def _case(
    id: str,
    title: str,
    exposure: Exposure,
    loss_share: Any,
    lasts_h: Any,
    formula: str,
    *,
    sources: tuple[str, ...] = (),
) -> StressCase:
    loss, hours = np.asanyarray(loss_share), np.asanyarray(lasts_h)
    if not np.all((np.asarray(loss) >= 0) & (np.asarray(loss) <= 1)) or not np.all(np.asarray(hours) >= 0):
        raise OutOfRange(
            Problem("loss must be a share and its time at least 0", key=id, value=str(loss)[:40], remedy="Check units.")
        )
    gpu_hours = loss * hours * exposure.gpus
    return StressCase(
        id,
        title,
        loss,
        loss * hours / HOURS_PER_DAY,
        gpu_hours,
        gpu_hours * np.asanyarray(exposure.gpu_hour_usd),
        formula,
        tuple(f"evidence:{s}" for s in sources),
    )
