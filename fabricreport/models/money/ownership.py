"""Total cost of one option over the horizon, in named components that can be differenced term by term: staff, and GPU time lost by disjoint cause.

One boundary for every option (servers, fabric, power, space, support, licences, staff, training, less
residual; or rent), plus GPU time lost. A lost GPU-hour is charged once: `LostTime` holds the disjoint
causes, and `charge_lost_time` refuses a bill that already carries the charge. Amounts are in today's money unless a contract fixes them (see `cashflow`); components are
present values in USD, scalars or arrays over draws.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import reduce
from operator import add
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fabricreport.base.errors import InputError, Problem
from fabricreport.base.units import HOURS_PER_MONTH, HOURS_PER_WEEK
from fabricreport.models.draws import between
from fabricreport.models.fabric.bill import energy_usd_per_month
from fabricreport.models.money.cashflow import Array, Discounting, array, lease_payment, level

_BELOW_ONE = math.nextafter(1.0, 0.0)
"""The largest share that leaves something."""

COMMON = ("servers", "faults", "checkpoints")
"""Causes of lost time that no network changes."""


@dataclass(frozen=True)
class LostTime:
    """Shares of GPU time lost, by disjoint cause; scalars or arrays over draws in [0, 1).

    Common to all networks: `servers` (slow ones, and the jitter that more of them add), `faults` (of GPUs, hosts and
    software), `checkpoints`. They act first, as on a perfect network. The network's act on the time that these leave:
    `bring_up` (weeks until stable, as a share of the horizon: `bring_up_share`), `exposed_communication` (waiting on
    the network although it works as designed), `tail` (its stalls and contention beyond that), `interruptions`
    (rework and restart after its faults). Within each of the two, a cause acts on the time that the others leave.
    """

    servers: Any = 0.0
    faults: Any = 0.0
    checkpoints: Any = 0.0
    bring_up: Any = 0.0
    exposed_communication: Any = 0.0
    tail: Any = 0.0
    interruptions: Any = 0.0

    def __post_init__(self) -> None:
        problems = []
        for cause, share in self._shares(f.name for f in fields(LostTime)).items():
            if not between(share, 0, _BELOW_ONE):
                problems.append(Problem("must be a share of at least 0 and below 1", key=cause, value=str(share)))
        if problems:
            raise InputError(problems)

    def _shares(self, causes: Iterable[str]) -> dict[str, Array]:
        return {cause: array(getattr(self, cause)) for cause in causes}

    @property
    def common(self) -> dict[str, Array]:
        """Share that each common cause takes, as if it acted alone."""
        return self._shares(COMMON)

    @property
    def network(self) -> dict[str, Array]:
        """Share that each of the network's causes takes of the time that the common ones leave, as if it acted alone."""
        return self._shares(f.name for f in fields(LostTime) if f.name not in COMMON)

    @property
    def useful_on_any(self) -> Array:
        """The share of GPU time that would do work on a perfect network."""
        return _left(self.common)

    @property
    def useful_of_network(self) -> Array:
        """The share that the network leaves of that."""
        return _left(self.network)

    @property
    def useful(self) -> Array:
        """The share of GPU time that does work."""
        return self.useful_on_any * self.useful_of_network

    @property
    def running(self) -> LostTime:
        """The same once the network is stable."""
        return replace(self, bring_up=0.0)

    def by_cause(self) -> dict[str, Array]:
        """The lost share split by cause; the parts sum to 1 - `useful`, and the common ones are alike on every network.

        Split in proportion to -log(1 - share), the only split of a product that does not depend on the order in
        which the causes are taken; the common ones first.
        """
        common = _split(self.common, 1 - self.useful_on_any)
        network = _split(self.network, self.useful_on_any * (1 - self.useful_of_network))
        return {**common, **network}


def _left(shares: Mapping[str, Array]) -> Array:
    """The product of what each cause leaves."""
    return reduce(lambda left, share: left * (1 - share), shares.values(), array(1.0))


def _split(shares: Mapping[str, Array], lost: Array) -> dict[str, Array]:
    weights = {cause: -np.log1p(-share) for cause, share in shares.items()}
    whole = reduce(add, weights.values())
    safe = np.where(whole > 0, whole, 1.0)
    return {cause: lost * weight / safe for cause, weight in weights.items()}


SMALL_GPUS, MID_GPUS, LARGE_GPUS = 128, 1024, 2048
"""The sizes that staff is stated for."""


@dataclass(frozen=True)
class StaffRule:
    """Full-time staff for the fabric by size (scalars or arrays over draws).

    `small` to 128 GPUs, `mid` at 1,024, `large` at 2,048, in between in proportion, and `per_1024_more` for each further
    1,024 GPUs; all times `factor`, the multiple of the family, the maturity and the switches. `effort` multiplies that again, but adds or saves
    no more than `most_apart` posts. `markup`: what a post costs over an employed one; `own`: posts at any size beside.
    """

    small: Any
    mid: Any
    large: Any
    per_1024_more: Any
    factor: Any = 1.0
    effort: Any = 1.0
    most_apart: Any = np.inf
    markup: Any = 1.0
    own: Any = 0.0


def fabric_fte(gpus: int, rule: StaffRule) -> NDArray[np.float64]:
    """Posts to pay for the fabric of `gpus` GPUs: never fewer than a smaller one has in the same draw."""
    if gpus < 1:
        raise InputError(Problem("must be at least 1", key="gpus", value=str(gpus)))
    small, mid = array(rule.small), np.maximum(array(rule.small), array(rule.mid))
    large = np.maximum(mid, array(rule.large))
    staff = (
        small + (mid - small) * _part(gpus, SMALL_GPUS, MID_GPUS) + (large - mid) * _part(gpus, MID_GPUS, LARGE_GPUS)
    )
    more = max(0.0, (gpus - LARGE_GPUS) / MID_GPUS) * array(rule.per_1024_more)
    staff = (staff + more) * array(rule.factor)
    apart = np.clip(staff * (array(rule.effort) - 1.0), -array(rule.most_apart), array(rule.most_apart))
    return array((staff + apart) * array(rule.markup) + array(rule.own))


def _part(gpus: int, start: int, end: int) -> float:
    """How far a size is on the way from one to another, from 0 to 1."""
    return min(max((gpus - start) / (end - start), 0.0), 1.0)


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
    return {
        name: discounting.lump(array(bought.capex_usd.get(name, 0.0)) * array(retention) ** age_years, months, months)
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


def amortised_gpu_hour_usd(
    costs: CostComponents, lost: LostTime, hours: Array, discounting: Discounting, terms: str = "today"
) -> Array:
    """All-in cost of one useful GPU-hour, in `terms`: present cost over present useful hours (a levelised cost).

    `hours` are installed GPU-hours by month. Refuses a bill that already charges lost time: the useful hours in
    the denominator carry it.
    """
    _not_charged_yet(costs)
    return costs.total / (discounting.present_value(hours, terms) * lost.useful)


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
    """A provider's offer: USD per GPU-hour and add-ons per GPU-hour by name, fixed by contract."""

    usd_per_gpu_hour: Any
    add_ons_usd_per_gpu_hour: Mapping[str, Any] = field(default_factory=dict)


def rent_cost(offer: Rental, lost: LostTime, hours: Array, discounting: Discounting) -> CostComponents:
    """Present cost of renting until `hours` (by month) of *useful* work are done, by component.

    Offers are compared by work done, not per hour: at a useful share u, one useful hour takes 1/u paid hours.
    The paid hours beyond the useful ones are the lost-time components, at the offer's own price: first those that the work
    takes on a perfect network, then those that this one adds.
    """
    paid = discounting.present_value(hours, "fixed")
    price: Array = array(offer.usd_per_gpu_hour)
    parts: dict[str, Array] = {"rent": paid * price}
    for name, add_on in offer.add_ons_usd_per_gpu_hour.items():
        parts[name] = paid * array(add_on)
        price = price + array(add_on)
    for cause, share in lost.by_cause().items():
        done = 1.0 if cause in COMMON else lost.useful
        parts[f"{LOST}{_words(cause)}"] = paid * price * share / (lost.useful_on_any * done)
    return CostComponents(parts)


def slip_days(lost_share: Any, run_days: Any) -> Array:
    """Days longer that a run of `run_days` takes until its work is done."""
    days = array(run_days)
    return days / (1 - array(lost_share)) - days


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
