"""What the figures of the latency section are made from: the case, the result, and lookups that several figures share."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from fabricreport.books.names import whole_names
from fabricreport.figures import FigureSpec
from fabricreport.inputs import Inputs
from fabricreport.sections.client import whole_nodes
from fabricreport.sections.latency import inputs
from fabricreport.sections.latency.gap import display
from fabricreport.sections.latency.measured import ClientLog
from fabricreport.sections.latency.result import LatencyResult
from fabricreport.validation.card import Card
from fabricreport.validation.collectives import collectives_card
from fabricreport.validation.training import training_card

THRESHOLD = "evidence:latency-worth-a-thought"
"""The extra time from which a difference between fabrics matters."""
BANDS = {
    "overall": "overall",
    "held-out": "held out",
    "64-kib": "< 64 KiB",
    "64-kib-to-64-mib": "64 KiB to 64 MiB",
    "64-mib": "> 64 MiB",
}
"""What is shown of the collectives' validation card, by the end of the figure's id."""
_SIZE_UNITS = (("gib", 2.0**30), ("mib", 2.0**20), ("kib", 2.0**10))


def slug(text: str) -> str:
    """A text as part of a ledger id."""
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")


def size_unit(size_bytes: float) -> tuple[str, float]:
    """The largest unit in which a message's size is above one, and the bytes in it."""
    return next((u for u in _SIZE_UNITS if size_bytes >= u[1]), _SIZE_UNITS[-1])


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
    def causes(self) -> Mapping[str, str]:
        """What the gap hangs on, in words, by the end of the figure's id; the largest share first."""
        return {slug(cause): cause for cause in self.result.gap.hangs_on}

    @cached_property
    def logs(self) -> Mapping[str, ClientLog]:
        """The client's logs that the model was fitted to, by their number."""
        used = self.result.measurements.used if self.result.measurements else ()
        return {str(i): log for i, log in enumerate(used)}

    @property
    def headline_gpus(self) -> int:
        """The size that the example is stated at, in whole nodes."""
        return whole_nodes(self.given, int(display()["headline_gpus"]))

    @cached_property
    def collectives(self) -> Card:
        """The validation card of the collectives."""
        return collectives_card()

    @cached_property
    def trained(self) -> Mapping[str, tuple[str, float]]:
        """The summary of the training step's card: label and error, by the end of the figure's id."""
        return {slug(label): (label, value) for label, value in training_card().summary.items()}

    @cached_property
    def baselines(self) -> Mapping[str, tuple[str, float]]:
        """The same of models that know less."""
        return {slug(label): (label, value) for label, value in training_card().baselines.items()}


Spec = FigureSpec[LatencyFigures]
EachSpec = FigureSpec[LatencyFigures, str]
PairSpec = FigureSpec[LatencyFigures, str, str]
