"""The fabrics that can be compared, read from data: those shipped and those a client adds.

An option names its switch, optics and terms by reference (`price:<item>`, `evidence:<id>`); what they cost is the
price book's business. What nobody publishes a price for is `price:<item> or evidence:<id>`: the item of the price files
once there is a quote, and until then an assumption that says so. A client's option is a YAML file in `params/options/`: a
list of entries with the keys of `evidence/options.yaml`, or `like: <id>` and only what differs.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Container, Mapping
from dataclasses import dataclass, field, replace
from datetime import date
from functools import lru_cache
from pathlib import Path
from typing import Any

from fabricreport.behaviour import Behaviour
from fabricreport.books.families import families, roles_of
from fabricreport.bounds import bound_of
from fabricreport.errors import InputError, Problem
from fabricreport.evidence import ROOT, read_yaml
from fabricreport.hostile_text import clean_text
from fabricreport.located import KeyPath, Located, did_you_mean
from fabricreport.strict_yaml import load_strict
from fabricreport.vocabulary import OperatingModel, Side

OPERATING_MODELS = tuple(OperatingModel)
OPTICS, COOLING, GPU_MAKERS = ("multimode", "single-mode"), ("air", "liquid"), ("nvidia", "amd")
MAX_NAME = 60
"""Characters of an option's name: it heads columns of tables and stands beside the marks of charts."""

PIECES = ("switch", "nic", "node_optic", "switch_optic", "dac", "fibre")
_NEEDED_PIECES = ("switch", "nic", "node_optic", "switch_optic")
_LONGEST_NOTE = 400  # characters
MONEY, WATTS, SHARE, COUNT = ("usd",), ("w",), ("share",), ("count", "gpus", "1")
PER_ENDPOINT_YEAR = ("usd", "usd/year", "usd/endpoint-year")
PER_SWITCH_YEAR = ("usd", "usd/year", "usd/switch-year")
PER_SERVER = ("usd", "usd/node", "usd/server")
PER_PERSON = ("usd", "usd/person")
"""The units, as the ledger writes them, that can serve a key of an option."""
_COUNTS = {
    "physical_ports": "switch-ports",
    "radix": "switch-radix",
    "links_per_cage": "links-per-cage",
    "links_per_node": "links-per-node",
    "planes": "planes",
    "generation": "calendar-year",
}
_ID = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")
_SHIPPED_FILE = ROOT / "options.yaml"
_OR = " or "
_REFERENCE = re.compile(
    r"(price|evidence):[a-z0-9]+([-.][a-z0-9]+)*|price:[a-z0-9]+([-.][a-z0-9]+)* or evidence:[a-z0-9]+([-.][a-z0-9]+)*"
)
_COLOUR = re.compile(r"#[0-9a-f]{6}")
_LEFT_OUT: Mapping[str, Any] = {
    "planes": 1,
    "optics": "multimode",
    "copper_m": None,
    "cooling": "air",
    "gpus_of": list(GPU_MAKERS),
    "on_sale": None,
    "colour": None,
    "behaviour": {},
}
"""What a key of an option is if it is left out."""


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

    `link_gbits_per_s` is a GPU's link over all its planes. `generation` is the year in which its switch came on sale, and
    `on_sale` the day before which a roadmap option cannot be ordered. `unquoted` are the items of the price files that
    nobody has a price for, each with the assumption that stands in; it is known once the option is `priced`. `lines` has
    the line in `file` of each key that holds a reference.
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
    unquoted: Mapping[str, str] = field(default_factory=dict)
    file: str = ""
    lines: Mapping[KeyPath, int] = field(default_factory=dict)

    @property
    def side(self) -> Side:
        """Whose arguments hold for it."""
        return Side(families()[self.family].side)

    @property
    def family_name(self) -> str:
        """What a sentence calls its family."""
        return families()[self.family].short_name

    @property
    def shipped(self) -> bool:
        """Whether the option is described by the package, not by the client."""
        return Path(self.file) == _SHIPPED_FILE

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
            item, _, stand_in = ref.partition(_OR)
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


def read_options(extra_dir: Path | None = None) -> dict[str, Option]:
    """All options by id: the shipped ones, then those of `extra_dir/*.yaml` in order of file name.

    A folder that does not exist adds none. Raises `InputError` with every fault found, each with file and line: an
    unknown or missing key, a value outside its domain, a malformed reference, an id used twice.
    """
    files = [_SHIPPED_FILE]
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
        for i, entry in enumerate(located.data):
            reader = _Reader(located, (i,), problems)
            merged = reader.merged(entry, raw)
            if merged is None:
                continue
            option = reader.option(merged, set(options))
            if option is not None:
                raw[option.id] = merged
                options[option.id] = option
    if problems:
        raise InputError(problems)
    return options


@lru_cache(maxsize=32)
def _load(path: Path, _changed_ns: int) -> Located:
    return load_strict(path)


@dataclass
class _Reader:
    """Checks one entry of one file; faults go to `problems`."""

    located: Located
    at: KeyPath
    problems: list[Problem]

    def merged(self, entry: Any, known: Mapping[str, dict[str, Any]]) -> dict[str, Any] | None:
        """The entry laid over the option named by `like`, pieces one by one."""
        if not isinstance(entry, dict):
            self._fault((), "an option must be a mapping of keys")
            return None
        own: dict[str, Any] = dict(entry)
        if "like" not in own:
            return own
        like = own.pop("like")
        if not isinstance(like, str) or like not in known:
            hint = did_you_mean(like, known)
            self._fault(("like",), "no option of this id stands above", like, f"Known: {', '.join(known)}.", hint)
            return None
        base = known[like]
        pieces = own.get("pieces")
        if isinstance(pieces, dict):
            own["pieces"] = {k: v for k, v in {**base["pieces"], **pieces}.items() if v is not None}
        behaviour = own.get("behaviour")
        if isinstance(behaviour, dict) and own.get("family", base["family"]) == base["family"]:
            own["behaviour"] = {**base.get("behaviour", {}), **behaviour}
        return {**base, "notes": [], "alternatives": {}, "on_sale": None, **own}

    def option(self, entry: dict[str, Any], taken: set[str]) -> Option | None:
        """The checked option, or None when it has faults."""
        before = len(self.problems)
        known = families()
        family = known.get(entry["family"]) if isinstance(entry.get("family"), str) else None
        one_maker = family is not None and family.side == Side.INFINIBAND
        own_maker = OperatingModel.TURNKEY if one_maker else OperatingModel.BRANDED
        entry = {"operating_model": str(own_maker), **_LEFT_OUT, **entry}
        fields = [name for name in Option.__dataclass_fields__ if name not in ("unquoted", "file", "lines")]
        for key in entry:
            if key not in fields:
                self._fault((key,), "unknown key", key, suggestion=did_you_mean(key, fields))
        for key in fields:
            if key not in entry:
                self._fault((), f"the key '{key}' is missing", remedy="Add it, or start with 'like: <another option>'.")
        if len(self.problems) > before:
            return None
        self._text(entry, "name", "fabric")
        fabrics: Mapping[str, Any] = read_yaml("collectives")["fabrics"]
        if isinstance(entry["fabric"], str) and entry["fabric"].strip() and entry["fabric"] not in fabrics:
            hint = did_you_mean(entry["fabric"], fabrics)
            self._fault(("fabric",), "unknown fabric", entry["fabric"], f"Known: {', '.join(fabrics)}.", hint)
        elif family is not None and (kind := fabrics.get(entry["fabric"], {}).get("kind")) not in family.kinds:
            remedy = f"Name a fabric of kind {' or '.join(family.kinds)}, or mend `family`."
            self._fault(("fabric",), f"is of kind {kind}, but the family is {family.id}", entry["fabric"], remedy)
        if not isinstance(entry["id"], str) or not _ID.fullmatch(entry["id"]):
            self._fault(("id",), "must be kebab-case", entry["id"], "Lower-case words joined by hyphens.")
        elif entry["id"] in taken:
            self._fault(("id",), "this id is used already", entry["id"], "Give the option an id of its own.")
        if family is None:
            hint = did_you_mean(entry["family"], known)
            self._fault(("family",), "unknown family", entry["family"], f"Known: {', '.join(known)}.", hint)
        if entry["operating_model"] not in OPERATING_MODELS:
            hint = did_you_mean(entry["operating_model"], OPERATING_MODELS)
            models = f"Known: {', '.join(OPERATING_MODELS)}."
            self._fault(("operating_model",), "unknown operating model", entry["operating_model"], models, hint)
        if not isinstance(entry["rdma"], bool):
            self._fault(("rdma",), "must be true or false", entry["rdma"])
        self._figure(("link_gbits_per_s",), "link-gbits/s", entry["link_gbits_per_s"])
        self._counts(entry)
        self._build(entry)
        behaviour = self._behaviour(entry["behaviour"])
        if family is None or len(self.problems) > before:
            return None
        made = Option(
            **{key: entry[key] for key in ("id", "name", "family", "operating_model", "generation", "fabric")},
            rdma=entry["rdma"],
            link_gbits_per_s=entry["link_gbits_per_s"],
            **{key: entry[key] for key in ("physical_ports", "radix", "links_per_cage", "links_per_node", "planes")},
            **{key: entry[key] for key in ("optics", "copper_m", "cooling")},
            gpus_of=tuple(entry["gpus_of"]),
            on_sale=None if entry["on_sale"] is None else date.fromisoformat(entry["on_sale"]),
            colour=entry["colour"] or family.colour,
            behaviour=family.behaviour.changed(behaviour),
            pieces=self._pieces(entry["pieces"]),
            alternatives=self._alternatives(entry["alternatives"]),
            support=self._reference(("support",), entry["support"]),
            licence=self._licence(entry["licence"]),
            operating_system=self._reference(("operating_system",), entry["operating_system"], optional=True),
            management=self._management(entry["management"]),
            training=self._reference(("training",), entry["training"], optional=True),
            notes=self._notes(entry["notes"]),
            file=self.located.file,
        )
        if len(self.problems) > before:
            return None
        return replace(made, lines={n.path: self.located.line_of((*self.at, *n.path)) for n in made.needs})

    def _fault(self, path: KeyPath, message: str, value: object = "", remedy: str = "", suggestion: str = "") -> None:
        where = (*self.at, *path)
        self.problems.append(self.located.problem(where, message, value=value, remedy=remedy, suggestion=suggestion))

    def _text(self, entry: dict[str, Any], *keys: str) -> None:
        for key in keys:
            if not isinstance(entry[key], str) or not entry[key].strip():
                self._fault((key,), "must be text", entry[key])
            elif len(entry[key]) > MAX_NAME or "\n" in entry[key]:
                self._fault((key,), f"must be one line of at most {MAX_NAME} characters", entry[key])

    def _figure(self, path: KeyPath, unit: str, value: Any, *, whole: bool = False) -> bool:
        """Whether a value is a number within the bounds of its unit; a fault is noted if not."""
        if isinstance(value, bool) or not isinstance(value, int if whole else int | float):
            self._fault(path, "must be a whole number" if whole else "must be a number", value)
            return False
        wrong = bound_of(unit).fault(value)
        if wrong:
            self._fault(path, wrong, value)
        return not wrong

    def _counts(self, entry: dict[str, Any]) -> None:
        for key, unit in _COUNTS.items():
            if entry[key] is None and key == "links_per_node":
                continue
            if not self._figure((key,), unit, entry[key], whole=True):
                return
        if entry["radix"] % 2:
            self._fault(("radix",), "must be even", entry["radix"], "Half the ports of a spine face down.")
        if entry["radix"] > entry["physical_ports"] * max(8, entry["links_per_cage"]):
            self._fault(("radix",), "more logical ports than the cages can give", entry["radix"])

        if entry["radix"] % entry["planes"]:
            self._fault(("planes",), f"do not share out {entry['radix']} ports", entry["planes"])

    def _build(self, entry: dict[str, Any]) -> None:
        """Optics, copper, cooling, for whose GPUs, from when, and in which colour."""
        for key, known in (("optics", OPTICS), ("cooling", COOLING)):
            if entry[key] not in known:
                remedy = f"Known: {', '.join(known)}."
                self._fault((key,), "is not known", entry[key], remedy, did_you_mean(entry[key], known))
        if entry["copper_m"] is not None:
            self._figure(("copper_m",), "copper-m", entry["copper_m"])
        elif isinstance(entry["pieces"], dict) and "dac" in entry["pieces"]:
            self._fault(("pieces", "dac"), "has no reach", remedy="Add copper_m: metres that passive copper spans.")
        makers = entry["gpus_of"]
        if not isinstance(makers, list) or not makers or not set(map(str, makers)) <= set(GPU_MAKERS):
            self._fault(("gpus_of",), "must be a list of makers of GPUs", makers, f"Known: {', '.join(GPU_MAKERS)}.")
        if entry["colour"] is not None and not (
            isinstance(entry["colour"], str) and _COLOUR.fullmatch(entry["colour"])
        ):
            self._fault(("colour",), "must be #rrggbb", entry["colour"])
        if entry["on_sale"] is not None:
            try:
                date.fromisoformat(entry["on_sale"])
            except (TypeError, ValueError):
                self._fault(("on_sale",), "must be a date in quotes", entry["on_sale"], 'Write "YYYY-MM-DD".')

    def _behaviour(self, value: Any) -> dict[str, str | bool]:
        try:
            return dict(roles_of(self.located, (*self.at, "behaviour"), value))
        except InputError as error:
            self.problems.extend(error.problems)
            return {}

    def _pieces(self, value: Any) -> dict[str, Piece]:
        if not isinstance(value, dict):
            self._fault(("pieces",), "must map kinds of pieces to prices", value)
            return {}
        out = {}
        for kind, terms in value.items():
            if kind not in PIECES:
                self._fault(("pieces", kind), "unknown kind of piece", kind, suggestion=did_you_mean(kind, PIECES))
            elif not isinstance(terms, dict) or not {"price"} <= set(terms) <= {"price", "watts"}:
                self._fault(("pieces", kind), "must be {price: ..., watts: ...}", terms)
            else:
                price = self._reference(("pieces", kind, "price"), terms["price"])
                watts = self._reference(("pieces", kind, "watts"), terms.get("watts"), optional=True)
                out[kind] = Piece(price, watts)
        for kind in _NEEDED_PIECES:
            if kind not in value:
                self._fault(("pieces",), f"the price of '{kind}' is missing")
            elif kind in out and not out[kind].watts:
                self._fault(("pieces", kind), "has no watts", remedy="Add watts: evidence:<id> beside its price.")
        return out

    def _alternatives(self, value: Any) -> dict[str, tuple[str, ...]]:
        if not isinstance(value, dict):
            self._fault(("alternatives",), "must map kinds of pieces to lists of prices", value)
            return {}
        out = {}
        for kind, references in value.items():
            if kind not in PIECES or not isinstance(references, list):
                self._fault(("alternatives", kind), "must be a known kind of piece with a list of prices", kind)
                continue
            out[kind] = tuple(self._reference(("alternatives", kind, i), ref) for i, ref in enumerate(references))
        return out

    def _licence(self, value: Any) -> Licence | None:
        if value is None:
            return None
        known = {"per_endpoint_year", "needed_above_gpus"}
        if not isinstance(value, dict) or not {"per_endpoint_year"} <= set(value) <= known:
            self._fault(("licence",), "must be null or {per_endpoint_year: ..., needed_above_gpus: ...}", value)
            return None
        return Licence(
            self._reference(("licence", "per_endpoint_year"), value["per_endpoint_year"]),
            self._reference(("licence", "needed_above_gpus"), value.get("needed_above_gpus"), optional=True),
        )

    def _management(self, value: Any) -> Management:
        if not isinstance(value, dict) or not set(value) <= {"links", "nodes", "node_price"}:
            self._fault(("management",), "must be {links: ..., nodes: ..., node_price: ...}", value)
            return Management()
        links, nodes = value.get("links", 0), value.get("nodes", 0)
        if not self._figure(("management", "links"), "management-links", links, whole=True):
            links = 0
        if isinstance(nodes, str):
            nodes = self._reference(("management", "nodes"), nodes)
        elif not self._figure(("management", "nodes"), "management-nodes", nodes, whole=True):
            nodes = 0
        price = self._reference(("management", "node_price"), value.get("node_price"), optional=True)
        if nodes and not price:
            self._fault(("management", "node_price"), "servers need a price")
        return Management(links, nodes, price)

    def _notes(self, value: Any) -> tuple[str, ...]:
        if not isinstance(value, list) or not all(isinstance(note, str) for note in value):
            self._fault(("notes",), "must be a list of sentences", value)
            return ()
        return tuple(self._note(("notes", i), note) for i, note in enumerate(value))

    def _note(self, path: KeyPath, note: str) -> str:
        """A note is printed in the memo: one line of text that shows as it is typed."""
        found = self.located.problem((*self.at, *path), "")
        try:
            return clean_text(
                note, file=found.file, line=found.line, key=found.key, max_chars=_LONGEST_NOTE, one_line=True
            )
        except InputError as error:
            self.problems.extend(error.problems)
            return ""

    def _reference(self, path: KeyPath, value: Any, *, optional: bool = False) -> str:
        if value is None and optional:
            return ""
        if not isinstance(value, str) or not _REFERENCE.fullmatch(value):
            remedy = "Write price:<item> or evidence:<id>, or both joined by the word or."
            self._fault(path, "must be a reference to a price or an evidence entry", value, remedy)
            return ""
        return value
