"""The inputs of the central case: one draw, through the same functions as the sample, in which every uncertain input has its
central value and each price is the book's.

Written, each input that a model asks for is told by its id in the formula of what is made of it.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from fabricreport.base.memory import fresh_copy
from fabricreport.base.provenance import Traced
from fabricreport.base.written import Written, leaf
from fabricreport.inputs.inputs import Inputs
from fabricreport.inputs.replacements import InForce
from fabricreport.models.audit.disagreement import Contested
from fabricreport.models.draws import Central, Sampler


class Centre(Inputs):
    """Inputs at their central values; what is one number in the sample (`of`) is one here, and the rest an array of one draw."""

    def __init__(self, of: Inputs, *, writes: bool = False) -> None:
        vars(self).update(vars(fresh_copy(of)))
        self.of, self.writes = of, writes
        self.draws, self._values, self._traced, self._noted = 1, {}, False, []

    @property
    def sampler(self) -> Sampler:
        """The middle of every stream."""
        return Central(int(self.params.seed), 1)

    def tagged(self, values: Any, ids: set[str]) -> Traced:
        """Bare numbers; written, a price as it is quoted."""
        made = super().tagged(values, ids)
        quoted = self.writes and np.ndim(values) == 0 and len(ids) == 1 and not isinstance(values, Written)
        return leaf(made, *ids) if quoted else made  # type: ignore[return-value]

    def rate(self, source: str) -> Any:
        """Units of the memo's currency for one of `source`."""
        rate = self.prices.rate(source, self.currency)
        self._note(*rate.inputs)
        if not rate.inputs or not self.writes:
            return rate.rate
        stated = self.central(rate.inputs[0])
        if len(rate.inputs) > 1:
            return leaf(rate.rate, f"rate:{source}")
        return leaf(stated, rate.inputs[0]) if rate.rate == stated else 1.0 / leaf(stated, rate.inputs[0])

    def _valued(self, found: InForce) -> Traced:
        made: Any = self._as_stated(found)
        made = made * self.rate(found.currency) if self._converted(found) else made
        return made.reshape(()) if self.of.value(found.id).ndim == 0 else made  # type: ignore[no-any-return]

    def _as_stated(self, found: InForce) -> Traced:
        if not self.writes or isinstance(found.value, Contested):
            return super()._as_stated(found)
        if found.follows != found.id:
            return self.own(found.follows)
        self._note(found.id)
        return leaf([found.figure.central], found.id)  # type: ignore[return-value]
