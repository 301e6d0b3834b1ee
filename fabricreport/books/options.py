"""The fabrics that can be compared, read from data: those shipped and those a client adds.

An option names its switch, optics and terms by reference (`price:<item>`, `evidence:<id>`); what they cost is the
price book's business. What nobody publishes a price for is `price:<item> or evidence:<id>`: the item of the price files
once there is a quote, and until then an assumption that says so. A client's option is a YAML file in `params/options/`: a
list of entries with the keys of `data/options.yaml`, or `like: <id>` and only what differs.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Annotated, Any, Literal, Self, get_args

from annotated_types import Len
from pydantic import AfterValidator, Discriminator, Field, Tag, model_validator

from fabricreport.base.errors import InputError, Problem
from fabricreport.base.locations import KeyPath, Located, did_you_mean
from fabricreport.base.vocabulary import OperatingModel, Side, Sold
from fabricreport.base.yaml_files import ROOT, load_strict, read_yaml
from fabricreport.books.equipment import Roles, families
from fabricreport.books.fields import (
    CLOSED,
    NULL_IS_NONE,
    EvidenceId,
    Fault,
    Id,
    IsoDate,
    Unwritten,
    one_of,
    refusal,
    text,
    within,
    written,
)
from fabricreport.books.messages import MISSING, TAG
from fabricreport.books.reader import judged
from fabricreport.models.behaviour import Behaviour

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
WORDS = ("text",)
"""What an entry is in that says how something is sold; a figure says so too."""
SHIPPED_FILE = ROOT / "options.yaml"
GPU_MAKERS = Literal["nvidia", "amd"]


def _classes() -> Mapping[str, Mapping[str, Any]]:
    """Classes of fabric of the collective model."""
    found: Mapping[str, Mapping[str, Any]] = read_yaml("collectives")["fabrics"]
    return found


_ITEM = r"[a-z0-9]+([-.][a-z0-9]+)*"
_HOW = "Write price:<item> or evidence:<id>, or both joined by the word or."
Reference = Annotated[
    str,
    written(
        rf"(price|evidence):{_ITEM}|price:{_ITEM}{OR}evidence:{_ITEM}",
        "a reference to a price or an evidence entry",
        _HOW,
    ),
    Field(description=_HOW),
]
ReferenceOrNone = Annotated[Reference, NULL_IS_NONE]
_Kind = Annotated[str, one_of(lambda: PIECES, "a kind of piece")]
_NumberOrReference = Annotated[
    Annotated[int, within("management-nodes"), Tag(f"{TAG}number")] | Annotated[Reference, Tag(f"{TAG}reference")],
    Discriminator(lambda found: f"{TAG}{'reference' if isinstance(found, str) else 'number'}"),
]


@dataclass(frozen=True)
class Piece:
    """Where the price (USD or another currency, each) and the watts of one kind of piece are found; watts "" = none."""

    __pydantic_config__ = CLOSED
    price: Reference
    watts: ReferenceOrNone = ""


def _complete(pieces: Mapping[str, Piece]) -> Mapping[str, Piece]:
    """The pieces, where every kind that a fabric cannot do without has its price and its watts."""
    remedy = "Add watts: evidence:<id> beside its price."
    needed = ("switch", "nic", "node_optic", "switch_optic")
    faults = [Fault(f"the price of '{kind}' is missing") for kind in needed if kind not in pieces]
    faults += [Fault("has no watts", (kind,), remedy) for kind in needed if kind in pieces and not pieces[kind].watts]
    if faults:
        raise refusal(*faults)
    return pieces


@dataclass(frozen=True)
class Licence:
    """How the manager of a fabric or the system of its switches is sold, and the entry that says so (`says`; "": none).

    `per_year`: its price a year for an endpoint or a switch ("": no licence of it is sold). `above_gpus`: the GPUs
    above which makers list it ("": at any size).
    """

    __pydantic_config__ = CLOSED
    sold: Sold
    per_year: ReferenceOrNone = ""
    above_gpus: ReferenceOrNone = ""
    says: Annotated[EvidenceId | None, Field(description="Write evidence:<id>.")] = None

    @model_validator(mode="after")
    def agreeing(self) -> Self:
        """What is sold apart has a price; what is optional is listed from some size on, what is included has none."""
        if self.sold != Sold.INCLUDED and not self.per_year:
            raise refusal(Fault("what is sold apart needs a price", ("per_year",)))
        if (self.sold == Sold.OPTIONAL) > bool(self.above_gpus):
            raise refusal(Fault("what is optional needs the GPUs above which it is listed", ("above_gpus",)))
        if self.sold == Sold.INCLUDED and self.above_gpus:
            raise refusal(Fault("what is included has no size from which it is listed", ("above_gpus",)))
        return self


@dataclass(frozen=True)
class Management:
    """Links into the fabric for its manager, and servers: `nodes` is a number or a reference to one."""

    __pydantic_config__ = CLOSED
    links: Annotated[int, within("management-links")] = 0
    nodes: _NumberOrReference = 0
    node_price: ReferenceOrNone = ""

    @model_validator(mode="after")
    def agreeing(self) -> Self:
        """Servers have a price."""
        if self.nodes and not self.node_price:
            raise refusal(Fault("servers need a price", ("node_price",)))
        return self


@dataclass(frozen=True, kw_only=True)
class Rung:
    """Another switch that an option can be built of: what differs from the option's own.

    `pieces` take the place of the option's by kind; without `copper_m` no copper fits it. `note`: what a reader has to
    know where it is bought.
    """

    __pydantic_config__ = CLOSED
    generation: Annotated[int, within("calendar-year")]
    physical_ports: Annotated[int, within("switch-ports")]
    radix: Annotated[int, within("switch-radix")]
    links_per_cage: Annotated[int, within("links-per-cage")]
    optics: Literal["multimode", "single-mode"] = "multimode"
    copper_m: Annotated[float | None, within("copper-m")] = None
    pieces: Mapping[_Kind, Piece]
    note: Annotated[str, text(400)]


@dataclass(frozen=True)
class Need:
    """A reference of an option: the id, the key it stands at, and the units of which it must have one."""

    ref: str
    path: KeyPath
    units: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class Option:
    """One fabric that can be bought. References are ids of the price and evidence books; "" means there is none.

    `link_gbits_per_s` is a GPU's link over all its planes. `generation` is the year by which its switch goes, and
    `on_sale` the day before which a roadmap option cannot be ordered. `own_model` and `roles` are what differs
    from its family's. `unquoted` are the items of the price files that nobody has a price for, each with the assumption
    that stands in; it is known once the option is `priced`. `switches` are others that it can be built of than the one it
    states, and `tiers` those of the client's network once it is `built_of` one of them (two until then). `lines` has the line in `file` of each key that holds a
    reference. `say` is what a sentence may call it, the shortest first.
    """

    __pydantic_config__ = CLOSED
    id: Id
    name: Annotated[str, text(MAX_NAME)]
    family: Annotated[str, one_of(families, "a known family")]
    own_model: Annotated[OperatingModel | None, Field(alias="operating_model")] = None
    generation: Annotated[int, within("calendar-year")]
    fabric: Annotated[str, one_of(_classes, "a known fabric")]
    rdma: bool
    link_gbits_per_s: Annotated[float, within("link-gbits/s")]
    physical_ports: Annotated[int, within("switch-ports")]
    radix: Annotated[int, within("switch-radix")]
    links_per_cage: Annotated[int, within("links-per-cage")]
    links_per_node: Annotated[int | None, within("links-per-node")]
    planes: Annotated[int, within("planes")] = 1
    optics: Literal["multimode", "single-mode"] = "multimode"
    copper_m: Annotated[float | None, within("copper-m")] = None
    gpus_of: Annotated[tuple[GPU_MAKERS, ...], Len(1)] = get_args(GPU_MAKERS)
    on_sale: IsoDate | None = None
    roles: Roles = field(default_factory=dict)
    pieces: Annotated[Mapping[_Kind, Piece], AfterValidator(_complete)]
    support: Reference
    licence: Licence | None
    operating_system: Licence | None
    management: Management
    training: ReferenceOrNone
    notes: tuple[Annotated[str, text(400)], ...]
    say: tuple[Annotated[str, text(MAX_NAME)], ...] = ()
    switches: tuple[Rung, ...] = ()
    tiers: Unwritten[int] = 2
    unquoted: Unwritten[Mapping[str, str]] = field(default_factory=dict)
    file: Unwritten[str] = ""
    lines: Unwritten[Mapping[KeyPath, int]] = field(default_factory=dict)

    @model_validator(mode="after")
    def agreeing(self) -> Self:
        """Ports share out, copper has a reach, and the class of fabric is of a kind that the family has."""
        faults = [*_counts(self, self.planes)]
        for number, rung in enumerate(self.switches):
            faults += [f._replace(at=("switches", number, *f.at)) for f in _counts(rung, self.planes)]
        if self.copper_m is None and "dac" in self.pieces:
            remedy = "Add copper_m: metres that passive copper spans."
            faults.append(Fault("has no reach", ("pieces", "dac"), remedy))
        kinds, kind = families()[self.family].kinds, _classes()[self.fabric]["kind"]
        if kind not in kinds:
            remedy = f"Name a fabric of kind {' or '.join(kinds)}, or mend `family`."
            faults.append(Fault(f"is of kind {kind}, but the family is {self.family}", ("fabric",), remedy))
        if faults:
            raise refusal(*faults)
        return self

    @property
    def operating_model(self) -> OperatingModel:
        """Who answers for it: one maker for InfiniBand, two for others, where it does not say."""
        usual = OperatingModel.TURNKEY if self.side is Side.INFINIBAND else OperatingModel.BRANDED
        return self.own_model or usual

    @cached_property
    def behaviour(self) -> Behaviour:
        """How it behaves: as its family, but for what it says otherwise, and for what one switch has nothing of."""
        own = families()[self.family].behaviour.changed(self.roles)
        return own.on_one_switch(self.planes) if self.one_switch and self.rdma else own

    @property
    def one_switch(self) -> bool:
        """Whether one switch (of each plane) joins all that the client's network joins."""
        return self.tiers == 1

    @property
    def side(self) -> Side:
        """Whose arguments hold for it."""
        return families()[self.family].side

    @property
    def shipped(self) -> bool:
        """Whether the option is described by the package, not by the client."""
        return Path(self.file) == SHIPPED_FILE

    @property
    def needs(self) -> tuple[Need, ...]:
        """Every reference of this option with the units it may have."""
        found = [*_needs(self.pieces, ())]
        for number, rung in enumerate(self.switches):
            found += _needs(rung.pieces, ("switches", number))
        sold = (
            ("licence", self.licence, PER_ENDPOINT_YEAR),
            ("operating_system", self.operating_system, PER_SWITCH_YEAR),
        )
        for key, licence, unit in sold:
            if licence:
                found += [Need(licence.per_year, (key, "per_year"), unit)]
                found += [Need(licence.above_gpus, (key, "above_gpus"), COUNT)]
        nodes = self.management.nodes if isinstance(self.management.nodes, str) else ""
        found += [
            Need(self.support, ("support",), SHARE),
            Need(nodes, ("management", "nodes"), COUNT),
            Need(self.management.node_price, ("management", "node_price"), PER_SERVER),
            Need(self.training, ("training",), PER_PERSON),
        ]
        return tuple(need for need in found if need.ref)

    @property
    def sayings(self) -> tuple[Need, ...]:
        """Every entry that says how something of this option is sold, and moves no figure."""
        sold = (("licence", self.licence), ("operating_system", self.operating_system))
        return tuple(Need(one.says, (key, "says"), WORDS) for key, one in sold if one and one.says)

    @property
    def references(self) -> set[str]:
        """Every price and evidence id this option rests on."""
        return {need.ref for need in self.needs}

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

    @property
    def ladder(self) -> tuple[Option, ...]:
        """The option with each switch that it can be built of, its own first."""
        return tuple(self._built_of(rung) for rung in (None, *self.switches))

    def _built_of(self, rung: Rung | None) -> Option:
        """The option with one switch alone: its own, or another and the modules and cables that fit that."""
        found = replace(self, switches=())
        if rung is not None:
            pieces = {k: p for k, p in self.pieces.items() if k != "dac" or rung.copper_m is not None}
            found = replace(
                found,
                generation=rung.generation,
                physical_ports=rung.physical_ports,
                radix=rung.radix,
                links_per_cage=rung.links_per_cage,
                optics=rung.optics,
                copper_m=rung.copper_m,
                pieces={**pieces, **rung.pieces},
                notes=(*self.notes, rung.note),
            )
        return replace(found, unquoted={i: ref for i, ref in self.unquoted.items() if ref in found.references})

    def _referring(self, to: Callable[[str], str]) -> Option:
        """The same with every reference changed."""
        management = self.management

        def licence(own: Licence | None) -> Licence | None:
            return replace(own, per_year=to(own.per_year)) if own else None

        return replace(
            self,
            pieces=_priced(self.pieces, to),
            switches=tuple(replace(rung, pieces=_priced(rung.pieces, to)) for rung in self.switches),
            support=to(self.support),
            licence=licence(self.licence),
            operating_system=licence(self.operating_system),
            management=replace(management, node_price=to(management.node_price)),
            training=to(self.training),
        )


def _counts(of: Option | Rung, planes: int) -> Iterator[Fault]:
    """What is wrong with the ports of a switch."""
    if of.radix % 2:
        yield Fault("must be even", ("radix",), "Half the ports of a spine face down.")
    if of.radix > of.physical_ports * max(8, of.links_per_cage):
        yield Fault("more logical ports than the cages can give", ("radix",))
    if of.radix % planes:
        yield Fault(f"do not share out {of.radix} ports", ("planes",) if isinstance(of, Option) else ("radix",))


def _needs(pieces: Mapping[str, Piece], path: KeyPath) -> Iterator[Need]:
    """The price and the watts of each kind of piece."""
    for kind, piece in pieces.items():
        yield Need(piece.price, (*path, "pieces", kind, "price"), MONEY)
        yield Need(piece.watts, (*path, "pieces", kind, "watts"), WATTS)


def _priced(pieces: Mapping[str, Piece], to: Callable[[str], str]) -> Mapping[str, Piece]:
    """The pieces with every reference to a price changed."""
    return {kind: Piece(to(piece.price), piece.watts) for kind, piece in pieces.items()}


def read_options(extra_dir: Path | None = None) -> dict[str, Option]:
    """All options by id: the shipped ones, then those of `extra_dir/*.yaml` in order of file name.

    A folder that does not exist adds none. Raises `InputError` with every fault found, each with file and line: an
    unknown or missing key, a value outside its domain, a malformed reference, an id used twice.
    """
    files = [SHIPPED_FILE]
    if extra_dir is not None and extra_dir.is_dir():
        files += sorted(extra_dir.glob("*.yaml"))
    raw: dict[str, dict[str, Any]] = {}
    options: dict[str, Option] = {}
    problems: list[Problem] = []
    for path in files:
        located = _load(path, path.stat().st_mtime_ns)
        if not isinstance(located.data, list):
            problems.append(located.problem((), "must be a list of options", remedy="Begin each with '- id: ...'."))
            continue
        for i in range(len(located.data)):
            entry, faults = _like_another(located, i, raw)
            option, more = _read(located, i, entry, options) if not faults else (None, [])
            problems += [*faults, *more]
            if option is not None:
                raw[option.id], options[option.id] = entry, option
    if problems:
        raise InputError(problems)
    return options


@lru_cache(maxsize=32)
def _load(path: Path, _changed_ns: int) -> Located:
    return load_strict(path)


def _like_another(located: Located, i: int, known: Mapping[str, dict[str, Any]]) -> tuple[Any, list[Problem]]:
    """The entry at a place of a file, laid over the option that it is `like`, pieces and roles one by one; one with a
    switch of its own has no other's ladder."""
    entry = located.data[i]
    if not isinstance(entry, dict) or "like" not in entry:
        return entry, []
    own = {key: value for key, value in entry.items() if key != "like"}
    like = entry["like"]
    if not isinstance(like, str) or like not in known:
        wrong, remedy = "no option of this id stands above", f"Known: {', '.join(known)}."
        return None, [
            located.problem((i, "like"), wrong, value=like, remedy=remedy, suggestion=did_you_mean(like, known))
        ]
    base = known[like]
    pieces = own.get("pieces")
    if isinstance(pieces, dict):
        own["pieces"] = {k: v for k, v in {**base["pieces"], **pieces}.items() if v is not None}
    if "radix" in own or (isinstance(pieces, dict) and "switch" in pieces):
        own.setdefault("switches", [])
    if isinstance(roles := own.get("behaviour"), dict) and own.get("family", base["family"]) == base["family"]:
        own["behaviour"] = {**base.get("behaviour", {}), **roles}
    return {**base, "notes": [], "on_sale": None, "say": [], **own}, []


def _read(located: Located, i: int, entry: Any, taken: Container[str]) -> tuple[Option | None, list[Problem]]:
    """The option that an entry describes, or its faults."""
    option, faults = judged(located, Option, at=(i,), data=entry)
    if option is None:
        remedy = "Add it, or start with 'like: <another option>'."
        own = {f"[{i}].{key}" for key in Option.__dataclass_fields__}
        return None, [replace(p, remedy=remedy) if p.message == MISSING and p.key in own else p for p in faults]
    if option.id in taken:
        remedy = "Give the option an id of its own."
        return None, [located.problem((i, "id"), "this id is used already", value=option.id, remedy=remedy)]
    lines = {need.path: located.line_of((i, *need.path)) for need in (*option.needs, *option.sayings)}
    return replace(option, file=located.file, lines=lines), []
