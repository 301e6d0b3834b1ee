"""What the marks at numbers mean, as the key under page one tells it."""

from __future__ import annotations

from fabricreport import formats
from fabricreport.marks import AGED, MOSTLY

DAGGER, RING = "†", "○"
"""At an amount that rests on prices out of date; at what is mostly assumed."""


def keys(*, stale: bool, assumed: bool) -> tuple[str, ...]:
    """A text for each mark that the document bears."""
    aged, mostly = (formats.write(part, "share") for part in (AGED, MOSTLY))
    dagger = (
        f"A dagger ({DAGGER}) marks money of which prices out of date, or within two weeks of it, make up {aged} or more, and a "
        "total with a marked part as large. It also marks sums found by search that rest on one."
    )
    ring = f"A ring ({RING}) marks figures of page one, and rows of tables, of whose range our assumptions carry {mostly} or more."
    return (*((dagger,) if stale else ()), *((ring,) if assumed else ()))
