"""The figures of the evidence section: counts, claims beside what they come to, positions of the sources."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from fabricreport.books.claims import VERDICTS, ClaimBook, read_claims
from fabricreport.books.evidence_entry import EvidenceEntry
from fabricreport.books.prices.book import Price
from fabricreport.claim import Amount
from fabricreport.evidence import read_yaml
from fabricreport.figures import Declaration, FigureSpec, Index
from fabricreport.inputs import Inputs
from fabricreport.ledger import GRADES
from fabricreport.models.audit.claims import AuditedClaim
from fabricreport.models.audit.disagreement import Position
from fabricreport.sections.evidence.context import Disagreement, shown_unit
from fabricreport.sections.evidence.elicited_figures import ELICITED, persons, questions_shown, seeds_shown
from fabricreport.sections.evidence.option_figures import OPTIONS, options_shown
from fabricreport.sections.evidence.result import EvidenceResult
from fabricreport.validation.card import Card, CardRow, median_abs_error

EXACT_DIGITS, ROUNDED_DIGITS, CONTESTED_DIGITS, WORKED_OUT_DIGITS = 6, 4, 3, 3
"""A whole number is printed as it is; a claim's other figures to four digits, enough to see whether it holds."""


BILLION = 1e9
NO_ERROR = 1e-9
"""An error below this is rounding of the machine, and is printed as none."""


def slug(words: str) -> str:
    """`reproduces with a caveat` as a part of an id."""
    return words.replace(" ", "-")


def worst_row(card: Card) -> CardRow:
    """The counted row, held out, whose error is largest; of all rows if none was held out."""
    rows = [r for r in card.held_out if r.counted] or list(card.rows)
    return max(rows, key=lambda r: abs(r.error))


_VERDICTS = {slug(verdict): verdict for verdict in VERDICTS}
_GRADES = tuple(str(grade) for grade in GRADES)


@dataclass(frozen=True)
class EvidenceFigures:
    """What the figures of the evidence section are made from."""

    given: Inputs
    result: EvidenceResult

    @property
    def book(self) -> ClaimBook:
        """The claims as the articles make them."""
        return read_claims()

    @cached_property
    def audited(self) -> tuple[AuditedClaim, ...]:
        """The audited claims; our own cross-checks are not claims."""
        return tuple(c for c in self.result.claims if c.kind != "check")

    @cached_property
    def claims(self) -> Mapping[str, AuditedClaim]:
        """Every audited claim by id, cross-checks too."""
        return {c.id: c for c in self.result.claims}

    def footing(self, claim: str) -> tuple[str, ...]:
        """The claim as an input, and the entries that its own inputs cite."""
        return (f"claim:{claim}", *(v for v in self.book[claim].inputs.values() if isinstance(v, str)))

    @cached_property
    def grades(self) -> Mapping[str, int]:
        """Entries of the library by grade."""
        return Counter(str(e.grade) for e in self.given.evidence.values())

    @cached_property
    def behind(self) -> Mapping[str, int]:
        """Inputs behind this memo by grade."""
        return Counter(str(self.given.record(i)["grade"]) for i in self.result.used)

    @cached_property
    def prices(self) -> Mapping[str, Price]:
        """The prices behind this memo, by item."""
        return {p.item: p for p in self.result.prices}

    @cached_property
    def contested(self) -> Mapping[str, Disagreement]:
        """The quantities on which sources disagree, by id."""
        return {d.id: d for d in self.result.disagreements}

    def told(self, quantity: str) -> list[Position]:
        """What sources say of a quantity; our own assumptions only where nobody says anything."""
        stated = self.contested[quantity].stated
        return [p for p in stated if not p.ours] or list(stated)

    @cached_property
    def cards(self) -> Mapping[str, Card]:
        """Every model's validation card, by its name as part of an id."""
        return {slug(c.model.lower()): c for c in self.result.cards}

    @cached_property
    def stated(self) -> Mapping[str, EvidenceEntry]:
        """Entries with a number that the context and the scale of assurance cite, by id."""
        cited = _cited(read_yaml("context"), read_yaml("assurance")["scale"])
        entries = (self.given.evidence[i.removeprefix("evidence:")] for i in dict.fromkeys(cited))
        return {e.id: e for e in entries if e.kind != "text"}


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


Spec = FigureSpec[EvidenceFigures]
EachSpec = FigureSpec[EvidenceFigures, str]
Said = str | Callable[[EvidenceFigures, str], str]


# ---- counts of things of this memo


def _count(
    name: str,
    label: str,
    rule: str,
    value: Callable[[EvidenceFigures], int],
    sources: Callable[[EvidenceFigures], Iterable[str]] = lambda _: (),
) -> Spec:
    """A count of things of this memo; it tells of its `sources` without depending on their values."""
    return Spec(
        f"evidence.{name}",
        "count",
        label=label,
        rule=rule,
        value=lambda at: float(value(at)),
        sources=sources,
        counted=True,
        # A count is exact, however old what it counts: it carries no mark of staleness itself.
        stale=False,
    )


def _count_each(name: str, label: Said, rule: str, value: Callable[[EvidenceFigures, str], int]) -> EachSpec:
    return EachSpec(
        f"evidence.{name}",
        "count",
        label=label,
        rule=rule,
        value=lambda at, key: float(value(at, key)),
        counted=True,
    )


_LIBRARY = (
    _count("entries", "Entries of the evidence library", "count of entries", lambda at: len(at.given.evidence)),
    EachSpec(
        "evidence.weight[grade]",
        "x",
        label=lambda _, grade: f"What a publisher counts in a prior, by its grade: {grade}",
        rule="a choice of this memo",
        value=lambda _, grade: float(read_yaml("prior_weights")[grade]),
        digits=2,
        counted=True,
    ),
    _count_each(
        "entries[grade]",
        lambda _, grade: f"Entries of the library graded {grade}",
        "count by grade",
        lambda at, grade: at.grades.get(grade, 0),
    ),
    _count(
        "used",
        "Inputs behind this memo",
        "count of evidence and prices behind printed numbers",
        lambda at: len(at.result.used),
    ),
    _count_each(
        "used[grade]",
        lambda _, grade: f"Inputs behind this memo graded {grade}",
        "count of evidence and prices behind printed numbers",
        lambda at, grade: at.behind.get(grade, 0),
    ),
    _count(
        "entries.quoted",
        "Entries read in a text that quotes the source",
        "count of `seen: B`",
        lambda at: sum(e.seen == "B" for e in at.given.evidence.values()),
    ),
    _count(
        "prices", "Prices behind this memo", "count of prices behind printed numbers", lambda at: len(at.result.prices)
    ),
    _count(
        "prices.stale",
        "Prices behind this memo past their shelf life",
        "count of prices whose expiry lies before the memo's date",
        lambda at: sum(p.stale for p in at.result.prices),
        lambda at: [p.id for p in at.result.prices if p.stale],
    ),
    _count(
        "prices.held",
        "Price rows held back",
        "count of rows that a rule refused",
        lambda at: len(at.given.prices.quarantine),
    ),
    EachSpec(
        "evidence.age[price]",
        "day",
        label=lambda _, item: f"Age of the price of {item}",
        rule="memo's date − date of the price",
        value=lambda at, item: float(at.prices[item].age_days),
        sources=lambda at, item: (at.prices[item].id,),
        stale=False,
    ),
)

_AUDIT = (
    _count("claims", "Audited claims", "count of entries in the audit", lambda at: len(at.audited)),
    _count_each(
        "claims[verdict]",
        lambda _, verdict: f"Claims with verdict: {_VERDICTS[verdict]}",
        "count by verdict",
        lambda at, verdict: sum(c.verdict == _VERDICTS[verdict] for c in at.audited),
    ),
    _count(
        "claims.standing",
        "Claims that reproduce, with or without a caveat",
        "sum of both",
        lambda at: sum(c.verdict in VERDICTS[:2] for c in at.audited),
    ),
    _count(
        "claims.computed",
        "Verdicts reached by code",
        "count of claims with number and method",
        lambda at: sum(c.computed for c in at.audited),
    ),
    _count(
        "claims.judged",
        "Verdicts that are judgements with grounds",
        "all claims − computed",
        lambda at: sum(not c.computed for c in at.audited),
    ),
    _count("articles", "Audited articles", "count of articles", lambda at: len(at.book.sources)),
    _count(
        "articles.selling",
        "Articles whose publisher sells something related",
        "count by interest",
        lambda at: sum(s.interest.startswith("sells") for s in at.book.sources.values()),
    ),
    _count(
        "contradictions",
        "Places where an article contradicts itself",
        "count of pairs of claims",
        lambda at: len(at.result.contradictions),
    ),
    _count(
        "contradictions.articles",
        "Articles that contradict themselves",
        "count of articles",
        lambda at: len({c.source for c in at.result.contradictions}),
    ),
)


# ---- figures as a source states them


def _in_billions(value: float, unit: str) -> bool:
    return unit == "count" and abs(value) >= BILLION


def _stated(
    pattern: str,
    value: Callable[[EvidenceFigures, str], float],
    unit: Callable[[EvidenceFigures, str], str],
    *,
    label: Said,
    rule: Said,
    inputs: Callable[[EvidenceFigures, str], Iterable[str]],
    rounded_to: int = ROUNDED_DIGITS,
    when: Callable[[EvidenceFigures, str], bool] | None = None,
) -> EachSpec:
    """A figure as a source states it, or as `rounded_to` fewer digits have it: a whole number is exact unless it is money
    worked out here; in the source's dollars whatever the memo's currency."""

    def shown(at: EvidenceFigures, key: str) -> float:
        stated = value(at, key)
        return stated / BILLION if _in_billions(stated, unit(at, key)) else stated

    def exact(at: EvidenceFigures, key: str) -> bool:
        worked_out = rounded_to < ROUNDED_DIGITS and unit(at, key).startswith("usd")
        return shown(at, key) == int(shown(at, key)) and not worked_out

    return EachSpec(
        f"evidence.{pattern}",
        lambda at, key: "billion" if _in_billions(value(at, key), unit(at, key)) else shown_unit(unit(at, key)),
        label=label,
        rule=rule,
        value=shown,
        inputs=inputs,
        digits=lambda at, key: EXACT_DIGITS if exact(at, key) else rounded_to,
        currency=lambda at, key: "USD" if unit(at, key).startswith("usd") else "",
        when=when,
    )


def _amount(
    pattern: str,
    amount: Callable[[EvidenceFigures, str], Amount | str | None],
    unit: Callable[[EvidenceFigures, str], str],
    label: Callable[[EvidenceFigures, str], str],
    rule: Said,
    inputs: Callable[[EvidenceFigures, str], Iterable[str]],
    rounded_to: int = ROUNDED_DIGITS,
) -> tuple[EachSpec, EachSpec, EachSpec]:
    """A figure under the pattern itself, or the ends of a range under `.low` and `.high`; none for words."""

    def spec(end: str) -> EachSpec:
        def value(at: EvidenceFigures, key: str) -> float:
            found = amount(at, key)
            if isinstance(found, tuple):
                return float(found[("low", "high").index(end)])
            assert isinstance(found, int | float)
            return float(found)

        return _stated(
            f"{pattern}.{end}" if end else pattern,
            value,
            unit,
            label=lambda at, key: f"{label(at, key)}, {end} end" if end else label(at, key),
            rule=rule,
            inputs=inputs,
            rounded_to=rounded_to,
            when=lambda at, key: isinstance(amount(at, key), tuple if end else int | float),
        )

    return spec(""), spec("low"), spec("high")


def _of_entry(at: EvidenceFigures, entry: str) -> Amount:
    found = at.stated[entry]
    return found.low if found.low == found.high else (found.low, found.high)


_CLAIMS = (
    *_amount(
        "claim[claim].stated",
        lambda at, claim: at.claims[claim].stated,
        lambda at, claim: at.claims[claim].unit,
        lambda _, claim: f"Stated in claim {claim}",
        "as the article states it",
        lambda _, claim: (f"claim:{claim}",),
    ),
    *_amount(
        "claim[claim].recomputed",
        lambda at, claim: at.claims[claim].recomputed,
        lambda at, claim: at.claims[claim].unit,
        lambda _, claim: f"Recomputed from claim {claim}",
        lambda at, claim: at.claims[claim].formula,
        lambda at, claim: at.footing(claim),
        WORKED_OUT_DIGITS,
    ),
    *_amount(
        "stated[entry]",
        _of_entry,
        lambda at, entry: at.stated[entry].unit,
        lambda at, entry: at.stated[entry].what,
        lambda at, entry: at.given.figure(f"evidence:{entry}").rule,
        lambda _, entry: (f"evidence:{entry}",),
    ),
)


# ---- how far the sources lie apart on each contested quantity, and the prior made of them


def _quantity_unit(at: EvidenceFigures, quantity: str) -> str:
    return at.contested[quantity].quantity.unit


def _extreme(end: str, word: str, size: str, value: Callable[[EvidenceFigures, str], float]) -> EachSpec:
    """The lowest or the highest statement on a contested quantity."""
    return _stated(
        f"contested[quantity].{end}",
        value,
        _quantity_unit,
        label=lambda at, quantity: f"{word} statement on {at.contested[quantity].short}",
        rule=f"{size} figure of any source, admissible or not",
        inputs=lambda at, quantity: [f"evidence:{p.id}" for p in at.told(quantity)],
        rounded_to=CONTESTED_DIGITS,
    )


_CONTESTED = (
    _count(
        "contested.bearing",
        "Contested quantities that bear on this case",
        "count by relevance",
        lambda at: len(at.result.bearing),
    ),
    _count_each(
        "contested[quantity].sources",
        lambda at, quantity: f"Publishers on {at.contested[quantity].short}",
        "count of publishers",
        lambda at, quantity: len({p.publisher for p in at.told(quantity)}),
    ),
    _extreme("low", "Lowest", "smallest", lambda at, quantity: min(p.low for p in at.told(quantity))),
    _extreme("high", "Highest", "largest", lambda at, quantity: max(p.high for p in at.told(quantity))),
    EachSpec(
        "evidence.contested[quantity].prior",
        lambda at, quantity: at.contested[quantity].unit,
        label=lambda at, quantity: f"Prior of {at.contested[quantity].short}",
        rule=lambda at, quantity: f"{at.contested[quantity].quantity.rule} of the admissible positions",
        value=lambda at, quantity: at.given.draw(f"contested:{quantity}"),
        currency=lambda at, quantity: "USD" if _quantity_unit(at, quantity).startswith("usd") else "",
    ),
)


# ---- how many published figures each model was held against, and the error where nothing was set from them


def _rows(name: str, words: str, count: Callable[[Card], int]) -> EachSpec:
    return _count_each(
        f"card[model].{name}",
        lambda at, model: f"Published figures {words} the model: {at.cards[model].model}",
        "count of rows of the card",
        lambda at, model: count(at.cards[model]),
    )


def _counted(card: Card) -> tuple[CardRow, ...]:
    return tuple(r for r in card.held_out if r.counted)


def _error(name: str, error: Callable[[Card], float]) -> EachSpec:
    def value(at: EvidenceFigures, model: str) -> float:
        found = error(at.cards[model])
        return found if found > NO_ERROR else 0.0

    return EachSpec(
        f"evidence.card[model].{name}",
        "share",
        label=lambda at, model: f"{name.capitalize()} error on figures held out: {at.cards[model].model}",
        rule=f"{name} of |ours ÷ published − 1| over the counted rows that set nothing",
        value=value,
        digits=2,
        counted=True,
        when=lambda at, model: bool(_counted(at.cards[model])),
    )


_CARDS = (
    _rows("rows", "beside", lambda card: len(card.rows)),
    _rows("held_out", "held out from", lambda card: len(card.held_out)),
    _error("median", lambda card: median_abs_error(_counted(card))),
    _error("worst", lambda card: abs(worst_row(card).error)),
)

FIGURES = Declaration(
    "evidence",
    (*_LIBRARY, *_AUDIT, *_CLAIMS, *_CONTESTED, *_CARDS, *ELICITED, *OPTIONS),
    {
        "grade": Index(lambda _: _GRADES, _GRADES),
        "price": Index(lambda at: at.prices),
        "verdict": Index(lambda _: _VERDICTS, tuple(_VERDICTS)),
        "claim": Index(lambda at: at.claims),
        "entry": Index(lambda at: at.stated),
        "quantity": Index(lambda at: at.contested),
        "model": Index(lambda at: at.cards),
        "option": Index(lambda at: options_shown(at.given)),
        "person": Index(lambda at: persons(at.given)),
        "seed": Index(lambda at: seeds_shown(at.given)),
        "asked": Index(lambda at: questions_shown(at.given)),
        "stated": Index(lambda at: at.given.elicited.figures()),
    },
)
"""Every figure of the section."""
