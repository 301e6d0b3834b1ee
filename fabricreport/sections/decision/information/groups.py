"""What could be found out: groups of inputs, and tests that show some of them with noise (`evidence/information.yaml`)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import lru_cache

from fabricreport.evidence import read_yaml


@dataclass(frozen=True)
class Group:
    """Inputs that are found out together: patterns of their ids."""

    id: str
    name: str
    patterns: tuple[str, ...]


@dataclass(frozen=True)
class Reading:
    """What a test reads: patterns of ids, and the entry of its noise, a share of the mean of what is read."""

    patterns: tuple[str, ...]
    noise: str


@dataclass(frozen=True)
class Probe:
    """Something to do before signing. `to`: `cloud`, `builder` or both.

    `work`, `time`, `nodes`: names of entries: the engineer's hours it takes; how long it holds GPUs of each fabric ('' for
    none), on how many nodes ('' for the whole cluster).
    """

    id: str
    name: str
    to: tuple[str, ...]
    sees: tuple[Reading, ...]
    work: str
    time: str
    nodes: str

    @property
    def entries(self) -> tuple[str, ...]:
        """Ids of the entries that it rests on."""
        names = (self.work, self.time, self.nodes, *(reading.noise for reading in self.sees))
        return tuple(f"evidence:{name}" for name in names if name)


@lru_cache(maxsize=1)
def read_groups() -> tuple[Group, ...]:
    """Every group, in the order of the file."""
    return tuple(Group(g["id"], g["name"], tuple(g["ids"])) for g in read_yaml("information")["groups"])


@lru_cache(maxsize=1)
def read_probes() -> tuple[Probe, ...]:
    """Every test, in the order of the file."""
    return tuple(
        Probe(
            t["id"],
            t["name"],
            tuple(t["to"]),
            tuple(Reading(tuple(r["ids"]), r["noise"]) for r in t["sees"]),
            t["work"],
            t.get("time", ""),
            t.get("nodes", ""),
        )
        for t in read_yaml("information")["tests"]
    )


def among(ids: Iterable[str], patterns: Sequence[str]) -> tuple[str, ...]:
    """The ids that fit one of the patterns."""
    return tuple(i for i in ids if any(fnmatchcase(i, p) for p in patterns))
