"""Total cost of one option over the horizon, in named components that can be differenced term by term.

One boundary for every option (servers, fabric, power, space, support, licences, staff, training, less
residual; or rent), plus GPU time lost. A lost GPU-hour is charged once: `LostTime` holds the disjoint
causes, and `charge_lost_time` refuses a bill that already carries the charge. Amounts are in today's money unless a contract fixes them (see `cashflow`); components are
present values in USD, scalars or arrays over draws.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import reduce
from operator import add
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fabricreport.durations import HOURS_PER_MONTH, HOURS_PER_WEEK
from fabricreport.errors import InputError, Problem
from fabricreport.models.fabric.cost import energy_usd_per_month
from fabricreport.models.money.cashflow import Discounting, array, lease_payment, level
from fabricreport.models.money.lost_time import COMMON, LostTime

Array = NDArray[np.float64]
LOST = "lost: "
"""Prefix of the components that charge lost GPU time."""

OF = " of "
"""Between a cost and the piece it is booked for: `support of switches`."""


@dataclass(frozen=True)
class CostComponents(Mapping[str, Array]):
    """Present values of one option's costs by name (USD; scalars or (draws,)); a credit is negative."""

    parts: Mapping[str, Array]

    def __getitem__(self, name: str) -> Array:
        return self.parts[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.parts)

    def __len__(self) -> int:
        return len(self.parts)

    @property
    def total(self) -> Array:
        """The sum of all components."""
        return reduce(add, self.parts.values(), array(0.0))

    @property
    def charges_lost_time(self) -> bool:
        """Whether lost GPU time is already in this bill."""
        return any(name.startswith(LOST) for name in self.parts)

    def plus(self, more: Mapping[str, Array]) -> CostComponents:
        """This bill with further components; a name that exists already is refused (it would be charged twice)."""
        if twice := set(self.parts) & set(more):
            raise InputError(Problem("this cost is in the bill already", value=", ".join(sorted(twice))))
        return CostComponents({**self.parts, **more})

    def converted(self, rate: Any) -> CostComponents:
        """The same bill in another currency: every component times units of it per USD."""
        return CostComponents({name: array(value * array(rate)) for name, value in self.parts.items()})

    def grouped(self, groups: Mapping[str, Sequence[str]]) -> CostComponents:
        """Components summed into groups; those in no group keep their own name. The total does not change.

        What was booked piece by piece (`support of switches`) goes where its whole (`support`) goes.
        """
        members = {name: group for group, names in groups.items() for name in names}
        out: dict[str, Array] = {}
        for name, value in self.parts.items():
            whole = name.partition(OF)[0]
            key = members.get(name, members.get(whole, whole))
            out[key] = out[key] + value if key in out else value
        return CostComponents(out)


def bring_up_share(weeks: Any, months: int, *, idle_share: Any = 1.0) -> Array:
    """Weeks until stable as a share of the horizon; `idle_share` of the GPUs do no useful work meanwhile."""
    hours = array(weeks) * HOURS_PER_WEEK * array(idle_share)
    return hours / (months * HOURS_PER_MONTH)


@dataclass(frozen=True)
class Purchase:
    """What is bought at one month: capital by component name (USD), the watts each group of it draws, licences a year (USD)."""

    month: int
    capex_usd: Mapping[str, Any]
    watts: Mapping[str, Any] = field(default_factory=dict)
    licences_usd_per_year: Any = 0.0


@dataclass(frozen=True)
class Running:
    """What it costs to keep the purchases going, in today's money.

    `support_per_year`: share of a component's price a year, by component name. `retention_per_year`: share of
    its value that a component keeps each year, by name; a component not named has no resale value.
    `colocation_usd_per_kw_month` is space without electricity, per kW of equipment; 0 on own premises.
    """

    usd_per_kwh: Any
    pue: Any
    support_per_year: Mapping[str, Any] = field(default_factory=dict)
    retention_per_year: Mapping[str, Any] = field(default_factory=dict)
    staff_usd_per_year: Any = 0.0
    training_usd: Any = 0.0
    colocation_usd_per_kw_month: Any = 0.0


@dataclass(frozen=True)
class Lease:
    """Leasing instead of buying, to the end of the horizon: the lessor's nominal rate a year, and the share of
    the price it counts on getting back at the end (the equipment returns to it, so there is no residual)."""

    rate_per_year: Any
    residual_share: Any = 0.0


def ownership_cost(
    purchases: Sequence[Purchase],
    running: Running,
    *,
    months: int,
    discounting: Discounting,
    lease: Lease | None = None,
) -> CostComponents:
    """Present values by component of buying (or leasing) and running over `months`.

    Buying and colocation differ only in `running.colocation_usd_per_kw_month`. Components: those of the
    purchases, then power, cooling, support, licences, colocation, staff, training, residual; all but licences, staff and
    training are booked piece by piece (`support of switches`, `power of servers`), so that what two options share cancels term by term
    (`grouped` sums them). Running costs of a purchase start in the month after it. Lost GPU time is added by `charge_lost_time`.
    """
    if not purchases:
        raise InputError(Problem("at least one purchase is needed", key="purchases"))
    parts: dict[str, Array] = {}

    def book(name: str, value: Array) -> None:
        parts[name] = parts[name] + value if name in parts else value

    for bought in purchases:
        for name, price in bought.capex_usd.items():
            book(name, _capital(price, bought.month, months, discounting, lease))
    for bought in purchases:
        for name, amount in _running_amounts(bought, running).items():
            book(name, discounting.level(amount, months, after=bought.month))
    staff = array(running.staff_usd_per_year) / 12
    book("staff", discounting.level(staff, months))
    book("training", array(running.training_usd))
    if lease is None:
        for bought in purchases:
            for name, value in _residual(bought, running, months, discounting).items():
                book(f"residual{OF}{name}", -value)
    return CostComponents(parts)


def _capital(price: Any, month: int, months: int, discounting: Discounting, lease: Lease | None) -> Array:
    """Present value of a price paid at `month`, or of the lease payments in its place."""
    if lease is None:
        return discounting.lump(price, month, months)
    inflation = array(discounting.inflation_per_year)
    at_signing = array(price) * (1 + inflation) ** (month / 12)
    residual = at_signing * array(lease.residual_share)
    payment = lease_payment(at_signing, lease.rate_per_year, months - month, residual=residual)
    # in advance: the first payment on the day of delivery
    return discounting.level(payment, months, after=month - 1, until=months - 1, terms="fixed")


def _running_amounts(bought: Purchase, running: Running) -> dict[str, Array]:
    """What one purchase costs a month in today's money, by component."""
    support = {
        f"support{OF}{name}": array(bought.capex_usd.get(name, 0.0)) * array(rate) / 12
        for name, rate in running.support_per_year.items()
    }
    amounts: dict[str, Array] = {}
    for group, watts in bought.watts.items():
        power, cooling = energy_usd_per_month(watts, running.usd_per_kwh, running.pue)
        amounts[f"power{OF}{group}"], amounts[f"cooling{OF}{group}"] = power, cooling
        amounts[f"colocation{OF}{group}"] = array(watts) / 1000 * array(running.colocation_usd_per_kw_month)
    return {**amounts, **support, "licences": array(bought.licences_usd_per_year) / 12}


def _residual(bought: Purchase, running: Running, months: int, discounting: Discounting) -> dict[str, Array]:
    """Present value of what each piece still fetches at the horizon's end (geometric decline, in today's money)."""
    age_years = (months - bought.month) / 12
    at_end = discounting.factors(months)[..., months]
    return {
        name: array(bought.capex_usd.get(name, 0.0)) * array(retention) ** age_years * at_end
        for name, retention in running.retention_per_year.items()
    }


def gpu_hours(stages: Sequence[tuple[int, int]], months: int) -> Array:
    """Installed GPU-hours of each month 0 to `months` for stages (month, GPUs): (months + 1,)."""
    flows = np.zeros(months + 1)
    before = 0
    for month, gpus in stages:
        flows = flows + level(float(gpus - before) * HOURS_PER_MONTH, months, after=month)
        before = gpus
    return flows


def amortised_gpu_hour_usd(costs: CostComponents, lost: LostTime, hours: Array, discounting: Discounting) -> Array:
    """All-in cost of one useful GPU-hour: present cost over present useful hours (a levelised cost).

    `hours` are installed GPU-hours by month. Refuses a bill that already charges lost time: the useful hours in
    the denominator carry it.
    """
    _not_charged_yet(costs)
    return costs.total / (discounting.present_value(hours) * lost.useful)


def charge_lost_time(
    costs: CostComponents,
    lost: LostTime,
    hours: Array,
    gpu_hour_usd: Any,
    discounting: Discounting,
) -> CostComponents:
    """The bill with each lost GPU-hour charged once, at `gpu_hour_usd` (today's money), one component a cause.

    With the amortised value the total is the cost of as much *useful* time as the cluster has hours, which is
    what `rent_cost` buys too. Refuses a bill that carries the charge already.
    """
    _not_charged_yet(costs)
    value = discounting.present_value(hours) * array(gpu_hour_usd)
    return costs.plus({f"{LOST}{_words(cause)}": value * share for cause, share in lost.by_cause().items()})


@dataclass(frozen=True)
class Rental:
    """A provider's offer: USD per GPU-hour, add-ons per GPU-hour by name, one-off charges, and whether the price
    is `fixed` by contract or moves with prices in general (`today`)."""

    usd_per_gpu_hour: Any
    add_ons_usd_per_gpu_hour: Mapping[str, Any] = field(default_factory=dict)
    one_off_usd: Any = 0.0
    terms: str = "fixed"


def rent_cost(offer: Rental, lost: LostTime, hours: Array, discounting: Discounting) -> CostComponents:
    """Present cost of renting until `hours` (by month) of *useful* work are done, by component.

    Offers are compared by work done, not per hour: at a useful share u, one useful hour takes 1/u paid hours.
    The paid hours beyond the useful ones are the lost-time components, at the offer's own price: first those that the work
    takes on a perfect network, then those that this one adds.
    """
    paid = discounting.present_value(hours, offer.terms)
    price: Array = array(offer.usd_per_gpu_hour)
    parts: dict[str, Array] = {"rent": paid * price}
    for name, add_on in offer.add_ons_usd_per_gpu_hour.items():
        parts[name] = paid * array(add_on)
        price = price + array(add_on)
    parts["one-off charges"] = array(offer.one_off_usd)
    for cause, share in lost.by_cause().items():
        done = 1.0 if cause in COMMON else lost.useful
        parts[f"{LOST}{_words(cause)}"] = paid * price * share / (lost.useful_on_any * done)
    return CostComponents(parts)


def usd_per_useful_gpu_hour(costs: CostComponents, hours: Array, discounting: Discounting) -> Array:
    """Levelised cost of a useful GPU-hour of a bill that does `hours` of useful work and charges lost time."""
    if not costs.charges_lost_time:
        raise InputError(
            Problem(
                "this bill does not charge lost time yet, so its hours are not all useful",
                remedy="Use amortised_gpu_hour_usd, or charge_lost_time first.",
            )
        )
    return array(costs.total / discounting.present_value(hours))


def slip_days(lost_share: Any, run_days: Any) -> tuple[Array, Array]:
    """(days of work lost in a run of `run_days`, days longer until the work is done): reported, never added to cost."""
    share, days = array(lost_share), array(run_days)
    return share * days, days / (1 - share) - days


def _not_charged_yet(costs: CostComponents) -> None:
    if costs.charges_lost_time:
        raise InputError(
            Problem(
                "lost GPU time is already charged in this bill",
                value=", ".join(name for name in costs if name.startswith(LOST)),
                remedy="Charge it once: pass the bill without it.",
            )
        )


def _words(cause: str) -> str:
    return cause.replace("_", " ").replace("bring up", "bring-up")
