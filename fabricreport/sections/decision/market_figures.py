"""Figures of what is sold when: the lead in one generation of equipment, and what is bought later than prices hold."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol, TypeVar

from fabricreport.figures import FigureSpec
from fabricreport.provenance import inputs_of
from fabricreport.sections.decision.alike import GENERATION, SPEED, Pair
from fabricreport.sections.decision.result import DecisionResult


class Decided(Protocol):
    """What figures are made from, as far as it is asked for here."""

    @property
    def result(self) -> DecisionResult:
        """What the decision found."""


At = TypeVar("At", bound=Decided)
PAIRS = (GENERATION, SPEED)
_IN_PLACE: Mapping[str, str] = {
    GENERATION: "the older option replaced by one of the newer generation",
    SPEED: "both options of one generation and one link speed",
}
_RULE = "the model run again on the same outcomes, "
_YEARS = "evidence:rule-generation-years"


def pairs_of(at: Decided) -> Mapping[str, Pair]:
    """The pairs in one generation by key; none where the two compared are of one already."""
    return {pair.key: pair for pair in (at.result.mismatch.pairs if at.result.mismatch else ())}


def _behind(at: Decided, key: str) -> set[str]:
    return {*inputs_of(pairs_of(at)[key].gap), _YEARS}


def alike_figures(_: type[At]) -> tuple[FigureSpec[At, str], ...]:
    """The lead, what of it the mismatch is worth, and the share of draws, by pair."""
    return (
        FigureSpec(
            "decision.alike_lead[pair]",
            "usd",
            label=lambda at, key: f"Lead over the rival with {_IN_PLACE[key]}",
            rule=lambda at, key: f"{_RULE}{_IN_PLACE[key]}: mean of total cost(rival) − total cost(choice)",
            value=lambda at, key: pairs_of(at)[key].gap,
            inputs=_behind,
            central="mean",
        ),
        FigureSpec(
            "decision.alike_probability[pair]",
            "share",
            label=lambda at, key: f"Share of outcomes in which the advised side costs less with {_IN_PLACE[key]}",
            rule="count of outcomes with a lower total cost ÷ all outcomes",
            value=lambda at, key: pairs_of(at)[key].probability,
            inputs=_behind,
            digits=2,
        ),
    )


def later_figures(_: type[At]) -> tuple[FigureSpec[At], ...]:
    """When the plan buys beyond today's prices, and how much of its equipment."""
    return (
        FigureSpec(
            "decision.later_month",
            "month",
            label="Months after which the first purchase follows that today's prices no longer hold for",
            rule="first stage of the plan beyond the months for which prices are taken to hold",
            value=lambda at: float(at.result.later.month if at.result.later else 0),
            inputs=("evidence:rule-todays-price-months",),
            when=lambda at: at.result.later is not None,
        ),
        FigureSpec(
            "decision.later_share",
            "share",
            label="Share of the plan's equipment that is bought from then on",
            rule="servers and network bought at these stages ÷ those bought at all stages, at today's prices",
            value=lambda at: at.result.later.share if at.result.later else 0.0,
            inputs=("evidence:rule-todays-price-months",),
            central="mean",
            digits=2,
            when=lambda at: at.result.later is not None,
        ),
    )
