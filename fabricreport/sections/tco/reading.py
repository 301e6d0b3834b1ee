"""A cost study as its sentences ask about it: which causes differ, which hours are worth less, what lies off a picture."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property

from fabricreport.sections.stance import Stance, direction
from fabricreport.sections.tco.figure_context import CostFigures
from fabricreport.sections.tco.gaps import cash_gaps, cash_on_scale, hour_gaps, on_scale
from fabricreport.sections.tco.list_bills import ListBill
from fabricreport.vocabulary import Side

SHOWN_CAUSES = 2
"""So many causes are named on each side of a difference."""


class CostReading(CostFigures):
    """A cost study with what its findings and words are made of."""

    @property
    def stance(self) -> Stance:
        """What the money says of the advised course."""
        return self.result.stance

    @property
    def alone(self) -> bool:
        """Whether there is one option only."""
        return self.stance == Stance.ALONE

    @property
    def compares(self) -> bool:
        """Whether an owner compares several options."""
        return self.owns and not self.alone

    @property
    def unmanaged(self) -> bool:
        """Whether an owner compares InfiniBand, and no option needs the fabric manager that some have."""
        licensed = {o.id for o in self.given.options if o.licence}
        infiniband = {o.id for o in self.given.options if o.side == Side.INFINIBAND}
        pair = {self.result.choice, self.result.rival}
        return self.compares and licensed == set(self.owned.managers) and bool(pair & infiniband & licensed)

    @property
    def grows(self) -> bool:
        """Whether an owner compares options whose fabric is bought in stages."""
        return self.compares and self.result.choice in self.owned.growth

    def value(self, figure_id: str) -> float:
        """The value of a figure of the section."""
        return self.result.numbers[figure_id].value

    def way(self, figure_id: str) -> str:
        """`less`, `more` or `same`, by the figure as it is printed."""
        return direction(self.result.numbers[figure_id])

    @cached_property
    def causes(self) -> Mapping[str, float]:
        """Mean difference by cause, the largest first; those that differ, where an owner compares options."""
        if not self.compares:
            return {}
        return {c: float(mean) for c, mean in self.result.difference.waterfall().items() if mean}

    @cached_property
    def saved(self) -> list[str]:
        """Causes on which the choice costs less, the largest first."""
        return [c for c, mean in self.causes.items() if mean > 0][:SHOWN_CAUSES]

    @cached_property
    def conceded(self) -> list[str]:
        """Causes on which the rival costs less, the largest first."""
        return [c for c, mean in self.causes.items() if mean < 0][:SHOWN_CAUSES]

    @cached_property
    def without_rdma(self) -> list[str]:
        """Options without RDMA, the choice and its rival left out."""
        pair = (self.result.choice, self.result.rival)
        return [o.id for o in self.given.options if not o.rdma and o.id not in pair]

    @cached_property
    def dearer_without_rdma(self) -> str:
        """The first of them that costs a renter more than the choice; '' if none does."""
        dearer = (o for o in self.without_rdma if self.value(f"tco.difference_to_choice.{o}") > 0)
        return next(dearer, "") if self.rents else ""

    def hours(self, way: str) -> list[str]:
        """Options whose rented hour is worth less than one on the choice, more, or the same."""
        asked = () if self.owns or self.alone else (self.result.rival, *self.without_rdma)
        return [o for o in asked if self.way(f"tco.worth_less.{o}") == way]

    @cached_property
    def straddled(self) -> tuple[ListBill, ListBill] | None:
        """The cheapest and the dearest list bill of a RoCEv2 option, if InfiniBand's lies between them."""
        rows = self.owned.list_bills if self.owns else ()
        side = {o.id: o.side for o in self.given.options}
        if not rows or side[rows[0].option] != Side.INFINIBAND:
            return None
        for option in (o for o in side if side[o] == Side.ROCEV2):
            own = sorted((b for b in rows if b.option == option), key=lambda b: b.total)
            if own[0].total < rows[0].total < own[-1].total:
                return own[0], own[-1]
        return None

    @cached_property
    def suited(self) -> tuple[str, str] | None:
        """Of the choice and its rival the one whose switches the client's size fills in whole units, and the one whose it
        does not; None where both or neither are filled, or sites and stages have sizes of their own."""
        if not self.compares or self.given.params.cluster.sites > 1:
            return None
        even, own = self.owned.sweep.even, self.given.params.cluster.final_gpus
        pair = (self.result.choice, self.result.rival)
        whole, part = [o for o in pair if even[o] == own], [o for o in pair if even[o] not in (0, own)]
        return (whole[0], part[0]) if whole and part and even[part[0]] in self.owned.sweep.shown else None

    @cached_property
    def beyond_cash(self) -> list[str]:
        """Options that the picture of cash leaves out."""
        if not self.compares:
            return []
        gaps = cash_gaps(self.owned, self.result.choice, self.result.order)
        kept = cash_on_scale(gaps, self.result.rival)
        return [o for o in gaps if o not in kept]

    @cached_property
    def beyond_sweep(self) -> list[str]:
        """Options that the picture of a useful hour by size leaves out."""
        if not self.compares:
            return []
        gaps = hour_gaps(self.owned, self.result.choice, self.result.order)
        kept = on_scale(gaps, keep=self.result.rival)
        return [o for o in gaps if o not in kept]
