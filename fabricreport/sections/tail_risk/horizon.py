"""Shares of GPU time lost over the horizon, by cause, with the luck of the run averaged out.

A client that grows is met at every stage: each size has its own rates, and every enlargement its own weeks to stable
for the GPUs it adds. Stages weigh by their GPU-months.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from fabricreport.books.options import Option
from fabricreport.durations import DAYS_PER_MONTH, DAYS_PER_WEEK
from fabricreport.inputs import Inputs
from fabricreport.models.money.lost_time import COMMON
from fabricreport.models.risk.shares import lost_shares
from fabricreport.models.risk.spares import Standby
from fabricreport.provenance import Traced, plain
from fabricreport.sections.client import mix_of, planned_days, stages_of
from fabricreport.sections.tail_risk.inputs import Subject, subject
from fabricreport.sections.validity import GOODPUT, widened

FABRIC_CAUSES = ("bring_up", "stalls", "topology", "fabric")
CAUSES = (*COMMON, *FABRIC_CAUSES)
"""Causes of lost GPU time: those that no network changes, which are alike for every option, then the fabric's own."""
STANDBY = "faults"
"""The cause that hot spares are charged to: they stand by for these."""


def horizon_shares(
    given: Inputs,
    option: Option,
    days: float,
    exposed: Mapping[int, Traced],
    standby: Mapping[int, Standby],
    seen_weeks: float | None = None,
) -> tuple[dict[str, Traced], Traced]:
    """Share of GPU time lost to each of `CAUSES` over the horizon on one option, and the first weeks to stable, draws (n,).

    exposed: exposed communication as a share of GPU time, by GPUs of the job. Jobs weigh by their GPU time and runs take
    `days`. Common causes come first, and the fabric's are shares of the time that these leave. Where the model was tried
    on no such run they are drawn wider; collisions follow from exposed communication, which is so already.
    standby: what stands by of a job, whose idle time is `STANDBY`'s. seen_weeks: weeks that the first size took, where it
    stands: later ones are taken to differ by as much from what is expected.
    """
    months = int(given.params.money.horizon_months)
    stages = stages_of(given)
    ends = [month for month, _ in stages[1:]] + [months]
    whole = sum(gpus * (end - month) for (month, gpus), end in zip(stages, ends, strict=True))
    totals: dict[str, Any] = dict.fromkeys(CAUSES, 0.0)
    before, weeks, longer = 0, None, np.asanyarray(1.0)
    running = {
        size: running_shares(subject(given, option, size, days, share, spares=standby[size].nodes))
        for size, share in exposed.items()
    }
    for (month, gpus), end in zip(stages, ends, strict=True):
        mix = mix_of(given, gpus)
        at = subject(given, option, mix[-1][0], days, exposed[mix[-1][0]], within=gpus)
        expected = np.asanyarray(at.risk.bring_up.expected_weeks)
        if weeks is None and seen_weeks is not None:
            longer = np.divide(seen_weeks, expected, out=np.ones_like(plain(expected)), where=plain(expected) > 0)
            weeks = np.asanyarray(seen_weeks)
        weeks = at.risk.bring_up.weeks if weeks is None else weeks
        weight = gpus * (end - month) / whole
        for size, part in mix:
            for cause, share in running[size].items():
                drawn = share if cause == "topology" else widened(given, size, share, GOODPUT)
                drawn = standby[size].beside(drawn) if cause == STANDBY else drawn
                totals[cause] = totals[cause] + weight * part * drawn
        again = given.value("evidence:expansion-bring-up-factor") if before else 1.0
        left = DAYS_PER_MONTH * (months - month)
        unstable = np.minimum(DAYS_PER_WEEK * expected * longer * again, left)
        lost = unstable * (1.0 - np.asanyarray(at.risk.bring_up.productivity))
        totals["bring_up"] = totals["bring_up"] + (gpus - before) * lost / (DAYS_PER_MONTH * whole)
        before = gpus
    return {cause: given.spread(value) for cause, value in totals.items()}, given.spread(weeks)


@dataclass(frozen=True)
class Losses:
    """By option id: the shares of GPU time lost over the horizon by cause (of `CAUSES`), and weeks to stable, (draws,)."""

    lost: Mapping[str, Mapping[str, Traced]]
    weeks: Mapping[str, Traced]

    @cached_property
    def tail(self) -> dict[str, Any]:
        """What the network's stalls and contention take."""
        return {o: lost["stalls"] + lost["topology"] for o, lost in self.lost.items()}

    @cached_property
    def incidents(self) -> dict[str, Traced]:
        """What faults of the fabric take."""
        return {o: lost["fabric"] for o, lost in self.lost.items()}

    @cached_property
    def bring_up(self) -> dict[str, Traced]:
        """What the weeks until stable take."""
        return {o: lost["bring_up"] for o, lost in self.lost.items()}


def losses(
    given: Inputs,
    option: Option,
    exposed: Mapping[int, Traced],
    standby: Mapping[int, Standby],
    seen_weeks: float | None = None,
) -> tuple[dict[str, Traced], Traced]:
    """What one option loses over the horizon by cause, and its weeks to stable.

    exposed: exposed communication as a share of GPU time; standby: what stands by; by GPUs of the job. seen_weeks: what it
    took, where it stands.
    """
    return horizon_shares(given, option, planned_days(given), exposed, standby, seen_weeks)


def running_shares(at: Subject) -> dict[str, Any]:
    """Shares of running time lost at one size, the common ones as on a perfect network."""
    return lost_shares(at.run, at.risk, at.slow)
