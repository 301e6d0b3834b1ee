"""What a memo calls the sides of its comparison, and how it draws them: by the families that are compared."""

from __future__ import annotations

from collections.abc import Sequence

from fabricreport.books.families import families
from fabricreport.books.options import Option
from fabricreport.vocabulary import Side

LEANS = (Side.INFINIBAND, Side.ROCEV2)
"""The sides between which the framework leans."""
NO_SIDE = "neither side"


def side_name(options: Sequence[Option], side: str) -> str:
    """What a sentence calls a side: its own family where that is compared or nothing of the side is, else those that are."""
    if side not in LEANS:
        return NO_SIDE
    own, found = families()[side].short_name, [o.family_name for o in options if o.side == side]
    return " and ".join(dict.fromkeys(found)) if found and own not in found else own


def side_colour(options: Sequence[Option], side: str) -> str:
    """The colour of a side's marks: of its own family where that is compared or nothing of the side is, else of the first."""
    own, found = families()[side], [families()[o.family] for o in options if o.side == side]
    return own.colour if own in found or not found else found[0].colour
