"""What share of running time each cause takes, what no network changes taken from the same run on a perfect network."""

from __future__ import annotations

from typing import Any

import numpy as np

from fabricreport.durations import DAYS_PER_YEAR
from fabricreport.models.risk.goodput import FabricRisk, Run, simulate
from fabricreport.models.risk.steps import TailLaw

_MOST_LOST = 0.99  # to any one cause: a job that hardly runs still does some work


def lost_shares(run: Run, risk: FabricRisk, slow: TailLaw) -> dict[str, Any]:
    """Shares of running time lost by cause, run luck averaged out; `slow`: the tail that servers cause on any network.

    `servers`, `faults`, `checkpoints` as on a perfect network, each a share of the time that those before it leave. `tail` is a
    share of the step that these and the network stretch, its parts `stalls` and `topology`; `fabric`, the network's
    faults with the work they undo, is what is missing then: the product of what servers, faults, checkpoints, tail and
    fabric leave is the ideal time over all time. The interval between checkpoints has to be the run's own.
    """
    alone, whole = simulate(run, FabricRisk("", slow, ())), simulate(run, risk)
    step = alone.ideal_days + alone.tail_days
    wall = step + alone.checkpoint_days + alone.common_days
    stretched = whole.ideal_days + whole.tail_days + whole.topology_days
    all_of_it = stretched + whole.checkpoint_days + whole.fabric_days + whole.common_days
    by_faults = 1.0 - (stretched / all_of_it) * (wall / step)
    return {
        "servers": alone.tail_days / step,
        "faults": np.minimum(alone.common_days / wall, _MOST_LOST),
        "checkpoints": np.minimum(alone.checkpoint_days / (step + alone.checkpoint_days), _MOST_LOST),
        "stalls": (whole.tail_days - alone.tail_days) / stretched,
        "topology": whole.topology_days / stretched,
        "fabric": np.clip(by_faults, 0.0, _MOST_LOST) if risk.incidents else 0.0,
    }


def useful_share(run: Run, risk: FabricRisk, slow: TailLaw, days: float = DAYS_PER_YEAR) -> Any:
    """Share of GPU time of the first `days` that does work, the start-up in them, before any wait for the network."""
    lost = lost_shares(run, risk, slow)
    tail = lost.pop("stalls") + lost.pop("topology")
    start = np.minimum(risk.bring_up.lost_days / days, 1.0)
    left: Any = (1.0 - start) * (1.0 - tail)
    for share in lost.values():
        left = left * (1.0 - share)
    return left
