"""Money over time: monthly flows, discounting, annuities, leases, rates of return.

Flows are arrays whose last axis is the month, 0 (today) to `months`; any axes before it are draws. Money paid
during month m stands at its end. Everything is vectorised over draws, and numpy only, so provenance survives.

Two kinds of amount exist and are never mixed. An amount in `today` money rises with inflation until it is paid
(electricity, staff, a later stage's purchase); a `fixed` amount is the sum written in a contract (a lease
payment). `Discounting` holds one rate and says whether it is real or nominal; Fisher's (1+i) = (1+r)(1+pi) gives
the other, so both statements of the same rate value every flow alike.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from operator import add
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fabricreport.errors import InputError, Problem

Array = NDArray[np.float64]
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
            if np.any(~(np.asanyarray(getattr(self, key)) > -1)):
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

    def factors(self, months: int, terms: str = "today") -> Array:
        """Discount factors of months 0 to `months` for amounts in `terms` ("today" or "fixed")."""
        if terms not in TERMS:
            raise InputError(Problem("must be today or fixed", key="terms", value=terms))
        rate = self.real_per_year if terms == "today" else self.nominal_per_year
        return discount_factors(rate, months)

    def present_value(self, flows: Array, terms: str = "today") -> Array:
        """Value today of monthly flows (..., months + 1) in `terms`; the month axis is summed away."""
        flows = array(flows)
        return array(np.sum(flows * self.factors(flows.shape[-1] - 1, terms), axis=-1))


def array(values: Any) -> Array:
    """Values as floats, keeping provenance."""
    return np.asanyarray(values, dtype=float)


def monthly_rate(rate_per_year: Any) -> Array:
    """The effective rate a month that compounds to `rate_per_year`."""
    return array((1 + array(rate_per_year)) ** (1 / 12) - 1)


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


def total_flow(flows: Sequence[Array]) -> Array:
    """Sum of several flows of the same horizon, keeping provenance."""
    return reduce(add, flows)


def annuity_factor(rate_per_year: Any, months: int, *, due: bool = False) -> Array:
    """Value today of 1 paid at the end (due: at the start) of each of `months` months."""
    _positive_months(months)
    start = 0 if due else 1
    return array(np.sum(discount_factors(rate_per_year, months)[..., start : start + months], axis=-1))


def annuity_payment(present_value: Any, rate_per_year: Any, months: int, *, due: bool = False) -> Array:
    """The level monthly payment that is worth `present_value` today."""
    return array(array(present_value) / annuity_factor(rate_per_year, months, due=due))


def perpetuity(amount_per_month: Any, rate_per_year: Any) -> Array:
    """Value today of a payment at the end of every month for ever; the rate must be above zero."""
    rate = monthly_rate(rate_per_year)
    if np.any(~(rate > 0)):
        raise InputError(Problem("a perpetuity needs a rate above zero", key="rate_per_year", value=str(rate_per_year)))
    return array(array(amount_per_month) / rate)


def lease_payment(price: Any, rate_per_year: Any, months: int, *, residual: Any = 0.0, due: bool = True) -> Array:
    """Monthly lease payment: the lessor recovers `price` less the residual's value today, at its own rate."""
    at_end = discount_factors(rate_per_year, months)[..., months]
    return annuity_payment(array(price) - array(residual) * at_end, rate_per_year, months, due=due)


def equivalent_per_month(present_value: Any, rate_per_year: Any, months: int) -> Array:
    """The level monthly cost worth `present_value` over `months`: compares lives of different length."""
    return annuity_payment(present_value, rate_per_year, months)


def equivalent_per_year(present_value: Any, rate_per_year: Any, months: int) -> Array:
    """The level cost at each year's end worth `present_value`: EAC = PV i / (1 - (1+i)^-n), PV / n at i = 0."""
    rate = array(rate_per_year)
    per_month = equivalent_per_month(present_value, rate, months)
    # twelve month-end payments grown to the year's end
    return array(per_month * np.sum(discount_factors(rate, 11) ** -1, axis=-1))


def npv(flows: Any, rate_per_year: Any) -> Array:
    """Net present value of monthly flows (..., months + 1) at one rate."""
    flows = array(flows)
    return array(np.sum(flows * discount_factors(rate_per_year, flows.shape[-1] - 1), axis=-1))


def irr_two_flows(paid: Any, received: Any, months: int) -> Array:
    """IRR a year of `paid` today and `received` after `months`: (received/paid)^(12/months) - 1."""
    _positive_months(months)
    return array((array(received) / array(paid)) ** (12 / months) - 1)


def irr(flows: Any, *, low: float = -0.99, high: float = 100.0) -> Array:
    """Internal rate of return a year of flows (..., months + 1), by bisection on all draws at once.

    The rate between `low` and `high` at which the NPV is zero; NaN where the NPV has the same sign at both ends
    (no rate, or an even number of them).
    """
    flows = array(flows)
    at_low, at_high = npv(flows, low), npv(flows, high)
    a = np.full(np.shape(at_low), np.log1p(low))
    b = np.full(np.shape(at_low), np.log1p(high))
    for _ in range(80):
        middle = (a + b) / 2
        same = np.sign(npv(flows, np.expm1(middle))) == np.sign(at_low)
        a, b = np.where(same, middle, a), np.where(same, b, middle)
    found = np.sign(at_low) * np.sign(at_high) <= 0
    return array(np.where(found, np.expm1((a + b) / 2), np.nan))


def _positive_months(months: int) -> None:
    if months < 1:
        raise InputError(Problem("must be at least one month", key="months", value=str(months)))
