"""What the figures of a decision are made from: the case, the result, and lookups that figures of several folders share."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from fabricreport.base.provenance import inputs_of
from fabricreport.sections.client import OptionNames
from fabricreport.sections.decision.result import DecisionResult
from fabricreport.sections.tco.result import Bills

if TYPE_CHECKING:
    from fabricreport.sections.decision.steps import Monday

HORIZON, DATE = "param:money.horizon_months", "param:schedule.production_by"
"""Ids of the client's choices that most amounts and most chances rest on."""


@dataclass(frozen=True)
class DecisionContext(OptionNames):
    """What the figures of a decision are made from; `steps`: what to do before signing, which rests on other sections too."""

    result: DecisionResult
    bills: Bills
    steps: Callable[[], Monday]

    @property
    def choice(self) -> str:
        """The name of the advised option."""
        return self.names[self.result.verdict.choice]

    @property
    def rival(self) -> str:
        """The name of its runner-up."""
        return self.names[self.result.verdict.runner_up]

    @cached_property
    def everything(self) -> frozenset[str]:
        """Ids of every input that the difference rests on."""
        return inputs_of(self.result.difference)
