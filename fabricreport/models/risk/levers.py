"""Which mitigation buys the most per dollar: each is applied to the same run, on the same luck, and priced."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from fabricreport.durations import HOURS_PER_DAY
from fabricreport.models.risk.goodput import FabricRisk, MaturityEffect, Run, RunRisk, matured, operated, simulate
from fabricreport.models.risk.incidents import Luck

__all__ = ["Lever", "LeverValue", "apply_lever", "levers", "lost_usd", "standard_levers"]


@dataclass(frozen=True)
class Lever:
    """A mitigation: multipliers on what it improves (1 leaves it alone) and its cost in USD for the run.

    follow_daly drops a fixed checkpoint interval in favour of the optimal one. Arrays over draws are welcome.
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
    interval_s = None if lever.follow_daly else run.checkpoint_interval_s
    return replace(operated(run, effect), checkpoint_interval_s=interval_s), matured(risk, effect)


def levers(run: Run, risk: FabricRisk, menu: Sequence[Lever], luck: Luck | None = None) -> tuple[LeverValue, ...]:
    """The menu, best saving per dollar first. Each lever is pulled alone: savings do not add up.

    A lever saves what is lost at start-up and in as many days of running as the run's ideal ones.
    """
    base = lost_usd(run, simulate(run, risk, luck))
    values = []
    for lever in menu:
        saved = base - lost_usd(run, simulate(*apply_lever(run, risk, lever), luck))
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


def lost_usd(run: Run, result: RunRisk) -> Any:
    """What is lost at start-up and in `run.ideal_days` of running (not: until so many days of work are done), in USD.

    However often jobs fail, it is no more than the GPU time there is, beside the engineers' work.
    """
    bring_up = HOURS_PER_DAY * run.cluster.gpus * result.bring_up_days * np.asanyarray(run.gpu_hour_usd)
    return bring_up + (result.overrun_usd - bring_up) * result.effective_share


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
