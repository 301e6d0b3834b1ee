"""Purchases of others, as far as the public knows them: `evidence/purchases.yaml`, whose head explains each key."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Literal, Self

from pydantic import Field, model_validator

from fabricreport.books.fields import CLOSED, Fault, Id, Sentence, one_of, refusal, within, written
from fabricreport.books.gpus import gpu_types
from fabricreport.books.options import read_options
from fabricreport.books.prices.rules import rules
from fabricreport.books.reader import shipped
from fabricreport.vocabulary import Grade

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
