"""Which contested quantities, facts and prices bear on this client."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from fabricreport.books.gpu_type import LARGEST_SERVER
from fabricreport.books.gpus import gpu_types
from fabricreport.evidence import read_yaml
from fabricreport.inputs import Inputs
from fabricreport.models.audit.disagreement import Contested, Position
from fabricreport.scenario import Params

ALWAYS, IF_USED = "all", "used"
LOG_FROM = 20.0
"""A quantity whose highest statement is more than this many times its lowest is drawn on a logarithmic scale."""


@dataclass(frozen=True)
class Fact:
    """One sentence of context with its evidence ids; `topic` groups it, `bears` says whether it matters to this client."""

    id: str
    topic: str
    text: str
    evidence: tuple[str, ...]
    bears: bool
    general: bool


@dataclass(frozen=True)
class Disagreement:
    """A contested quantity with the name prose gives it, and whether it bears on this case.

    `leave_out` are ids of positions that are not drawn, because their figure is of another thing.
    """

    quantity: Contested
    short: str
    bears: bool
    leave_out: tuple[str, ...] = ()

    @property
    def id(self) -> str:
        """The quantity's id."""
        return self.quantity.id

    @property
    def unit(self) -> str:
        """The unit as a reader is shown it."""
        return shown_unit(self.quantity.unit)

    @property
    def stated(self) -> tuple[Position, ...]:
        """The positions that state a number, the admissible ones first, each group by its middle."""
        numeric = [p for p in self.quantity.entries if not math.isnan(p.low) and p.id not in self.leave_out]
        return tuple(sorted(numeric, key=lambda p: (not p.admissible, p.mid, p.id)))

    @property
    def publishers(self) -> frozenset[str]:
        """Who states a number, this memo not among them."""
        return frozenset(p.publisher for p in self.stated if not p.ours)

    @property
    def alone(self) -> bool:
        """Whether one publisher alone states a number, so that nobody disagrees."""
        return len(self.publishers) < 2

    @property
    def wide(self) -> bool:
        """Whether the statements lie so far apart that only a logarithmic scale shows them all."""
        lowest, highest = min(p.low for p in self.stated), max(p.high for p in self.stated)
        return lowest > 0 and highest / lowest > LOG_FROM


SHOWN_UNITS: Mapping[str, str] = {
    "relative": "share",
    "port-number": "count",
    "text": "ratio",
    "kbytes": "kB",
    "gbytes": "GB",
    "tbytes": "TB",
    "1/transceiver-year": "1/year",
}
"""Units of the library whose name is not what a reader should see."""


def shown_unit(unit: str) -> str:
    """The unit as printed: a relative difference is a percentage."""
    return SHOWN_UNITS.get(unit, unit)


def traits(params: Params) -> frozenset[str]:
    """What of the context matters to this client, by the marks that `context.yaml` and `assurance.yaml` use."""
    cluster, organisation = params.cluster, params.organisation
    largest = max([cluster.gpus, *(s.gpus for s in cluster.trajectory)])
    found = {
        ALWAYS: True,
        "multi-node": largest > cluster.gpus_per_node,
        "multi-tenant": cluster.tenancy == "multi",
        "multi-subnet": cluster.subnets > 1 or cluster.sites > 1,
        "growth": bool(cluster.trajectory),
        "coexistence": "none" not in (organisation.existing_infiniband, organisation.existing_ethernet),
        "nvidia": cluster.vendor == "nvidia" and organisation.single_vendor_policy != "prefer",
        "rack-scale": cluster.gpus_per_node > LARGEST_SERVER or gpu_types().of(cluster.gpu).rack,
        "amd": cluster.vendor == "amd",
        "dragonfly": cluster.topology == "dragonfly",
        "hpc": params.workload.kind == "hpc-simulation",
        "buys": params.money.acquisition != "rent",
    }
    return frozenset(trait for trait, holds in found.items() if holds)


def facts(params: Params) -> tuple[Fact, ...]:
    """The facts of the context, those that bear on this client in particular first, then the general ones, then the rest."""
    mine = traits(params)
    found = [
        Fact(
            item["id"],
            item["topic"],
            item["text"],
            tuple(item["evidence"]),
            item["bears_on"] in mine,
            item["bears_on"] == ALWAYS,
        )
        for item in read_yaml("context")["facts"]
    ]
    return tuple(sorted(found, key=lambda f: (not f.bears, f.general)))


def disagreements(given: Inputs, used: frozenset[str]) -> tuple[Disagreement, ...]:
    """Every contested quantity; `used` are the input ids behind the case's printed numbers.

    A quantity bears on the case when a model drew on one of its admissible figures, or when its mark says so.
    """
    marks = {item["id"]: item for item in read_yaml("assurance")["contested"]}
    mine = traits(given.params)
    found = []
    for quantity in given.contested_quantities().values():
        mark = marks.get(quantity.id, {"short": quantity.what, "bears_on": IF_USED})
        drawn = any(f"evidence:{p.id}" in used for p in quantity.admissible)
        bears = mark["bears_on"] in mine or (drawn and mark["bears_on"] != "table")
        found.append(Disagreement(quantity, mark["short"], bears, tuple(mark.get("leave_out", ()))))
    order = {name: place for place, name in enumerate(marks)}
    return tuple(sorted(found, key=lambda d: order.get(d.id, len(order))))
