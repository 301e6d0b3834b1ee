"""What a step is worth: its expected gain to the course advised, less what it costs and the wait, in one unit."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

from fabricreport.provenance import inputs_of, mean_of, stated
from fabricreport.sections.decision.result import DecisionResult


@dataclass(frozen=True)
class Gain:
    """What a step brings on average, in the memo's currency and above zero, and ids of the inputs that it rests on.

    It ages as what it is the mean of does, where it is the mean of anything.
    """

    usd: Any
    rests_on: frozenset[str]


def gain(amount: Any, rests_on: Collection[str]) -> Gain | None:
    """The mean of an amount (draws,) that a step brings; None where it brings nothing on average."""
    mean = mean_of(amount)
    return Gain(stated(mean, amount), frozenset(rests_on)) if mean > 0 else None


def shown(result: DecisionResult, test: str, *, waiting: Any = 0.0) -> Gain | None:
    """What a test (`evidence/information.yaml`) brings to the choice, less its cost and the wait for it.

    None where it shows nothing, its worth is within its noise, or it costs more than that.
    """
    tried = result.information.tried(test) if result.information else None
    if result.information is None or tried is None or tried.estimate.below_noise:
        return None
    spent = mean_of(tried.cost) + mean_of(waiting)
    return gain(tried.estimate.value - spent, result.information.rests_on | inputs_of(tried.cost))
