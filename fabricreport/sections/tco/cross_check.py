"""What others measured, in money: like-for-like training pairs on this client's GPU time, beside what the model charges.

The pairs are ten MLPerf results with the same round, benchmark, GPU model and count on two fabrics. They differ in team,
servers and software too, so they check the size of the model's own charge and replace none of it.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from fabricreport.sections.latency.inputs import TRAINING_KINDS
from fabricreport.sections.tco.cost import hours_of
from fabricreport.sections.tco.figure_context import CostFigures, Spec

_MEDIAN = "evidence:mlperf-pairs-median"
_CHARGED = ("lost_communication", "lost_tail")


def compared(at: CostFigures) -> bool:
    """Whether a training client compares both families on more than one node."""
    params = at.given.params
    trains = str(params.workload.kind) in TRAINING_KINDS and params.cluster.gpus > params.cluster.gpus_per_node
    return bool(trains and at.result.infiniband and at.result.rocev2)


def gpu_time(at: CostFigures) -> Any:
    """Present value of all GPU time installed, at what a lost hour is worth."""
    common = at.result.common
    value = common.server.rent_per_gpu_hour if common.gpu_hour_value is None else common.gpu_hour_value
    return common.discounting.present_value(hours_of(common)) * value


def _charged(at: CostFigures) -> Any:
    lost = at.result.components
    first, second = lost[at.result.rocev2 or ""], lost[at.result.infiniband or ""]
    return sum((first[c] - second[c] for c in _CHARGED if c in first), start=np.zeros(at.given.sampler.size))


PAIR_SPECS = (
    Spec(
        "tco.pairs.median",
        "usd",
        label="The median pair, in money",
        rule="mean of the present value of all GPU time × Ethernet over InfiniBand training time, less one",
        value=lambda at: gpu_time(at) * at.given.central(_MEDIAN),
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
        value=_charged,
        inputs=("param:cluster.gpus", "param:money.horizon_months"),
        central="mean",
        digits=2,
        when=compared,
    ),
)
"""The figures of the check, where it is made."""
