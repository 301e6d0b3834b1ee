"""What a bill of materials costs to buy and how many watts it draws, at given unit prices and watts.

Prices and watts are scalars or arrays over draws; counts are whole pieces. A kind of piece that the bill needs
and that has no price is an error, never free: write 0 to leave it out on purpose.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fabricreport.durations import HOURS_PER_MONTH
from fabricreport.errors import InputError, Problem
from fabricreport.models.fabric.cabling import CableBill, with_spares
from fabricreport.models.fabric.topology import BillOfMaterials
from fabricreport.models.money.cashflow import array

Array = NDArray[np.float64]


@dataclass(frozen=True)
class PerPiece:
    """One number for each kind of piece (USD, or W), None where it is not known."""

    switch: Any = None
    nic: Any = None
    node_optic: Any = None
    switch_optic: Any = None
    dac: Any = None
    acc: Any = None
    aoc: Any = None
    fibre: Any = None

    def of(self, kind: str, count: int) -> Array:
        """`count` pieces times the number of the kind; none of an unknown kind is zero, some is an error."""
        unit = getattr(self, kind)
        if count and unit is None:
            raise InputError(
                Problem(
                    f"the fabric needs {count:,} of this kind and it has no price or watts",
                    key=kind,
                    remedy="Add a price (or 0 to leave it out on purpose), or choose a medium that does not need it.",
                )
            )
        return array(count * array(0.0 if unit is None else unit))


def pieces(bom: BillOfMaterials, cables: CableBill) -> dict[str, int]:
    """Installed pieces of each kind that `PerPiece` names."""
    return {
        "switch": bom.switches,
        "nic": cables.nics,
        "node_optic": cables.node_optics,
        "switch_optic": cables.switch_optics,
        "dac": cables.dac,
        "acc": cables.acc,
        "aoc": cables.aoc,
        "fibre": cables.fibres,
    }


GROUPS: Mapping[str, tuple[str, ...]] = {
    "switches": ("switch",),
    "optics": ("node_optic", "switch_optic", "aoc"),
    "copper and fibre": ("dac", "acc", "fibre"),
    "adapters": ("nic",),
}
"""How kinds of pieces are grouped in a bill of costs."""


@dataclass(frozen=True)
class Extras:
    """What a fabric needs beside its pieces: spares, labour, management servers.

    `spares_share` of each kind (rounded up), `labour_usd_per_cable`, `management_nodes` at
    `management_node_usd` each. Scalars or arrays over draws.
    """

    spares_share: Any = 0.0
    labour_usd_per_cable: Any = 0.0
    management_nodes: int = 0
    management_node_usd: Any = 0.0


def fabric_capex_usd(
    bom: BillOfMaterials, cables: CableBill, prices: PerPiece, extras: Extras | None = None
) -> dict[str, Array]:
    """Purchase cost by group (USD, scalars or (draws,)): the `GROUPS`, spares of each kind of piece,
    installation, management servers.

    Groups that cost nothing because nothing of theirs is needed are kept as zeros, so options compare term by
    term.
    """
    extras = extras or Extras()
    counts = pieces(bom, cables)
    out: dict[str, Array] = {}
    for group, kinds in GROUPS.items():
        cost: Array = array(0.0)
        for kind in kinds:
            cost = cost + prices.of(kind, counts[kind])
        out[group] = cost
    for kind, count in counts.items():
        if count:
            out[f"spares of {kind}"] = prices.of(kind, 1) * with_spares(count, extras.spares_share)
    out["installation"] = cables.cables * array(extras.labour_usd_per_cable)
    out["management servers"] = extras.management_nodes * array(extras.management_node_usd)
    return out


def fabric_watts(bom: BillOfMaterials, cables: CableBill, watts: PerPiece) -> dict[str, Array]:
    """Watts by group at the plug of the rack, before cooling. Switch watts are those without optics."""
    counts = pieces(bom, cables)
    passive = PerPiece(**{f.name: getattr(watts, f.name) for f in fields(PerPiece)} | _unpowered(watts))
    out: dict[str, Array] = {}
    for group, kinds in GROUPS.items():
        power: Array = array(0.0)
        for kind in kinds:
            power = power + passive.of(kind, counts[kind])
        out[group] = power
    return out


def _unpowered(watts: PerPiece) -> dict[str, float]:
    """Passive copper and glass draw next to nothing (0.1 W at most): 0 unless a figure is given."""
    return {kind: 0.0 for kind in ("dac", "fibre") if getattr(watts, kind) is None}


def energy_usd_per_month(watts: Any, usd_per_kwh: Any, pue: Any) -> tuple[Array, Array]:
    """(electricity of the equipment, electricity of cooling and losses) a month, USD: W x h x price, and PUE - 1."""
    equipment = array(watts) / 1000 * HOURS_PER_MONTH * array(usd_per_kwh)
    if np.any(array(pue) < 1):
        raise InputError(Problem("PUE cannot be below 1", key="pue", value=str(pue)))
    return equipment, equipment * (array(pue) - 1)
