"""The claims of the articles a buyer reads: what each says, with the inputs it gives, as data.

What a claim comes to when its own inputs are worked through, and so whether it holds, is not typed into the file:
`fabricreport.models.audit.claims.audit` computes it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Annotated, Any, Self

from pydantic import Field, PlainValidator, model_validator

from fabricreport.books.fields import CLOSED, Fault, Id, Keyed, one_of, refusal
from fabricreport.books.reader import judged, repeated
from fabricreport.books.units import unit_problem
from fabricreport.claim import Amount, Claim
from fabricreport.errors import InputError, Problem
from fabricreport.evidence import ROOT
from fabricreport.located import did_you_mean
from fabricreport.strict_yaml import load_strict

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
    """One article: its title, who published it, what the publisher sells, when, and the day it was read."""

    __pydantic_config__ = CLOSED
    title: str
    publisher: str
    interest: str
    date: str
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
        if self.is_computed and self.verdict:
            faults.append(Fault("is computed for this claim and may not be typed in", ("verdict",)))
        if not self.is_computed and not self.verdict:
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
        "address": "",
        "read": source.read,
        "grade": "secondary",
        "seen": "A",
        "interest": source.interest,
        "use": f"audited: {claim.about}",
        "expiry": "",
        "stale": False,
        "override": None,
    }
