"""The families of fabrics, read from data: what the memo calls them, how they are drawn, how they behave.

Every key of `evidence/families.yaml` is documented at its head.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from functools import cache, cached_property
from pathlib import Path
from typing import Annotated, Any

from annotated_types import Len
from pydantic import Field

from fabricreport.behaviour import Behaviour
from fabricreport.books.fields import CLOSED, NULL_IS_NONE, Id, Keyed, one_of, text, written
from fabricreport.books.reader import judged, repeated
from fabricreport.errors import InputError
from fabricreport.evidence import ROOT
from fabricreport.strict_yaml import load_strict
from fabricreport.vocabulary import Side

SHIPPED_FILE = ROOT / "families.yaml"
_OF_FAMILY = ("config_label", "manager", "skill")
"""Parts of a behaviour that stand at the family itself."""
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

_ENTRY = r"((evidence|contested|price):)?[a-z0-9]+([-.][a-z0-9]+)*"
_Name = Annotated[str, text(40)]
_Prefix = Annotated[str, written(_ENTRY, "the prefix of entries")]
_PrefixOrNone = Annotated[str, written(_ENTRY, "the prefix of entries, or null"), NULL_IS_NONE]
Roles = Annotated[
    Mapping[
        Annotated[str, one_of(lambda: ROLES, "a role of a behaviour")],
        Annotated[str, written(_ENTRY, "the id of an entry, or null"), NULL_IS_NONE],
    ],
    Field(alias="behaviour", description="Ids of entries by their roles, such as weeks."),
]
"""The answers that a `behaviour:` names, by role; null, held as '', is none."""


@dataclass(frozen=True)
class Family:
    """One family: its names, the side whose arguments hold for it, kinds of classes, and how it behaves.

    `cloud_partner`: whether NVIDIA's cloud partners may run it between nodes. `risk`, `tuning`, `staff` and `manager` are
    prefixes of entries, '' where there are none.
    """

    __pydantic_config__ = CLOSED
    id: Id
    name: _Name
    short_name: _Name
    side: Side
    kinds: Annotated[tuple[_Prefix, ...], Len(1), Field(description="Kinds of the classes in collectives.yaml.")]
    cloud_partner: bool
    config_label: Annotated[str, text(100)]
    manager: _PrefixOrNone
    skill: bool
    risk: _Prefix
    tuning: _PrefixOrNone
    staff: _Prefix
    roles: Roles

    @cached_property
    def behaviour(self) -> Behaviour:
        """The behaviour that the prefixes make, but for what the file says otherwise."""
        usual = Behaviour(
            weeks=f"weeks-to-stable-{self.risk}",
            stalls=f"shared-stall-share-{self.risk}",
            contention=f"fat-tree-contention-{self.risk}",
            neighbours=f"noisy-neighbour-slowdown-{self.risk}",
            config_faults=f"config-faults-{self.risk}-per-year",
            config_label=self.config_label,
            link_failure="link-failure-interrupts-share",
            link_flap="link-flap-interrupts-share",
            reroute="flap-stall-seconds",
            reduction="",
            step="",
            share="",
            tuning=f"fabric-tuning-{self.tuning}" if self.tuning else "",
            staff=f"fabric-fte-factor-{self.staff}",
            manager=self.manager,
            skill=self.skill,
        )
        return usual.changed(self.roles)


_FILE: Any = Annotated[Mapping[str, Family], Keyed("id")]


@cache
def families() -> Mapping[str, Family]:
    """The shipped families by id."""
    return read_families(SHIPPED_FILE)


def read_families(path: Path) -> Mapping[str, Family]:
    """The families of a file by id; `InputError` with every fault found, each with file, line and key."""
    located = load_strict(path)
    found, problems = judged(located, _FILE)
    problems += repeated(located, (), "id", "this id is used already")
    if problems or found is None:
        raise InputError(problems)
    return dict(found)
