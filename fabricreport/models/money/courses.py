"""What a course of action costs beside taking an option as it is: late weeks, waiting, months of rent, single-node jobs.

Pure arithmetic over draws. Money is in today's terms; every amount is a scalar or (draws,), and provenance survives.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from fabricreport.durations import DAYS_PER_WEEK, HOURS_PER_WEEK
from fabricreport.models.money.cashflow import array

Array = NDArray[np.float64]


def loss_per_week(gpus: int, productive_share: Any, gpu_hour_usd: Any, delay_usd_per_day: Any = 0.0) -> Array:
    """What a week costs in which a fabric stands and is not stable: the hours it does not give, and the price of delay."""
    idle = gpus * HOURS_PER_WEEK * (1 - array(productive_share)) * array(gpu_hour_usd)
    return array(idle + DAYS_PER_WEEK * array(delay_usd_per_day))


def waiting_cost(wait_weeks: Any, weeks_to_stable: Any, weeks_allowed: float, usd_per_week: Any) -> Array:
    """What it costs to begin so many weeks later: the weeks by which the date is missed then and was not before.

    Weeks that lie before the date cost nothing: no GPU stands idle that has not been bought.
    """
    late = np.maximum(array(weeks_to_stable) + array(wait_weeks) - weeks_allowed, 0.0)
    before = np.maximum(array(weeks_to_stable) - weeks_allowed, 0.0)
    return array((late - before) * array(usd_per_week))


def worth_per_week(gpus: int, gpu_hour_usd: Any, hour_costs_usd: Any, delay_usd_per_day: Any = 0.0) -> Array:
    """What a week without the cluster costs: its hours at their value less what they cost, and the price of delay.

    Where an hour is worth what it costs, an hour not had is an hour not paid for.
    """
    net = np.maximum(array(gpu_hour_usd) - array(hour_costs_usd), 0.0)
    return array(gpus * HOURS_PER_WEEK * net + DAYS_PER_WEEK * array(delay_usd_per_day))


def trial_cost(gpus: Any, hours: Any, fabrics: int, rent_usd_per_gpu_hour: Any, work_usd: Any) -> Array:
    """Rent of some GPUs on each fabric for so many hours, and the engineers' work on it."""
    return array(fabrics * array(gpus) * array(hours) * array(rent_usd_per_gpu_hour) + array(work_usd))


def work_on_rented(hours_value: Any, rent_usd_per_gpu_hour: Any, useful: Any) -> Array:
    """Present cost of doing work by the hour, where a share `useful` of the hours paid does it.

    hours_value: the present value of the hours that the work takes with none lost. `useful` may exceed 1: the same work in
    fewer hours.
    """
    return array(array(hours_value) * array(rent_usd_per_gpu_hour) / array(useful))


def hours_on_rented(hours_value: Any, rent_usd_per_gpu_hour: Any, gpu_hour_usd: Any, useful: Any) -> Array:
    """Present cost of hours that are rented for a time: their rent, and each hour of them lost at its value.

    The time ends on its day, so work that is not done is not rented for until it is: the cost is bounded by the rent and
    one value of an hour, however little of the time is useful.
    """
    lost = 1 - np.clip(array(useful), 0.0, 1.0)
    return array(array(hours_value) * (array(rent_usd_per_gpu_hour) + lost * array(gpu_hour_usd)))


def work_on_owned(paid: Any, hours_value: Any, gpu_hour_usd: Any, useful: Any) -> Array:
    """Present cost of work on machines that are owned: what is paid, and each hour lost at its value (gained where `useful`
    exceeds 1)."""
    return array(array(paid) + array(hours_value) * array(gpu_hour_usd) * (1 - array(useful)))


def later(stages: tuple[tuple[int, int], ...], month: int) -> tuple[tuple[int, int], ...]:
    """Stages (month, GPUs) of which none begins before a month; of those that would begin in it the last counts."""
    moved = {max(m, month): gpus for m, gpus in stages}
    return tuple(sorted(moved.items()))
