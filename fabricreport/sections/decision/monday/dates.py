"""By when something is to be done: working days after the memo's date, never later than the last day to sign."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from math import ceil

import numpy as np
from numpy.typing import NDArray

_SATURDAY = 5
_NOISE = 1e-9


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
    """The last working day to sign, whether signing on it is early enough, and the `chance` of being stable in time then.

    Where no day is early enough, it is the next working day.
    """

    day: date
    early_enough: bool
    chance: float


def last_day_to_sign(
    as_of: date, days_allowed: float, days_to_stable: Sequence[NDArray[np.float64]], likely: float
) -> LastDay:
    """The last day on which a network that is signed for, and delivered at once, is still likely to run stably in time.

    `days_to_stable`: draws of each option that may come to be taken; `likely`: the share of draws from which it is called so.
    """
    taken = max(np.sort(d)[max(ceil(likely * d.size - _NOISE), 1) - 1] for d in days_to_stable)
    day = as_of + timedelta(days=max(0, int(days_allowed - taken)))
    while not is_working_day(day):
        day -= timedelta(days=1)
    day = max(day, working_days_after(as_of, 1))
    left = days_allowed - (day - as_of).days
    chance = min(float(np.mean(d <= left)) for d in days_to_stable)
    return LastDay(day, chance >= likely - _NOISE, chance)


def due(as_of: date, days: int, last: LastDay) -> date:
    """The day of an action that takes so many working days."""
    return min(working_days_after(as_of, days), last.day)


def answered(sent: date, days: int, last: LastDay) -> date:
    """The day on which what was sent is to be answered, so many calendar days later: on a working day, before all is signed."""
    day = sent + timedelta(days=days)
    while not is_working_day(day):
        day += timedelta(days=1)
    return min(day, last.day)


def told(day: date) -> str:
    """A day as prose writes it: 27 November 2026."""
    return f"{day.day} {day:%B %Y}"
