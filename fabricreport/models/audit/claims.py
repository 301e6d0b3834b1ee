"""The audit: each claim's own inputs worked through, and the verdict that follows.

The methods are in `fabricreport.models.audit.recomputations`. A verdict on a numeric claim is computed: the outcome is
held against what is stated. Only where there is no number to compare is the verdict a judgement, and then it
names its grounds.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from fabricreport.errors import InputError, Problem
from fabricreport.models.audit.recomputations import METHODS, Amount, ends, recompute

__all__ = [
    "METHODS",
    "AuditedClaim",
    "SelfContradiction",
    "audit",
    "audit_claim",
    "judge",
    "recompute",
    "resolve",
    "self_contradictions",
    "verdict_counts",
]


@dataclass(frozen=True)
class AuditedClaim:
    """A claim with what it comes to.

    `stated` and `recomputed` are in `unit` (a number, a (low, high) range; `stated` may be a text, `recomputed`
    None). `computed` says whether code reached the verdict. `by` lists what speaks for or against it
    (`evidence:<id>`, `claim:<id>`), `against` the claims of the same source it contradicts.
    """

    id: str
    source: str
    kind: str
    claim: str
    about: str
    stated: Amount | str
    recomputed: Amount | None
    unit: str
    verdict: str
    computed: bool
    compare: str
    tolerance: float
    formula: str
    steps: tuple[tuple[str, float, str], ...]
    caveat: str
    by: tuple[str, ...]
    against: tuple[str, ...]
    note: str

    def as_dict(self) -> dict[str, Any]:
        """The claim for `--json`; ranges become [low, high]."""
        return {k: list(v) if isinstance(v, tuple) else v for k, v in self.__dict__.items()}


@dataclass(frozen=True)
class SelfContradiction:
    """A source that says two things that cannot both hold: the two claims, in our words."""

    source: str
    claim: str
    against: str
    claim_text: str
    against_text: str


class _Claim(Protocol):
    """What the audit needs of a claim; the book's claims have it all."""

    @property
    def id(self) -> str: ...
    @property
    def source(self) -> str: ...
    @property
    def kind(self) -> str: ...
    @property
    def claim(self) -> str: ...
    @property
    def about(self) -> str: ...
    @property
    def stated(self) -> Amount | str: ...
    @property
    def unit(self) -> str: ...
    @property
    def inputs(self) -> Mapping[str, Amount | str]: ...
    @property
    def method(self) -> str: ...
    @property
    def compare(self) -> str: ...
    @property
    def tolerance(self) -> float: ...
    @property
    def caveat(self) -> str: ...
    @property
    def verdict(self) -> str: ...
    @property
    def by(self) -> tuple[str, ...]: ...
    @property
    def against(self) -> tuple[str, ...]: ...
    @property
    def note(self) -> str: ...
    @property
    def is_computed(self) -> bool: ...


class _Entry(Protocol):
    """What the audit needs of an evidence entry."""

    @property
    def low(self) -> float: ...
    @property
    def high(self) -> float: ...


def audit(claims: Mapping[str, _Claim], evidence: Mapping[str, _Entry]) -> tuple[AuditedClaim, ...]:
    """Every claim recomputed and judged, in file order; `InputError` if a method or an evidence id is unknown."""
    return tuple(audit_claim(claim, evidence) for claim in claims.values())


def audit_claim(claim: _Claim, evidence: Mapping[str, _Entry]) -> AuditedClaim:
    """One claim recomputed from its own inputs and judged."""
    working = recompute(claim.method, resolve(claim, evidence)) if claim.method else None
    verdict = claim.verdict
    if claim.is_computed and working is not None:
        verdict = judge(claim, working.outcome)
    cited = (*claim.by, *(v for v in claim.inputs.values() if isinstance(v, str)))
    kept = ("id", "source", "kind", "claim", "about", "stated", "unit", "compare", "tolerance")
    return AuditedClaim(
        **{key: getattr(claim, key) for key in kept},
        recomputed=working.outcome if working else None,
        verdict=verdict,
        computed=claim.is_computed,
        formula=working.formula if working else "",
        steps=working.steps if working else (),
        caveat=claim.caveat,
        by=tuple(dict.fromkeys(cited)),
        against=claim.against,
        note=claim.note,
    )


def resolve(claim: _Claim, evidence: Mapping[str, _Entry]) -> dict[str, Amount]:
    """The claim's inputs as numbers and ranges: `evidence:<id>` becomes the entry's value."""
    out: dict[str, Amount] = {}
    for key, value in claim.inputs.items():
        if not isinstance(value, str):
            out[key] = value
            continue
        name = value.removeprefix("evidence:")
        if name not in evidence or math.isnan(evidence[name].low):
            remedy = "Restore the entry, or withdraw the claim's recomputation."
            raise InputError(Problem("rests on evidence without a number", key=claim.id, value=value, remedy=remedy))
        low, high = evidence[name].low, evidence[name].high
        out[key] = low if low == high else (low, high)
    return out


def judge(claim: _Claim, outcome: Amount) -> str:
    """Reproduces, reproduces with a caveat, or contradicted: the outcome held against what is stated.

    `equal`: both ends agree within the tolerance; `within`: the outcome lies inside the stated range;
    `overlap`: the ranges share a point; `at-most`, `at-least`: what is stated bounds the outcome from above, below.
    """
    if isinstance(claim.stated, str):
        raise InputError(Problem("has no number to judge", key=claim.id))
    (s_low, s_high), (low, high) = ends(claim.stated), ends(outcome)
    slack_low, slack_high = (claim.tolerance * abs(end) for end in (s_low, s_high))
    close = {
        "equal": abs(low - s_low) <= slack_low and abs(high - s_high) <= slack_high,
        "within": s_low - slack_low <= low and high <= s_high + slack_high,
        "overlap": low <= s_high + slack_high and s_low - slack_low <= high,
        "at-most": high <= s_high + slack_high,
        "at-least": low >= s_low - slack_low,
    }
    if not close[claim.compare]:
        return "contradicted"
    return "reproduces with a caveat" if claim.caveat else "reproduces"


def self_contradictions(audited: Iterable[AuditedClaim]) -> tuple[SelfContradiction, ...]:
    """The sources that contradict themselves, claim against claim."""
    by_id = {claim.id: claim for claim in audited}
    return tuple(
        SelfContradiction(claim.source, claim.id, other, claim.claim, by_id[other].claim)
        for claim in by_id.values()
        for other in claim.against
        if other in by_id
    )


def verdict_counts(audited: Iterable[AuditedClaim]) -> dict[str, int]:
    """How many claims came to each verdict."""
    counts: dict[str, int] = {}
    for claim in audited:
        counts[claim.verdict] = counts.get(claim.verdict, 0) + 1
    return counts
