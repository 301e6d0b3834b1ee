"""What the figures of the latency section are made from: the case, the result, and lookups that several figures share."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from fabricreport.books.names import whole_names
from fabricreport.figures import FigureSpec
from fabricreport.inputs import Inputs
from fabricreport.sections.latency import inputs
from fabricreport.sections.latency.measured import ClientLog
from fabricreport.sections.latency.result import LatencyResult

THRESHOLD = "evidence:latency-worth-a-thought"
"""The extra time from which a difference between fabrics matters."""


@dataclass(frozen=True)
class LatencyFigures:
    """What the figures of the latency section are made from."""

    given: Inputs
    result: LatencyResult

    @cached_property
    def names(self) -> Mapping[str, str]:
        """Names of the options, the pair's among them, by id."""
        return whole_names((*self.given.options, *self.result.pair))

    @property
    def base(self) -> str:
        """The name of the pair's InfiniBand option."""
        return self.result.pair[0].name

    @property
    def ours(self) -> str:
        """The name of the pair's RoCEv2 option."""
        return self.result.pair[1].name

    @cached_property
    def profile(self) -> tuple[str, ...]:
        """Params behind every figure, the client's logs among them where they recalibrate the model."""
        return (*inputs.PROFILE, *(("param:measurements",) if self.recalibrated else ()))

    @property
    def recalibrated(self) -> bool:
        """Whether the client's logs recalibrate the model."""
        return bool(self.result.measurements and self.result.measurements.factors(self.given))

    @cached_property
    def logs(self) -> Mapping[str, ClientLog]:
        """The client's logs that the model was fitted to, by their number."""
        used = self.result.measurements.used if self.result.measurements else ()
        return {str(i): log for i, log in enumerate(used)}


Spec = FigureSpec[LatencyFigures]
EachSpec = FigureSpec[LatencyFigures, str]
PairSpec = FigureSpec[LatencyFigures, str, str]
