"""Money over time: monthly flows, discounting, annuities, leases; and what a course of action costs beside taking an option as it is.

Flows are arrays whose last axis is the month, 0 (today) to `months`; any axes before it are draws. Money paid
during month m stands at its end. Everything is vectorised over draws, and numpy only, so provenance survives.

Two kinds of amount exist and are never mixed. An amount in `today` money rises with inflation until it is paid
(electricity, staff, a later stage's purchase); a `fixed` amount is the sum written in a contract (a lease
payment). `Discounting` holds one rate and says whether it is real or nominal; Fisher's (1+i) = (1+r)(1+pi) gives
the other, so both statements of the same rate value every flow alike.

Pure arithmetic over draws. Money is in today's terms; every amount is a scalar or (draws,), and provenance survives.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fabricreport.base.errors import InputError, Problem
from fabricreport.base.memory import cached_method
from fabricreport.base.units import DAYS_PER_WEEK, HOURS_PER_WEEK
from fabricreport.models.draws import between

Array = NDArray[np.float64]
_ABOVE_MINUS_ONE = math.nextafter(-1.0, 0.0)
"""The lowest rate that leaves something of a sum."""
TERMS = ("today", "fixed")


@dataclass(frozen=True)
class Discounting:
    """One discount rate a year, its kind ("nominal" or "real") and the inflation that joins the two.

    `rate_per_year` and `inflation_per_year` are shares, scalars or arrays over draws, each above -1.
    """

    rate_per_year: Any
    kind: str = "nominal"
    inflation_per_year: Any = 0.0

    def __post_init__(self) -> None:
        problems = []
        if self.kind not in ("nominal", "real"):
            problems.append(Problem("must be nominal or real", key="discounting", value=str(self.kind)))
        for key in ("rate_per_year", "inflation_per_year"):
            if not between(getattr(self, key), _ABOVE_MINUS_ONE, math.inf):
                problems.append(Problem("must be above -100 % a year", key=key, value=str(getattr(self, key))))
        if problems:
            raise InputError(problems)

    @property
    def nominal_per_year(self) -> Array:
        """The rate for sums written in contracts."""
        rate, inflation = array(self.rate_per_year), array(self.inflation_per_year)
        return array((1 + rate) * (1 + inflation) - 1) if self.kind == "real" else rate

    @property
    def real_per_year(self) -> Array:
        """The rate for amounts in today's money."""
        rate, inflation = array(self.rate_per_year), array(self.inflation_per_year)
        return array((1 + rate) / (1 + inflation) - 1) if self.kind == "nominal" else rate

    @cached_method
    def factors(self, months: int, terms: str = "today") -> Array:
        """Discount factors of months 0 to `months` for amounts in `terms` ("today" or "fixed"): every line asks for the same."""
        if terms not in TERMS:
            raise InputError(Problem("must be today or fixed", key="terms", value=terms))
        return discount_factors(self.real_per_year if terms == "today" else self.nominal_per_year, months)

    @cached_method
    def annuity(self, months: int, after: int, last: int, terms: str) -> Array:
        """The sum of the factors of each month m with after < m <= last."""
        summed: Array = np.sum(self.factors(months, terms)[..., after + 1 : last + 1], axis=-1)
        return summed

    def lump(self, amount: Any, month: int, months: int) -> Array:
        """Value today of an amount at one month of a horizon of `months`, in today's money."""
        return array(amount) * self.factors(months, "today")[..., month]

    def level(
        self, amount_per_month: Any, months: int, *, after: int = 0, until: int | None = None, terms: str = "today"
    ) -> Array:
        """Value today of the same amount at the end of each month m with after < m <= until (default: the horizon).

        The amount times a sum of discount factors: what `present_value(level(...))` gives, without its flows by month.
        """
        last = months if until is None else until
        return array(array(amount_per_month) * self.annuity(months, after, last, terms))

    def present_value(self, flows: Array, terms: str = "today") -> Array:
        """Value today of monthly flows (..., months + 1) in `terms`; the month axis is summed away."""
        flows = array(flows)
        return array(np.sum(flows * self.factors(flows.shape[-1] - 1, terms), axis=-1))


def array(values: Any) -> Array:
    """Values as floats, keeping provenance."""
    return np.asanyarray(values, dtype=float)


def discount_factors(rate_per_year: Any, months: int) -> Array:
    """(1 + rate)^(-m/12) for m = 0 to `months`, month last: (..., months + 1)."""
    growth = 1 + array(rate_per_year)
    return array(growth[..., None] ** (-np.arange(months + 1) / 12))


def lump(amount: Any, month: int, months: int) -> Array:
    """Flows with `amount` at one month and nothing else; a month beyond the horizon is refused."""
    if not 0 <= month <= months:
        raise InputError(Problem(f"must lie within the horizon of {months} months", key="month", value=str(month)))
    return array(array(amount)[..., None] * (np.arange(months + 1) == month))


def level(amount_per_month: Any, months: int, *, after: int = 0, until: int | None = None) -> Array:
    """Flows of the same amount at the end of each month m with after < m <= until (default: to the horizon)."""
    month = np.arange(months + 1)
    paid = (month > after) & (month <= (months if until is None else until))
    return array(array(amount_per_month)[..., None] * paid)


def lease_payment(price: Any, rate_per_year: Any, months: int, *, residual: Any = 0.0) -> Array:
    """Monthly lease payment, in advance: the lessor recovers `price` less the residual's value today, at its own rate."""
    if months < 1:
        raise InputError(Problem("must be at least one month", key="months", value=str(months)))
    factors = discount_factors(rate_per_year, months)
    return array((array(price) - array(residual) * factors[..., months]) / np.sum(factors[..., :months], axis=-1))


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
