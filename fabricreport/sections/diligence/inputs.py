"""What the diligence section rests on: the client's inputs and the other studies, with the comparison they share."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass

from fabricreport.books.options import Option
from fabricreport.inputs import Inputs
from fabricreport.models.information import Estimate
from fabricreport.models.judgement.comparison import Comparison
from fabricreport.models.training.step import Network
from fabricreport.provenance import Traced
from fabricreport.sections.latency import inputs as network_inputs
from fabricreport.sections.latency.result import LatencyResult
from fabricreport.sections.tail_risk.result import TailResult
from fabricreport.sections.tco.bills import Bills
from fabricreport.sections.tco.result import TcoResult
from fabricreport.uncertain import Uncertain


@dataclass(frozen=True)
class Ground:
    """The inputs and the studies of the other sections.

    `tested`: the option that the acceptance test is written for, the advised one if it is not named. `moved`: the bills
    with some inputs set and all others at their draws. `informs`: what knowing inputs, by id, is worth to the choice.
    """

    given: Inputs
    latency: LatencyResult
    tail: TailResult
    tco: TcoResult
    comparison: Comparison
    moved: Callable[[Mapping[str, Uncertain]], Bills]
    informs: Callable[[Collection[str]], Estimate]
    tested: str = ""

    @property
    def option(self) -> Option:
        """The option for which the acceptance test is written."""
        return self._named(self.tested or self.comparison.choice)

    @property
    def rival(self) -> Option:
        """The option it is held against."""
        return self._named(self.comparison.rival)

    @property
    def total(self) -> Traced:
        """Total cost of the option, (draws,)."""
        return self.tco.totals[self.option.id]

    def network(self, option: Option, every: int) -> Network:
        """An option's network as this client would run it; `every` keeps one draw in so many."""
        measurements = self.latency.measurements
        factors = measurements.factors(self.given) if measurements else None
        return network_inputs.network(self.given, option, every=every, measured=factors)

    def _named(self, option_id: str) -> Option:
        return next(o for o in self.given.options if o.id == option_id)
