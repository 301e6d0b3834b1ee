"""What the risk study finds, and one option's run with its luck: when it ends and what that costs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from fabricreport.base.provenance import Traced
from fabricreport.base.units import HOURS_PER_DAY
from fabricreport.inputs.inputs import Inputs
from fabricreport.ledger.numbers import Number
from fabricreport.models.risk.goodput import RunRisk, simulate
from fabricreport.models.risk.incidents import Luck
from fabricreport.models.risk.levers import LeverValue
from fabricreport.models.risk.stress import StressCase
from fabricreport.sections.tail_risk.inputs import Subject


@dataclass(frozen=True)
class Outcome:
    """One option's run with its luck, per draw: days and money.

    run_days: wall days from the start of the run to its end. overrun_usd: money lost in the run beyond its plan.
    """

    run: RunRisk
    run_days: Any
    overrun_usd: Any


def outcome_of(given: Inputs, subject: Subject, luck: Luck) -> Outcome:
    """The option's run on this luck."""
    risk = simulate(subject.run, subject.risk, luck)
    gpu_hours = HOURS_PER_DAY * subject.run.cluster.gpus
    run_days = risk.finish_days - risk.bring_up_days
    late = run_days - risk.ideal_days
    value = np.asanyarray(subject.run.gpu_hour_usd)
    delay = np.asanyarray(given.money("param:money.price_of_delay_usd_per_day"))
    return Outcome(
        run=risk,
        run_days=given.spread(run_days),
        overrun_usd=given.spread(gpu_hours * late * value + risk.engineering_usd + delay * late),
    )


@dataclass(frozen=True)
class TailResult:
    """What each option loses over the horizon, and what a run of it may do.

    `tail_share`, `incident_share`, `bring_up_share`: shares of GPU time lost over the horizon, each of what the others
    leave, draws without run luck; `lost` splits them by cause (`CAUSES`). `bring_up_weeks`: weeks to stable at the starting
    size. `outcomes`: runs with luck. `pair`: an InfiniBand and a RoCEv2 option, those of the memo's comparison if they are in
    it, else the first. `focus`: the second of them, or the only one looked at. `worked`: the
    option that stress cases and levers are worked out for, the advised one.
    """

    tail_share: Mapping[str, Traced]
    incident_share: Mapping[str, Traced]
    bring_up_share: Mapping[str, Traced]
    bring_up_weeks: Mapping[str, Traced]
    lost: Mapping[str, Mapping[str, Traced]]
    subjects: Mapping[str, Subject]
    outcomes: Mapping[str, Outcome]
    planned_days: float
    deadline_days: float
    pair: tuple[str, str] | None
    focus: str
    worked: str
    stress: tuple[StressCase, ...]
    levers: tuple[LeverValue, ...]
    numbers: Mapping[str, Number]
