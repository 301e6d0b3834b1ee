"""Figures of what is to be done before signing: what each step is worth."""

from __future__ import annotations

from collections.abc import Mapping

from fabricreport.figures import Index
from fabricreport.sections.decision.figure_context import DecisionContext, EachSpec
from fabricreport.sections.decision.monday.kinds import Kind
from fabricreport.sections.decision.monday.worth import Gain

WORTH = "decision.worth"
TAKEN = (Kind.TRIAL, Kind.PILOT, Kind.RENT_FIRST)
"""Steps that are courses of action, which other figures tell as exactly."""


def _gains(at: DecisionContext) -> Mapping[str, Gain]:
    return {str(one.action.kind): one.due.worth for one in at.steps().todos if one.due.worth}


MONDAY: tuple[EachSpec, ...] = (
    EachSpec(
        f"{WORTH}[step]",
        "usd",
        label=lambda _, step: f"Worth of a step: {step}",
        rule="mean of what it brings − its cost − the cost of its wait; what is found out by regression on the outcomes",
        value=lambda at, step: _gains(at)[step].usd,
        inputs=lambda at, step: _gains(at)[step].rests_on,
        digits=lambda _, step: 3 if step in TAKEN else 2,
    ),
)
INDEXES: Mapping[str, Index[DecisionContext]] = {"step": Index(_gains, tuple(Kind))}
"""What their ids run through."""
