"""The day on which somebody answered, as a seller's and an expert's file alike write it."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date as Date
from typing import Any


def answered_day(value: Any, as_of: Date | None, fault: Callable[[str, Any, str], None]) -> str:
    """The day as YYYY-MM-DD, '' if there is none; `fault` is told (message, value, remedy) what is wrong with it."""
    try:
        day = Date.fromisoformat(value) if isinstance(value, str) and len(value) == 10 else None
    except ValueError:
        day = None
    if day is None:
        if value is not None:
            fault("is not a day", value, "Write YYYY-MM-DD.")
        return ""
    if as_of is not None and day > as_of:
        fault(f"is after the memo's date, {as_of}", value, "Mend it, or date the memo later.")
    return day.isoformat()
