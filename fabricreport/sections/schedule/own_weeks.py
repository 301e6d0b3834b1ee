"""Inputs as this client counts them: its own weeks until a network runs stably, and the median of every time."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from fabricreport.durations import DAYS_PER_WEEK
from fabricreport.provenance import inputs_of, plain
from fabricreport.sections.schedule.days import start_unit

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
