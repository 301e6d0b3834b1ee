"""One option's run with its luck: when it ends and what that costs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from fabricreport.durations import HOURS_PER_DAY
from fabricreport.inputs import Inputs
from fabricreport.models.risk.goodput import RunRisk, simulate
from fabricreport.models.risk.incidents import Luck
from fabricreport.sections.tail_risk.inputs import Subject
from fabricreport.sections.tco.cost import spread_over_draws


@dataclass(frozen=True)
class Outcome:
    """One option's run with its luck, per draw: days and money.

    run_days: wall days from the start of the run to its end. overrun_usd: money lost in the run beyond its plan.
    """

    option: str
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
    size = luck.size
    return Outcome(
        option=subject.option.id,
        run=risk,
        run_days=spread_over_draws(run_days, size),
        overrun_usd=spread_over_draws(gpu_hours * late * value + risk.engineering_usd + delay * late, size),
    )
