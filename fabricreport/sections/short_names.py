"""Names of options that are short enough to head the columns of a table."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from fabricreport.books.options import Option

_DROPPED = re.compile(r"\b(?:on|switches|Standard)\b|\bwithout .*|\b\d+G\b")


def short_names(options: Sequence[Option]) -> dict[str, str]:
    """Names short enough to head a column: without link speeds and filling words, as long as they stay distinct."""
    short = {o.id: " ".join(_DROPPED.sub(" ", o.name).split()) for o in options}
    taken = Counter(short.values())
    return {o.id: short[o.id] if short[o.id] and taken[short[o.id]] == 1 else o.name for o in options}
