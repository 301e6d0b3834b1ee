"""What a memo's headline would say of a case, worked out without notebooks, annexes or pages."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from fabricreport.memo.editions.manifest import headline_of

if TYPE_CHECKING:
    from fabricreport.case import Case

DECLARES = "decision"
"""The section whose notebook declares the headline."""


def headline_of_case(case: Case) -> dict[str, Any]:
    """The headline as an edition's manifest keeps it, but for the advice in words: made by the functions and on the draws
    of the memo. Empty for a memo without a decision."""
    if DECLARES not in case.params.sections:
        return {}
    from fabricreport.sections.decision.tables import headline

    told, numbers = headline(case.inputs, case.decision(), case.figure)
    declared: Mapping[str, Any] = {key: str(value) for key, value in told.items()}
    records = [number.as_dict() for number in numbers]
    return headline_of({**declared, "numbers": [r["id"] for r in records]}, {"numbers": records})
