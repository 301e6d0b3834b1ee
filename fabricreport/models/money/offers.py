"""Offers of rented GPU time: what one comes to for the same useful work, which can still be the cheapest, and which of several is the better.

A renter pays for the hours that the work takes: where a share u of the time is useful, one hour of work takes 1/u paid
hours (`ownership.rent_cost`). What is committed beyond the horizon is owed although nothing runs in it. Amounts are
present values in the client's currency, draws first.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any

import numpy as np

from fabricreport.base.units import HOURS_PER_MONTH
from fabricreport.models.money.cashflow import Array, Discounting, array
from fabricreport.models.money.ownership import CostComponents, LostTime, Rental, charge_lost_time, gpu_hours, rent_cost

ADD_ONS = "add-ons"
BEYOND = "committed beyond the horizon"
MONTHLY = "add-ons by the month"
DELAY = "delay"


@dataclass(frozen=True)
class Rung:
    """One step of a ladder: the months that the client commits to (0: none), and the price of a GPU-hour for it."""

    months: int
    usd_per_gpu_hour: Any


@dataclass(frozen=True)
class OfferTerms:
    """What a seller asks: a ladder of commitments, GPUs that have to be taken, add-ons that are needed, and the contract.

    `minimum_share` of the committed hours is paid whether they are used or not. The price is that of a contract: it does not
    move with prices in general.
    """

    rungs: tuple[Rung, ...]
    gpus: int
    minimum_share: float = 1.0
    add_ons_usd_per_gpu_hour: Any = 0.0
    add_ons_usd_per_month: Any = 0.0


@dataclass(frozen=True)
class Work:
    """The work to be done: sizes by month (month, GPUs) over `months`, how money is discounted, and what a lost hour is
    charged at where the client values it otherwise than by the rent (`hour_usd`, else None)."""

    stages: tuple[tuple[int, int], ...]
    months: int
    discounting: Discounting
    hour_usd: Any = None


@dataclass(frozen=True)
class OfferCost:
    """What an offer comes to: the rung that is cheapest for the work, its cost by component, what would still be owed by a
    client that stops on the first day (`bound`), and what the total grows by for each dollar more an hour (`per_dollar`)."""

    rung: Rung
    costs: CostComponents
    bound: Array
    per_dollar: Array

    @property
    def total(self) -> Array:
        """Present value (draws,) of the whole work under the offer."""
        return self.costs.total


def cost_of(terms: OfferTerms, lost: LostTime, work: Work, delay_usd: Any = 0.0) -> OfferCost:
    """The offer at the rung of its ladder that has the lowest mean total."""
    found = [_at(rung, terms, lost, work, delay_usd) for rung in terms.rungs]
    return min(found, key=lambda cost: float(np.mean(np.asarray(cost.total, dtype=float))))


def _at(rung: Rung, terms: OfferTerms, lost: LostTime, work: Work, delay_usd: Any) -> OfferCost:
    stages = [(month, max(gpus, terms.gpus)) for month, gpus in work.stages]
    hours = gpu_hours(stages, work.months)
    add_ons = {ADD_ONS: terms.add_ons_usd_per_gpu_hour} if np.any(np.asarray(terms.add_ons_usd_per_gpu_hour)) else {}
    offered = Rental(rung.usd_per_gpu_hour, add_ons)
    if work.hour_usd is None:
        costs = rent_cost(offered, lost, hours, work.discounting)
    else:
        free = rent_cost(offered, LostTime(), hours, work.discounting)
        paid = CostComponents({name: value for name, value in free.items() if not name.startswith("lost")})
        costs = charge_lost_time(paid, lost, hours, work.hour_usd, work.discounting)
    committed = months_committed(rung.months, work.months)
    price = array(rung.usd_per_gpu_hour) + array(terms.add_ons_usd_per_gpu_hour)
    per_month = terms.gpus * HOURS_PER_MONTH * terms.minimum_share * price
    parts: dict[str, Any] = {}
    if committed > work.months:
        parts[BEYOND] = _level(per_month, work.discounting, work.months, committed)
    if np.any(np.asarray(terms.add_ons_usd_per_month)):
        parts[MONTHLY] = _level(terms.add_ons_usd_per_month, work.discounting, 0, max(work.months, committed))
    if np.any(np.asarray(delay_usd)):
        parts[DELAY] = delay_usd
    bound = _level(per_month, work.discounting, 0, rung.months) if rung.months else price * 0.0
    worked = costs["rent"] / array(rung.usd_per_gpu_hour) / (lost.useful if work.hour_usd is None else 1.0)
    per_dollar = worked + (parts[BEYOND] / price if BEYOND in parts else 0.0)
    return OfferCost(rung, costs.plus(parts) if parts else costs, bound, array(per_dollar))


def months_committed(rung_months: int, horizon_months: int) -> int:
    """Months committed in all by a client that renews until the horizon is reached; 0 without a commitment."""
    return -(-horizon_months // rung_months) * rung_months if rung_months else 0


def _level(per_month: Any, discounting: Discounting, after: int, until: int) -> Array:
    """Present value of the same amount at the end of each month m with after < m <= until."""
    return discounting.level(per_month, until, after=after, terms="fixed")


# ---- which offer


class Standing(StrEnum):
    """What can be said of a set of offers."""

    LISTED = "nobody has made an offer: published prices stand in"
    TAKE = "one offer costs least, and nothing about it is open"
    TAKE_IF = "one offer costs least, and something about it is open"
    TAKE_WITHIN = "one offer costs least without its network, whose price it does not name"
    RENEW = "the offer that costs least has run out"
    EITHER = "several offers are as good as level, and nothing about them is open"
    NONE = "no offer can be taken as it stands"


CONDITIONAL = (Standing.TAKE_IF, Standing.TAKE_WITHIN, Standing.RENEW)
"""An offer is to be taken once something about it is settled."""


@dataclass(frozen=True)
class Reach:
    """How far an offer's mean cost may still move: from `low` to `high`; `open` where something about it is not settled
    that a seller has to write down, `firm` where the seller is bound by it, `barred` where it refuses what is needed.

    `old` where it is a published price that is out of date: it may contend, and puts nobody out. `apart` where its network is paid for beside it at a price that is not named, `expired` where it was made to this client
    and its last day has passed, `ready` where it is likely to run by the client's date.
    """

    mean: float
    low: float
    high: float
    open: bool = False
    firm: bool = True
    barred: bool = False
    apart: bool = False
    expired: bool = False
    ready: bool = True
    old: bool = False


@dataclass(frozen=True)
class Pick:
    """The offer to take or to ask `first`, and `contenders`: all that can still be the cheapest.

    `second`: the next, of published prices the next contender, or where the first is open the cheapest that is not, in time if
    one is; '' if there is none. `late`: cheaper offers than the first that are passed over because they are not likely to be
    ready in time.
    """

    standing: Standing
    first: str
    second: str
    contenders: tuple[str, ...] = ()
    late: tuple[str, ...] = ()


def pick(reach: Mapping[str, Reach], material_usd: float = 0.0, *, by_date: bool = False) -> Pick:
    """The verdict on offers, by id. An offer contends if its least cost is no more than the least of all highest costs of
    those that are not `old`.

    Leads below `material_usd` count as level. A dearer offer that does not contend changes nothing. `by_date`: the client
    stated a date and no price of missing it, so offers that are likely to meet it go before those that are not.
    """
    able = in_time(reach, by_date)
    found = _pick(able, material_usd)
    if not found.first or len(able) == len(reach):
        return found
    ahead = able[found.first].mean
    late = sorted((o for o, r in reach.items() if o not in able and not r.barred), key=lambda o: (reach[o].mean, o))
    behind = found.second
    if found.standing in CONDITIONAL and not behind:
        behind = next((o for o in late if reach[o].mean >= ahead and reach[o].firm and not reach[o].open), "")
    return replace(found, second=behind, late=tuple(o for o in late if reach[o].mean < ahead))


def in_time(reach: Mapping[str, Reach], by_date: bool) -> dict[str, Reach]:
    """Offers that can be taken: none that is barred, and `by_date` those likely to be ready, if one of them is."""
    able = {o: r for o, r in reach.items() if not r.barred}
    ready = {o: r for o, r in able.items() if r.ready}
    return ready if by_date and ready else able


def _pick(able: Mapping[str, Reach], material_usd: float) -> Pick:
    order = sorted(able, key=lambda o: (able[o].mean, o))
    if not order:
        return Pick(Standing.NONE, "", "")
    ceiling = min((r.high for r in able.values() if not r.old), default=float("inf"))
    contenders = tuple(o for o in order if able[o].low <= ceiling + (material_usd if able[o].firm else 0.0))
    first = contenders[0]
    second = next((o for o in order if o != first), "")
    if not any(r.firm or r.expired for r in able.values()):
        return Pick(Standing.LISTED, first, next((o for o in contenders if o != first), second), contenders)
    if able[first].open:
        settled = (o for o in order if o != first and able[o].firm and not able[o].open)
        condition = Standing.TAKE_WITHIN if able[first].apart else Standing.TAKE_IF
        standing = Standing.RENEW if able[first].expired else condition
        return Pick(standing, first, next(settled, ""), contenders)
    level = [o for o in contenders if o != first and able[o].mean - able[first].mean < material_usd]
    if level and not any(able[o].open for o in level):
        return Pick(Standing.EITHER, first, level[0], contenders)
    return Pick(Standing.TAKE, first, second, contenders)


def room_per_gpu_hour(mean_first: float, mean_second: float, per_dollar: float) -> float:
    """What the first offer's GPU-hour may cost more until the second costs no more; `per_dollar`: what the first's total
    grows by for each dollar an hour."""
    return (mean_second - mean_first) / per_dollar


def cheapest_in(totals: Mapping[str, Any]) -> dict[str, float]:
    """Share of the draws in which each offer costs least; ties are shared."""
    if not totals:
        return {}
    each = np.stack([np.asarray(t, dtype=float) for t in totals.values()])
    least = each == each.min(axis=0)
    shares = (least / least.sum(axis=0)).mean(axis=1)
    return {o: float(s) for o, s in zip(totals, shares, strict=True)}


def order_of(totals: Mapping[str, Any]) -> tuple[str, ...]:
    """Ids, the lowest mean first."""
    means: dict[str, float] = {o: float(np.mean(np.asarray(t, dtype=float))) for o, t in totals.items()}
    return tuple(sorted(means, key=lambda o: (means[o], o)))


@dataclass(frozen=True)
class Rates:
    """What a client loses, in the memo's currency: by a `week_without` its GPUs, by a `week_of_tuning` in which the network stands
    and is not stable, and by a `percent` of bandwidth below what is assumed (0 where its job sends nothing that is timed)."""

    week_without: Any
    week_of_tuning: Any
    percent: Any = 0.0

    def total(self, price: Any, weeks_to_delivery: Any, weeks_of_tuning: Any, percent_short: Any = 0.0) -> Any:
        """What offers are compared by, the least being the better; all scalars or (draws,)."""
        time = self.week_without * weeks_to_delivery + self.week_of_tuning * weeks_of_tuning
        return price + time + self.percent * percent_short
