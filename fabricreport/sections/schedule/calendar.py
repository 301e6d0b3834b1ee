"""A calendar that can be kept: the day of each step of a course of action, met by the share of outcomes that is wanted."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, timedelta
from enum import StrEnum
from math import ceil
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fabricreport.durations import DAYS_PER_WEEK
from fabricreport.sections.schedule.days import working_day_from, working_days_after, working_days_between

_NOISE = 1e-9
_FEWEST, _TO_ASK, _BEFORE = 3, 3, 2
"""Working days that asking, an answer and an order take at least; to ask at most; and from an answer to the order."""


class Step(StrEnum):
    """What is done or met, in this order."""

    REQUEST = "request"
    ANSWERS = "answers"
    ORDER = "order"
    DELIVERY = "delivery"
    POWER_ON = "power-on"
    STABLE = "stable"
    PRODUCTION = "production"


@dataclass(frozen=True)
class Clock:
    """Weeks from the memo's date to each step that is not the client's own to choose, (draws,) each, one after another.

    `wait`: for answers that the course waits for, 0 where it orders at once.
    """

    wait: Any
    order: Any
    delivery: Any
    power_on: Any
    stable: Any
    production: Any


@dataclass(frozen=True)
class Calendar:
    """The `days` of the steps, the first working day (stable: the first day) that the `share` of outcomes wanted meets; the client's own date (`due`,
    None: none binds) and the `chance` of being in production by it (1 where none binds)."""

    days: Mapping[Step, date]
    share: float
    due: date | None
    chance: float

    @property
    def safe(self) -> date:
        """The first working day by which the share wanted is in production."""
        return self.days[Step.PRODUCTION]

    @property
    def in_time(self) -> bool:
        """Whether the client's date, if one binds, is met by the share wanted: it need not be a working day itself."""
        return self.due is None or (self.chance >= self.share - _NOISE and self.days[Step.ORDER] <= self.due)

    def due_by(self, as_of: date, days: int, *, asks: bool) -> date:
        """The day of an action that takes so many working days: what asks is sent with the requests, all else is done before
        the order."""
        return min(working_days_after(as_of, days), self.days[Step.REQUEST if asks else Step.ORDER])


def quantile(weeks: Any, share: float) -> float:
    """The least of the draws that this share of them does not exceed."""
    ranked: NDArray[np.float64] = np.sort(np.atleast_1d(np.asarray(weeks, dtype=float)))
    return float(ranked[max(ceil(share * ranked.size - _NOISE), 1) - 1])


def calendar_of(as_of: date, clock: Clock, share: float, due: date | None) -> Calendar:
    """The calendar of a course whose steps take these weeks."""

    def day(weeks: Any) -> date:
        return as_of + timedelta(days=ceil(quantile(weeks, share) * DAYS_PER_WEEK - _NOISE))

    ordered = max(working_days_between(as_of, day(clock.order)), _FEWEST)
    awaited = working_days_between(as_of, day(clock.wait)) or ordered - _BEFORE
    answered = min(max(awaited, _FEWEST - 1), ordered - 1)
    at_work = {Step.REQUEST: min(_TO_ASK, answered - 1), Step.ANSWERS: answered, Step.ORDER: ordered}
    found = {step: working_days_after(as_of, days) for step, days in at_work.items()}
    last = found[Step.ORDER]
    for step, weeks in (
        (Step.DELIVERY, clock.delivery),
        (Step.POWER_ON, clock.power_on),
        (Step.STABLE, clock.stable),
        (Step.PRODUCTION, clock.production),
    ):
        met_on = max(day(weeks), last)  # a network becomes stable on any day; what people do is done on a working day
        last = found[step] = met_on if step is Step.STABLE else working_day_from(met_on)
    allowed = np.inf if due is None else (due - as_of).days
    met = np.atleast_1d(np.asarray(clock.production, dtype=float)) * DAYS_PER_WEEK <= allowed
    return Calendar(found, share, due, float(np.mean(met)))
