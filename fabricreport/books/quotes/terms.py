"""What sellers are asked for, by kind of piece, and which items of the price files an option is priced by."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache

from fabricreport.books.fields import CLOSED, Unwritten
from fabricreport.books.options import MONEY, Option
from fabricreport.books.reader import shipped
from fabricreport.located import KeyPath

_PRICE = "price:"


@dataclass(frozen=True)
class Kind:
    """A kind of piece: what a sentence calls one of it, its unit in the price files, what a price of it has to include, and
    whether it is a module."""

    __pydantic_config__ = CLOSED
    each: str
    unit: str
    include: str
    optics: bool = False
    id: Unwritten[str] = ""


@dataclass(frozen=True)
class QuoteTerms:
    """The terms of every request; the file explains each key."""

    __pydantic_config__ = CLOSED
    kinds: Mapping[str, Kind]
    every: str
    not_needed: str
    included: str
    read_first: tuple[str, ...]
    brands: tuple[str, ...]
    quotes: int
    longest_seller: int
    most_rows: int
    largest_file_bytes: int
    largest_unpacked_bytes: int


def terms() -> QuoteTerms:
    """The terms of every request, `evidence/quotes.yaml`."""
    return shipped("quotes", QuoteTerms)


@cache
def kinds() -> Mapping[str, Kind]:
    """The kinds of pieces by id, in the order of a request."""
    return {name: replace(kind, id=name) for name, kind in terms().kinds.items()}


def items_of(option: Option) -> dict[str, tuple[Kind, ...]]:
    """The items of the price files that this option, once `priced`, is or would be priced by, with the kinds of piece
    that each stands for.

    An item nobody has a price for is one of them: a quote filed as it takes the place of what stands in.
    """
    asked = {stand_in: item for item, stand_in in option.unquoted.items()}
    found: dict[str, tuple[Kind, ...]] = {}
    for need in option.needs:
        item = need.ref.removeprefix(_PRICE) if need.ref.startswith(_PRICE) else asked.get(need.ref)
        if item is not None and set(MONEY) <= set(need.units) and (kind := _kind(need.path)):
            found[item] = (*found.get(item, ()), kind)
    return found


def _kind(path: KeyPath) -> Kind | None:
    """The kind of piece whose price stands at a key of an option; None for one that nobody is asked for."""
    if path[0] == "support":
        return None
    of_a_piece = "pieces" in path
    return kinds()[str(path[path.index("pieces") + 1] if of_a_piece else path[0])]
