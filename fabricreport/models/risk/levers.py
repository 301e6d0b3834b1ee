"""Which mitigation buys the most per dollar: each is applied to the same run and priced as the bill prices lost time."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from fabricreport.base.units import DAYS_PER_YEAR, HOURS_PER_DAY
from fabricreport.models.risk.goodput import (
    FabricRisk,
    MaturityEffect,
    Run,
    matured,
    operated,
    optimal_interval_s,
    useful_share,
)
from fabricreport.models.risk.tail import TailLaw


@dataclass(frozen=True)
class Lever:
    """A mitigation: multipliers on what it improves (1 leaves it alone) and its cost in USD for the run.

    follow_daly drops the run's checkpoint interval in favour of the optimal one. Arrays over draws are welcome.
    """

    id: str
    label: str
    cost_usd: Any
    detection: Any = 1.0
    checkpoint_write: Any = 1.0
    config_faults: Any = 1.0
    hardware_faults: Any = 1.0
    restart: Any = 1.0
    bring_up: Any = 1.0
    follow_daly: bool = False


@dataclass(frozen=True)
class LeverValue:
    """What a lever saves, per draw (saved_usd) and per dollar of its cost (mean over mean)."""

    id: str
    label: str
    cost_usd: Any
    saved_usd: Any
    saved_per_dollar: Any
    net_usd: Any


def apply_lever(run: Run, risk: FabricRisk, lever: Lever) -> tuple[Run, FabricRisk]:
    """The run and the option with the lever pulled; detection improves for common incidents too."""
    effect = MaturityEffect(
        config_faults=lever.config_faults,
        hardware_faults=lever.hardware_faults,
        detection=lever.detection,
        bring_up=lever.bring_up,
        restart=lever.restart,
        checkpoint_write=lever.checkpoint_write,
    )
    pulled = operated(run, effect)
    interval_s = optimal_interval_s(pulled) if lever.follow_daly else run.checkpoint_interval_s
    return replace(pulled, checkpoint_interval_s=interval_s), matured(risk, effect)


def levers(
    run: Run,
    risk: FabricRisk,
    slow: TailLaw,
    menu: Sequence[Lever],
    *,
    days: float = DAYS_PER_YEAR,
    exposed: Any = 0.0,
) -> tuple[LeverValue, ...]:
    """The menu, best saving per dollar first, run luck averaged out. Each lever is pulled alone: savings do not add up.

    A lever saves GPU time of the first `days`, the start-up included: no more than the bill charges for what it acts on, for
    both count what each cause leaves (`useful_share`). slow: the tail of servers on any network. exposed: share of GPU
    time that waits for the network as it works by design.
    """
    hours = HOURS_PER_DAY * days * run.cluster.gpus
    worth = hours * np.asanyarray(run.gpu_hour_usd) * (1.0 - np.asanyarray(exposed))
    before = useful_share(run, risk, slow, days)
    values = []
    for lever in menu:
        saved = worth * (useful_share(*apply_lever(run, risk, lever), slow, days) - before)
        cost = np.mean(np.asanyarray(lever.cost_usd))
        mean = np.mean(np.asanyarray(saved))
        per_dollar = np.where(cost > 0, mean / np.where(cost > 0, cost, 1.0), np.where(mean > 0, np.inf, 0.0))
        values.append(
            LeverValue(
                lever.id,
                lever.label,
                lever.cost_usd,
                saved,
                per_dollar,
                mean - cost,
            )
        )
    return tuple(sorted(values, key=lambda v: (-np.asarray(v.saved_per_dollar), -np.asarray(v.net_usd), v.id)))


def standard_levers(read: Callable[[str], Any], costs_usd: Mapping[str, Any]) -> tuple[Lever, ...]:
    """The usual mitigations, for each id in `costs_usd`: what the client would pay for it over the run.

    read: evidence id to value (an array over draws, or a number). Ids: faster-detection, frequent-checkpoints,
    asynchronous-checkpoints, managed-tuning, spares-on-site, burn-in. Those without a cost are left out.
    """
    menu = (
        Lever("faster-detection", "Faster fault detection", 0.0, detection=read("lever-detection-factor")),
        Lever("frequent-checkpoints", "Checkpoints at the optimal interval", 0.0, follow_daly=True),
        Lever(
            "asynchronous-checkpoints",
            "Quicker checkpoints, and so more of them",
            0.0,
            checkpoint_write=read("lever-checkpoint-write-factor"),
            follow_daly=True,
        ),
        Lever(
            "managed-tuning",
            "Network tuned and run by a specialist",
            0.0,
            config_faults=read("lever-tuning-config-factor"),
            bring_up=read("lever-tuning-bring-up-factor"),
        ),
        Lever("spares-on-site", "Spare nodes and links on site", 0.0, restart=read("lever-spares-restart-factor")),
        Lever("burn-in", "Fibre cleaning and burn-in", 0.0, hardware_faults=read("lever-burn-in-hardware-factor")),
    )
    return tuple(replace(lever, cost_usd=costs_usd[lever.id]) for lever in menu if lever.id in costs_usd)
