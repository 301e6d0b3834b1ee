"""The evidence behind this case: the library, what sources disagree on, what their claims come to, which prices aged."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from fabricreport.books.claims import ClaimSource, read_claims
from fabricreport.books.prices.book import Price
from fabricreport.evidence import read_yaml
from fabricreport.ledger import Number
from fabricreport.models.audit.claims import AuditedClaim, SelfContradiction, self_contradictions
from fabricreport.models.card import Card
from fabricreport.sections.evidence import figures as made
from fabricreport.sections.evidence.cards import cards
from fabricreport.sections.evidence.claims import audit
from fabricreport.sections.evidence.context import Disagreement, Fact, disagreements, facts

if TYPE_CHECKING:
    from fabricreport.case import Case

READ = ("latency", "tail_risk", "tco", "decision")
"""The analyses whose printed numbers say which inputs are behind this memo."""


@dataclass(frozen=True)
class SourcesResult:
    """What the memo rests on.

    `claims` are the audited claims in the articles' order; `disagreements` every contested quantity, `facts` the
    context, both marked by whether they bear on this client; `used` the ids of the evidence and prices behind the
    numbers of READ; `prices` those among them, past their shelf life first, then the oldest; `cards` every model's
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


def run(case: Case) -> SourcesResult:
    """Gather the evidence of a case; reads the other analyses for what they rest on."""
    used = used_inputs(case)
    book = read_claims()
    audited = audit(case.evidence)
    result = SourcesResult(
        articles=book.sources,
        claims=audited,
        contradictions=self_contradictions(audited),
        disagreements=disagreements(case.params, case.evidence, used),
        facts=facts(case.params),
        used=used,
        prices=_prices(case, used),
        cards=cards(refit=False),
        numbers={},
    )
    numbers = {n.id: n for n in _numbers(case, result)}
    return SourcesResult(**{**vars(result), "numbers": numbers})


def used_inputs(case: Case) -> frozenset[str]:
    """Evidence and prices behind the printed numbers of the other sections."""
    results = [case.result(name) for name in READ]
    ids = {i for r in results for number in r.numbers.values() for i in number.inputs} | set(case.tco().inputs)
    return frozenset(i for i in ids if i.startswith(("evidence:", "price:")))


def _prices(case: Case, used: frozenset[str]) -> tuple[Price, ...]:
    found = [case.prices[i.removeprefix("price:")] for i in used if i.startswith("price:")]
    return tuple(sorted(found, key=lambda p: (not p.stale, -p.age_days, p.item)))


def _numbers(case: Case, result: SourcesResult) -> Iterator[Number]:
    book = read_claims()
    yield from made.library_counts(case, result.used, result.prices)
    yield from made.audit_counts(case, result.claims, result.contradictions, book)
    yield from made.claim_numbers(case, result.claims, book)
    yield from made.disagreement_numbers(case, result.disagreements)
    yield from made.card_numbers(case, result.cards)
    yield from made.stated_evidence(case, _cited(read_yaml("context"), read_yaml("assurance")["scale"]))


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
