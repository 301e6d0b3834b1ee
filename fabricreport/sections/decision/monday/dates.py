"""By when something is to be done: working days after the memo's date, never later than the last day to sign."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, timedelta

_SATURDAY = 5


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


@dataclass(frozen=True)
class LastDay:
    """The last working day to sign, and whether signing on it is early enough: where no day is, it is the next one."""

    day: date
    early_enough: bool


def last_day_to_sign(as_of: date, days_allowed: float, days_to_stable: float) -> LastDay:
    """The last day on which a network that is signed for, and delivered at once, still runs stably in time."""
    left = days_allowed - days_to_stable
    day = as_of + timedelta(days=max(0, int(left)))
    while not is_working_day(day):
        day -= timedelta(days=1)
    first = working_days_after(as_of, 1)
    return LastDay(max(day, first), left >= 0 and day >= first)


def due(as_of: date, days: int, last: LastDay) -> date:
    """The day of an action that takes so many working days."""
    return min(working_days_after(as_of, days), last.day)


def told(day: date) -> str:
    """A day as prose writes it: 27 November 2026."""
    return f"{day.day} {day:%B %Y}"
