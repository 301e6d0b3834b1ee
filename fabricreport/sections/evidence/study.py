"""The evidence behind this case: the library, what sources disagree on, what their claims come to, which prices aged."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from fabricreport.books.claims import ClaimSource, read_claims
from fabricreport.books.prices.book import Price
from fabricreport.evidence import read_yaml
from fabricreport.inputs import Inputs
from fabricreport.ledger import Number
from fabricreport.models.audit.claims import AuditedClaim, SelfContradiction, self_contradictions
from fabricreport.sections.evidence import figures as made
from fabricreport.sections.evidence.cards import cards
from fabricreport.sections.evidence.claims import audit
from fabricreport.sections.evidence.context import Disagreement, Fact, disagreements, facts
from fabricreport.validation.card import Card


@dataclass(frozen=True)
class EvidenceResult:
    """What the memo rests on.

    `claims` are the audited claims in the articles' order; `disagreements` every contested quantity, `facts` the
    context, both marked by whether they bear on this client; `used` the ids of the evidence and prices behind the
    numbers of the other sections; `prices` those among them, past their shelf life first, then the oldest; `cards` every model's
    validation card, with the packaged parameters.
    """

    articles: Mapping[str, ClaimSource]
    claims: tuple[AuditedClaim, ...]
    contradictions: tuple[SelfContradiction, ...]
    disagreements: tuple[Disagreement, ...]
    facts: tuple[Fact, ...]
    used: frozenset[str]
    prices: tuple[Price, ...]
    cards: tuple[Card, ...]
    numbers: Mapping[str, Number]

    @property
    def bearing(self) -> tuple[Disagreement, ...]:
        """The contested quantities that bear on this case."""
        return tuple(d for d in self.disagreements if d.bears)

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
    return replace(result, numbers={n.id: n for n in _numbers(given, result)})


def _prices(given: Inputs, used: frozenset[str]) -> tuple[Price, ...]:
    found = [given.prices[i.removeprefix("price:")] for i in used if i.startswith("price:")]
    return tuple(sorted(found, key=lambda p: (not p.stale, -p.age_days, p.item)))


def _numbers(given: Inputs, result: EvidenceResult) -> Iterator[Number]:
    book = read_claims()
    yield from made.library_counts(given, result.used, result.prices)
    yield from made.audit_counts(given, result.claims, result.contradictions, book)
    yield from made.claim_numbers(given, result.claims, book)
    yield from made.disagreement_numbers(given, result.disagreements)
    yield from made.card_numbers(given, result.cards)
    yield from made.stated_evidence(given, _cited(read_yaml("context"), read_yaml("assurance")["scale"]))


def _cited(*trees: Any) -> Iterator[str]:
    """Every `evidence:<id>` in data, wherever it stands."""
    for tree in trees:
        if isinstance(tree, str):
            if tree.startswith("evidence:"):
                yield tree
        elif isinstance(tree, Mapping):
            yield from _cited(*tree.values())
        elif isinstance(tree, list | tuple):
            yield from _cited(*tree)
