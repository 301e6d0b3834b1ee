"""The evidence behind this case: which inputs the advice rests on, which of their prices aged, what is contested of them."""

from __future__ import annotations

from collections.abc import Set
from dataclasses import replace

from fabricreport.books.prices.book import Price
from fabricreport.inputs.inputs import Inputs
from fabricreport.ledger.figures import DeclaredFigures
from fabricreport.sections.evidence.figures import FIGURES, EvidenceFigures
from fabricreport.sections.evidence.result import EvidenceResult, bearing


def run(given: Inputs, behind: Set[str], offered: Set[str]) -> EvidenceResult:
    """Gather the evidence of a case.

    `behind`: the inputs of the figures that carry the advice; `offered`: those of what each seller's offer costs.
    """
    used = frozenset(i for i in behind | offered if i.startswith(("evidence:", "price:")))
    result = EvidenceResult(used, _prices(given, used), frozenset(offered - behind), bearing(given, used), {})
    return replace(result, numbers=DeclaredFigures(FIGURES, EvidenceFigures(given, result), given))


def _prices(given: Inputs, used: frozenset[str]) -> tuple[Price, ...]:
    found = [given.prices.by_id(i) for i in used if i.startswith("price:")]
    return tuple(sorted(found, key=lambda p: (not p.stale, -p.age_days, p.item)))
