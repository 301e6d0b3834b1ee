"""The figures of the evidence report: counts, claims beside what they come to, sources, errors of models, purchases, the guard of prices.

What each is called and rests on stands in `figures.yaml`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from fabricreport.base.provenance import inputs_of, plain
from fabricreport.base.yaml_files import read_yaml
from fabricreport.books.evidence import EvidenceEntry
from fabricreport.books.publications import ADVICE, SYSTEM, VERDICTS, ClaimBook, ClaimSource, PricePaid, read_claims
from fabricreport.books.sellers import ContractOnly, ProviderBook, Seller, read_providers
from fabricreport.inputs.inputs import Inputs
from fabricreport.ledger.figures import Declaration, Footing, Index, Reckoning, figure
from fabricreport.ledger.numbers import GRADES
from fabricreport.models.audit.claims import Amount, AuditedClaim, SelfContradiction, self_contradictions
from fabricreport.models.risk.tail import expected_max
from fabricreport.report.hindsight import Hindsight, all_compared
from fabricreport.sections.evidence.result import Disagreement, audit, disagreements, shown_unit
from fabricreport.validation.card import Card, CardRow, median_abs_error
from fabricreport.validation.cards import cards
from fabricreport.validation.price_guard import LATER, Replay, replays

EXACT_DIGITS, ROUNDED_DIGITS, CONTESTED_DIGITS, WORKED_OUT_DIGITS = 6, 4, 3, 3
"""A whole number is printed as it is; a claim's other figures to four digits, enough to see whether it holds."""
BILLION = 1e9
NO_ERROR = 1e-9
"""An error below this is rounding of the machine, and is printed as none."""
WORKERS = tuple(2**k for k in range(3, 18))
CORRELATIONS = (0.0, 0.3, 0.6, 0.9)
FEW, MANY = 64, 16384
LOW, HIGH = 0, 1
"""The ends of a range."""
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
    """What the figures of the report are made from and how each is made, and what its tables and charts show."""

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
    def everybody(self) -> list[Seller | ContractOnly]:
        """Every seller, in the order of the table, and those of whom a contract alone was read."""
        return [*self.sellers.sellers, *self.sellers.contracts_only]

    @property
    def contracts(self) -> tuple[Seller | ContractOnly, ...]:
        """Everybody whose contract was read, in that order."""
        return tuple(seller for seller in self.everybody if seller.sla)

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

    @property
    def purchases(self) -> Mapping[str, Hindsight]:
        """Every purchase of others by id, beside what we would have said."""
        return all_compared()

    @property
    def replays(self) -> Mapping[str, Replay]:
        """Every replay of the guard of prices, by its id."""
        return replays()

    def amount(self, numbers: Mapping[str, Any], id: str) -> str:
        """A template that prints the number `id`, or the range from `id.low` to `id.high`; empty if there is neither."""
        if id in numbers:
            return f"{{{id}}}"
        if f"{id}.low" not in numbers:
            return ""
        low = numbers[f"{id}.low"]
        once = low.unit != "share" and not low.unit.startswith("usd")
        return f"{{{id}.low{':bare' if once else ''}}} to {{{id}.high}}"

    # ---- what they rest on

    def the_claim(self, claim: str) -> tuple[str, ...]:
        """The claim as an input."""
        return (f"claim:{claim}",)

    def footing(self, claim: str) -> tuple[str, ...]:
        """The claim as an input, and the entries that its own inputs cite."""
        return (*self.the_claim(claim), *(v for v in self.book[claim].inputs.values() if isinstance(v, str)))

    def the_entry(self, entry: str) -> Footing:
        """The entry as an input."""
        return (f"evidence:{entry}",)

    def positions(self, quantity: str) -> Footing:
        """The entries that state a contested quantity."""
        return [f"evidence:{p.id}" for p in self.contested[quantity].told]

    @property
    def the_table(self) -> Footing:
        """The article that lists the sellers."""
        return (self.sellers.source,)

    def the_credit(self, contract: str) -> Footing:
        """The entry of the highest service credit of a contract."""
        return (self.credits[contract],)

    def the_purchase(self, purchase: str) -> tuple[str, ...]:
        """The purchase as an input."""
        return (f"purchase:{purchase}",)

    def behind_bill(self, purchase: str) -> Footing:
        """The purchase, and the prices and entries of its bill; what the buyer's params say stands in the purchase."""
        prices = (i for i in inputs_of(self.purchases[purchase].bill_usd) if i.startswith(("price:", "evidence:")))
        return (*self.the_purchase(purchase), *prices)

    # ---- counts

    @figure("report.entries")
    def entries(self) -> int:
        return len(self.given.evidence)

    @figure("report.entries[grade]")
    def entries_of(self, grade: str) -> int:
        return self.grades.get(grade, 0)

    @figure("report.entries.quoted")
    def entries_quoted(self) -> int:
        return sum(e.seen == "B" for e in self.given.evidence.values())

    @figure("report.weight[grade]")
    def weight(self, grade: str) -> float:
        return float(read_yaml("prior_weights")[grade])

    @figure("report.articles")
    def articles_audited(self) -> int:
        return len(self.articles)

    @figure("report.articles.selling")
    def articles_selling(self) -> int:
        return sum(s.interest.startswith("sells") for s in self.articles.values())

    @figure("report.claims")
    def claims_audited(self) -> int:
        return len(self.audited)

    @figure("report.claims[verdict]")
    def claims_of(self, verdict: str) -> int:
        return sum(c.verdict == _VERDICTS[verdict] for c in self.audited)

    @figure("report.claims.standing")
    def claims_standing(self) -> int:
        return sum(c.verdict in VERDICTS[:2] for c in self.audited)

    @figure("report.claims.advice")
    def claims_advice(self) -> int:
        return sum(c.verdict in ADVICE for c in self.audited)

    @figure("report.claims.computed")
    def claims_computed(self) -> int:
        return sum(c.computed for c in self.audited)

    @figure("report.claims.judged")
    def claims_judged(self) -> int:
        return sum(not c.computed for c in self.audited)

    @figure("report.contradictions")
    def contradictions_found(self) -> int:
        return len(self.contradictions)

    @figure("report.contradictions.articles")
    def articles_contradicting(self) -> int:
        return len({c.source for c in self.contradictions})

    @figure("report.contested")
    def quantities_contested(self) -> int:
        return len(self.contested)

    @figure("report.unmeasured")
    def quantities_unmeasured(self) -> int:
        return len(read_yaml("assurance")["unmeasured"])

    @figure("report.models")
    def models_with_card(self) -> int:
        return len(self.cards)

    @figure("report.questions")
    def questions_to_sellers(self) -> int:
        return len(self.sellers.questions)

    @figure("report.sellers")
    def sellers_listed(self) -> int:
        return len(self.sellers.sellers)

    @figure("report.contracts")
    def contracts_read(self) -> int:
        return len(self.contracts)

    # ---- figures as a source states them: under the pattern itself, or the ends of a range; none for words

    def states_number(self, claim: str) -> bool:
        """Whether a claim states one number."""
        return isinstance(self.claims[claim].stated, int | float)

    def states_range(self, claim: str) -> bool:
        """Whether a claim states a range."""
        return isinstance(self.claims[claim].stated, tuple)

    def comes_to_number(self, claim: str) -> bool:
        """Whether a claim comes to one number."""
        return isinstance(self.claims[claim].recomputed, int | float)

    def comes_to_range(self, claim: str) -> bool:
        """Whether a claim comes to a range."""
        return isinstance(self.claims[claim].recomputed, tuple)

    def is_number(self, entry: str) -> bool:
        """Whether an entry is one number."""
        return self.stated[entry].low == self.stated[entry].high

    def is_range(self, entry: str) -> bool:
        """Whether an entry is a range."""
        return not self.is_number(entry)

    def formula(self, claim: str) -> str:
        """How a claim is recomputed."""
        return self.claims[claim].formula

    def what(self, entry: str) -> str:
        """What an entry is a figure of."""
        return self.stated[entry].what

    def origin(self, entry: str) -> str:
        """Where an entry comes from, in words."""
        return self.given.figure(f"evidence:{entry}").rule

    @figure("report.claim[claim].stated")
    def claim_stated(self, claim: str, end: int = LOW) -> Reckoning:
        return _as_stated(self.claims[claim].stated, self.claims[claim].unit, end)

    @figure("report.claim[claim].stated.low")
    def claim_stated_low(self, claim: str) -> Reckoning:
        return self.claim_stated(claim, LOW)

    @figure("report.claim[claim].stated.high")
    def claim_stated_high(self, claim: str) -> Reckoning:
        return self.claim_stated(claim, HIGH)

    @figure("report.claim[claim].recomputed")
    def claim_recomputed(self, claim: str, end: int = LOW) -> Reckoning:
        return _as_stated(self.claims[claim].recomputed, self.claims[claim].unit, end, WORKED_OUT_DIGITS)

    @figure("report.claim[claim].recomputed.low")
    def claim_recomputed_low(self, claim: str) -> Reckoning:
        return self.claim_recomputed(claim, LOW)

    @figure("report.claim[claim].recomputed.high")
    def claim_recomputed_high(self, claim: str) -> Reckoning:
        return self.claim_recomputed(claim, HIGH)

    @figure("report.stated[entry]")
    def entry_stated(self, entry: str, end: int = LOW) -> Reckoning:
        found = self.stated[entry]
        return _as_stated((found.low, found.high), found.unit, end)

    @figure("report.stated[entry].low")
    def entry_stated_low(self, entry: str) -> Reckoning:
        return self.entry_stated(entry, LOW)

    @figure("report.stated[entry].high")
    def entry_stated_high(self, entry: str) -> Reckoning:
        return self.entry_stated(entry, HIGH)

    # ---- how far the sources lie apart on each contested quantity, and the prior made of them

    def short(self, quantity: str) -> str:
        """What prose calls a contested quantity."""
        return self.contested[quantity].short

    def quantity_unit(self, quantity: str) -> str:
        """The unit of a contested quantity, as printed."""
        return self.contested[quantity].unit

    def prior_rule(self, quantity: str) -> str:
        """How a prior is made of the positions."""
        return self.contested[quantity].quantity.rule

    def extremes(self, quantity: str, end: int) -> Reckoning:
        """The lowest or the highest statement on a contested quantity."""
        found = self.contested[quantity]
        ends = min(p.low for p in found.told), max(p.high for p in found.told)
        return _as_stated(ends, found.quantity.unit, end, CONTESTED_DIGITS)

    @figure("report.contested[quantity].sources")
    def publishers(self, quantity: str) -> int:
        return len({p.publisher for p in self.contested[quantity].told})

    @figure("report.contested[quantity].low")
    def lowest(self, quantity: str) -> Reckoning:
        return self.extremes(quantity, LOW)

    @figure("report.contested[quantity].high")
    def highest(self, quantity: str) -> Reckoning:
        return self.extremes(quantity, HIGH)

    @figure("report.contested[quantity].prior")
    def prior(self, quantity: str) -> Reckoning:
        drawn = self.given.draw(f"contested:{quantity}")
        return Reckoning(drawn, currency=_currency(self.contested[quantity].quantity.unit))

    # ---- how many published figures each model was held against, and the error where nothing was set from them

    def model(self, model: str) -> str:
        """The name of a model."""
        return self.cards[model].model

    def has_error(self, model: str) -> bool:
        """Whether a counted row of a model's card was held out."""
        return bool(_counted(self.cards[model]))

    @figure("report.card[model].rows")
    def card_rows(self, model: str) -> int:
        return len(self.cards[model].rows)

    @figure("report.card[model].held_out")
    def card_held_out(self, model: str) -> int:
        return len(self.cards[model].held_out)

    @figure("report.card[model].median")
    def card_median(self, model: str) -> float:
        return _unless_rounding(median_abs_error(_counted(self.cards[model])))

    @figure("report.card[model].worst")
    def card_worst(self, model: str) -> float:
        return _unless_rounding(abs(worst_row(self.cards[model]).error))

    @figure("report.slowest[workers][shared]")
    def slowest_worker(self, workers: str, shared: str) -> float:
        return float(self.slowest[_SHARED[shared]][(FEW, MANY).index(_SIZES[workers])])

    # ---- sellers

    def seller_name(self, seller: str) -> str:
        """The name of a seller, also of one whose contract alone was read."""
        return next(one.name for one in self.everybody if one.id == seller)

    @figure("report.link[seller]")
    def link(self, seller: str) -> float:
        return self.links[seller]

    @figure("report.credit[contract]")
    def credit(self, contract: str) -> float:
        return self.given.entry(self.credits[contract].removeprefix("evidence:")).high

    # ---- purchases of others: what is public of them, and our bill in hindsight

    def owner(self, purchase: str) -> str:
        """Who bought."""
        return self.purchases[purchase].purchase.owner

    def is_counted(self, purchase: str) -> bool:
        """Whether the number of GPUs is known."""
        return self.purchases[purchase].purchase.gpus is not None

    def is_priced(self, purchase: str) -> bool:
        """Whether the price is known."""
        return self.purchases[purchase].purchase.price is not None

    def is_billed(self, purchase: str) -> bool:
        """Whether there is a bill of ours."""
        return self.purchases[purchase].bill_usd is not None

    def paid(self, purchase: str) -> PricePaid:
        """The price paid; asked for where it is known."""
        price = self.purchases[purchase].purchase.price
        assert price is not None
        return price

    def price_unit(self, purchase: str) -> str:
        """The unit of the price: of the whole system, or for each of something."""
        per = self.paid(purchase).per
        return "usd" if per == SYSTEM else f"usd/{per}"

    @figure("report.purchases")
    def purchases_public(self) -> int:
        return len(self.purchases)

    @figure("report.purchases.billed")
    def purchases_billed(self) -> int:
        return sum(h.bill_usd is not None for h in self.purchases.values())

    @figure("report.purchases.advised")
    def purchases_advised(self) -> int:
        return sum(h.verdict is not None for h in self.purchases.values())

    @figure("report.purchase[purchase].gpus")
    def purchase_gpus(self, purchase: str) -> int:
        return self.purchases[purchase].purchase.gpus or 0

    @figure("report.purchase[purchase].price")
    def purchase_price(self, purchase: str) -> Reckoning:
        return Reckoning(self.paid(purchase).amount, currency=self.paid(purchase).currency)

    @figure("report.purchase[purchase].bill")
    def purchase_bill(self, purchase: str) -> Reckoning:
        return Reckoning(plain(self.purchases[purchase].bill_usd), currency="USD")

    # ---- the guard of prices, replayed

    def title(self, replay: str) -> str:
        """What is replayed."""
        return self.replays[replay].title

    @figure("report.guard[replay].rows")
    def guard_rows(self, replay: str) -> int:
        return len(self.replays[replay].rows)

    @figure("report.guard[replay].held")
    def guard_held(self, replay: str) -> int:
        return len(self.replays[replay].false_holds())

    @figure("report.guard[replay].later")
    def guard_later(self, replay: str) -> int:
        return len(self.replays[replay].false_holds(LATER))

    @figure("report.guard[replay].caught")
    def guard_caught(self, replay: str) -> int:
        return len(self.replays[replay].right_holds())

    @figure("report.guard[replay].missed")
    def guard_missed(self, replay: str) -> int:
        return len(self.replays[replay].misses())


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


def _as_stated(amount: Amount | str | None, unit: str, end: int, rounded_to: int = ROUNDED_DIGITS) -> Reckoning:
    """A figure, or one end of a range, as a source states it, or as `rounded_to` fewer digits have it: a whole number is
    exact unless it is money worked out here; in the source's dollars."""
    value = amount[end] if isinstance(amount, tuple) else amount
    assert isinstance(value, int | float)
    in_billions = unit == "count" and abs(value) >= BILLION
    shown, currency = float(value / BILLION if in_billions else value), _currency(unit)
    exact = shown == int(shown) and not (currency and rounded_to < ROUNDED_DIGITS)
    return Reckoning(
        shown,
        digits=EXACT_DIGITS if exact else rounded_to,
        currency=currency,
        words={"shown_unit": "billion" if in_billions else shown_unit(unit)},
    )


def _currency(unit: str) -> str:
    """Money of a source is in dollars, whatever the memo's currency."""
    return "USD" if unit.startswith("usd") else ""


def _counted(card: Card) -> tuple[CardRow, ...]:
    return tuple(r for r in card.held_out if r.counted)


def _unless_rounding(error: float) -> float:
    return error if error > NO_ERROR else 0.0


FIGURES = Declaration(
    "report",
    ReportFigures,
    {
        "grade": Index(lambda _: _GRADES, _GRADES),
        "verdict": Index(lambda _: _VERDICTS, tuple(_VERDICTS), lambda _, verdict: _VERDICTS[verdict]),
        "claim": Index(lambda at: at.claims),
        "entry": Index(lambda at: at.stated, called=ReportFigures.what),
        "quantity": Index(lambda at: at.contested, called=ReportFigures.short),
        "model": Index(lambda at: at.cards, called=ReportFigures.model),
        "workers": Index(lambda _: _SIZES, tuple(_SIZES)),
        "shared": Index(lambda _: _SHARED, tuple(_SHARED), lambda _, shared: f"{_SHARED[shared]:g}"),
        "seller": Index(lambda at: at.links, called=ReportFigures.seller_name),
        "contract": Index(lambda at: at.credits, called=ReportFigures.seller_name),
        "purchase": Index(lambda at: at.purchases, called=ReportFigures.owner),
        "replay": Index(lambda at: at.replays, called=ReportFigures.title),
    },
)
"""Every figure of the report."""
