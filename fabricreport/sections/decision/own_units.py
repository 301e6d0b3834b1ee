"""Inputs as this client counts them: its own weeks until a network runs stably, and the median of every time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from fabricreport.bases import is_time
from fabricreport.durations import DAYS_PER_WEEK
from fabricreport.provenance import inputs_of, plain
from fabricreport.sections.decision.turning import Search, Turn
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


def own_unit(search: Search, turn: Turn, pair: Sequence[str]) -> OwnUnit:
    """The unit of an input for this client; of two options whose weeks it carries it is that of the first."""
    if turn.is_choice or not is_time(turn.unit):
        return OwnUnit(turn.unit, 1.0, turn.in_use)
    bills, draws = search.base.bills, plain(search.base.given.own(turn.input_id))
    for option in pair if turn.input_id.startswith(OF_WEEKS) else ():
        weeks = bills.own[option].bring_up_weeks
        if turn.input_id in inputs_of(weeks):
            unit = start_unit(o.bring_up_weeks for o in bills.own.values())
            units = plain(weeks) * (DAYS_PER_WEEK if unit == "day" else 1.0)
            return OwnUnit(unit, float(np.median(units / draws)), float(np.median(units)), option)
    return OwnUnit(turn.unit, 1.0, float(np.median(draws)))
