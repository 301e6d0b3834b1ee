"""Where models were tried: sizes and kinds of work outside of that, and how much wider a range is there.

One rule for every fabric: a share of GPU time that a model gives outside its range is drawn wider about the same mean, by
the factor of one library entry, and a box at the figure says so. The mean is kept, so that not knowing more favours no
option. A client's log has a rule of its own (`latency.inputs.speaks_for`): outside its range it moves nothing.
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum
from typing import Any

import numpy as np

from fabricreport.inputs.inputs import Inputs
from fabricreport.sections.client import mix_of, one_node, stages_of

_MOST = 0.99


class Outside(StrEnum):
    """A way in which a client lies outside what a model was tried on."""

    MIXTURE = "a mixture of experts"
    SIMULATION = "a simulation"
    INFERENCE = "inference"
    FEW = "fewer GPUs"
    MANY = "more GPUs"


STEP = frozenset(Outside)
"""What takes the model of a step out of its range."""
GOODPUT = STEP - {Outside.MIXTURE}
"""What takes the model of goodput out of its range: faults end a job whatever it trains."""
_KINDS = {
    "pretraining-moe": Outside.MIXTURE,
    "mixed": Outside.MIXTURE,
    "hpc-simulation": Outside.SIMULATION,
    "inference": Outside.INFERENCE,
    "inference-multi-node": Outside.INFERENCE,
}


def outside(given: Inputs, gpus: int, model: Iterable[Outside] = STEP) -> tuple[Outside, ...]:
    """In what ways a model is outside its range for this client at a size; none where it was tried on such runs."""
    found = [_KINDS[kind]] if (kind := str(given.params.workload.kind)) in _KINDS else []
    if gpus < given.central("evidence:validated-from-gpus"):
        found.append(Outside.FEW)
    if gpus > given.central("evidence:validated-up-to-gpus"):
        found.append(Outside.MANY)
    known = frozenset(model)
    return tuple(one for one in found if one in known)


def beyond(given: Inputs, model: Iterable[Outside] = STEP) -> tuple[Outside, ...]:
    """In what ways a model is outside its range for any job that the client plans and that spans several nodes."""
    jobs = {size for _, gpus in stages_of(given) for size, _ in mix_of(given, gpus)}
    sizes = [gpus for gpus in sorted(jobs) if not one_node(given, gpus)]
    return tuple(dict.fromkeys(one for gpus in sizes for one in outside(given, gpus, model)))


def widened(given: Inputs, gpus: int, share: Any, model: Iterable[Outside] = STEP) -> Any:
    """Draws of a share as they are inside the range, and wider about the same mean outside it."""
    if not outside(given, gpus, model):
        return share
    return wider(share, given.central("evidence:outside-range-factor"))


def wider(share: Any, factor: float) -> Any:
    """Draws whose ratios to one another are raised to a power, their mean kept; what is zero stays zero."""
    raised = np.asanyarray(share, dtype=float) ** factor
    mean = np.mean(raised)
    level = np.mean(np.asanyarray(share, dtype=float)) / (mean if np.asarray(mean) > 0 else 1.0)
    return np.minimum(raised * level, _MOST)
