"""Working days, and how a day is told."""

from __future__ import annotations

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


def working_days_between(first: date, last: date) -> int:
    """Working days after the first day, up to the last."""
    return sum(is_working_day(first + timedelta(days=n)) for n in range(1, (last - first).days + 1))


def told(day: date) -> str:
    """A day as prose writes it: 27 November 2026."""
    return f"{day.day} {day:%B %Y}"
