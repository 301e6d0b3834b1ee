"""Which of the options compared an offer is for."""

from __future__ import annotations

from fabricreport.books.families import families
from fabricreport.books.options import Option
from fabricreport.inputs import Inputs


def option_of(given: Inputs, fabric: str) -> Option | None:
    """The option compared that an offer's fabric is: itself, the first of its family, or the first of its family's side."""
    by_id = {o.id: o for o in given.options}
    if fabric in by_id:
        return by_id[fabric]
    of_family = [o for o in given.options if o.family == fabric]
    side = families()[fabric].side if fabric in families() else None
    return next(iter([*of_family, *(o for o in given.options if o.side == side)]), None)
