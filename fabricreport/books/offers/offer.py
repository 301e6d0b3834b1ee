"""One offer, or a published price that stands in for one: who asks how much for what, and what is in it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date
from enum import StrEnum


class Network(StrEnum):
    """Whether the network between servers is in the price."""

    INCLUDED = "included"
    ADD_ON = "add-on"
    EXTRA = "extra"
    UNKNOWN = "unknown"


class Kind(StrEnum):
    """What sort of price it is: an offer to this client, or one that is published."""

    OFFER = "offer"
    ON_DEMAND = "on demand"
    TERM = "for a term"
    LIST = "list price"
    MARKETPLACE = "marketplace"
    SPOT = "spot"


RANKED = (Kind.OFFER, Kind.TERM, Kind.ON_DEMAND, Kind.LIST)
"""Prices at which somebody can be held to a whole term; a spot machine is taken away again."""


@dataclass(frozen=True)
class OfferRung:
    """A price of the price book (its id) for a commitment of so many months; 0 for none."""

    months: int
    price: str


@dataclass(frozen=True)
class OfferAddOn:
    """Something beside the GPU-hour: its price's id, a GPU-hour's or a month's, and whether the work needs it."""

    name: str
    price: str
    monthly: bool
    needed: bool


@dataclass(frozen=True)
class Offer:
    """An offer by its `id`. Prices are ids of the price book, so that each is one figure wherever it is printed.

    `fabric` is an option's id, a family's, or one of `terms.UNNAMED`; `known_as` the id of the seller in the shipped
    table, '' if it is not there. `topology` and `generation` are as documented, '' where they are not. `size` 0: as many
    GPUs as the client asks for. `items`: prices of a bill of quantities (price ids, and how many) by item of the price book.
    `uptime`, `credit` and `cap` are shares. `lines` are those of its file, by key.
    """

    id: str
    seller: str
    kind: Kind
    fabric: str
    network: Network
    product: str
    topology: str
    generation: str
    rungs: tuple[OfferRung, ...] = ()
    size: int = 0
    minimum_share: float = 1.0
    start: date | None = None
    add_ons: tuple[OfferAddOn, ...] = ()
    uptime: float | None = None
    credit: float | None = None
    cap: float | None = None
    refuses: tuple[str, ...] = ()
    items: Mapping[str, tuple[str, float]] = field(default_factory=dict)
    known_as: str = ""
    key: str = ""
    file: str = field(default="", compare=False)
    lines: Mapping[str, int] = field(default_factory=dict, compare=False, repr=False)

    @property
    def contractual(self) -> bool:
        """Whether it is addressed to this client."""
        return self.kind == Kind.OFFER

    @property
    def with_network(self) -> bool:
        """Whether the price, its needed add-ons counted, is known to hold the network."""
        return self.network in (Network.INCLUDED, Network.ADD_ON)

    @property
    def prices(self) -> tuple[str, ...]:
        """Every price of it."""
        own = (*(r.price for r in self.rungs), *(a.price for a in self.add_ons), *(p for p, _ in self.items.values()))
        return tuple(dict.fromkeys(own))
