"""The audit: each claim's own inputs worked through, and the verdict that follows.

The methods are in `fabricreport.models.audit.recomputations`. A verdict on a numeric claim is computed: the outcome is
held against what is stated. Only where there is no number to compare is the verdict a judgement, and then it
names its grounds.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from fabricreport.claim import Amount, Claim
from fabricreport.errors import InputError, Problem
from fabricreport.models.audit.entry import Entry
from fabricreport.models.audit.recomputations import METHODS, ends, recompute

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


def audit(claims: Mapping[str, Claim], evidence: Mapping[str, Entry]) -> tuple[AuditedClaim, ...]:
    """Every claim recomputed and judged, in file order; `InputError` if a method or an evidence id is unknown."""
    return tuple(audit_claim(claim, evidence) for claim in claims.values())


def audit_claim(claim: Claim, evidence: Mapping[str, Entry]) -> AuditedClaim:
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


def resolve(claim: Claim, evidence: Mapping[str, Entry]) -> dict[str, Amount]:
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


def judge(claim: Claim, outcome: Amount) -> str:
    """Reproduces, reproduces with a caveat, contradicted, or out of date: the outcome held against what is stated.

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
        return "out of date" if claim.aged else "contradicted"
    return "reproduces with a caveat" if claim.caveat else "reproduces"


def self_contradictions(audited: Iterable[AuditedClaim]) -> tuple[SelfContradiction, ...]:
    """The sources that contradict themselves, claim against claim."""
    by_id = {claim.id: claim for claim in audited}
    return tuple(
        SelfContradiction(claim.source, claim.id, other)
        for claim in by_id.values()
        for other in claim.against
        if other in by_id
    )
