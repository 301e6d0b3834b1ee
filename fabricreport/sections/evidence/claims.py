"""The audit of the articles' claims on the shipped library, or on a client's own book."""

from __future__ import annotations

from fabricreport.books.claims import read_claims
from fabricreport.books.evidence import EvidenceBook, read_evidence
from fabricreport.models.audit import claims


def audit(evidence: EvidenceBook | None = None) -> tuple[claims.AuditedClaim, ...]:
    """Every claim with what its own inputs come to and the verdict; `evidence` defaults to the shipped library."""
    return claims.audit(read_claims(), read_evidence() if evidence is None else evidence)


def self_contradictions(evidence: EvidenceBook | None = None) -> tuple[claims.SelfContradiction, ...]:
    """The sources that contradict themselves, claim against claim."""
    return claims.self_contradictions(audit(evidence))
