"""The units an evidence entry may have: a quantity, alone or over a thing or a time."""

from __future__ import annotations

import re
from functools import lru_cache

from fabricreport.located import did_you_mean

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
