"""What the memo of a delivery turns on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from fabricreport.findings import Facts


@dataclass(frozen=True)
class Turns(Facts):
    """What a delivery's memo turns on."""

    verdict: Literal["accept", "credit", "retest", "refused_unpriced", "refused_advice"]
    """What to do; a network is refused for what no credit makes good, else because another is advised now."""
    owed: Literal["due", "not_due", "not_priced"]
    """Whether a credit is due; where something fails and none is, it has no price."""
    advised: Literal["unmoved", "still_advised", "still_open", "now_open", "now_clear", "lost", "never_advised"]
    """What becomes of the advice with what was measured."""
