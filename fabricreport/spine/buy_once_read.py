"""What the findings, words and tables in the body of a memo about one purchase are made of."""

from __future__ import annotations

from functools import cached_property

from fabricreport.findings import Findings
from fabricreport.provenance import mean_of
from fabricreport.sections.decision.finding import DecisionFinding
from fabricreport.sections.decision.turning import Edge, Turn
from fabricreport.sections.stance import direction
from fabricreport.spine.told import Told
from fabricreport.vocabulary import Ground, Side

MOST_CAUSES = 2
"""So many causes are named on each side of a difference."""
MOST_LEVERS = 3
"""So many measures that lower the risk are shown."""


class Read:
    """A case with what the findings and words of its body are made of."""

    def __init__(self, case: Told) -> None:
        self.case, self.given = case, case.inputs
        self.result, self.tco, self.tail = case.decision(), case.tco(), case.tail()
        self.verdict, self.ground = self.result.verdict, self.result.ground
        self.held: Findings = case.spoken("decision").findings
        self.alone = self.verdict.choice == self.verdict.runner_up
        self.small = self.ground == Ground.SIZE
        self.nodes = self.result.in_nodes
        self.pair = (self.verdict.choice, self.verdict.runner_up)

    @cached_property
    def way(self) -> str:
        """`less`, `more` or `same`: the advised option against its rival, as printed."""
        return direction(self.case.figure("decision.difference"))

    @cached_property
    def edges(self) -> tuple[tuple[Turn, Edge], ...]:
        """Where the advice changes, as page one tells it."""
        return self.result.edges()

    @cached_property
    def causes(self) -> tuple[list[str], list[str]]:
        """Causes on which the choice costs less, and those on which its rival does, the largest first."""
        if self.alone or self.nodes:
            return [], []
        means = {c: float(v) for c, v in self.tco.difference.waterfall().items() if v}
        numbers = self.tco.numbers
        printed = {c: m for c, m in means.items() if direction(numbers[f"tco.part.{c}"]) != "same"}
        ours, theirs = [c for c, m in printed.items() if m > 0], [c for c, m in printed.items() if m < 0]
        return ours[:MOST_CAUSES], theirs[:MOST_CAUSES]

    @cached_property
    def ethernet(self) -> str:
        """Of an InfiniBand option and an Ethernet one with RDMA that are compared, the latter; '' of any other two."""
        side = {o.side: o.id for o in self.given.options if o.id in (self.verdict.choice, self.verdict.runner_up)}
        return side[Side.ROCEV2] if {Side.INFINIBAND, Side.ROCEV2} == set(side) else ""

    @cached_property
    def levers(self) -> tuple[str, ...]:
        """Measures that save more than they cost, by what is left, the most first; they are worked out on a network."""
        net = {} if self.nodes else self._net
        return tuple(sorted((v for v in net if net[v] > 0), key=lambda v: -net[v])[:MOST_LEVERS])

    @cached_property
    def _net(self) -> dict[str, float]:
        """What each measure saves in the first year, its cost taken off."""
        return {v.id: mean_of(v.saved_usd) - mean_of(v.cost_usd) for v in self.tail.levers}

    @cached_property
    def outweighing(self) -> tuple[str, ...]:
        """Those of them that save more in the first year, their cost taken off, than the two compared lie apart."""
        if self.alone or self.small:
            return ()
        apart = abs(self.case.figure("decision.difference").value)
        return tuple(v for v in self.levers if self._net[v] > apart)

    def holds(self, *findings: DecisionFinding) -> bool:
        """Whether the decision found one of these."""
        return any(finding in self.held for finding in findings)
