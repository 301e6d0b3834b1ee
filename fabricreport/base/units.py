"""Units: how long a week, a month and a year are, and what an evidence entry may be measured in.

A year is 365.25 days: leap years are counted, because the incident rates of the evidence are per calendar year and a
horizon of 48 months holds a leap day. A month is a twelfth of it, so that 12 months are a year to the last digit in
hours, in days and in money. An article that reckons with years of 8,760 hours states that in its own claim.
"""

from __future__ import annotations

import re
from functools import lru_cache

from fabricreport.base.locations import did_you_mean

HOURS_PER_DAY = 24.0
DAYS_PER_WEEK = 7.0
MONTHS_PER_YEAR = 12
DAYS_PER_YEAR = 365.25

SECONDS_PER_HOUR = 3600.0
SECONDS_PER_DAY = SECONDS_PER_HOUR * HOURS_PER_DAY
HOURS_PER_WEEK = HOURS_PER_DAY * DAYS_PER_WEEK
HOURS_PER_YEAR = HOURS_PER_DAY * DAYS_PER_YEAR
HOURS_PER_MONTH = HOURS_PER_YEAR / MONTHS_PER_YEAR
DAYS_PER_MONTH = DAYS_PER_YEAR / MONTHS_PER_YEAR


QUANTITIES = (
    *("ns", "us", "ms", "s", "min", "h", "day", "week", "month", "year"),
    *("share", "relative", "x", "count", "text", "1", "fte", "gpus", "gpu-hour", "port-number", "index", "repeat"),
    *("usd", "eur", "gbp", "w", "kw", "mw", "kwh", "mwh", "km"),
    *("bytes", "kbytes", "mbytes", "gbytes", "tbytes", "gbits", "tbits", "tflops", "tokens", "parameters"),
)
"""`share` is 0..1 of a whole, `relative` a signed difference over its base, `x` a multiple."""
TIMES = ("s", "min", "h", "hour", "day", "week", "month", "year", "1000-node-day", "node-day")
THINGS = (
    *("gpu", "node", "server", "link", "port", "switch", "transceiver", "module", "cable", "nic", "endpoint"),
    *("rack", "subnet", "cluster", "kw", "kwh", "fte", "seat", "job", "step", "billion-parameters", "person"),
)
_PER = re.compile(
    rf"(?:{'|'.join(sorted((*TIMES, *THINGS), key=len, reverse=True))}"
    rf"|(?:{'|'.join(THINGS)})-(?:{'|'.join(TIMES)}))"
)
_MISTAKES = {
    "%": "share",
    "percent": "share",
    "pct": "share",
    "gbps": "gbits/s",
    "µs": "us",
    "μs": "us",
    "$": "usd",
    "hours": "h",
    "hour": "h",
    "days": "day",
    "years": "year",
    "gb/s": "gbytes/s",
}


@lru_cache(maxsize=512)
def unit_problem(unit: str) -> tuple[str, str] | None:
    """None for a unit we know; else what is wrong with it and the unit that was probably meant."""
    if unit.lower() in _MISTAKES:
        return "is not a unit of the library", _MISTAKES[unit.lower()]
    quantity, slash, per = unit.partition("/")
    if quantity in QUANTITIES and (not slash or _PER.fullmatch(per)):
        return None
    if quantity not in QUANTITIES:
        meant = did_you_mean(quantity, QUANTITIES)
        return "is not a unit of the library", f"{meant}/{per}" if slash and meant else meant
    pairs = (f"{thing}-{time}" for thing in THINGS for time in TIMES)
    meant = did_you_mean(per, (*TIMES, *THINGS, *pairs))
    return "is not a unit of the library", f"{quantity}/{meant}" if meant else quantity
