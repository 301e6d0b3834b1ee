"""What tenants side by side lose to each other's traffic, in money."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fabricreport.provenance import plain
from fabricreport.sections.client import side_by_side
from fabricreport.sections.decision.turning import Search
from fabricreport.uncertain import exactly

NEIGHBOURS = "evidence:noisy-neighbour-time-share"


def neighbours_of(search: Search) -> Mapping[str, Any]:
    """What other tenants' traffic costs on each option (draws,), the model run again without it; empty without tenants."""
    base, fast = search.base, search.fast
    if not side_by_side(base.given) or NEIGHBOURS not in fast.reached_by:
        return {}
    quiet = fast.replacing({NEIGHBOURS: exactly(0.0)}).bills
    return {o: plain(total) - plain(quiet.totals[o]) for o, total in base.bills.totals.items()}
