"""The client's plan as a dragonfly instead of a fat tree (or the other way round): what it would cost, part by part."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from fabricreport.chain import Chain
from fabricreport.provenance import plain
from fabricreport.sections.client import rented
from fabricreport.sections.decision.besides.priced import changed_chain
from fabricreport.sections.tco.bills import Bills
from fabricreport.sections.tco.cost import FABRIC_CAUSES, LOST_CAUSES

DRAGONFLY, TREE = "dragonfly", "fat-tree"
PARTS = ("capital", "running", "lost", "total")
"""Parts of the difference: the fabric's capital, what runs it less its resale, lost GPU time, and all together."""


@dataclass(frozen=True)
class OtherTopology:
    """The same plan in the `other` topology, less the plan as it is, by option id.

    `costs`: present values (draws,) by part of `PARTS`; `switches`, `cables`: counts at the end of the plan.
    """

    other: str
    costs: Mapping[str, Mapping[str, Any]]
    switches: Mapping[str, int]
    cables: Mapping[str, int]

    @property
    def same(self) -> bool:
        """Whether it is the same fabric: one switch holds all."""
        return not any(self.switches.values()) and not any(self.cables.values())


def other_topology_of(fast: Chain, options: Sequence[str]) -> OtherTopology | None:
    """The other topology for these options; None for a renter, and where it cannot be counted for this plan."""
    planned = str(fast.given.params.cluster.topology)
    if rented(fast.given):
        return None
    other = TREE if planned == DRAGONFLY else DRAGONFLY
    again = changed_chain(fast, {"cluster__topology": other})
    if again is None:
        return None
    now, then = fast.bills, again.bills
    boms = {o: (then.built[o][-1].bom, now.built[o][-1].bom) for o in options}
    return OtherTopology(
        other,
        {o: _parts(now, then, o) for o in options},
        {o: a.switches - b.switches for o, (a, b) in boms.items()},
        {o: a.cables - b.cables for o, (a, b) in boms.items()},
    )


def _parts(now: Bills, then: Bills, option: str) -> dict[str, Any]:
    before, after = now.components[option], then.components[option]

    def apart(causes: Sequence[str]) -> Any:
        return sum(plain(after.get(c, 0.0)) - plain(before.get(c, 0.0)) for c in causes)

    total = plain(then.totals[option]) - plain(now.totals[option])
    capital, lost = apart(FABRIC_CAUSES), apart((*LOST_CAUSES, "delay"))
    return {"capital": capital, "running": total - capital - lost, "lost": lost, "total": total}
