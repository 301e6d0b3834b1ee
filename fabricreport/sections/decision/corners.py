"""What the lead is worth under each convention of licences: as sold, and with managers or switch systems charged on every
option or left out of each. Nothing but the licences differs, and the outcomes are the same."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from fabricreport.chain import Chain
from fabricreport.models.judgement.comparison import Comparison
from fabricreport.provenance import Traced
from fabricreport.scenario import changed_params
from fabricreport.vocabulary import Charge

CORNERS: Mapping[str, tuple[Charge, Charge]] = {
    "as-sold": (Charge.AS_SOLD, Charge.AS_SOLD),
    "both": (Charge.CHARGED, Charge.CHARGED),
    "managers": (Charge.CHARGED, Charge.LEFT_OUT),
    "systems": (Charge.LEFT_OUT, Charge.CHARGED),
    "neither": (Charge.LEFT_OUT, Charge.LEFT_OUT),
}
"""The conventions by key: what becomes of the managers' licences, and of the switch systems'."""


@dataclass(frozen=True)
class Corner:
    """One convention; `gap` (draws,) is the rival's total cost less the advised option's under it."""

    key: str
    gap: Traced

    @property
    def manager(self) -> Charge:
        """What becomes of the licences of managers."""
        return CORNERS[self.key][0]

    @property
    def system(self) -> Charge:
        """What becomes of the licences of switch systems."""
        return CORNERS[self.key][1]


def corners_of(base: Chain, comparison: Comparison) -> tuple[Corner, ...]:
    """The lead under each convention; none where nothing is compared, or where the network is part of a rent."""
    if base.given.team.rented or comparison.choice == comparison.rival:
        return ()
    return tuple(Corner(key, _gap(base, comparison, *terms)) for key, terms in CORNERS.items())


def _gap(base: Chain, comparison: Comparison, manager: Charge, system: Charge) -> Traced:
    terms = {"money__manager_licence": str(manager), "money__switch_system_licence": str(system)}
    params = changed_params(base.given.params, terms, {}, extra_options=base.given.all_options)
    return base.priced(base.given.with_params(params)).bills.gap(comparison.rival, comparison.choice)
