"""What the evidence section finds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from fabricreport.books.prices.book import Price
from fabricreport.ledger import Number
from fabricreport.sections.evidence.context import Disagreement


@dataclass(frozen=True)
class EvidenceResult:
    """What the advice rests on.

    `used`: ids of the evidence and prices behind the advice; `prices` those among them, past their shelf life first, then the
    oldest; `offered`: ids of inputs that only the cost of an offer rests on; `bearing`: the contested quantities that bear on
    this client.
    """

    used: frozenset[str]
    prices: tuple[Price, ...]
    offered: frozenset[str]
    bearing: tuple[Disagreement, ...]
    numbers: Mapping[str, Number]
