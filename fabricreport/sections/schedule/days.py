"""Working days, how a day is told, and the unit in which the time until networks run stably is."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import date, timedelta
from typing import Any

import numpy as np

from fabricreport.bases import Clock, Size
from fabricreport.provenance import plain

STABLE: Mapping[str, Any] = {
    "quantity": "time until a network runs stably",
    "clock": Clock.POWER_ON,
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
