"""Figures of the calendar of the course advised."""

from __future__ import annotations

from fabricreport.sections.decision.figure_context import DATE, DecisionContext, Spec
from fabricreport.sections.decision.schedule import Kept
from fabricreport.sections.schedule.arrival import LEAD

_WANTED = (DATE, "param:schedule.share_wanted")


def _kept(at: DecisionContext) -> Kept:
    found = at.result.schedule.kept
    assert found is not None, "asked for where a day is early enough"
    return found


SCHEDULE: tuple[Spec, ...] = (
    Spec(
        "decision.schedule.lead_range",
        "week",
        label="Weeks from order to delivery, as assumed",
        rule="the input's own range: its median and where it lies nine times in ten",
        value=lambda at: at.given.value(LEAD),
        digits=2,
        when=lambda at: at.result.schedule.assumes_lead,
    ),
    Spec(
        "decision.schedule.in_time",
        "share",
        label="Chance of production by the client's date on the course advised",
        rule="share of outcomes in which all weeks from the memo's date to production are at most those to the client's date",
        value=lambda at: at.result.schedule.advised.chance,
        inputs=lambda at: {*at.result.schedule.rests_on, DATE},
        digits=2,
    ),
    Spec(
        "decision.schedule.kept",
        "share",
        label="Chance of production by the client's date where all is delivered on the last day that is early enough",
        rule="share of outcomes in which the weeks from delivery to production are at most those from that day to the client's date",
        value=lambda at: _kept(at).chance,
        inputs=lambda at: {*at.result.schedule.rests_on, *_WANTED},
        digits=2,
        when=lambda at: at.result.schedule.kept is not None,
    ),
    Spec(
        "decision.schedule.lead",
        "week",
        label="Weeks from order to delivery with which the course advised meets the client's date in the share of outcomes wanted",
        rule="weeks to the client's date less all others that the share wanted does not exceed, in whole weeks",
        value=lambda at: float(at.result.schedule.lead_weeks or 0),
        inputs=lambda at: {*at.result.schedule.rests_on, *_WANTED},
        when=lambda at: at.result.schedule.lead_weeks is not None,
    ),
)
