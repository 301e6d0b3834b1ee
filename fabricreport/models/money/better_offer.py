"""Which of several offers is the better one: the least sum of its price and of what its time and its bandwidth cost the client."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Rates:
    """What a client loses, in the memo's currency: by a `week_without` its GPUs, by a `week_of_tuning` in which the network stands
    and is not stable, and by a `percent` of bandwidth below what is assumed (0 where its job sends nothing that is timed)."""

    week_without: Any
    week_of_tuning: Any
    percent: Any = 0.0

    def total(self, price: Any, weeks_to_delivery: Any, weeks_of_tuning: Any, percent_short: Any = 0.0) -> Any:
        """What offers are compared by, the least being the better; all scalars or (draws,)."""
        time = self.week_without * weeks_to_delivery + self.week_of_tuning * weeks_of_tuning
        return price + time + self.percent * percent_short
