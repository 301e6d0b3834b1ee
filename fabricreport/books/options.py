"""The fabrics that can be compared, read from data: those shipped and those a client adds.

An option names its switch, optics and terms by reference (`price:<item>`, `evidence:<id>`); what they cost is the
price book's business. What nobody publishes a price for is `price:<item> or evidence:<id>`: the item of the price files
once there is a quote, and until then an assumption that says so. A client's option is a YAML file in `params/options/`: a
list of entries with the keys of `evidence/options.yaml`, or `like: <id>` and only what differs.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Mapping
from dataclasses import dataclass, field, replace
from datetime import date
from pathlib import Path

from fabricreport.behaviour import Behaviour
from fabricreport.books.families import families
from fabricreport.evidence import ROOT
from fabricreport.located import KeyPath
from fabricreport.vocabulary import Side

OR = " or "
"""Between the item of the price files that nobody may have a price for and the entry that stands in."""
MAX_NAME = 60
"""Characters of an option's name: it heads columns of tables and stands beside the marks of charts."""

PIECES = ("switch", "nic", "node_optic", "switch_optic", "dac", "fibre")
MONEY, WATTS, SHARE, COUNT = ("usd",), ("w",), ("share",), ("count", "gpus", "1")
PER_ENDPOINT_YEAR = ("usd", "usd/year", "usd/endpoint-year")
PER_SWITCH_YEAR = ("usd", "usd/year", "usd/switch-year")
PER_SERVER = ("usd", "usd/node", "usd/server")
PER_PERSON = ("usd", "usd/person")
"""The units, as the ledger writes them, that can serve a key of an option."""
SHIPPED_FILE = ROOT / "options.yaml"


@dataclass(frozen=True)
class Piece:
    """Where the price (USD or another currency, each) and the watts of one kind of piece are found; watts "" = none."""

    price: str
    watts: str = ""


@dataclass(frozen=True)
class Licence:
    """A licence per endpoint and year, and the reference to the GPU count above which it is bought ("": at any size)."""

    per_endpoint_year: str
    needed_above_gpus: str = ""


@dataclass(frozen=True)
class Management:
    """Links into the fabric for its manager, and servers: `nodes` is a number or a reference to one."""

    links: int = 0
    nodes: int | str = 0
    node_price: str = ""


@dataclass(frozen=True)
class Need:
    """A reference of an option: the id, the key it stands at, and the units of which it must have one."""

    ref: str
    path: KeyPath
    units: tuple[str, ...]


@dataclass(frozen=True)
class Option:
    """One fabric that can be bought. References are ids of the price and evidence books; "" means there is none.

    `link_gbits_per_s` is a GPU's link over all its planes. `generation` is the year by which its switch goes, and
    `on_sale` the day before which a roadmap option cannot be ordered. `unquoted` are the items of the price files that
    nobody has a price for, each with the assumption that stands in; it is known once the option is `priced`. `lines` has
    the line in `file` of each key that holds a reference. `say` is what a sentence may call it, the shortest first.
    """

    id: str
    name: str
    family: str
    operating_model: str
    generation: int
    fabric: str
    rdma: bool
    link_gbits_per_s: float
    physical_ports: int
    radix: int
    links_per_cage: int
    links_per_node: int | None
    planes: int
    optics: str
    copper_m: float | None
    cooling: str
    gpus_of: tuple[str, ...]
    on_sale: date | None
    colour: str
    behaviour: Behaviour
    pieces: Mapping[str, Piece]
    alternatives: Mapping[str, tuple[str, ...]]
    support: str
    licence: Licence | None
    operating_system: str
    management: Management
    training: str
    notes: tuple[str, ...]
    say: tuple[str, ...] = ()
    unquoted: Mapping[str, str] = field(default_factory=dict)
    file: str = ""
    lines: Mapping[KeyPath, int] = field(default_factory=dict)

    @property
    def side(self) -> Side:
        """Whose arguments hold for it."""
        return Side(families()[self.family].side)

    @property
    def shipped(self) -> bool:
        """Whether the option is described by the package, not by the client."""
        return Path(self.file) == SHIPPED_FILE

    @property
    def needs(self) -> tuple[Need, ...]:
        """Every reference of this option with the units it may have."""
        found: list[Need] = []
        for kind, piece in self.pieces.items():
            found += [Need(piece.price, ("pieces", kind, "price"), MONEY)]
            found += [Need(piece.watts, ("pieces", kind, "watts"), WATTS)]
        for kind, refs in self.alternatives.items():
            found += [Need(ref, ("alternatives", kind, i), MONEY) for i, ref in enumerate(refs)]
        if self.licence:
            found += [Need(self.licence.per_endpoint_year, ("licence", "per_endpoint_year"), PER_ENDPOINT_YEAR)]
            found += [Need(self.licence.needed_above_gpus, ("licence", "needed_above_gpus"), COUNT)]
        nodes = self.management.nodes if isinstance(self.management.nodes, str) else ""
        found += [
            Need(self.support, ("support",), SHARE),
            Need(self.operating_system, ("operating_system",), PER_SWITCH_YEAR),
            Need(nodes, ("management", "nodes"), COUNT),
            Need(self.management.node_price, ("management", "node_price"), PER_SERVER),
            Need(self.training, ("training",), PER_PERSON),
        ]
        return tuple(need for need in found if need.ref)

    @property
    def references(self) -> tuple[str, ...]:
        """Every price and evidence id this option rests on, once each."""
        return tuple(dict.fromkeys(need.ref for need in self.needs))

    def priced(self, book: Container[str]) -> Option:
        """The option on this price book: of a price that may be lacking, the item if the book has it, else what stands in."""
        unquoted: dict[str, str] = {}

        def settled(ref: str) -> str:
            item, _, stand_in = ref.partition(OR)
            if not stand_in or item.removeprefix("price:") in book:
                return item
            unquoted[item.removeprefix("price:")] = stand_in
            return stand_in

        found = self._referring(settled)
        return replace(found, unquoted=unquoted)

    def _referring(self, to: Callable[[str], str]) -> Option:
        """The same with every reference changed."""
        licence, management = self.licence, self.management
        return replace(
            self,
            pieces={kind: Piece(to(p.price), p.watts) for kind, p in self.pieces.items()},
            support=to(self.support),
            licence=replace(licence, per_endpoint_year=to(licence.per_endpoint_year)) if licence else None,
            operating_system=to(self.operating_system),
            management=replace(management, node_price=to(management.node_price)),
            training=to(self.training),
        )
