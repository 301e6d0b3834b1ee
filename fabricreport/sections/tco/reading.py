"""A cost study as sentences ask about it: which causes differ, whether it grows, which way a figure points."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property

from fabricreport.sections.stance import Stance, direction
from fabricreport.sections.tco.figures import CostFigures


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
        """The largest cause on which the choice costs less; none where there is no such."""
        return [c for c, mean in self.causes.items() if mean > 0][:1]
