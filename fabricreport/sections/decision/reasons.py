"""Where the framework points another way than the money: its reasons, each with the audit's verdict."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from fabricreport.inputs import Inputs
from fabricreport.models.judgement.comparison import Comparison
from fabricreport.models.judgement.framework import FrameworkResult
from fabricreport.sections.evidence.claims import audit
from fabricreport.vocabulary import NEITHER, Side

MOST = 4
"""Most reasons told."""


@dataclass(frozen=True)
class OtherReason:
    """A rule of the framework that holds and leans away from the choice; `verdict` is the audit's on the claim behind it, or ''."""

    rule: str
    words: str
    claim: str
    verdict: str


@dataclass(frozen=True)
class Parting:
    """Reasons beyond money for another family than the choice's."""

    other: tuple[OtherReason, ...]


def parting(
    given: Inputs, comparison: Comparison, framework: FrameworkResult, sides: Mapping[str, str]
) -> Parting | None:
    """What speaks against the choice where the framework leans away from the choice's family; None where they agree or it does not lean,
    and where the money advises no option over the other."""
    if comparison.verdict.open or framework.leans_to in (NEITHER, sides[comparison.choice]):
        return None
    verdicts = {claim.id: claim.verdict for claim in audit(given.evidence)}
    sign = 1.0 if framework.leans_to == Side.INFINIBAND else -1.0
    rules = [r for axis in framework.axes for r in axis.rules if not r.priced_as and r.lean * sign > 0]
    leaning = sorted(rules, key=lambda r: -abs(r.lean))[:MOST]
    return Parting(
        tuple(OtherReason(r.id, r.reason, _claim(r.sources), _verdict(_claim(r.sources), verdicts)) for r in leaning),
    )


def _claim(sources: tuple[str, ...]) -> str:
    return next((s for s in sources if s.startswith("claim:")), "")


def _verdict(claim: str, verdicts: Mapping[str, str]) -> str:
    return verdicts.get(claim.removeprefix("claim:"), "")
