"""When it runs: working days, weeks from the memo to production on one clock, and a calendar of them that can be kept."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import date, timedelta
from enum import StrEnum
from math import ceil
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fabricreport.base.provenance import plain
from fabricreport.base.units import DAYS_PER_WEEK
from fabricreport.ledger.bases import Clock as BaseClock
from fabricreport.ledger.bases import Size

STABLE: Mapping[str, Any] = {
    "quantity": "time until a network runs stably",
    "clock": BaseClock.POWER_ON,
    "size": Size.NOW,
}
"""The base that every section tells an option's own weeks by (see `stable_label`)."""
_SATURDAY = 5
_SHORT_START_WEEKS = 2.0


def is_working_day(day: date) -> bool:
    """Whether it is a day from Monday to Friday; public holidays differ by place and are not known."""
    return day.weekday() < _SATURDAY


def working_days_after(day: date, count: int) -> date:
    """The working day so many after a day."""
    left = count
    while left > 0:
        day += timedelta(days=1)
        left -= is_working_day(day)
    return day


def working_day_from(day: date) -> date:
    """The first working day that is no earlier."""
    return day if is_working_day(day) else working_days_after(day, 1)


def working_day_until(day: date) -> date:
    """The last working day that is no later."""
    while not is_working_day(day):
        day -= timedelta(days=1)
    return day


def working_days_between(first: date, last: date) -> int:
    """Working days after the first day, up to the last."""
    return sum(is_working_day(first + timedelta(days=n)) for n in range(1, (last - first).days + 1))


def told(day: date) -> str:
    """A day as prose writes it: 27 November 2026."""
    return f"{day.day} {day:%B %Y}"


def start_unit(weeks: Iterable[Any]) -> str:
    """The unit in which the weeks until networks run stably are told, of all options alike: days where all are soon stable."""
    latest = max(float(np.quantile(plain(one), 0.95)) for one in weeks)
    return "day" if latest < _SHORT_START_WEEKS else "week"


def stable_label(option: str) -> str:
    """What every section calls the time until an option runs stably."""
    return f"Time until {option} runs stably at the starting size"


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


ORDER, LEAD, INSTALLATION = "evidence:order-weeks", "evidence:lead-weeks-equipment", "evidence:installation-weeks"
RENT_ORDER, HAND_OVER = "evidence:rent-order-weeks", "evidence:handover-weeks-rented"
