"""What the evidence section finds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from fabricreport.books.claims import ClaimSource
from fabricreport.books.prices.book import Price
from fabricreport.ledger import Number
from fabricreport.models.audit.claims import AuditedClaim, SelfContradiction
from fabricreport.sections.evidence.answered import Answered
from fabricreport.sections.evidence.context import Disagreement, Fact
from fabricreport.validation.card import Card


@dataclass(frozen=True)
class EvidenceResult:
    """What the memo rests on.

    `claims` are the audited claims in the articles' order; `disagreements` every contested quantity, `facts` the
    context, both marked by whether they bear on this client; `used` the ids of the evidence and prices behind the
    numbers of the other sections; `prices` those among them, past their shelf life first, then the oldest; `cards` every model's
    validation card, with the packaged parameters. `factors` and `questions`: what articles compare and ask, answered here;
    `stands`: by side the option that they are answered with.
    """

    articles: Mapping[str, ClaimSource]
    claims: tuple[AuditedClaim, ...]
    contradictions: tuple[SelfContradiction, ...]
    disagreements: tuple[Disagreement, ...]
    facts: tuple[Fact, ...]
    used: frozenset[str]
    prices: tuple[Price, ...]
    cards: tuple[Card, ...]
    stands: Mapping[str, str]
    factors: tuple[Answered, ...]
    questions: tuple[Answered, ...]
    numbers: Mapping[str, Number]

    @property
    def bearing(self) -> tuple[Disagreement, ...]:
        """The contested quantities that bear on this case and on which two publishers or more speak."""
        return tuple(d for d in self.disagreements if d.bears and not d.alone)

    @property
    def of_one_publisher(self) -> tuple[Disagreement, ...]:
        """The quantities that bear on this case and whose figures one publisher alone gives."""
        return tuple(d for d in self.disagreements if d.bears and d.alone)

    def of(self, article: str) -> tuple[AuditedClaim, ...]:
        """The audited claims of one article."""
        return tuple(c for c in self.claims if c.source == article)

    def amount(self, id: str) -> str:
        """A template that prints the number `id`, or the range from `id.low` to `id.high`; empty if there is neither."""
        if id in self.numbers:
            return f"{{{id}}}"
        if f"{id}.low" not in self.numbers:
            return ""
        low = self.numbers[f"{id}.low"]
        once = low.unit != "share" and not low.unit.startswith("usd")
        return f"{{{id}.low{':bare' if once else ''}}} to {{{id}.high}}"
