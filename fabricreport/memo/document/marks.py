"""What the marks at numbers mean, as the key under page one tells it."""

from __future__ import annotations

from fabricreport import formats
from fabricreport.marks import AGED, DAGGER, MOSTLY, RING


def keys(*, stale: bool, assumed: bool) -> tuple[str, ...]:
    """A text for each mark that the document bears."""
    aged, mostly = (formats.write(part, "share") for part in (AGED, MOSTLY))
    dagger = (
        f"A dagger ({DAGGER}): prices expired, or about to within two weeks, may be {aged} or more of the money, "
        "or of a part as large; headings and drawings bear none."
    )
    ring = f"A ring ({RING}), at figures of page one and heads of rows that are so throughout, or an open bar: we assume {mostly} or more of the range."
    return (*((dagger,) if stale else ()), *((ring,) if assumed else ()))
