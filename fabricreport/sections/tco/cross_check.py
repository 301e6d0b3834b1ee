"""What others measured, in money: like-for-like training pairs on this client's GPU time, beside what the model charges.

The pairs are ten MLPerf results with the same round, benchmark, GPU model and count on two fabrics. They differ in team,
servers and software too, so they check the size of the model's own charge and replace none of it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from fabricreport.inputs import Inputs
from fabricreport.provenance import mean_of
from fabricreport.sections.latency.inputs import TRAINING_KINDS
from fabricreport.sections.tco.bills import Bills
from fabricreport.sections.tco.cost import hours_of
from fabricreport.sections.tco.inputs import Common
from fabricreport.sections.tco.result import TcoResult

MEDIAN_PAIR = "evidence:mlperf-pairs-median"
"""Id of what the median pair took longer."""
_CHARGED = ("lost_communication", "lost_tail")


def compared(given: Inputs, result: TcoResult) -> bool:
    """Whether a training client compares both families on more than one node."""
    return bool(_trains(given) and result.infiniband and result.rocev2)


def _trains(given: Inputs) -> bool:
    params = given.params
    return str(params.workload.kind) in TRAINING_KINDS and params.cluster.gpus > params.cluster.gpus_per_node


def gpu_time(common: Common) -> Any:
    """Present value of all GPU time installed, at what a lost hour is worth."""
    value = common.server.rent_per_gpu_hour if common.gpu_hour_value is None else common.gpu_hour_value
    return common.discounting.present_value(hours_of(common)) * value


def charged(components: Mapping[str, Mapping[str, Any]], infiniband: str, rocev2: str) -> Any:
    """What the model charges RoCEv2 more for communication, stalls and collisions (draws,)."""
    first, second = components[rocev2], components[infiniband]
    return sum((first[c] - second[c] for c in _CHARGED if c in first), start=np.zeros(1))


def instead_of_our_charge(given: Inputs, bills: Bills, infiniband: str, rocev2: str) -> float | None:
    """What RoCEv2 would cost more than by the model, on average, if it took the time that the median pair took; None of a
    client who does not train on several nodes."""
    if not _trains(given):
        return None
    paired = mean_of(gpu_time(bills.common)) * given.central(MEDIAN_PAIR)
    return paired - mean_of(charged(bills.components, infiniband, rocev2))
