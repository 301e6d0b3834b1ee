"""What the figures of the risk are made from: the case, the result, and lookups that several figures share."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from fabricreport.books.names import whole_names
from fabricreport.durations import DAYS_PER_WEEK, HOURS_PER_DAY, HOURS_PER_YEAR
from fabricreport.figures import FigureSpec
from fabricreport.inputs import Inputs
from fabricreport.models.money.lost_time import COMMON
from fabricreport.models.risk.incidents import IncidentLaw
from fabricreport.models.risk.levers import LeverValue
from fabricreport.models.risk.stress import StressCase
from fabricreport.sections.schedule.days import start_unit
from fabricreport.sections.tail_risk.horizon import CAUSES, FABRIC_CAUSES
from fabricreport.sections.tail_risk.outcomes import Outcome
from fabricreport.sections.tail_risk.result import TailResult
from fabricreport.validation.card import CardRow
from fabricreport.validation.risk import goodput_card

_SHORT_RUN_DAYS = 5.0


def in_hours(planned_days: float) -> bool:
    """Whether a run is so short that its delay is told in hours."""
    return planned_days < _SHORT_RUN_DAYS


@dataclass(frozen=True)
class RiskFigures:
    """What the figures of the risk are made from."""

    given: Inputs
    result: TailResult

    @cached_property
    def names(self) -> Mapping[str, str]:
        """Names of the options by id."""
        return whole_names(self.given.options)

    # ---- one option

    def run(self, option: str) -> Outcome:
        """An option's run with its luck."""
        return self.result.outcomes[option]

    def law(self, fault: str, option: str) -> IncidentLaw | None:
        """The law of one kind of fault on an option, None where it cannot happen there."""
        return next((law for law in self.result.subjects[option].risk.incidents if law.kind == fault), None)

    @cached_property
    def faults(self) -> tuple[str, ...]:
        """Kinds of fault that some option can have."""
        laws = [law for subject in self.result.subjects.values() for law in subject.risk.incidents]
        return tuple(dict.fromkeys(law.kind for law in laws))

    def events(self, fault: str, option: str) -> Any:
        """Faults of one kind a year on an option; asked for where the fault can happen."""
        law = self.law(fault, option)
        assert law is not None
        return self._yearly(law, option)

    def _yearly(self, law: IncidentLaw, option: str) -> Any:
        return HOURS_PER_YEAR * law.events_per_hour(self.result.subjects[option].run.cluster)

    def all_events(self, option: str) -> Any:
        """Faults of the fabric a year on an option."""
        laws = self.result.subjects[option].risk.incidents
        return sum((self._yearly(law, option) for law in laws), start=0.0)

    def common(self, option: str) -> Any:
        """Interruptions a year that no fabric causes."""
        run = self.result.subjects[option].run
        return HOURS_PER_YEAR * run.common[0].interruptions_per_hour(run.cluster)

    def fabric_lost(self, option: str) -> Any:
        """Share of GPU time lost to the fabric alone, draws."""
        lost = self.result.lost[option]
        return sum((lost[cause] * (cause in FABRIC_CAUSES) for cause in CAUSES), start=0.0)

    def common_lost(self, option: str) -> Any:
        """Share of GPU time lost to what no network changes, draws."""
        lost = self.result.lost[option]
        return 1.0 - math.prod((1.0 - lost[cause] for cause in COMMON), start=1.0)

    # ---- a run's delay, in its own unit

    @property
    def run_unit(self) -> str:
        """The unit in which delays are told."""
        return "h" if in_hours(self.result.planned_days) else "day"

    def in_run_unit(self, days: Any) -> Any:
        """A duration in days, in that unit."""
        return days * HOURS_PER_DAY if in_hours(self.result.planned_days) else days

    # ---- the time until a network runs stably, in one unit for all options

    @cached_property
    def start_unit(self) -> str:
        """The unit in which it is told."""
        return start_unit(self.result.bring_up_weeks.values())

    def in_start_unit(self, weeks: Any) -> Any:
        """A duration in weeks, in that unit."""
        return weeks * DAYS_PER_WEEK if self.start_unit == "day" else weeks

    @cached_property
    def stress(self) -> Mapping[str, StressCase]:
        """The stress cases by id."""
        return {case.id: case for case in self.result.stress}

    @cached_property
    def levers(self) -> Mapping[str, LeverValue]:
        """The levers by id."""
        return {lever.id: lever for lever in self.result.levers}

    @property
    def card(self) -> Mapping[str, CardRow]:
        """The rows of the card of goodput, by their place."""
        return {str(place): row for place, row in enumerate(goodput_card().rows)}


Spec = FigureSpec[RiskFigures]
EachSpec = FigureSpec[RiskFigures, str]
PairSpec = FigureSpec[RiskFigures, str, str]
