"""Why the money points one way and the framework another: reasons side by side, each with the audit's verdict."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from fabricreport.evidence import read_yaml
from fabricreport.inputs import Inputs
from fabricreport.models.judgement.comparison import Comparison
from fabricreport.models.judgement.framework import FrameworkResult
from fabricreport.provenance import mean_of
from fabricreport.sections.evidence.claims import audit
from fabricreport.sections.tco.bills import Bills
from fabricreport.vocabulary import NEITHER, Side

MOST = 4
"""Most reasons a side."""


@dataclass(frozen=True)
class MoneyReason:
    """A cause of the bill on which the choice is cheaper; `verdict` is the audit's on the claim behind it ('' if none)."""

    cause: str
    saves: float
    claim: str
    verdict: str


@dataclass(frozen=True)
class OtherReason:
    """A rule of the framework that holds and leans away from the choice; `verdict` as above."""

    rule: str
    words: str
    claim: str
    verdict: str


@dataclass(frozen=True)
class Parting:
    """Reasons for the choice in money, and reasons beyond it for another family."""

    money: tuple[MoneyReason, ...]
    other: tuple[OtherReason, ...]


def parting(
    given: Inputs, comparison: Comparison, bills: Bills, framework: FrameworkResult, sides: Mapping[str, str]
) -> Parting | None:
    """The two sides where the framework leans away from the choice's family; None where they agree or it does not lean,
    and where the money advises no option over the other."""
    if comparison.verdict.open or framework.leans_to in (NEITHER, sides[comparison.choice]):
        return None
    verdicts = {claim.id: claim.verdict for claim in audit(given.evidence)}
    behind: Mapping[str, str] = read_yaml("framework")["money_claims"]
    gaps = {c: mean_of(v) for c, v in bills.gap_by_cause(comparison.rival, comparison.choice).items()}
    saving = sorted((c for c in gaps if gaps[c] > 0), key=lambda c: -gaps[c])[:MOST]
    sign = 1.0 if framework.leans_to == Side.INFINIBAND else -1.0
    rules = [r for axis in framework.axes for r in axis.rules if not r.priced_as and r.lean * sign > 0]
    leaning = sorted(rules, key=lambda r: -abs(r.lean))[:MOST]
    return Parting(
        tuple(MoneyReason(c, gaps[c], behind.get(c, ""), _verdict(behind.get(c, ""), verdicts)) for c in saving),
        tuple(OtherReason(r.id, r.reason, _claim(r.sources), _verdict(_claim(r.sources), verdicts)) for r in leaning),
    )


def _claim(sources: tuple[str, ...]) -> str:
    return next((s for s in sources if s.startswith("claim:")), "")


def _verdict(claim: str, verdicts: Mapping[str, str]) -> str:
    return verdicts.get(claim.removeprefix("claim:"), "")
