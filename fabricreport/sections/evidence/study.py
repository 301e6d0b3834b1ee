"""The evidence behind this case: the library, what sources disagree on, what their claims come to, which prices aged."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from fabricreport.books.claims import read_claims
from fabricreport.books.prices.book import Price
from fabricreport.figures import DeclaredFigures
from fabricreport.inputs import Inputs
from fabricreport.ledger import Number
from fabricreport.models.audit.claims import self_contradictions
from fabricreport.sections.evidence.cards import cards
from fabricreport.sections.evidence.claims import audit
from fabricreport.sections.evidence.context import disagreements, facts
from fabricreport.sections.evidence.figures import FIGURES, EvidenceFigures
from fabricreport.sections.evidence.result import EvidenceResult


def run(given: Inputs, read: Sequence[Mapping[str, Number]], behind: frozenset[str]) -> EvidenceResult:
    """Gather the evidence of a case.

    `read`: the figures of the other sections, which say what this memo rests on; `behind`: the inputs of the total costs.
    """
    ids = {i for numbers in read for number in numbers.values() for i in number.inputs} | behind
    used = frozenset(i for i in ids if i.startswith(("evidence:", "price:")))
    audited = audit(given.evidence)
    result = EvidenceResult(
        articles=read_claims().sources,
        claims=audited,
        contradictions=self_contradictions(audited),
        disagreements=disagreements(given, used),
        facts=facts(given.params),
        used=used,
        prices=_prices(given, used),
        cards=cards(refit=False),
        numbers={},
    )
    return replace(result, numbers=DeclaredFigures(FIGURES, EvidenceFigures(given, result), given))


def _prices(given: Inputs, used: frozenset[str]) -> tuple[Price, ...]:
    found = [given.prices[i.removeprefix("price:")] for i in used if i.startswith("price:")]
    return tuple(sorted(found, key=lambda p: (not p.stale, -p.age_days, p.item)))
