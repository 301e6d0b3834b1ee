"""What the evidence section finds: the quantities on which sources disagree, which of them bear on a client, and the audit of claims."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from fabricreport.base.yaml_files import read_yaml
from fabricreport.books.evidence import EvidenceBook, read_evidence
from fabricreport.books.prices.book import Price
from fabricreport.books.publications import read_claims
from fabricreport.inputs.inputs import Inputs
from fabricreport.ledger.numbers import Number
from fabricreport.models.audit import claims
from fabricreport.models.audit.disagreement import Contested, Position
from fabricreport.scenario import Params


def audit(evidence: EvidenceBook | None = None) -> tuple[claims.AuditedClaim, ...]:
    """Every claim with what its own inputs come to and the verdict; `evidence` defaults to the shipped library."""
    return claims.audit(read_claims(), read_evidence() if evidence is None else evidence)


ALWAYS, IF_USED, TABLE = "all", "used", "table"
LOG_FROM = 20.0
"""A quantity whose highest statement is more than this many times its lowest is drawn on a logarithmic scale."""
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


@dataclass(frozen=True)
class Disagreement:
    """A contested quantity with the name prose gives it, and the mark of the clients on whom it bears.

    `leave_out` are ids of positions that are not told, because their figure is of another thing.
    """

    quantity: Contested
    short: str
    mark: str
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
    def told(self) -> tuple[Position, ...]:
        """What sources say; our own assumptions only where nobody says anything."""
        return tuple(p for p in self.stated if not p.ours) or self.stated

    @property
    def alone(self) -> bool:
        """Whether one publisher alone states a number, so that nobody disagrees."""
        return len({p.publisher for p in self.stated if not p.ours}) < 2

    @property
    def wide(self) -> bool:
        """Whether the statements lie so far apart that only a logarithmic scale shows them all."""
        lowest, highest = min(p.low for p in self.stated), max(p.high for p in self.stated)
        return lowest > 0 and highest / lowest > LOG_FROM


def disagreements(given: Inputs) -> tuple[Disagreement, ...]:
    """Every contested quantity, in the order of `assurance.yaml`, which names them."""
    marks = {item["id"]: item for item in read_yaml("assurance")["contested"]}
    order = {name: place for place, name in enumerate(marks)}
    found = []
    for quantity in map(given.contested, given.quantities):
        item = marks.get(quantity.id, {"short": quantity.what, "bears_on": IF_USED})
        found.append(Disagreement(quantity, item["short"], item["bears_on"], tuple(item.get("leave_out", ()))))
    return tuple(sorted(found, key=lambda d: order.get(d.id, len(order))))


def bearing(given: Inputs, used: frozenset[str]) -> tuple[Disagreement, ...]:
    """The contested quantities that bear on the case and on which two publishers or more speak.

    One bears when an input behind the advice (`used`) is among its admissible figures, or when its mark says so.
    """
    mine = traits(given.params)

    def bears(found: Disagreement) -> bool:
        drawn = any(f"evidence:{p.id}" in used for p in found.quantity.admissible)
        return found.mark in mine or (drawn and found.mark != TABLE)

    return tuple(d for d in disagreements(given) if bears(d) and not d.alone)


def traits(params: Params) -> frozenset[str]:
    """What decides which contested quantities matter to this client, by the marks that `assurance.yaml` uses."""
    cluster = params.cluster
    largest = max([cluster.gpus, *(s.gpus for s in cluster.trajectory)])
    found = {
        ALWAYS: True,
        "multi-node": largest > cluster.gpus_per_node,
        "buys": params.money.acquisition != "rent",
    }
    return frozenset(trait for trait, holds in found.items() if holds)


@dataclass(frozen=True)
class EvidenceResult:
    """What the advice rests on.

    `used`: ids of the evidence and prices behind the advice; `prices` those among them, past their shelf life first, then the
    oldest; `offered`: ids of inputs that only the cost of an offer rests on; `bearing`: the contested quantities that bear on
    this client.
    """

    used: frozenset[str]
    prices: tuple[Price, ...]
    offered: frozenset[str]
    bearing: tuple[Disagreement, ...]
    numbers: Mapping[str, Number]
