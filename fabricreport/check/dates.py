"""What today's date makes of a memo's date and of its prices' dates: said, never followed.

The facts are kept apart from the sentences, so that a build that is not repeated can still be told on another day.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from typing import Any


@dataclass(frozen=True)
class Dates:
    """The memo's date, the days it may be away from today before that is said, and the days that the price book tells of:
    each with the number of the book's rows of that day and the item of the first of them."""

    as_of: date
    limit_days: int
    priced: tuple[tuple[date, int, str], ...]

    def notes(self, today: date) -> tuple[str, ...]:
        """One sentence for a memo that is dated far from `today`, one for prices that are dated after it."""
        found = []
        apart = (self.as_of - today).days
        if abs(apart) > self.limit_days:
            found.append(
                f"the memo is dated {self.as_of}, {abs(apart)} days {'after' if apart > 0 else 'before'} today ({today}): "
                "prices and evidence are taken as of that date; change as_of if it is not meant"
            )
        ahead = [priced for priced in self.priced if priced[0] > today]
        if ahead:
            rows, (last, _, item) = sum(count for _, count, _ in ahead), max(ahead)
            found.append(
                f"{rows} price{'s are' if rows > 1 else ' is'} dated after today ({today}), the furthest {last} "
                f"({item}): a refresh follows the newest price's date; correct the date if it is not meant"
            )
        return tuple(found)

    def as_dict(self) -> dict[str, Any]:
        """Plain values; `dates_from` takes them back."""
        priced = [[day.isoformat(), rows, item] for day, rows, item in self.priced]
        return {"as_of": self.as_of.isoformat(), "limit_days": self.limit_days, "priced": priced}


def dates_from(kept: Mapping[str, Any]) -> Dates:
    """The dates that `as_dict` spelt; `LookupError`, `TypeError` or `ValueError` if it did not."""
    priced = tuple((date.fromisoformat(day), int(rows), str(item)) for day, rows, item in kept["priced"])
    return Dates(date.fromisoformat(kept["as_of"]), int(kept["limit_days"]), priced)
