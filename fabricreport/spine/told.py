"""What a spine may ask of a case, and how the findings of all sections are asked for by one name."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from enum import StrEnum
from typing import Protocol

from fabricreport.findings import Findings, Spoken
from fabricreport.inputs import Inputs
from fabricreport.ledger import Number
from fabricreport.located import did_you_mean
from fabricreport.sections.decision.monday.study import Monday
from fabricreport.sections.decision.result import DecisionResult
from fabricreport.sections.diligence.result import DiligenceResult
from fabricreport.sections.latency.result import LatencyResult
from fabricreport.sections.tail_risk.result import TailResult
from fabricreport.sections.tco.result import TcoResult


class Told(Protocol):
    """A case, as far as the memo's body asks it."""

    @property
    def inputs(self) -> Inputs:
        """Every input, resolved."""
        ...

    def figure(self, figure_id: str) -> Number:
        """The ledger number with this id."""
        ...

    def spoken(self, section: str) -> Spoken:
        """Findings and words of a section."""
        ...

    def decision(self) -> DecisionResult:
        """The advice."""
        ...

    def monday(self) -> Monday:
        """What to do before signing."""
        ...

    def tco(self) -> TcoResult:
        """The bills."""
        ...

    def tail(self) -> TailResult:
        """Dates, faults and levers."""
        ...

    def latency(self) -> LatencyResult:
        """Steps and messages."""
        ...

    def diligence(self) -> DiligenceResult:
        """Questions, sellers and the acceptance test."""
        ...


class AllFindings(Findings):
    """The spine's own findings and those of every section, by one name: the first that knows a name answers."""

    def __init__(self, own: Findings, sections: Sequence[Findings]) -> None:
        super().__init__(own.kind, own)
        self._asked = (own, *sections)

    def __getattr__(self, name: str) -> bool:
        if name.startswith("__") or name == "_asked":
            raise AttributeError(name)
        known = self.by_name()
        if name not in known:
            close = did_you_mean(name, known)
            raise AttributeError(f"no section has a finding {name}" + (f"; did you mean {close}?" if close else ""))
        return known[name]

    def by_name(self) -> dict[str, bool]:
        """Each finding of them all by its name, and whether it holds."""
        return {name: holds for found in reversed(self._asked) for name, holds in found.by_name().items()}

    def __iter__(self) -> Iterator[StrEnum]:
        return iter(member for member in self.kind if member in self._holds)
