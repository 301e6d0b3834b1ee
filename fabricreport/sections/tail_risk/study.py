"""What could go wrong: the tail, incidents, the weeks until the fabric is stable, and the date the run ends.

Two kinds of uncertainty are kept apart. `*_share` and `bring_up_weeks` are draws of what nobody knows (the epistemic
inputs) with the luck of the run averaged out: that is what money and the value of information need. Dates, P(late) and
P90 are draws of a run, with its luck, on the same uniforms for every option.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from fabricreport.ledger import Number
from fabricreport.models.risk.answers import RunDifference, compare
from fabricreport.models.risk.incidents import Luck
from fabricreport.models.risk.levers import LeverValue
from fabricreport.models.risk.stress import StressCase
from fabricreport.provenance import Traced
from fabricreport.sections.tail_risk.figures import numbers_of
from fabricreport.sections.tail_risk.horizon import horizon_shares
from fabricreport.sections.tail_risk.inputs import Subject, planned_days, rented, subject
from fabricreport.sections.tail_risk.outcomes import Outcome, outcome_of
from fabricreport.sections.tail_risk.sensitivity import Sensitivity, levers_of, sensitivity_of, stress_of
from fabricreport.sections.tco.cost import spread_over_draws

if TYPE_CHECKING:
    from fabricreport.case import Case


@dataclass(frozen=True)
class TailResult:
    """What each option loses over the horizon, what a run of it may do, and what moves that.

    `tail_share`, `incident_share`, `bring_up_share`: shares of GPU time lost over the horizon, each of what the others
    leave, draws without run luck; `lost` splits them by cause (`CAUSES`). `bring_up_weeks`: weeks to stable at the starting
    size. `outcomes`: runs with luck. `pair`: the first InfiniBand and the first RoCEv2 option, `difference` the second
    less the first. `focus`: the option that sensitivities, stress cases and levers are worked out for.
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
    weeks_allowed: float
    pair: tuple[str, str] | None
    difference: RunDifference | None
    focus: str
    sensitivity: Sensitivity
    stress: tuple[StressCase, ...]
    levers: tuple[LeverValue, ...]
    numbers: Mapping[str, Number]


def run(case: Case) -> TailResult:
    """The risk of every option of a case."""
    days = planned_days(case)
    deadline = days * (1.0 + case.central("evidence:run-deadline-slack-share"))
    luck = Luck(int(case.params.seed), case.sampler.size)
    gpus = int(case.params.cluster.gpus)
    subjects = {o.id: subject(case, o, gpus, days) for o in case.options}
    outcomes = {o: outcome_of(case, s, luck) for o, s in subjects.items()}
    pair = _pair(case)
    focus = pair[1] if pair else case.options[0].id
    lost = {o.id: horizon_shares(case, o, days) for o in case.options}
    parts: dict[str, Any] = {
        "tail_share": {o: lost[o]["servers"] + lost[o]["stalls"] + lost[o]["topology"] for o in lost},
        "incident_share": {o: lost[o]["fabric"] for o in lost},
        "bring_up_share": {o: lost[o]["bring_up"] for o in lost},
        "lost": lost,
        "bring_up_weeks": {o: spread_over_draws(s.risk.bring_up.weeks, case.sampler.size) for o, s in subjects.items()},
        "subjects": subjects,
        "outcomes": outcomes,
        "planned_days": days,
        "deadline_days": deadline,
        "weeks_allowed": float(case.params.organisation.time_to_production_weeks),
        "pair": pair,
        "difference": compare(outcomes[pair[1]].run, outcomes[pair[0]].run) if pair else None,
        "focus": focus,
        "sensitivity": sensitivity_of(case, subjects, focus, deadline, luck),
        "stress": stress_of(case, subjects[focus]),
        "levers": levers_of(case, subjects[focus], hidden=rented(case)),
    }
    bare = TailResult(**parts, numbers={})
    return TailResult(**parts, numbers={n.id: n for n in numbers_of(case, bare)})


def _pair(case: Case) -> tuple[str, str] | None:
    """The first InfiniBand and the first RoCEv2 option, if both are compared."""
    first = {
        family: next((o.id for o in case.options if o.family == family), "") for family in ("infiniband", "rocev2")
    }
    return (first["infiniband"], first["rocev2"]) if all(first.values()) else None
