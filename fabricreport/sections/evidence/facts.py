"""What the evidence section found, named: which sentence of the notebook is true, and the words that its sentences use."""

from __future__ import annotations

from collections.abc import Iterator
from enum import StrEnum

from fabricreport.base.vocabulary import Question
from fabricreport.books.names import item_names
from fabricreport.inputs.inputs import Inputs
from fabricreport.ledger.facts import Findings, Name, Named, Spoken
from fabricreport.sections.client import judges, judges_missed
from fabricreport.sections.evidence.result import EvidenceResult


class EvidenceFinding(StrEnum):
    """What may be true of the evidence."""

    MOSTLY_ASSUMED = "more than half of the inputs behind the advice are assumptions"
    GRADES_HERE = "the body does not say how many inputs have which grade"
    STALE = "a price behind the advice is out of date"
    IN_DATE = "prices are behind the advice, and none is out of date"
    UNPRICED = "no price of the price files is behind the advice"
    HELD = "a price row was held back"
    STOOD_IN = "the price files lack an item that the package's own price stands in for"
    ELICITED = "experts judged for this client what nobody has published"
    DOUBTED = "the known answers were missed by more than chance explains, by everybody"


F = EvidenceFinding


def spoken(given: Inputs, result: EvidenceResult) -> Spoken:
    """Findings and words of the evidence."""
    words = {
        "held": tuple(Named(item_names(i).row, i) for i in sorted({h.item for h in given.prices.quarantine})),
        "shipped": Name(", ".join(sorted(p.item for p in result.prices if p.stand_in))),
        "judges": judges(given),
    }
    return Spoken(Findings(EvidenceFinding, _holds(given, result)), words)


def _holds(given: Inputs, result: EvidenceResult) -> Iterator[EvidenceFinding]:
    used, assumed = (result.numbers[f"evidence.{name}"].value for name in ("used", "used.assumption"))
    if assumed > used / 2:
        yield F.MOSTLY_ASSUMED
    if given.params.asked != Question.BUY_ONCE:
        yield F.GRADES_HERE
    yield F.STALE if any(p.stale for p in result.prices) else F.IN_DATE if result.prices else F.UNPRICED
    if given.prices.quarantine:
        yield F.HELD
    if any(p.stand_in for p in result.prices):
        yield F.STOOD_IN
    if given.elicited:
        yield F.ELICITED
    if judges_missed(given):
        yield F.DOUBTED
