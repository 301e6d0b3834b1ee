"""The base of a figure: of what it is a quantity, by which statistic, clock, size, horizon, stage and whole.

An amount is told by its mean and a time by its median. What a figure's unit, its draws and its name do not show stands
under `base` in `figures.yaml`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from enum import StrEnum
from typing import Any

from fabricreport.base.formats import inside

TIMES = frozenset({"us", "ms", "s", "min", "h", "day", "week", "month", "year"})
"""Units of time."""
COUNTS = frozenset({"count", "gpus", "node", "tokens", "repeat"})
"""Units of what is counted."""
CONVENTION = (
    "An amount is the mean of its outcomes, at present value, and a time is their median, unless its name says otherwise. "
    "What is paid by the hour, the day or the event is in the money of that day."
)
"""The rule of the statistics, as a memo says it once."""


class Statistic(StrEnum):
    """Which of a figure's outcomes is printed."""

    MEAN = "mean"
    MEDIAN = "median"
    OUTCOMES = "share of outcomes"
    P5 = "P5"
    P90 = "P90"
    P95 = "P95"
    WORST = "mean of the worst twentieth"
    COUNT = "count"
    STATED = "as stated or set"
    WHERE_LEVEL = "where the mean difference is zero"
    WHERE_CHANGED = "where the advice changes"
    CENTRAL = "at central values"
    WANTED = "at the share of outcomes wanted"
    END = "at an end of its range"


class Clock(StrEnum):
    """From which moment a time counts."""

    NONE = ""
    MEMO = "from the memo's date"
    ORDER = "from the order"
    DELIVERY = "from delivery"
    POWER_ON = "from power-on"


class Size(StrEnum):
    """Of how much of the client's cluster a figure is."""

    NONE = ""
    NOW = "at the first size"
    FULL = "at the last size"
    PLAN = "over all sizes of the plan"
    JOB = "of the largest job"
    NODE = "of one node"


class Horizon(StrEnum):
    """Over how long a figure adds up."""

    NONE = ""
    WHOLE = "over the horizon"
    FIRST_YEAR = "over the first year"
    RUN = "over one run"
    DAY_ONE = "on the first day"


@dataclass(frozen=True)
class Base:
    """What a figure is a quantity of, and how. `about`: the option, stage or question that it is told of; `of`: the whole."""

    quantity: str = ""
    statistic: Statistic = Statistic.STATED
    clock: Clock = Clock.NONE
    size: Size = Size.NONE
    horizon: Horizon = Horizon.NONE
    stage: str = ""
    of: str = ""
    about: tuple[str, ...] = ()

    def as_dict(self) -> dict[str, Any]:
        """The base as `ledger.json` keeps it, without what it has none of."""
        found = {one.name: getattr(self, one.name) for one in fields(self)}
        return {k: list(v) if isinstance(v, tuple) else str(v) for k, v in found.items() if v}


def told(base: Mapping[str, Any]) -> str:
    """A base as `ledger.json` keeps it, in one line: what it is of, then how it is told."""
    how = [base.get(key, "") for key in ("statistic", "horizon", "size", "clock", "stage")]
    whole = base.get("of", "")
    return f"{base.get('quantity', '')}: " + ", ".join(filter(None, [*how, whole and f"as a share of {whole}"]))


def is_time(unit: str) -> bool:
    """Whether a unit is one of time."""
    return unit in TIMES


def is_money(unit: str) -> bool:
    """Whether a unit is one of money, or of money per something."""
    return unit.split("/")[0] in ("usd", "eur")


def statistic_of(unit: str, central: str, *, drawn: bool) -> Statistic:
    """What a figure's unit and its draws tell of its statistic."""
    if drawn:
        return Statistic.MEAN if central == "mean" else Statistic.MEDIAN
    if is_money(unit):
        return Statistic.MEAN
    return Statistic.COUNT if unit in COUNTS else Statistic.STATED


def derived(label: str, unit: str, central: str, *, drawn: bool) -> Base:
    """The base of a figure that no rule tells more of."""
    return Base(inside(label), statistic_of(unit, central, drawn=drawn))
