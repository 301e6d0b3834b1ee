"""The figures of the risk: dates, shares of GPU time lost, faults, what a run that goes wrong costs, and the card of goodput.

What each is called and rests on stands in `figures.yaml`.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from fabricreport.base.formats import inside
from fabricreport.base.provenance import inputs_of
from fabricreport.base.units import DAYS_PER_WEEK, HOURS_PER_DAY, HOURS_PER_YEAR
from fabricreport.ledger.figures import Declaration, Footing, Index, Reckoning, figure
from fabricreport.models.money.ownership import COMMON
from fabricreport.models.risk.goodput import Spread, p_late, spread
from fabricreport.models.risk.incidents import IncidentLaw
from fabricreport.models.risk.levers import LeverValue
from fabricreport.models.risk.stress import StressCase
from fabricreport.scenario.defaults import is_given
from fabricreport.sections.client import OptionNames
from fabricreport.sections.schedule import stable_label, start_unit
from fabricreport.sections.tail_risk.inputs import CAUSES, FABRIC_CAUSES, PROFILE
from fabricreport.sections.tail_risk.result import Outcome, TailResult
from fabricreport.validation.card import CardRow
from fabricreport.validation.risk import goodput_card

_SHORT_RUN_DAYS = 5.0
_RUN = (*PROFILE, "param:workload.run_days", "param:workload.latency_variance_bound", "param:cluster.topology")
"""Params that a run's length and luck rest on beside what its draws name."""
_HORIZON = "param:money.horizon_months"
_CARD_UNITS = ("1/month", "min", "h", "day", "share", "count", "us")
"""Units of a card that the ledger knows too; a row in another one is a ratio."""


@dataclass(frozen=True)
class RiskFigures(OptionNames):
    """What the figures of the risk are made from, and how each is made."""

    result: TailResult

    # ---- names

    def stable(self, option: str) -> str:
        """What every section calls the time until an option runs stably."""
        return stable_label(self.names[option])

    # ---- what they rest on

    @property
    def profile(self) -> Footing:
        """Params that choose a branch, and so leave no mark in the draws."""
        return PROFILE

    @property
    def behind_run(self) -> Footing:
        """What a run's length and luck rest on beside what its draws name."""
        return _RUN

    @property
    def behind_deadline(self) -> Footing:
        """The same, and when a run is late."""
        return (*_RUN, "evidence:run-deadline-slack-share")

    @property
    def behind_share(self) -> Footing:
        """What a share of the GPU time of the horizon rests on."""
        return (*PROFILE, _HORIZON)

    @property
    def behind_lost(self) -> Footing:
        """The same, where a run's length counts."""
        return (*_RUN, _HORIZON)

    # ---- one run: its plan, and how long it takes

    @property
    def run_days_are(self) -> str:
        """Where the length of a run comes from: `reckoned`, `stated` or `assumed`."""
        if self.given.params.workload.run_days is None:
            return "reckoned"
        return "stated" if is_given(self.given.params, "workload.run_days") else "assumed"

    @property
    def states_interval(self) -> bool:
        """Whether the params state the work between two checkpoints."""
        return self.given.params.workload.checkpoint_minutes is not None

    def run(self, option: str) -> Outcome:
        """An option's run with its luck."""
        return self.result.outcomes[option]

    def days(self, option: str) -> Spread:
        """The days that it takes."""
        return spread(self.run(option).run_days)

    @property
    def run_unit(self) -> str:
        """The unit in which delays are told: hours where a run is short."""
        return "h" if self.result.planned_days < _SHORT_RUN_DAYS else "day"

    @cached_property
    def start_unit(self) -> str:
        """The unit in which the time until a network runs stably is told, one for all options."""
        return start_unit(self.result.bring_up_weeks.values())

    @figure("tail_risk.planned")
    def planned(self) -> float:
        return self.result.planned_days

    @figure("tail_risk.checkpoint_interval")
    def checkpoint_interval(self) -> Any:
        return self.result.subjects[self.result.worked].run.checkpoint_interval_s / 60.0

    @figure("tail_risk.deadline")
    def deadline(self) -> float:
        return self.result.deadline_days

    @figure("tail_risk.late[option]")
    def late(self, option: str) -> Reckoning:
        days = self.run(option).run_days
        return Reckoning(p_late(days, self.result.deadline_days), inputs=inputs_of(days))

    @figure("tail_risk.weeks[option]")
    def weeks(self, option: str) -> Any:
        weeks = self.result.bring_up_weeks[option]
        return weeks * DAYS_PER_WEEK if self.start_unit == "day" else weeks

    @figure("tail_risk.finish_p90[option]")
    def finish_p90(self, option: str) -> Any:
        return self.days(option).p90

    @figure("tail_risk.delay_p90[option]")
    def delay_p90(self, option: str) -> Any:
        days = self.days(option).p90 - self.result.planned_days
        return days * HOURS_PER_DAY if self.run_unit == "h" else days

    # ---- what is lost

    def overrun(self, option: str) -> Spread:
        """What one run costs beyond its plan."""
        return spread(self.run(option).overrun_usd)

    @figure("tail_risk.overrun_p90[option]")
    def overrun_p90(self, option: str) -> Any:
        return self.overrun(option).p90

    @figure("tail_risk.overrun_es95[option]")
    def overrun_es95(self, option: str) -> Any:
        return self.overrun(option).expected_shortfall_95

    @figure("tail_risk.tail_share[option]")
    def tail_share(self, option: str) -> Any:
        return self.result.tail_share[option]

    @figure("tail_risk.incident_share[option]")
    def incident_share(self, option: str) -> Any:
        return self.result.incident_share[option]

    @figure("tail_risk.bring_up_share[option]")
    def bring_up_share(self, option: str) -> Any:
        return self.result.bring_up_share[option]

    @figure("tail_risk.common_lost[option]")
    def common_lost(self, option: str) -> Any:
        lost = self.result.lost[option]
        return 1.0 - math.prod((1.0 - lost[cause] for cause in COMMON), start=1.0)

    @figure("tail_risk.fabric_lost[option]")
    def fabric_lost(self, option: str) -> Any:
        lost = self.result.lost[option]
        return sum((lost[cause] * (cause in FABRIC_CAUSES) for cause in CAUSES), start=0.0)

    # ---- faults

    def law(self, fault: str, option: str) -> IncidentLaw | None:
        """The law of one kind of fault on an option, None where it cannot happen there."""
        return next((law for law in self.result.subjects[option].risk.incidents if law.kind == fault), None)

    def happens(self, fault: str, option: str) -> bool:
        """Whether a kind of fault can happen on an option."""
        return self.law(fault, option) is not None

    def faults_of(self, fault: str, option: str) -> str:
        """What faults of this kind are called; asked for where they can happen."""
        law = self.law(fault, option)
        assert law is not None
        return law.label

    @cached_property
    def faults(self) -> tuple[str, ...]:
        """Kinds of fault that some option can have."""
        laws = [law for subject in self.result.subjects.values() for law in subject.risk.incidents]
        return tuple(dict.fromkeys(law.kind for law in laws))

    def yearly(self, law: IncidentLaw, option: str) -> Any:
        """Faults by a law a year on an option."""
        return HOURS_PER_YEAR * law.events_per_hour(self.result.subjects[option].run.cluster)

    @figure("tail_risk.events[fault][option]")
    def events(self, fault: str, option: str) -> Any:
        law = self.law(fault, option)
        assert law is not None
        return self.yearly(law, option)

    @figure("tail_risk.incidents[option]")
    def incidents(self, option: str) -> Any:
        laws = self.result.subjects[option].risk.incidents
        return sum((self.yearly(law, option) for law in laws), start=0.0)

    @figure("tail_risk.common[option]")
    def common(self, option: str) -> Any:
        run = self.result.subjects[option].run
        return HOURS_PER_YEAR * run.common[0].interruptions_per_hour(run.cluster)

    # ---- stress cases

    @cached_property
    def stress(self) -> Mapping[str, StressCase]:
        """The stress cases by id."""
        return {case.id: case for case in self.result.stress}

    def happening(self, case: str) -> str:
        """A stress case's title as it stands within a sentence."""
        return inside(self.stress[case].title)

    def formula(self, case: str) -> str:
        """The arithmetic of a stress case."""
        return self.stress[case].formula

    def behind_stress(self, case: str) -> Footing:
        """What a stress case rests on."""
        return (*self.stress[case].sources, "param:cluster.gpus", "param:workload.run_days")

    @figure("tail_risk.stress[case].usd")
    def stress_usd(self, case: str) -> Reckoning:
        return _to_the_unit(self.stress[case].cost_usd)

    @figure("tail_risk.stress[case].gpu_hours")
    def stress_gpu_hours(self, case: str) -> Reckoning:
        return _to_the_unit(self.stress[case].lost_gpu_hours)

    @figure("tail_risk.stress[case].delay")
    def stress_delay(self, case: str) -> Any:
        return HOURS_PER_DAY * np.asanyarray(self.stress[case].delay_days)

    @figure("tail_risk.stress[case].loss")
    def stress_loss(self, case: str) -> Any:
        return self.stress[case].loss_share

    # ---- levers

    @cached_property
    def levers(self) -> Mapping[str, LeverValue]:
        """The levers by id."""
        return {lever.id: lever for lever in self.result.levers}

    def pulling(self, lever: str) -> str:
        """A lever's label as it stands within a sentence."""
        return inside(self.levers[lever].label)

    @figure("tail_risk.lever[lever].saved")
    def lever_saved(self, lever: str) -> Any:
        return self.levers[lever].saved_usd

    @figure("tail_risk.lever[lever].cost")
    def lever_cost(self, lever: str) -> Any:
        return self.levers[lever].cost_usd

    # ---- rates of failure against what was published: the rows of the card of goodput

    @property
    def card(self) -> Mapping[str, CardRow]:
        """The rows of the card of goodput, by their place."""
        return {str(place): row for place, row in enumerate(goodput_card().rows)}

    def card_case(self, row: str) -> str:
        """What a row is of."""
        return self.card[row].case

    def card_unit(self, row: str) -> str:
        """Its unit."""
        unit = self.card[row].unit
        return unit if unit in _CARD_UNITS else "ratio"

    def cited(self, row: str) -> Footing:
        """Its source."""
        source = self.card[row].source
        return (source,) if source.startswith("evidence:") else ()

    @figure("tail_risk.card.goodput[row].published")
    def card_published(self, row: str) -> float:
        return self.card[row].published

    @figure("tail_risk.card.goodput[row].ours")
    def card_ours(self, row: str) -> float:
        return self.card[row].ours


def _to_the_unit(value: Any) -> Reckoning:
    """An exact figure with digits that print it to the unit, as the articles' example is quoted; an uncertain one with three."""
    exact = np.ndim(value) == 0
    return Reckoning(value, digits=max(3, len(f"{abs(float(np.asarray(value))):.0f}")) if exact else None)


FIGURES: Declaration[RiskFigures] = Declaration(
    "tail_risk",
    RiskFigures,
    {
        "option": Index(lambda at: at.result.outcomes, called=RiskFigures.name),
        "fault": Index(lambda at: at.faults),
        "case": Index(lambda at: at.stress, called=RiskFigures.happening),
        "lever": Index(lambda at: at.levers, called=RiskFigures.pulling),
        "row": Index(lambda at: at.card, called=RiskFigures.card_case),
    },
)
"""Every figure of the section."""
