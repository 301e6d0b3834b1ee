"""What the money says of the advised course, in one word, so that no section decides it again by a comparison of its own."""

from __future__ import annotations

from enum import StrEnum

from fabricreport.base.vocabulary import Ground
from fabricreport.ledger.numbers import Number
from fabricreport.models.judgement.comparison import Verdict


class Stance(StrEnum):
    """The advised option against its rival, on the mean."""

    ALONE = "alone"
    """One option: there is nothing to hold it against."""
    OPEN = "open"
    """A close call that stays open: no option is advised."""
    LEVEL = "level"
    """The lead prints as nothing."""
    LESS = "less"
    """It costs less, and that is why it is advised."""
    AHEAD = "ahead"
    """It costs less, by too little to choose by, or on a cluster too small for a choice; something else decides."""
    MORE = "more"
    """It costs more, by too little to outweigh what decides."""


def direction(difference: Number) -> str:
    """Whether the advised option costs `less` or `more` than its rival, or the `same`: by the figure as it is printed."""
    return ("same", "less", "more")[difference.sign]


def stance(verdict: Verdict, lead: Number) -> Stance:
    """Where the money stands to the advice; the sign is that of the lead as it is printed."""
    if verdict.choice == verdict.runner_up:
        return Stance.ALONE
    if verdict.open:
        return Stance.OPEN
    match direction(lead):
        case "same":
            return Stance.LEVEL
        case "more":
            return Stance.MORE
    return Stance.LESS if verdict.decided_by == Ground.MONEY else Stance.AHEAD
