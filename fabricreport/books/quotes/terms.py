"""What sellers are asked for, by kind of piece, and which items of the price files an option is priced by."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from fabricreport.books.options import MONEY, Option
from fabricreport.evidence import read_yaml
from fabricreport.located import KeyPath

_PRICE, _UNPRICED = "price:", ("support", "alternatives")


@dataclass(frozen=True)
class Kind:
    """A kind of piece: what a sentence calls one of it, its unit in the price files, whether it is a module, and what a
    price of it has to include."""

    id: str
    each: str
    unit: str
    optics: bool
    include: str


@lru_cache(maxsize=1)
def terms() -> Mapping[str, Any]:
    """The terms of every request, `evidence/quotes.yaml`."""
    loaded: Mapping[str, Any] = read_yaml("quotes")
    return loaded


@lru_cache(maxsize=1)
def kinds() -> Mapping[str, Kind]:
    """The kinds of pieces by id, in the order of a request."""
    return {
        name: Kind(name, k["each"], k["unit"], bool(k.get("optics", False)), k["include"])
        for name, k in terms()["kinds"].items()
    }


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
    if path[0] in _UNPRICED:
        return None
    return kinds()[str(path[1] if path[0] == "pieces" else path[0])]
