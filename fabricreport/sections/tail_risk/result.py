"""What the risk study finds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from fabricreport.ledger import Number
from fabricreport.models.risk.levers import LeverValue
from fabricreport.models.risk.stress import StressCase
from fabricreport.provenance import Traced
from fabricreport.sections.tail_risk.inputs import Subject
from fabricreport.sections.tail_risk.outcomes import Outcome


@dataclass(frozen=True)
class TailResult:
    """What each option loses over the horizon, and what a run of it may do.

    `tail_share`, `incident_share`, `bring_up_share`: shares of GPU time lost over the horizon, each of what the others
    leave, draws without run luck; `lost` splits them by cause (`CAUSES`). `bring_up_weeks`: weeks to stable at the starting
    size. `outcomes`: runs with luck. `pair`: an InfiniBand and a RoCEv2 option, those of the memo's comparison if they are in
    it, else the first. `focus`: the second of them, or the only one looked at. `worked`: the
    option that stress cases and levers are worked out for, the advised one.
    """

    tail_share: Mapping[str, Traced]
    incident_share: Mapping[str, Traced]
    bring_up_share: Mapping[str, Traced]
    bring_up_weeks: Mapping[str, Traced]
    lost: Mapping[str, Mapping[str, Traced]]
    subjects: Mapping[str, Subject]
    outcomes: Mapping[str, Outcome]
    planned_days: float
    deadline_days: float
    pair: tuple[str, str] | None
    focus: str
    worked: str
    stress: tuple[StressCase, ...]
    levers: tuple[LeverValue, ...]
    numbers: Mapping[str, Number]
