"""The ledger numbers of the evidence section: counts, claims beside what they come to, positions of the sources."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import replace

from fabricreport.books.claims import VERDICTS, ClaimBook
from fabricreport.books.prices.book import Price
from fabricreport.claim import Amount
from fabricreport.inputs import Inputs
from fabricreport.ledger import GRADES, Number
from fabricreport.models.audit.claims import AuditedClaim, SelfContradiction
from fabricreport.sections.evidence.context import Disagreement, shown_unit
from fabricreport.validation.card import Card, CardRow, median_abs_error

EXACT_DIGITS, ROUNDED_DIGITS, CONTESTED_DIGITS = 6, 4, 3
"""A whole number is printed as it is; a claim's other figures to four digits, enough to see whether it holds."""


BILLION = 1e9
NO_ERROR = 1e-9
"""An error below this is rounding of the machine, and is printed as none."""


def slug(words: str) -> str:
    """`reproduces with a caveat` as a part of an id."""
    return words.replace(" ", "-")


def stated_number(
    given: Inputs,
    id: str,
    value: float,
    unit: str,
    *,
    label: str,
    rule: str,
    inputs: Iterable[str],
    rounded_to: int = ROUNDED_DIGITS,
) -> Number:
    """A figure as a source states it: exact if whole, in the source's dollars whatever the memo's currency."""
    if unit == "count" and abs(value) >= BILLION:
        value, unit = value / BILLION, "billion"
    digits = EXACT_DIGITS if value == int(value) else rounded_to
    number = given.number(id, value, shown_unit(unit), label=label, rule=rule, inputs=inputs, digits=digits)
    return replace(number, currency="USD") if unit.startswith("usd") else number


def amount_numbers(
    given: Inputs, id: str, amount: Amount, unit: str, *, label: str, rule: str, inputs: Iterable[str]
) -> Iterator[Number]:
    """A number under `id`, or the ends of a range under `id.low` and `id.high`."""
    ids = tuple(inputs)
    if not isinstance(amount, tuple):
        yield stated_number(given, id, float(amount), unit, label=label, rule=rule, inputs=ids)
        return
    for end, value in zip(("low", "high"), amount, strict=True):
        name = f"{label}, {end} end"
        yield stated_number(given, f"{id}.{end}", float(value), unit, label=name, rule=rule, inputs=ids)


def claim_numbers(given: Inputs, audited: Iterable[AuditedClaim], book: ClaimBook) -> Iterator[Number]:
    """What each claim states and what its own inputs come to: `evidence.claim.<id>.stated` and `.recomputed`."""
    for claim in audited:
        own = f"claim:{claim.id}"
        if not isinstance(claim.stated, str):
            yield from amount_numbers(
                given,
                f"evidence.claim.{claim.id}.stated",
                claim.stated,
                claim.unit,
                label=f"Stated in claim {claim.id}",
                rule="as the article states it",
                inputs=(own,),
            )
        if claim.recomputed is not None:
            cited = [v for v in book[claim.id].inputs.values() if isinstance(v, str)]
            yield from amount_numbers(
                given,
                f"evidence.claim.{claim.id}.recomputed",
                claim.recomputed,
                claim.unit,
                label=f"Recomputed from claim {claim.id}",
                rule=claim.formula,
                inputs=(own, *cited),
            )


def count(given: Inputs, id: str, value: float, label: str, rule: str, sources: Iterable[str] = ()) -> Number:
    """A count of things of this memo; it tells of its `sources` without depending on their values."""
    return given.number(f"evidence.{id}", float(value), "count", label=label, rule=rule, sources=sources, counted=True)


def audit_counts(
    given: Inputs,
    audited: tuple[AuditedClaim, ...],
    contradictions: tuple[SelfContradiction, ...],
    book: ClaimBook,
) -> Iterator[Number]:
    """Claims by verdict and article, and how the verdicts were reached; our own cross-checks are not claims."""
    audited = tuple(c for c in audited if c.kind != "check")
    yield count(given, "claims", len(audited), "Audited claims", "count of entries in the audit")
    for verdict in VERDICTS:
        number = sum(c.verdict == verdict for c in audited)
        yield count(given, f"claims.{slug(verdict)}", number, f"Claims with verdict: {verdict}", "count by verdict")
        for source in book.sources:
            of_it = sum(c.verdict == verdict and c.source == source for c in audited)
            label = f"Claims of {book.sources[source].publisher} with verdict: {verdict}"
            yield count(given, f"claims.{source}.{slug(verdict)}", of_it, label, "count by article and verdict")
    reproduced = sum(c.verdict in VERDICTS[:2] for c in audited)
    yield count(given, "claims.standing", reproduced, "Claims that reproduce, with or without a caveat", "sum of both")
    computed = sum(c.computed for c in audited)
    yield count(
        given, "claims.computed", computed, "Verdicts reached by code", "count of claims with number and method"
    )
    judged = len(audited) - computed
    yield count(given, "claims.judged", judged, "Verdicts that are judgements with grounds", "all claims − computed")
    yield count(given, "articles", len(book.sources), "Audited articles", "count of articles")
    selling = sum(s.interest.startswith("sells") for s in book.sources.values())
    yield count(
        given, "articles.selling", selling, "Articles whose publisher sells something related", "count by interest"
    )
    clashes, torn = len(contradictions), len({c.source for c in contradictions})
    yield count(
        given, "contradictions", clashes, "Places where an article contradicts itself", "count of pairs of claims"
    )
    yield count(given, "contradictions.articles", torn, "Articles that contradict themselves", "count of articles")


def library_counts(given: Inputs, used: frozenset[str], prices: tuple[Price, ...]) -> Iterator[Number]:
    """Entries by grade, in the library and behind this memo's numbers; prices, overrides."""
    book = given.evidence
    yield count(given, "entries", len(book), "Entries of the evidence library", "count of entries")
    grades = Counter(e.grade for e in book.values())
    behind = Counter(str(given.record(i)["grade"]) for i in used)
    for grade in GRADES:
        yield count(
            given, f"entries.{grade}", grades[grade], f"Entries of the library graded {grade}", "count by grade"
        )
        label = f"Inputs behind this memo graded {grade}"
        yield count(given, f"used.{grade}", behind[grade], label, "count of evidence and prices behind printed numbers")
    yield count(
        given, "used", len(used), "Inputs behind this memo", "count of evidence and prices behind printed numbers"
    )
    quoted = sum(e.seen == "B" for e in book.values())
    yield count(given, "entries.quoted", quoted, "Entries read in a text that quotes the source", "count of `seen: B`")
    stale = [p.id for p in prices if p.stale]
    yield count(given, "prices", len(prices), "Prices behind this memo", "count of prices behind printed numbers")
    # The count is exact, however old what it counts: it carries no mark of staleness itself.
    rule = "count of prices whose expiry lies before the memo's date"
    old = count(given, "prices.stale", len(stale), "Prices behind this memo past their shelf life", rule, sources=stale)
    yield replace(old, stale=False)
    held = len(given.prices.quarantine)
    yield count(given, "prices.held", held, "Price rows held back", "count of rows that a rule refused")
    yield count(given, "overrides", len(given.overrides), "Overrides in force", "count of overrides in the params")
    for price in prices:
        label, rule = f"Age of the price of {price.item}", "memo's date − date of the price"
        age = given.number(
            f"evidence.age.{price.item}", float(price.age_days), "day", label=label, rule=rule, sources=(price.id,)
        )
        yield replace(age, stale=False)


def disagreement_numbers(given: Inputs, found: tuple[Disagreement, ...]) -> Iterator[Number]:
    """How far the sources lie apart on each contested quantity, and the prior made of them."""
    bearing = sum(d.bears for d in found)
    yield count(given, "contested", len(found), "Quantities on which sources disagree", "count of definitions")
    yield count(
        given, "contested.bearing", bearing, "Contested quantities that bear on this case", "count by relevance"
    )
    for item in found:
        yield from _positions(given, item)


def _positions(given: Inputs, item: Disagreement) -> Iterator[Number]:
    key, quantity = f"contested.{item.id}", item.quantity
    told = [p for p in item.stated if p.grade != "assumption"] or list(item.stated)
    ids = [f"evidence:{p.id}" for p in told]
    publishers = {p.publisher for p in told}
    yield count(given, f"{key}.sources", len(publishers), f"Publishers on {item.short}", "count of publishers")
    for end, value in (("low", min(p.low for p in told)), ("high", max(p.high for p in told))):
        yield stated_number(
            given,
            f"evidence.{key}.{end}",
            value,
            quantity.unit,
            label=f"{'Lowest' if end == 'low' else 'Highest'} statement on {item.short}",
            rule=f"{'smallest' if end == 'low' else 'largest'} figure of any source, admissible or not",
            inputs=ids,
            rounded_to=CONTESTED_DIGITS,
        )
    prior = given.number(
        f"evidence.{key}.prior",
        given.draw(f"contested:{item.id}"),
        item.unit,
        label=f"Prior of {item.short}",
        rule=f"{quantity.rule} of the admissible positions",
    )
    yield replace(prior, currency="USD") if quantity.unit.startswith("usd") else prior


def card_numbers(given: Inputs, found: Iterable[Card]) -> Iterator[Number]:
    """How many published figures each model was held against, and the error where nothing was set from them."""
    for card in found:
        key, name = f"evidence.card.{slug(card.model.lower())}", card.model
        for part, value in (("rows", len(card.rows)), ("held_out", len(card.held_out))):
            label = f"Published figures {'held out from' if part == 'held_out' else 'beside'} the model: {name}"
            rule = "count of rows of the card"
            yield given.number(f"{key}.{part}", float(value), "count", label=label, rule=rule, counted=True)
        rows = tuple(r for r in card.held_out if r.counted)
        if not rows:
            continue
        for part, error in (("median", median_abs_error(rows)), ("worst", abs(worst_row(card).error))):
            yield given.number(
                f"{key}.{part}",
                error if error > NO_ERROR else 0.0,
                "share",
                label=f"{part.capitalize()} error on figures held out: {name}",
                rule=f"{part} of |ours ÷ published − 1| over the counted rows that set nothing",
                digits=2,
                counted=True,
            )


def worst_row(card: Card) -> CardRow:
    """The counted row, held out, whose error is largest; of all rows if none was held out."""
    rows = [r for r in card.held_out if r.counted] or list(card.rows)
    return max(rows, key=lambda r: abs(r.error))


def stated_evidence(given: Inputs, ids: Iterable[str]) -> Iterator[Number]:
    """Library figures as their sources state them: `evidence.stated.<id>`, with `.low` and `.high` for a range."""
    for name in dict.fromkeys(i.removeprefix("evidence:") for i in ids):
        entry = given.evidence[name]
        if entry.kind != "text":
            amount: Amount = entry.low if entry.low == entry.high else (entry.low, entry.high)
            yield from amount_numbers(
                given,
                f"evidence.stated.{name}",
                amount,
                entry.unit,
                label=entry.what,
                rule="as stated by the source",
                inputs=(f"evidence:{name}",),
            )
