"""What the diligence section rests on: the client's inputs and the other studies, with the comparison they share."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, replace
from typing import Any

from fabricreport.base.provenance import Traced
from fabricreport.base.uncertain import Uncertain
from fabricreport.books.options import Option
from fabricreport.inputs.inputs import Inputs
from fabricreport.ledger.numbers import Number
from fabricreport.models.information import Estimate
from fabricreport.models.judgement.comparison import Comparison
from fabricreport.models.training.step import Network
from fabricreport.sections.client import one_node
from fabricreport.sections.latency import inputs as network_inputs
from fabricreport.sections.latency.result import LatencyResult
from fabricreport.sections.tail_risk.result import TailResult
from fabricreport.sections.tco.result import Bills, TcoResult


@dataclass(frozen=True)
class Within:
    """The work in jobs within nodes, where that is advised: its `total` cost (draws,), and the same with some inputs set."""

    total: Traced
    moved: Callable[[Mapping[str, Uncertain]], Any]


@dataclass(frozen=True)
class Ground:
    """The inputs and the studies of the other sections.

    `tested`: the option that the acceptance test is written for, the advised one if it is not named. `moved`: the bills
    with some inputs set and all others at their draws. `informs`: what knowing inputs, by id, is worth to the choice.
    `joins_nodes`: whether what is advised joins nodes by a network. `within`: the work in jobs within nodes, None where that is
    not advised.
    """

    given: Inputs
    latency: LatencyResult
    tail: TailResult
    tco: TcoResult
    comparison: Comparison
    moved: Callable[[Mapping[str, Uncertain]], Bills]
    informs: Callable[[Collection[str]], Estimate]
    joins_nodes: bool
    within: Within | None
    tested: str = ""

    @property
    def option(self) -> Option:
        """The option for which the acceptance test is written."""
        return self._named(self.tested or self.comparison.choice)

    @property
    def rival(self) -> Option:
        """The option it is held against."""
        return self._named(self.comparison.rival)

    def number(self, id: str, value: Any, unit: str, *, label: str, rule: str, **more: Any) -> Number:
        """A number of the test; where it is the rival's, its name says so, for the advised option has the same test."""
        if not self.tested:
            return self.given.number(id, value, unit, label=label, rule=rule, **more)
        made = self.given.number(id, value, unit, label=f"{label}: {self.option.name}", rule=rule, **more)
        return replace(made, base=replace(made.based, about=(self.option.id,)))

    @property
    def networked(self) -> bool:
        """Whether the first order holds a network between nodes."""
        return self.joins_nodes and not one_node(self.given, int(self.given.params.cluster.gpus))

    @property
    def total(self) -> Traced:
        """Total cost of what is advised, (draws,): of the option, or of the work within nodes."""
        return self.tco.totals[self.option.id] if self.within is None else self.within.total

    def total_with(self, figures: Mapping[str, Uncertain]) -> Any:
        """The same with some inputs set."""
        return self.moved(figures).totals[self.option.id] if self.within is None else self.within.moved(figures)

    def network(self, option: Option, every: int) -> Network:
        """An option's network as this client would run it; `every` keeps one draw in so many."""
        measurements = self.latency.measurements
        factors = measurements.factors(self.given) if measurements else None
        return network_inputs.network(self.given, option, every=every, measured=factors)

    def _named(self, option_id: str) -> Option:
        return next(o for o in self.given.options if o.id == option_id)
