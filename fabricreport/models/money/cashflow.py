"""Money over time: monthly flows, discounting, annuities, leases.

Flows are arrays whose last axis is the month, 0 (today) to `months`; any axes before it are draws. Money paid
during month m stands at its end. Everything is vectorised over draws, and numpy only, so provenance survives.

Two kinds of amount exist and are never mixed. An amount in `today` money rises with inflation until it is paid
(electricity, staff, a later stage's purchase); a `fixed` amount is the sum written in a contract (a lease
payment). `Discounting` holds one rate and says whether it is real or nominal; Fisher's (1+i) = (1+r)(1+pi) gives
the other, so both statements of the same rate value every flow alike.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fabricreport.errors import InputError, Problem
from fabricreport.models.domain import between

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

    def factors(self, months: int, terms: str = "today") -> Array:
        """Discount factors of months 0 to `months` for amounts in `terms` ("today" or "fixed")."""
        if terms not in TERMS:
            raise InputError(Problem("must be today or fixed", key="terms", value=terms))
        known = self._factors
        if (months, terms) not in known:
            rate = self.real_per_year if terms == "today" else self.nominal_per_year
            known[months, terms] = discount_factors(rate, months)
        return known[months, terms]

    @cached_property
    def _factors(self) -> dict[tuple[int, str], Array]:
        """Factors made so far, by horizon and terms: every line of a bill asks for the same ones."""
        return {}

    def annuity(self, months: int, after: int, last: int, terms: str) -> Array:
        """The sum of the factors of each month m with after < m <= last."""
        known = self._annuities
        if (months, after, last, terms) not in known:
            factors = self.factors(months, terms)
            known[months, after, last, terms] = np.sum(factors[..., after + 1 : last + 1], axis=-1)
        return known[months, after, last, terms]

    @cached_property
    def _annuities(self) -> dict[tuple[int, int, int, str], Array]:
        return {}

    def lump(self, amount: Any, month: int, months: int) -> Array:
        """Value today of an amount at one month of a horizon of `months`, in today's money."""
        return array(amount) * self.factors(months)[..., month]

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


def annuity_factor(rate_per_year: Any, months: int, *, due: bool = False) -> Array:
    """Value today of 1 paid at the end (due: at the start) of each of `months` months."""
    _positive_months(months)
    start = 0 if due else 1
    return array(np.sum(discount_factors(rate_per_year, months)[..., start : start + months], axis=-1))


def annuity_payment(present_value: Any, rate_per_year: Any, months: int, *, due: bool = False) -> Array:
    """The level monthly payment that is worth `present_value` today."""
    return array(array(present_value) / annuity_factor(rate_per_year, months, due=due))


def lease_payment(price: Any, rate_per_year: Any, months: int, *, residual: Any = 0.0, due: bool = True) -> Array:
    """Monthly lease payment: the lessor recovers `price` less the residual's value today, at its own rate."""
    at_end = discount_factors(rate_per_year, months)[..., months]
    return annuity_payment(array(price) - array(residual) * at_end, rate_per_year, months, due=due)


def _positive_months(months: int) -> None:
    if months < 1:
        raise InputError(Problem("must be at least one month", key="months", value=str(months)))
