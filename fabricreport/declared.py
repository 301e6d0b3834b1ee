"""Every declared figure of the memo, to be asked without a case: which ids there can be, and who declares them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fabricreport.figures import Declaration
from fabricreport.sections.decision.figures import FIGURES as DECISION
from fabricreport.sections.diligence.figures import FIGURES as DILIGENCE
from fabricreport.sections.evidence.figures import FIGURES as EVIDENCE
from fabricreport.sections.latency.figures import FIGURES as LATENCY
from fabricreport.sections.tail_risk.figures import FIGURES as TAIL
from fabricreport.sections.tco.figures import FIGURES as TCO

DECLARED: Mapping[str, Declaration[Any]] = {
    one.section: one for one in (DECISION, LATENCY, TCO, TAIL, DILIGENCE, EVIDENCE)
}
"""The declaration of each section by its name; `find_spec(DECLARED.values(), id)` tells which spec covers an id."""
