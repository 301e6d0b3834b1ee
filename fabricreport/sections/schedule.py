"""When it runs: working days, weeks to power-on and to production, and a calendar of them that can be kept.

The last part to come counts. Where sellers of an option answered when all of it is delivered, that holds; where quotes say
it of some parts, the latest of them and what is assumed of the rest.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import date, timedelta
from enum import StrEnum
from math import ceil
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fabricreport.base.provenance import inputs_of, plain
from fabricreport.base.units import DAYS_PER_WEEK, HOURS_PER_WEEK
from fabricreport.books.options import Option
from fabricreport.books.quote_answers import weeks_to_delivery
from fabricreport.inputs.inputs import Inputs
from fabricreport.ledger.bases import Clock as BaseClock
from fabricreport.ledger.bases import Size
from fabricreport.sections.client import gpu_type

STABLE: Mapping[str, Any] = {
    "quantity": "time until a network runs stably",
    "clock": BaseClock.POWER_ON,
    "size": Size.NOW,
}
"""The base that every section tells an option's own weeks by (see `stable_label`)."""
_SATURDAY = 5
_SHORT_START_WEEKS = 2.0


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


def working_day_from(day: date) -> date:
    """The first working day that is no earlier."""
    return day if is_working_day(day) else working_days_after(day, 1)


def working_day_until(day: date) -> date:
    """The last working day that is no later."""
    while not is_working_day(day):
        day -= timedelta(days=1)
    return day


def working_days_between(first: date, last: date) -> int:
    """Working days after the first day, up to the last."""
    return sum(is_working_day(first + timedelta(days=n)) for n in range(1, (last - first).days + 1))


def told(day: date) -> str:
    """A day as prose writes it: 27 November 2026."""
    return f"{day.day} {day:%B %Y}"


def start_unit(weeks: Iterable[Any]) -> str:
    """The unit in which the weeks until networks run stably are told, of all options alike: days where all are soon stable."""
    latest = max(float(np.quantile(plain(one), 0.95)) for one in weeks)
    return "day" if latest < _SHORT_START_WEEKS else "week"


def stable_label(option: str) -> str:
    """What every section calls the time until an option runs stably."""
    return f"Time until {option} runs stably at the starting size"


_NOISE = 1e-9
_FEWEST, _TO_ASK, _BEFORE = 3, 3, 2
"""Working days that asking, an answer and an order take at least; to ask at most; and from an answer to the order."""


class Step(StrEnum):
    """What is done or met, in this order."""

    REQUEST = "request"
    ANSWERS = "answers"
    ORDER = "order"
    DELIVERY = "delivery"
    POWER_ON = "power-on"
    STABLE = "stable"
    PRODUCTION = "production"


@dataclass(frozen=True)
class Clock:
    """Weeks from the memo's date to each step that is not the client's own to choose, (draws,) each, one after another.

    `wait`: for answers that the course waits for, 0 where it orders at once.
    """

    wait: Any
    order: Any
    delivery: Any
    power_on: Any
    stable: Any
    production: Any


@dataclass(frozen=True)
class Calendar:
    """The `days` of the steps, the first working day (stable: the first day) that the `share` of outcomes wanted meets; the client's own date (`due`,
    None: none binds) and the `chance` of being in production by it (1 where none binds)."""

    days: Mapping[Step, date]
    share: float
    due: date | None
    chance: float

    @property
    def safe(self) -> date:
        """The first working day by which the share wanted is in production."""
        return self.days[Step.PRODUCTION]

    @property
    def in_time(self) -> bool:
        """Whether the client's date, if one binds, is met by the share wanted: it need not be a working day itself."""
        return self.due is None or (self.chance >= self.share - _NOISE and self.days[Step.ORDER] <= self.due)

    def due_by(self, as_of: date, days: int, *, asks: bool) -> date:
        """The day of an action that takes so many working days: what asks is sent with the requests, all else is done before
        the order."""
        return min(working_days_after(as_of, days), self.days[Step.REQUEST if asks else Step.ORDER])


def quantile(weeks: Any, share: float) -> float:
    """The least of the draws that this share of them does not exceed."""
    ranked: NDArray[np.float64] = np.sort(np.atleast_1d(np.asarray(weeks, dtype=float)))
    return float(ranked[max(ceil(share * ranked.size - _NOISE), 1) - 1])


def calendar_of(as_of: date, clock: Clock, share: float, due: date | None) -> Calendar:
    """The calendar of a course whose steps take these weeks."""

    def day(weeks: Any) -> date:
        return as_of + timedelta(days=ceil(quantile(weeks, share) * DAYS_PER_WEEK - _NOISE))

    ordered = max(working_days_between(as_of, day(clock.order)), _FEWEST)
    awaited = working_days_between(as_of, day(clock.wait)) or ordered - _BEFORE
    answered = min(max(awaited, _FEWEST - 1), ordered - 1)
    at_work = {Step.REQUEST: min(_TO_ASK, answered - 1), Step.ANSWERS: answered, Step.ORDER: ordered}
    found = {step: working_days_after(as_of, days) for step, days in at_work.items()}
    last = found[Step.ORDER]
    for step, weeks in (
        (Step.DELIVERY, clock.delivery),
        (Step.POWER_ON, clock.power_on),
        (Step.STABLE, clock.stable),
        (Step.PRODUCTION, clock.production),
    ):
        met_on = max(day(weeks), last)  # a network becomes stable on any day; what people do is done on a working day
        last = found[step] = met_on if step is Step.STABLE else working_day_from(met_on)
    allowed = np.inf if due is None else (due - as_of).days
    met = np.atleast_1d(np.asarray(clock.production, dtype=float)) * DAYS_PER_WEEK <= allowed
    return Calendar(found, share, due, float(np.mean(met)))


ORDER, LEAD, INSTALLATION = "evidence:order-weeks", "evidence:lead-weeks-equipment", "evidence:installation-weeks"
RENT_ORDER, HAND_OVER = "evidence:rent-order-weeks", "evidence:handover-weeks-rented"
SOAK = "evidence:acceptance-soak-hours"
_PRICE, _SERVER = "price:", "server"
_ALWAYS = ("switch", "nic", _SERVER)
"""Parts that every cluster takes: what quotes say of these holds for all, what they leave out is assumed."""


@dataclass(frozen=True)
class Arrival:
    """Weeks one after another: until the `order` is signed, from it to the last part's delivery or the hand-over (`lead`),
    from that to power-on (`installation`), and of the `soak` after the network runs stably. Scalars or (draws,)."""

    order: Any
    lead: Any
    installation: Any
    soak: Any

    @property
    def power_on(self) -> Any:
        """From the memo's date to power-on."""
        return self.order + self.lead + self.installation

    def production(self, stable: Any) -> Any:
        """From the memo's date to production, where a network takes so many weeks from power-on until it is stable."""
        return self.power_on + stable + self.soak

    def handed_over(self, weeks: float) -> Arrival:
        """The same where all is handed over so many weeks after the memo's date."""
        return replace(self, order=np.minimum(self.order, weeks), lead=weeks - np.minimum(self.order, weeks))


def arrival_of(given: Inputs, option: Option) -> Arrival:
    """When an option stands that is ordered at once: bought, or rented on a day that nobody has named."""
    if given.team.rented:
        return hired(given)
    return replace(in_nodes(given), lead=_lead(given, option), soak=_soak(given))


def hired(given: Inputs) -> Arrival:
    """When machines stand that are rented at once."""
    return Arrival(given.value(RENT_ORDER), given.value(HAND_OVER), 0.0, _soak(given))


def in_nodes(given: Inputs) -> Arrival:
    """When servers stand that are ordered at once, for jobs that wait for no network between them."""
    if given.team.rented:
        return replace(hired(given), soak=0.0)
    return Arrival(given.value(ORDER), given.value(LEAD), given.value(INSTALLATION), 0.0)


def _soak(given: Inputs) -> Any:
    return given.value(SOAK) / HOURS_PER_WEEK


def _lead(given: Inputs, option: Option) -> Any:
    """Weeks from the order to the delivery of the last part."""
    answered = given.answered.leads.get(option.id)
    if answered is not None:
        return answered
    parts = {kind: piece.price for kind, piece in option.pieces.items()} | {_SERVER: gpu_type(given).server.price}
    told = {kind: weeks for kind, ref in parts.items() if (weeks := _told(given, ref)) is not None}
    if told.keys() >= {*_ALWAYS} & parts.keys():
        return max(told.values())
    return np.maximum(given.value(LEAD), max(told.values())) if told else given.value(LEAD)


def _told(given: Inputs, ref: str) -> float | None:
    """Weeks to delivery that the quote says whose price is in force."""
    return weeks_to_delivery(given.prices.by_id(ref).source) if ref.startswith(_PRICE) else None


OF_WEEKS = "evidence:weeks-to-stable-"
"""What the id of weeks until a network runs stably begins with; an option's own weeks are a multiple of them."""


@dataclass(frozen=True)
class OwnUnit:
    """How values of an input are told: in `unit`, of which one of the input's own is `per`; the value `in_use` in it.

    `option`: whose own time it is, '' for any input but the weeks that those of every network are reckoned from.
    """

    unit: str
    per: float
    in_use: float
    option: str = ""

    def told(self, value: float) -> float:
        """A value of the input, in that unit."""
        return value * self.per


def own_weeks(input_id: str, draws: Any, weeks: Mapping[str, Any], among: Iterable[str]) -> OwnUnit | None:
    """The unit of the client's own weeks, for an input that those of an option are made from; None for any other input.

    `draws`: the input's; `weeks`: until each option runs stably; of several options `among` those it carries, the first's.
    """
    for option in among if input_id.startswith(OF_WEEKS) else ():
        if input_id in inputs_of(weeks[option]):
            unit = start_unit(weeks.values())
            own = plain(weeks[option]) * (DAYS_PER_WEEK if unit == "day" else 1.0)
            return OwnUnit(unit, float(np.median(own / plain(draws))), float(np.median(own)), option)
    return None
