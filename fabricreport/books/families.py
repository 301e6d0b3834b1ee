"""The families of fabrics, read from data: what the memo calls them, how they are drawn, how they behave.

Every key of `evidence/families.yaml` is documented at its head.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, fields
from functools import cache
from pathlib import Path
from typing import Any

from fabricreport.behaviour import Behaviour
from fabricreport.errors import InputError, Problem
from fabricreport.evidence import ROOT
from fabricreport.hostile_text import clean_text
from fabricreport.located import KeyPath, Located, did_you_mean
from fabricreport.strict_yaml import load_strict
from fabricreport.vocabulary import Side

SHIPPED_FILE = ROOT / "families.yaml"
_ID = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")
_COLOUR = re.compile(r"#[0-9a-f]{6}")
_MAX_NAME = 40  # characters
_OF_FAMILY = ("config_label", "manager", "skill")
"""Parts of a behaviour that stand at the family itself."""
_TEXTS = ("name", "short_name", "config_label")
_KEYS = (
    "id",
    "name",
    "short_name",
    "side",
    "colour",
    "kinds",
    "cloud_partner",
    *_OF_FAMILY,
    "risk",
    "tuning",
    "staff",
    "behaviour",
)
UNITS: Mapping[str, tuple[str, ...]] = {
    "weeks": ("week",),
    "config_faults": ("1/cluster-year",),
    "neighbours": ("relative",),
    "reroute": ("s",),
    "reduction": ("x",),
    "step": ("us",),
    "share": ("share", "x"),
    "staff": ("x",),
    **dict.fromkeys(("stalls", "contention", "link_failure", "link_flap", "tuning"), ("share",)),
}
"""The units that can serve each role of a behaviour."""
ROLES = tuple(f.name for f in fields(Behaviour) if f.name not in _OF_FAMILY)
"""What an option may answer otherwise than its family."""


@dataclass(frozen=True)
class Family:
    """One family: its names, the side whose arguments hold for it, its colour, kinds of classes, and how it behaves.

    `cloud_partner`: whether NVIDIA's cloud partners may run it between nodes.
    """

    id: str
    name: str
    short_name: str
    side: str
    colour: str
    kinds: tuple[str, ...]
    cloud_partner: bool
    behaviour: Behaviour


@cache
def families() -> Mapping[str, Family]:
    """The shipped families by id."""
    return read_families(SHIPPED_FILE)


def read_families(path: Path) -> dict[str, Family]:
    """The families of a file by id; `InputError` with every fault found, each with file, line and key."""
    located = load_strict(path)
    rows = located.data
    if not isinstance(rows, list):
        raise InputError(located.problem((), "must be a list of families", remedy="Begin each with '- id: ...'."))
    found: dict[str, Family] = {}
    problems: list[Problem] = []
    for i, row in enumerate(rows):
        try:
            family = _family(located, (i,), row)
        except InputError as error:
            problems += error.problems
            continue
        if family.id in found:
            problems.append(located.problem((i, "id"), "this id is used already", value=family.id))
        found[family.id] = family
    if problems:
        raise InputError(problems)
    return found


def _family(located: Located, at: KeyPath, row: Any) -> Family:
    if not isinstance(row, dict):
        raise InputError(located.problem(at, "a family must be a mapping of keys"))
    faults = [
        located.problem((*at, key), "unknown key", value=str(key), suggestion=did_you_mean(key, _KEYS))
        for key in row
        if key not in _KEYS
    ]
    faults += [located.problem(at, f"the key '{key}' is missing") for key in _KEYS if key not in row]
    faults = faults or [
        located.problem((*at, key), what, value=str(row[key])) for key, good, what in _checks(row) if not good
    ]
    if faults:
        raise InputError(faults)
    text = {key: _text(located, (*at, key), row[key]) for key in _TEXTS}
    behaviour = _usual(row, text["config_label"]).changed(roles_of(located, (*at, "behaviour"), row["behaviour"]))
    named = (
        row["id"],
        text["name"],
        text["short_name"],
        row["side"],
        row["colour"],
        tuple(row["kinds"]),
        row["cloud_partner"],
    )
    return Family(*named, behaviour)


def _checks(row: dict[str, Any]) -> list[tuple[str, bool, str]]:
    """What each key must be, and whether it is."""
    found = [(key, isinstance(row[key], str) and bool(row[key].strip()), "must be text") for key in _TEXTS]
    found += [(key, _name(row[key]), "must be the prefix of entries") for key in ("risk", "staff")]
    found += [
        (key, row[key] is None or _name(row[key]), "must be the prefix of entries, or null")
        for key in ("tuning", "manager")
    ]
    return [
        *found,
        ("id", isinstance(row["id"], str) and bool(_ID.fullmatch(row["id"])), "must be kebab-case"),
        ("side", row["side"] in tuple(Side), f"must be one of {', '.join(Side)}"),
        ("colour", isinstance(row["colour"], str) and bool(_COLOUR.fullmatch(row["colour"])), "must be #rrggbb"),
        ("kinds", _names(row["kinds"]) and bool(row["kinds"]), "must be a list of kinds of classes"),
        ("skill", isinstance(row["skill"], bool), "must be true or false"),
        ("cloud_partner", isinstance(row["cloud_partner"], bool), "must be true or false"),
    ]


def _usual(row: dict[str, Any], config_label: str) -> Behaviour:
    """The behaviour that the prefixes of a family make."""
    return Behaviour(
        weeks=f"weeks-to-stable-{row['risk']}",
        stalls=f"shared-stall-share-{row['risk']}",
        contention=f"fat-tree-contention-{row['risk']}",
        neighbours=f"noisy-neighbour-slowdown-{row['risk']}",
        config_faults=f"config-faults-{row['risk']}-per-year",
        config_label=config_label,
        link_failure="link-failure-interrupts-share",
        link_flap="link-flap-interrupts-share",
        reroute="flap-stall-seconds",
        reduction="",
        step="",
        share="",
        tuning=f"fabric-tuning-{row['tuning']}" if row["tuning"] else "",
        staff=f"fabric-fte-factor-{row['staff']}",
        manager=row["manager"] or "",
        skill=row["skill"],
    )


def roles_of(located: Located, at: KeyPath, value: Any) -> dict[str, str]:
    """The answers that a `behaviour:` names, by role; null is none. `InputError` for a role that no behaviour has."""
    if not isinstance(value, dict):
        raise InputError(located.problem(at, "must map roles to ids of entries", value=str(value)))
    faults = [
        located.problem((*at, role), "unknown role", value=str(role), suggestion=did_you_mean(role, ROLES))
        for role in value
        if role not in ROLES
    ]
    faults += [
        located.problem((*at, role), "must be the id of an entry, or null", value=str(entry))
        for role, entry in value.items()
        if role in ROLES and entry is not None and not _name(entry)
    ]
    if faults:
        raise InputError(faults)
    return {role: entry or "" for role, entry in value.items()}


def _name(value: Any) -> bool:
    return isinstance(value, str) and bool(
        re.fullmatch(r"((evidence|contested|price):)?[a-z0-9]+([-.][a-z0-9]+)*", value)
    )


def _names(value: Any) -> bool:
    return isinstance(value, list) and all(_name(one) for one in value)


def _text(located: Located, at: KeyPath, value: Any) -> str:
    found = located.problem(at, "")
    longest = 100 if at[-1] == "config_label" else _MAX_NAME
    return clean_text(value, file=found.file, line=found.line, key=found.key, max_chars=longest, one_line=True)
