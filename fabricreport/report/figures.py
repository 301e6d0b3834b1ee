"""The figures of the evidence report: counts, claims beside what they come to, positions of the sources, errors of models."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from fabricreport.books.claims import ADVICE, VERDICTS, ClaimBook, ClaimSource, read_claims
from fabricreport.books.evidence_entry import EvidenceEntry
from fabricreport.books.providers import ContractOnly, ProviderBook, Seller, read_providers
from fabricreport.claim import Amount
from fabricreport.evidence import read_yaml
from fabricreport.figures import Declaration, FigureSpec, Index
from fabricreport.hindsight import all_compared
from fabricreport.inputs import Inputs
from fabricreport.ledger import GRADES
from fabricreport.models.audit.claims import AuditedClaim, SelfContradiction, self_contradictions
from fabricreport.models.risk.tail import expected_max
from fabricreport.report.guard import GUARD, REPLAYS
from fabricreport.report.purchase_figures import PURCHASES
from fabricreport.sections.evidence.claims import audit
from fabricreport.sections.evidence.context import Disagreement, disagreements, shown_unit
from fabricreport.validation.card import Card, CardRow, median_abs_error
from fabricreport.validation.cards import cards

EXACT_DIGITS, ROUNDED_DIGITS, CONTESTED_DIGITS, WORKED_OUT_DIGITS = 6, 4, 3, 3
"""A whole number is printed as it is; a claim's other figures to four digits, enough to see whether it holds."""
BILLION = 1e9
NO_ERROR = 1e-9
"""An error below this is rounding of the machine, and is printed as none."""
WORKERS = tuple(2**k for k in range(3, 18))
CORRELATIONS = (0.0, 0.3, 0.6, 0.9)
FEW, MANY = 64, 16384
_CREDIT = "-credit"


def slug(words: str) -> str:
    """`reproduces with a caveat` as a part of an id."""
    return words.replace(" ", "-")


def worst_row(card: Card) -> CardRow:
    """The counted row, held out, whose error is largest; of all rows if none was held out."""
    rows = [r for r in card.held_out if r.counted] or list(card.rows)
    return max(rows, key=lambda r: abs(r.error))


def maxima(workers: tuple[int, ...] = WORKERS) -> dict[float, Any]:
    """Mean of the slowest of each number of workers, in standard deviations above the mean worker, by correlation."""
    from scipy import stats  # slow to import

    return {rho: expected_max(stats.norm(), np.array(workers), correlation=rho) for rho in CORRELATIONS}


_VERDICTS = {slug(verdict): verdict for verdict in VERDICTS}
_GRADES = tuple(str(grade) for grade in GRADES)
_SIZES = {str(n): n for n in (FEW, MANY)}
_SHARED = {str(rho).replace(".", "_"): rho for rho in CORRELATIONS}


@dataclass(frozen=True)
class ReportFigures:
    """What the figures of the report are made from, and what its tables and charts show."""

    given: Inputs

    @property
    def book(self) -> ClaimBook:
        """The claims as the articles make them."""
        return read_claims()

    @property
    def articles(self) -> Mapping[str, ClaimSource]:
        """The audited articles by id."""
        return self.book.sources

    @property
    def sellers(self) -> ProviderBook:
        """The sellers as one article lists them, and the contracts that were read."""
        return read_providers()

    @cached_property
    def claims(self) -> Mapping[str, AuditedClaim]:
        """Every claim by id as it was worked through, our own cross-checks too."""
        return {c.id: c for c in audit(self.given.evidence)}

    @cached_property
    def audited(self) -> tuple[AuditedClaim, ...]:
        """The audited claims; our own cross-checks are not claims."""
        return tuple(c for c in self.claims.values() if c.kind != "check")

    @cached_property
    def contradictions(self) -> tuple[SelfContradiction, ...]:
        """The places where an article says two things that cannot both hold."""
        return self_contradictions(tuple(self.claims.values()))

    def footing(self, claim: str) -> tuple[str, ...]:
        """The claim as an input, and the entries that its own inputs cite."""
        return (f"claim:{claim}", *(v for v in self.book[claim].inputs.values() if isinstance(v, str)))

    @cached_property
    def grades(self) -> Mapping[str, int]:
        """Entries of the library by grade."""
        return Counter(str(e.grade) for e in self.given.evidence.values())

    @cached_property
    def contested(self) -> Mapping[str, Disagreement]:
        """The quantities on which sources disagree, by id."""
        return {found.id: found for found in disagreements(self.given)}

    @cached_property
    def cards(self) -> Mapping[str, Card]:
        """Every model's validation card, by its name as part of an id."""
        return {slug(c.model.lower()): c for c in cards(refit=False)}

    @cached_property
    def stated(self) -> Mapping[str, EvidenceEntry]:
        """Entries with a number that tables print, by id."""
        cited = _cited(read_yaml("context"), read_yaml("assurance")["scale"])
        entries = (self.given.evidence[i.removeprefix("evidence:")] for i in dict.fromkeys(cited))
        return {e.id: e for e in entries if e.kind != "text"}

    @property
    def contracts(self) -> tuple[Seller | ContractOnly, ...]:
        """Everybody whose contract was read, in the order of the table."""
        every: list[Seller | ContractOnly] = [*self.sellers.sellers, *self.sellers.contracts_only]
        return tuple(seller for seller in every if seller.sla)

    @cached_property
    def links(self) -> Mapping[str, float]:
        """The fastest link of each seller that states one, in Gb/s, by its id."""
        rates = {s.id: s.link_high_gbits_per_s for s in self.sellers.sellers}
        return {seller: rate for seller, rate in rates.items() if rate is not None}

    @cached_property
    def credits(self) -> Mapping[str, str]:
        """The entry of the highest service credit of each seller whose contract states one, by its id."""
        found = {s.id: next((i for i in s.sla if i.endswith(_CREDIT)), None) for s in self.contracts}
        return {seller: entry for seller, entry in found.items() if entry is not None}

    @cached_property
    def slowest(self) -> Mapping[float, Any]:
        """How far out the slowest of few and of many workers lies, by correlation."""
        return maxima((FEW, MANY))

    def amount(self, numbers: Mapping[str, Any], id: str) -> str:
        """A template that prints the number `id`, or the range from `id.low` to `id.high`; empty if there is neither."""
        if id in numbers:
            return f"{{{id}}}"
        if f"{id}.low" not in numbers:
            return ""
        low = numbers[f"{id}.low"]
        once = low.unit != "share" and not low.unit.startswith("usd")
        return f"{{{id}.low{':bare' if once else ''}}} to {{{id}.high}}"


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


Spec = FigureSpec[ReportFigures]
EachSpec = FigureSpec[ReportFigures, str]
PairSpec = FigureSpec[ReportFigures, str, str]
Said = str | Callable[[ReportFigures, str], str]


# ---- counts


def _count(name: str, label: str, value: Callable[[ReportFigures], int], rule: str = "count") -> Spec:
    return Spec(f"report.{name}", "count", label=label, rule=rule, value=lambda at: float(value(at)), counted=True)


def _count_each(name: str, label: Said, rule: str, value: Callable[[ReportFigures, str], int]) -> EachSpec:
    return EachSpec(
        f"report.{name}", "count", label=label, rule=rule, value=lambda at, key: float(value(at, key)), counted=True
    )


_COUNTS = (
    _count("entries", "Entries of the evidence library", lambda at: len(at.given.evidence)),
    _count_each(
        "entries[grade]",
        lambda _, grade: f"Entries of the library graded {grade}",
        "count by grade",
        lambda at, grade: at.grades.get(grade, 0),
    ),
    _count(
        "entries.quoted",
        "Entries read in a text that quotes the source",
        lambda at: sum(e.seen == "B" for e in at.given.evidence.values()),
        "count of `seen: B`",
    ),
    EachSpec(
        "report.weight[grade]",
        "x",
        label=lambda _, grade: f"What a publisher counts in a prior, by its grade: {grade}",
        rule="a choice of ours",
        value=lambda _, grade: float(read_yaml("prior_weights")[grade]),
        digits=2,
        counted=True,
    ),
    _count("articles", "Audited articles", lambda at: len(at.articles)),
    _count(
        "articles.selling",
        "Articles whose publisher sells something related",
        lambda at: sum(s.interest.startswith("sells") for s in at.articles.values()),
        "count by interest",
    ),
    _count("claims", "Audited claims", lambda at: len(at.audited)),
    _count_each(
        "claims[verdict]",
        lambda _, verdict: f"Claims with verdict: {_VERDICTS[verdict]}",
        "count by verdict",
        lambda at, verdict: sum(c.verdict == _VERDICTS[verdict] for c in at.audited),
    ),
    _count(
        "claims.standing",
        "Claims that reproduce, with or without a caveat",
        lambda at: sum(c.verdict in VERDICTS[:2] for c in at.audited),
        "sum of both",
    ),
    _count("claims.advice", "Claims that are advice", lambda at: sum(c.verdict in ADVICE for c in at.audited)),
    _count(
        "claims.computed",
        "Verdicts reached by code",
        lambda at: sum(c.computed for c in at.audited),
        "count of claims with number and method",
    ),
    _count(
        "claims.judged",
        "Verdicts that are judgements with grounds",
        lambda at: sum(not c.computed for c in at.audited),
        "all claims − computed",
    ),
    _count("contradictions", "Places where an article contradicts itself", lambda at: len(at.contradictions)),
    _count(
        "contradictions.articles",
        "Articles that contradict themselves",
        lambda at: len({c.source for c in at.contradictions}),
    ),
    _count("contested", "Quantities on which sources disagree", lambda at: len(at.contested)),
    _count("unmeasured", "Quantities of which nothing was found", lambda _: len(read_yaml("assurance")["unmeasured"])),
    _count("models", "Models with a validation card", lambda at: len(at.cards)),
    _count("questions", "Questions to sellers", lambda at: len(at.sellers.questions)),
    _count("sellers", "Sellers in the article's table", lambda at: len(at.sellers.sellers)),
    _count("contracts", "Contracts that were read", lambda at: len(at.contracts)),
)


# ---- figures as a source states them


def _in_billions(value: float, unit: str) -> bool:
    return unit == "count" and abs(value) >= BILLION


def _stated(
    pattern: str,
    value: Callable[[ReportFigures, str], float],
    unit: Callable[[ReportFigures, str], str],
    *,
    label: Said,
    rule: Said,
    inputs: Callable[[ReportFigures, str], Iterable[str]],
    rounded_to: int = ROUNDED_DIGITS,
    when: Callable[[ReportFigures, str], bool] | None = None,
) -> EachSpec:
    """A figure as a source states it, or as `rounded_to` fewer digits have it: a whole number is exact unless it is money
    worked out here; in the source's dollars."""

    def shown(at: ReportFigures, key: str) -> float:
        stated = value(at, key)
        return stated / BILLION if _in_billions(stated, unit(at, key)) else stated

    def exact(at: ReportFigures, key: str) -> bool:
        worked_out = rounded_to < ROUNDED_DIGITS and unit(at, key).startswith("usd")
        return shown(at, key) == int(shown(at, key)) and not worked_out

    return EachSpec(
        f"report.{pattern}",
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
    amount: Callable[[ReportFigures, str], Amount | str | None],
    unit: Callable[[ReportFigures, str], str],
    label: Callable[[ReportFigures, str], str],
    rule: Said,
    inputs: Callable[[ReportFigures, str], Iterable[str]],
    rounded_to: int = ROUNDED_DIGITS,
) -> tuple[EachSpec, EachSpec, EachSpec]:
    """A figure under the pattern itself, or the ends of a range under `.low` and `.high`; none for words."""

    def spec(end: str) -> EachSpec:
        def value(at: ReportFigures, key: str) -> float:
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


def _of_entry(at: ReportFigures, entry: str) -> Amount:
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


def _quantity_unit(at: ReportFigures, quantity: str) -> str:
    return at.contested[quantity].quantity.unit


def _extreme(end: str, word: str, size: str, value: Callable[[ReportFigures, str], float]) -> EachSpec:
    """The lowest or the highest statement on a contested quantity."""
    return _stated(
        f"contested[quantity].{end}",
        value,
        _quantity_unit,
        label=lambda at, quantity: f"{word} statement on {at.contested[quantity].short}",
        rule=f"{size} figure of any source, admissible or not",
        inputs=lambda at, quantity: [f"evidence:{p.id}" for p in at.contested[quantity].told],
        rounded_to=CONTESTED_DIGITS,
    )


_CONTESTED = (
    _count_each(
        "contested[quantity].sources",
        lambda at, quantity: f"Publishers on {at.contested[quantity].short}",
        "count of publishers",
        lambda at, quantity: len({p.publisher for p in at.contested[quantity].told}),
    ),
    _extreme("low", "Lowest", "smallest", lambda at, quantity: min(p.low for p in at.contested[quantity].told)),
    _extreme("high", "Highest", "largest", lambda at, quantity: max(p.high for p in at.contested[quantity].told)),
    EachSpec(
        "report.contested[quantity].prior",
        lambda at, quantity: at.contested[quantity].unit,
        label=lambda at, quantity: f"Prior of {at.contested[quantity].short}",
        rule=lambda at, quantity: f"{at.contested[quantity].quantity.rule} of the admissible positions",
        value=lambda at, quantity: at.given.draw(f"contested:{quantity}"),
        currency=lambda at, quantity: "USD" if _quantity_unit(at, quantity).startswith("usd") else "",
    ),
)


# ---- how many published figures each model was held against, and the error where nothing was set from them


def _counted(card: Card) -> tuple[CardRow, ...]:
    return tuple(r for r in card.held_out if r.counted)


def _rows(name: str, words: str, count: Callable[[Card], int]) -> EachSpec:
    return _count_each(
        f"card[model].{name}",
        lambda at, model: f"Published figures {words} the model: {at.cards[model].model}",
        "count of rows of the card",
        lambda at, model: count(at.cards[model]),
    )


def _error(name: str, error: Callable[[Card], float]) -> EachSpec:
    def value(at: ReportFigures, model: str) -> float:
        found = error(at.cards[model])
        return found if found > NO_ERROR else 0.0

    return EachSpec(
        f"report.card[model].{name}",
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
    PairSpec(
        "report.slowest[workers][shared]",
        "x",
        label=lambda _, workers, shared: f"Slowest of {workers} workers at a correlation of {_SHARED[shared]:g}",
        rule="mean of the largest of so many normal variables, in standard deviations above the mean one",
        value=lambda at, workers, shared: float(at.slowest[_SHARED[shared]][(FEW, MANY).index(_SIZES[workers])]),
        digits=2,
        counted=True,
    ),
)

_SELLERS = (
    EachSpec(
        "report.link[seller]",
        "gbits/s",
        label=lambda _, seller: f"Link of {seller}, at most",
        rule="as the table states it",
        value=lambda at, seller: at.links[seller],
        inputs=lambda at, _: (at.sellers.source,),
    ),
    EachSpec(
        "report.credit[contract]",
        "share",
        label=lambda _, seller: f"Highest service credit of {seller}",
        rule="as the contract states it",
        value=lambda at, seller: at.given.entry(at.credits[seller].removeprefix("evidence:")).high,
        inputs=lambda at, seller: (at.credits[seller],),
    ),
)

FIGURES = Declaration(
    "report",
    (*_COUNTS, *_CLAIMS, *_CONTESTED, *_CARDS, *_SELLERS, *PURCHASES, *GUARD),
    {
        "grade": Index(lambda _: _GRADES, _GRADES),
        "verdict": Index(lambda _: _VERDICTS, tuple(_VERDICTS)),
        "claim": Index(lambda at: at.claims),
        "entry": Index(lambda at: at.stated),
        "quantity": Index(lambda at: at.contested),
        "model": Index(lambda at: at.cards),
        "workers": Index(lambda _: _SIZES, tuple(_SIZES)),
        "shared": Index(lambda _: _SHARED, tuple(_SHARED)),
        "seller": Index(lambda at: at.links),
        "contract": Index(lambda at: at.credits),
        "purchase": Index(lambda _: all_compared()),
        "replay": REPLAYS,
    },
)
