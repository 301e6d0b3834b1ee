"""Options are read and checked: the shipped ones and a client's own, every fault with its file and line."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import date
from functools import lru_cache
from pathlib import Path
from typing import Any

from fabricreport.books.families import Family, families, roles_of
from fabricreport.books.options import MAX_NAME, PIECES, SHIPPED_FILE, Licence, Management, Option, Piece
from fabricreport.bounds import bound_of
from fabricreport.errors import InputError, Problem
from fabricreport.evidence import read_yaml
from fabricreport.hostile_text import clean_text
from fabricreport.located import KeyPath, Located, did_you_mean
from fabricreport.strict_yaml import load_strict
from fabricreport.vocabulary import OperatingModel, Side

OPERATING_MODELS = tuple(OperatingModel)
OPTICS, COOLING, GPU_MAKERS = ("multimode", "single-mode"), ("air", "liquid"), ("nvidia", "amd")

_NEEDED_PIECES = ("switch", "nic", "node_optic", "switch_optic")
_LONGEST_NOTE = 400  # characters
_COUNTS = {
    "physical_ports": "switch-ports",
    "radix": "switch-radix",
    "links_per_cage": "links-per-cage",
    "links_per_node": "links-per-node",
    "planes": "planes",
    "generation": "calendar-year",
}
_ID = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")
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
    "say": [],
}
"""What a key of an option is if it is left out."""
_AS_WRITTEN = (
    *("id", "name", "family", "operating_model", "generation", "fabric", "rdma", "link_gbits_per_s"),
    *("physical_ports", "radix", "links_per_cage", "links_per_node", "planes", "optics", "copper_m", "cooling"),
)
"""Keys that an option takes over as they stand."""


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
        return {**base, "notes": [], "alternatives": {}, "on_sale": None, "say": [], **own}

    def option(self, entry: dict[str, Any], taken: set[str]) -> Option | None:
        """The checked option, or None when it has faults."""
        before = len(self.problems)
        known = families()
        family = known.get(entry["family"]) if isinstance(entry.get("family"), str) else None
        one_maker = family is not None and family.side == Side.INFINIBAND
        own_maker = OperatingModel.TURNKEY if one_maker else OperatingModel.BRANDED
        entry = {"operating_model": str(own_maker), **_LEFT_OUT, **entry}
        self._keys(entry)
        if len(self.problems) > before:
            return None
        self._text(entry, "name", "fabric")
        self._class(entry["fabric"], family)
        self._identity(entry, taken)
        self._figure(("link_gbits_per_s",), "link-gbits/s", entry["link_gbits_per_s"])
        self._counts(entry)
        self._build(entry)
        behaviour = self._behaviour(entry["behaviour"])
        parts = self._parts(entry)
        if family is None or len(self.problems) > before:
            return None
        made = Option(
            **{key: entry[key] for key in _AS_WRITTEN},
            **parts,
            gpus_of=tuple(entry["gpus_of"]),
            on_sale=None if entry["on_sale"] is None else date.fromisoformat(entry["on_sale"]),
            colour=entry["colour"] or family.colour,
            behaviour=family.behaviour.changed(behaviour),
            file=self.located.file,
        )
        return replace(made, lines={n.path: self.located.line_of((*self.at, *n.path)) for n in made.needs})

    def _keys(self, entry: Mapping[str, Any]) -> None:
        fields = [name for name in Option.__dataclass_fields__ if name not in ("unquoted", "file", "lines")]
        for key in entry:
            if key not in fields:
                self._fault((key,), "unknown key", key, suggestion=did_you_mean(key, fields))
        for key in fields:
            if key not in entry:
                self._fault((), f"the key '{key}' is missing", remedy="Add it, or start with 'like: <another option>'.")

    def _class(self, fabric: Any, family: Family | None) -> None:
        """The class of fabric is one of the collective model's, of a kind that the family has."""
        fabrics: Mapping[str, Any] = read_yaml("collectives")["fabrics"]
        if not isinstance(fabric, str) or not fabric.strip():
            return
        if fabric not in fabrics:
            hint = did_you_mean(fabric, fabrics)
            self._fault(("fabric",), "unknown fabric", fabric, f"Known: {', '.join(fabrics)}.", hint)
        elif family is not None and (kind := fabrics[fabric].get("kind")) not in family.kinds:
            remedy = f"Name a fabric of kind {' or '.join(family.kinds)}, or mend `family`."
            self._fault(("fabric",), f"is of kind {kind}, but the family is {family.id}", fabric, remedy)

    def _identity(self, entry: Mapping[str, Any], taken: set[str]) -> None:
        """Id, family, operating model, and whether it has RDMA."""
        if not isinstance(entry["id"], str) or not _ID.fullmatch(entry["id"]):
            self._fault(("id",), "must be kebab-case", entry["id"], "Lower-case words joined by hyphens.")
        elif entry["id"] in taken:
            self._fault(("id",), "this id is used already", entry["id"], "Give the option an id of its own.")
        for key, known in (("family", tuple(families())), ("operating_model", OPERATING_MODELS)):
            if entry[key] not in known:
                what = f"unknown {key.replace('_', ' ')}"
                self._fault((key,), what, entry[key], f"Known: {', '.join(known)}.", did_you_mean(entry[key], known))
        if not isinstance(entry["rdma"], bool):
            self._fault(("rdma",), "must be true or false", entry["rdma"])

    def _parts(self, entry: Mapping[str, Any]) -> dict[str, Any]:
        """What refers to prices and entries, and the notes."""
        return {
            "pieces": self._pieces(entry["pieces"]),
            "alternatives": self._alternatives(entry["alternatives"]),
            "support": self._reference(("support",), entry["support"]),
            "licence": self._licence(entry["licence"]),
            "operating_system": self._reference(("operating_system",), entry["operating_system"], optional=True),
            "management": self._management(entry["management"]),
            "training": self._reference(("training",), entry["training"], optional=True),
            "notes": self._notes(entry["notes"]),
            "say": self._say(entry["say"]),
        }

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

    def _say(self, value: Any) -> tuple[str, ...]:
        """Names that sentences may use: each a line of text, no longer than the name itself may be."""
        if not isinstance(value, list) or not all(isinstance(name, str) and name.strip() for name in value):
            self._fault(("say",), "must be a list of names, the shortest first", value)
            return ()
        return tuple(self._note(("say", i), name, MAX_NAME) for i, name in enumerate(value))

    def _note(self, path: KeyPath, note: str, longest: int = _LONGEST_NOTE) -> str:
        """What is printed in the memo: one line of text that shows as it is typed."""
        found = self.located.problem((*self.at, *path), "")
        try:
            return clean_text(note, file=found.file, line=found.line, key=found.key, max_chars=longest, one_line=True)
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
