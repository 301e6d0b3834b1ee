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
from fabricreport.sections.tco.figure_context import CostFigures, Spec
from fabricreport.sections.tco.inputs import Common

_MEDIAN = "evidence:mlperf-pairs-median"
_CHARGED = ("lost_communication", "lost_tail")


def compared(at: CostFigures) -> bool:
    """Whether a training client compares both families on more than one node."""
    return bool(_trains(at.given) and at.result.infiniband and at.result.rocev2)


def _trains(given: Inputs) -> bool:
    params = given.params
    return str(params.workload.kind) in TRAINING_KINDS and params.cluster.gpus > params.cluster.gpus_per_node


def gpu_time(common: Common) -> Any:
    """Present value of all GPU time installed, at what a lost hour is worth."""
    value = common.server.rent_per_gpu_hour if common.gpu_hour_value is None else common.gpu_hour_value
    return common.discounting.present_value(hours_of(common)) * value


def _charged(components: Mapping[str, Mapping[str, Any]], infiniband: str, rocev2: str) -> Any:
    first, second = components[rocev2], components[infiniband]
    return sum((first[c] - second[c] for c in _CHARGED if c in first), start=np.zeros(1))


def instead_of_our_charge(given: Inputs, bills: Bills, infiniband: str, rocev2: str) -> float | None:
    """What RoCEv2 would cost more than by the model, on average, if it took the time that the median pair took; None of a
    client who does not train on several nodes."""
    if not _trains(given):
        return None
    paired = mean_of(gpu_time(bills.common)) * given.central(_MEDIAN)
    return paired - mean_of(_charged(bills.components, infiniband, rocev2))


PAIR_SPECS = (
    Spec(
        "tco.pairs.median",
        "usd",
        label="The median pair, in money",
        rule="mean of the present value of all GPU time × Ethernet over InfiniBand training time, less one",
        value=lambda at: gpu_time(at.result.common) * at.given.central(_MEDIAN),
        inputs=(_MEDIAN, "param:cluster.gpus", "param:money.horizon_months"),
        central="mean",
        digits=2,
        when=compared,
    ),
    Spec(
        "tco.pairs.charged",
        "usd",
        label=lambda at: (
            f"What the model charges {at.names[at.result.rocev2 or '']} more than {at.names[at.infiniband]} "
            "for communication, stalls and collisions"
        ),
        rule="mean of the difference in these two causes, the cheaper option of each family",
        value=lambda at: at.given.spread(
            _charged(at.result.components, at.result.infiniband or "", at.result.rocev2 or "")
        ),
        inputs=("param:cluster.gpus", "param:money.horizon_months"),
        central="mean",
        digits=2,
        when=compared,
    ),
)
"""The figures of the check, where it is made."""
