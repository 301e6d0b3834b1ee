"""The quantities on which sources disagree, with the names that the report gives them."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from fabricreport.evidence import read_yaml
from fabricreport.inputs import Inputs
from fabricreport.models.audit.disagreement import Contested, Position

LOG_FROM = 20.0
"""A quantity whose highest statement is more than this many times its lowest is drawn on a logarithmic scale."""
_SHOWN_UNITS: Mapping[str, str] = {
    "relative": "share",
    "port-number": "count",
    "text": "ratio",
    "kbytes": "kB",
    "gbytes": "GB",
    "tbytes": "TB",
    "1/transceiver-year": "1/year",
}


def shown_unit(unit: str) -> str:
    """The unit as printed: a relative difference is a percentage."""
    return _SHOWN_UNITS.get(unit, unit)


@dataclass(frozen=True)
class Disagreement:
    """A contested quantity with the name that prose gives it; `leave_out`: positions whose figure is of another thing."""

    quantity: Contested
    short: str
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
    def wide(self) -> bool:
        """Whether the statements lie so far apart that only a logarithmic scale shows them all."""
        lowest, highest = min(p.low for p in self.stated), max(p.high for p in self.stated)
        return lowest > 0 and highest / lowest > LOG_FROM


def disagreements(given: Inputs) -> dict[str, Disagreement]:
    """Every contested quantity by id, in the order of `assurance.yaml`, which names them."""
    marks = {item["id"]: item for item in read_yaml("assurance")["contested"]}
    order = {name: place for place, name in enumerate(marks)}
    found = []
    for quantity in given.contested_quantities().values():
        mark = marks.get(quantity.id, {"short": quantity.what})
        found.append(Disagreement(quantity, mark["short"], tuple(mark.get("leave_out", ()))))
    return {d.id: d for d in sorted(found, key=lambda d: order.get(d.id, len(order)))}
