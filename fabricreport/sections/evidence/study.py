"""The evidence behind this case: the library, what sources disagree on, what their claims come to, which prices aged."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from fnmatch import fnmatchcase

from fabricreport.books.claims import read_claims
from fabricreport.books.prices.book import Price
from fabricreport.figures import DeclaredFigures
from fabricreport.inputs import Inputs
from fabricreport.ledger import Number
from fabricreport.models.audit.claims import self_contradictions
from fabricreport.sections.evidence.answered import Buyer, answered
from fabricreport.validation.cards import cards
from fabricreport.sections.evidence.claims import audit
from fabricreport.sections.evidence.context import disagreements, facts
from fabricreport.sections.evidence.figures import FIGURES, EvidenceFigures
from fabricreport.sections.evidence.result import EvidenceResult

BESIDE = ("*.card.*", "tail_risk.optics.*", "tail_risk.llama3*")
"""Ids of figures that hold a model against what was published, or sources against each other."""


def carries(figure_id: str) -> bool:
    """Whether the advice rests on a figure: no model draws on one that only stands beside it."""
    return not any(fnmatchcase(figure_id, pattern) for pattern in BESIDE)


def run(given: Inputs, read: Sequence[Mapping[str, Number]], behind: frozenset[str], buyer: Buyer) -> EvidenceResult:
    """Gather the evidence of a case.

    `read`: the figures of the other sections, which say what this memo rests on; `behind`: the inputs of the total costs;
    `buyer`: whom the questions of the articles are answered for.
    """
    ids = {i for numbers in read for figure in numbers if carries(figure) for i in numbers[figure].inputs} | behind
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
        stands=buyer.stands,
        factors=answered("factors", buyer, read),
        questions=answered("questions", buyer, read),
        numbers={},
    )
    return replace(result, numbers=DeclaredFigures(FIGURES, EvidenceFigures(given, result), given))


def _prices(given: Inputs, used: frozenset[str]) -> tuple[Price, ...]:
    found = [given.prices.by_id(i) for i in used if i.startswith("price:")]
    return tuple(sorted(found, key=lambda p: (not p.stale, -p.age_days, p.item)))
