"""What others publish: the claims of the articles a buyer reads, as data, and purchases as far as the public knows them.

What a claim comes to when its own inputs are worked through, and so whether it holds, is not typed into the file:
`fabricreport.models.audit.claims.audit` computes it.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import Field, PlainValidator, model_validator

from fabricreport.base.errors import InputError, Problem
from fabricreport.base.locations import did_you_mean
from fabricreport.base.units import unit_problem
from fabricreport.base.vocabulary import Grade
from fabricreport.base.yaml_files import ROOT, load_strict
from fabricreport.books.equipment import gpu_types
from fabricreport.books.fields import CLOSED, Fault, Id, Keyed, Sentence, one_of, refusal, within, written
from fabricreport.books.options import read_options
from fabricreport.books.prices.rules import rules
from fabricreport.books.reader import judged, repeated, shipped
from fabricreport.models.audit.claims import Amount, Claim

CLAIMS = ROOT / "claims.yaml"
KINDS = ("numeric", "recommendation", "statement", "check")
"""A check is ours: a claim's figures held against another base or another article's claim."""
ADVICE = ("followed", "not followed")
"""What becomes of a recommendation in our memos: nothing in it can be reproduced or contradicted."""
VERDICTS = (
    "reproduces",
    "reproduces with a caveat",
    "contradicted",
    "out of date",
    "unsupported",
    "cannot be checked",
    *ADVICE,
)
COMPARISONS = ("equal", "within", "overlap", "at-most", "at-least")


def _amount(value: Any) -> Amount | str:
    if isinstance(value, str):
        return value
    ends: list[Any] = [value.get(k) for k in ("low", "high")] if isinstance(value, dict) else [value, value]
    known = not isinstance(value, dict) or len(value) == 2
    if not known or any(isinstance(e, bool) or not isinstance(e, int | float) for e in ends) or ends[0] > ends[1]:
        raise refusal(Fault("must be a number, a text or {low, high}"))
    return (float(ends[0]), float(ends[1])) if isinstance(value, dict) else float(value)


_Amount = Annotated[Amount | str, PlainValidator(_amount)]
_Words = Annotated[str, Field(min_length=1)]


@dataclass(frozen=True)
class ClaimSource:
    """One article: its title, who published it, what the publisher sells, when and where, and the day it was read."""

    __pydantic_config__ = CLOSED
    title: str
    publisher: str
    interest: str
    date: str
    address: str
    read: str


@dataclass(frozen=True)
class WrittenClaim(Claim):
    """A claim as the file states it."""

    __pydantic_config__ = CLOSED
    id: Id
    kind: Annotated[str, one_of(lambda: KINDS)]
    claim: _Words
    about: _Words
    stated: _Amount
    inputs: Mapping[str, _Amount] = field(default_factory=dict)
    compare: Annotated[str, one_of(lambda: COMPARISONS)] = "equal"
    verdict: Annotated[str, one_of(lambda: ("", *VERDICTS))] = ""

    @model_validator(mode="after")
    def agreeing(self) -> Self:
        """A verdict is typed in where none can be computed, and only there; a number has a unit of the library."""
        faults = []
        if self.computed and self.verdict:
            faults.append(Fault("is computed for this claim and may not be typed in", ("verdict",)))
        if not self.computed and not self.verdict:
            faults.append(Fault("is needed: there is no number and method to compute it from", ("verdict",)))
        if self.kind == "recommendation" and self.verdict not in ADVICE:
            faults.append(Fault("advice is followed or not, and no number is held against it", ("verdict",)))
        if self.kind != "recommendation" and self.verdict in ADVICE:
            faults.append(Fault("only advice is followed or not", ("verdict",)))
        if not isinstance(self.stated, str) and (wrong := unit_problem(self.unit)):
            faults.append(Fault(wrong[0], ("unit",), suggestion=wrong[1]))
        if bool(self.inputs) != bool(self.method):
            faults.append(Fault("inputs and method belong together", ("method",)))
        if faults:
            raise refusal(*faults)
        return self


@dataclass(frozen=True)
class ClaimBook(Mapping[str, Claim]):
    """Every claim by id, and the articles they come from."""

    __pydantic_config__ = CLOSED
    sources: Mapping[str, ClaimSource]
    claims: Annotated[Mapping[str, WrittenClaim], Keyed("id")]

    def __getitem__(self, key: str) -> Claim:
        return self.claims[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self.claims)

    def __len__(self) -> int:
        return len(self.claims)

    def of(self, source: str) -> tuple[Claim, ...]:
        """The claims of one article, such as "S3"."""
        return tuple(claim for claim in self.values() if claim.source == source)

    @model_validator(mode="after")
    def named(self) -> Self:
        """The articles and claims that a claim names are there."""
        faults = []
        for n, claim in enumerate(self.values()):
            if claim.source not in self.sources:
                faults.append(Fault("is not a source", ("claims", n, "source")))
            for m, other in enumerate(claim.against):
                if other not in self or self[other].source != claim.source:
                    remedy = "`against` names claims of the same source; use `by` for others."
                    faults.append(Fault("is no claim of this source", ("claims", n, "against", m), remedy))
            for m, ground in enumerate(claim.by):
                if ground.startswith("claim:") and ground.partition(":")[2] not in self:
                    faults.append(Fault("is no claim", ("claims", n, "by", m)))
        if faults:
            raise refusal(*faults)
        return self


@lru_cache(maxsize=1)
def read_claims(path: Path = CLAIMS) -> ClaimBook:
    """The claims file; `InputError` with every fault found."""
    located = load_strict(path, max_nodes=50_000)
    found, problems = judged(located, ClaimBook)
    problems += repeated(located, ("claims",), "id", "is given twice, first on line {line}")
    if found is None or problems:
        raise InputError(problems)
    return found


def claim_record(name: str) -> dict[str, Any]:
    """A claim as the source list and the ledger print an input: value, unit, source, grade and so on."""
    book = read_claims()
    if name not in book:
        raise InputError(Problem("no claim has this id", value=name, suggestion=did_you_mean(name, book)))
    claim = book[name]
    source = book.sources[claim.source]
    return {
        "id": f"claim:{claim.id}",
        "kind": "claim",
        "label": claim.claim,
        "value": list(claim.stated) if isinstance(claim.stated, tuple) else claim.stated,
        "text": claim.stated if isinstance(claim.stated, str) else "",
        "unit": claim.unit,
        "date": source.date,
        "source": source.title,
        "publisher": source.publisher,
        "address": source.address,
        "read": source.read,
        "grade": "secondary",
        "seen": "A",
        "interest": source.interest,
        "use": f"audited: {claim.about}",
        "expiry": "",
        "stale": False,
        "override": None,
    }


YES = "yes"
SYSTEM = "system"
_DATE = r"\d{4}(-\d{2}(-\d{2})?)?"
_COMPUTABLE = written(rf"{YES}|no: \S.*", "yes, or no and why", "Write `yes`, or `no: ` and why.")

Chosen = Annotated[str, one_of(read_options, "an option of the library")]


@dataclass(frozen=True)
class PricePaid:
    """What was paid, for what, and how far that reaches."""

    __pydantic_config__ = CLOSED
    amount: Annotated[float, within("usd")]
    currency: Annotated[str, one_of(lambda: rules().currencies, "a currency of the price book")]
    per: Literal["system", "gpu-hour"]
    scope: Literal["system", "wider", "unstated"]
    includes: Sentence


@dataclass(frozen=True)
class Computable:
    """Whether our bill and our advice can be worked out: `yes`, or `no: ` and why."""

    __pydantic_config__ = CLOSED
    bill: Annotated[str, _COMPUTABLE]
    advice: Annotated[str, _COMPUTABLE]


@dataclass(frozen=True)
class Expected:
    """The advice that was expected of us, and why, written down before any of the cases was run."""

    __pydantic_config__ = CLOSED
    advice: Chosen
    why: Sentence


@dataclass(frozen=True, kw_only=True)
class Purchase:
    """One purchase: what was bought, on which network, at what price, why, and how well that is known."""

    __pydantic_config__ = CLOSED
    id: Id
    owner: Sentence
    gpu: Sentence
    gpu_type: Annotated[str, one_of(lambda: ("", *gpu_types().known), "a GPU type of the library, or ''")]
    gpus: Annotated[int | None, within("gpus", 1)]
    counted: Literal["owner", "others", "nobody"]
    count_note: Sentence | Literal[""] = ""
    date: Annotated[str, written(_DATE, "a date", "Write YYYY, YYYY-MM or YYYY-MM-DD.")]
    network: Sentence
    chosen: tuple[Chosen, ...]
    price: PricePaid | None
    reasons: tuple[Sentence, ...]
    addresses: Annotated[tuple[Sentence, ...], Field(min_length=1)]
    read: Annotated[str, written(r"\d{4}-\d{2}-\d{2}", "a day", "Write the day you read it, YYYY-MM-DD.")]
    grade: Annotated[str, one_of(lambda: tuple(Grade), "a grade")]
    seen: Annotated[str, written("[ABD]", "A, B or D")]
    computable: Computable
    params: Mapping[str, Mapping[str, Any]] = Field(default_factory=dict)
    expected: Expected | None = None

    @model_validator(mode="after")
    def agreeing(self) -> Self:
        """What is worked out has params, and advice an expectation; nothing else has either."""
        computed = YES in (self.computable.bill, self.computable.advice)
        faults = []
        if computed != bool(self.params):
            faults.append(Fault("and computable disagree", ("params",), "Give params where anything is worked out."))
        if (self.computable.advice == YES) != (self.expected is not None):
            faults.append(Fault("and computable disagree", ("expected",), "Write down what advice you expect."))
        if faults:
            raise refusal(*faults)
        return self

    @property
    def day(self) -> dt.date:
        """The first day that its date may mean."""
        year, month, day = (*map(int, self.date.split("-")), 1, 1)[:3]
        return dt.date(year, month, day)

    @property
    def is_confirmed(self) -> bool:
        """Whether the owner or the seller states the number of GPUs."""
        return self.counted == "owner"


@dataclass(frozen=True)
class PurchaseBook:
    """Every purchase, in the order of the file."""

    __pydantic_config__ = CLOSED
    purchases: tuple[Purchase, ...]


def purchases() -> Mapping[str, Purchase]:
    """The shipped purchases by id."""
    return {purchase.id: purchase for purchase in shipped("purchases", PurchaseBook).purchases}


def purchase_record(name: str) -> dict[str, Any]:
    """A purchase as the source list and the ledger print an input."""
    found = purchases()[name]
    return {
        "id": f"purchase:{name}",
        "kind": "evidence",
        "label": f"Purchase of {found.owner}",
        "value": None,
        "text": found.gpu,
        "unit": "text",
        "date": found.date,
        "source": f"What is public of the purchase: {found.owner}",
        "publisher": "",
        "address": "; ".join(found.addresses),
        "read": found.read,
        "grade": found.grade,
        "seen": found.seen,
        "interest": "",
        "use": "set beside our bill and our advice; nothing is fitted to it",
        "expiry": "",
        "stale": False,
        "override": None,
    }
