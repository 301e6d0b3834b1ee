"""Every declared figure of the memo, to be asked without a case: which ids there can be, and who declares them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fabricreport.figures import Declaration
from fabricreport.sections.decision.figures import FIGURES as DECISION
from fabricreport.sections.diligence.figures import FIGURES as DILIGENCE
from fabricreport.sections.latency.figures import FIGURES as LATENCY
from fabricreport.sections.tco.figures import FIGURES as TCO

DECLARED: Mapping[str, Declaration[Any]] = {one.section: one for one in (DECISION, LATENCY, TCO, DILIGENCE)}
"""The declaration of each section by its name; `find_spec(DECLARED.values(), id)` tells which spec covers an id."""
