"""What the money says of the advised course follows from the verdict and from the lead as it is printed."""

from __future__ import annotations

from dataclasses import replace

from rows import rows

from fabricreport.base.vocabulary import STATED, Confidence, Ground
from fabricreport.ledger.numbers import Number
from fabricreport.models.judgement.comparison import Verdict
from fabricreport.sections.stance import Stance, stance

VERDICT = Verdict(
    "a", "b", Confidence.CLEAR, Ground.MONEY, 0.97, 5e5, 1e4, 2e5, trifle=1e3, ready={"a": 1.0, "b": 1.0}, agrees=None
)
CLOSE = replace(VERDICT, confidence=Confidence.CLOSE, materiality=1e6)


def lead(usd: float) -> Number:
    return Number("tco.difference", usd, "usd", "Lead", "mean")


@rows("confidence", [Confidence.LEANING, Confidence.CLEAR])
def test_a_lead_that_decides_makes_the_advised_option_the_cheaper(confidence: str) -> None:
    assert stance(replace(VERDICT, confidence=confidence), lead(5e5)) is Stance.LESS


@rows("ground", [Ground.DEADLINE, *STATED])
def test_what_decides_a_close_call_may_advise_the_cheaper_or_the_dearer_of_the_two(ground: str) -> None:
    decided = replace(CLOSE, decided_by=ground)
    assert stance(decided, lead(5e5)) is Stance.AHEAD
    assert stance(decided, lead(-5e5)) is Stance.MORE


def test_a_cluster_too_small_for_a_choice_names_no_winner() -> None:
    assert stance(replace(VERDICT, confidence="does not matter", decided_by="size"), lead(5e5)) is Stance.OPEN


@rows("usd", [5e5, 0.0, -5e5])
@rows("confidence", [Confidence.DOES_NOT_MATTER, Confidence.CLOSE])
def test_an_open_course_names_no_winner_whatever_the_lead(confidence: str, usd: float) -> None:
    assert stance(replace(CLOSE, confidence=confidence, decided_by="nothing"), lead(usd)) is Stance.OPEN


@rows("usd", [0.0, 1e-9, -1e-9])
def test_a_lead_that_prints_as_nothing_is_level(usd: float) -> None:
    assert stance(VERDICT, lead(usd)) is Stance.LEVEL


def test_one_option_has_nothing_to_be_held_against() -> None:
    assert stance(replace(CLOSE, runner_up="a", decided_by="money"), lead(0.0)) is Stance.ALONE
