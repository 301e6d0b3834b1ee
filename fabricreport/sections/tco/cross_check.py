"""What others measured, in money: like-for-like training pairs on this client's GPU time, beside what the model charges.

The pairs are ten MLPerf results with the same round, benchmark, GPU model and count on two fabrics. They differ in team,
servers and software too, so they check the size of the model's own charge and replace none of it.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Any

import numpy as np

from fabricreport.evidence import read_rows
from fabricreport.provenance import plain
from fabricreport.sections.latency.inputs import TRAINING_KINDS
from fabricreport.sections.tco.cost import hours_of
from fabricreport.sections.tco.figure_context import CostFigures, Spec

_MEDIAN, _RANGE = "evidence:mlperf-pairs-median", "evidence:mlperf-pairs-range"
_CHARGED = ("lost_communication", "lost_tail")
_LIKE = 2.0
"""Two amounts of the same sign are of like size if neither is more than so many times the other."""


class Agreement(StrEnum):
    """How the model's charge stands to the median pair."""

    LIKE = "the same way, and of like size"
    LESS = "the same way, and the model charges far less"
    MORE = "the same way, and the model charges far more"
    OPPOSED = "opposite ways"


def compared(at: CostFigures) -> bool:
    """Whether a training client compares both families on more than one node."""
    params = at.given.params
    trains = str(params.workload.kind) in TRAINING_KINDS and params.cluster.gpus > params.cluster.gpus_per_node
    return bool(trains and at.result.infiniband and at.result.rocev2)


def agreement(charged: float, median: float) -> Agreement:
    """How a charge stands to the median pair, both in money; a charge of nothing is far less."""
    if charged * median < 0:
        return Agreement.OPPOSED
    if abs(charged) * _LIKE < abs(median):
        return Agreement.LESS
    return Agreement.MORE if abs(charged) > abs(median) * _LIKE else Agreement.LIKE


def gpu_time(at: CostFigures) -> Any:
    """Present value of all GPU time installed, at what a lost hour is worth."""
    common = at.result.common
    value = common.server.rent_per_gpu_hour if common.gpu_hour_value is None else common.gpu_hour_value
    return common.discounting.present_value(hours_of(common)) * value


def _charged(at: CostFigures) -> Any:
    lost = at.result.components
    first, second = lost[at.result.rocev2 or ""], lost[at.result.infiniband or ""]
    return sum((first[c] - second[c] for c in _CHARGED if c in first), start=np.zeros(at.given.sampler.size))


def _in_money(name: str, label: str, ratio: Any, entry: str) -> Spec:
    return Spec(
        f"tco.pairs.{name}",
        "usd",
        label=label,
        rule="mean of the present value of all GPU time × Ethernet over InfiniBand training time, less one",
        value=lambda at: gpu_time(at) * ratio(at),
        inputs=(entry, "param:cluster.gpus", "param:money.horizon_months"),
        central="mean",
        digits=2,
        when=compared,
    )


PAIR_SPECS = (
    Spec(
        "tco.pairs.gpu_time",
        "usd",
        label="Value of all GPU time over the horizon",
        rule="mean of the present value of installed GPU-hours × value of a lost hour",
        value=gpu_time,
        inputs=("param:cluster.gpus", "param:money.horizon_months"),
        central="mean",
        when=compared,
    ),
    _in_money("median", "The median pair, in money", lambda at: at.given.central(_MEDIAN), _MEDIAN),
    _in_money("low", "The pair least favourable to InfiniBand, in money", lambda at: _end(at, "low"), _RANGE),
    _in_money("high", "The pair most favourable to InfiniBand, in money", lambda at: _end(at, "high"), _RANGE),
    Spec(
        "tco.pairs.charged",
        "usd",
        label=lambda at: (
            f"What the model charges {at.names[at.result.rocev2 or '']} more than {at.names[at.infiniband]} "
            "for communication and the tail"
        ),
        rule="mean of the difference in these two causes, the cheaper option of each family",
        value=_charged,
        inputs=("param:cluster.gpus", "param:money.horizon_months"),
        central="mean",
        digits=2,
        when=compared,
    ),
    Spec(
        "tco.pairs.gpus",
        "gpus",
        label="GPUs of the largest pair",
        rule="largest of the pairs",
        value=lambda _: float(max(int(row["gpus"]) for row in read_rows("mlperf_pairs"))),
        inputs=(_MEDIAN,),
        counted=True,
        when=compared,
    ),
)
"""The figures of the check, where it is made."""


def _end(at: CostFigures, end: str) -> float:
    return float(getattr(at.given.uncertain(_RANGE), end))


def stands(at: CostFigures) -> tuple[Agreement, bool]:
    """How the charge stands to the median pair, and whether it lies within the range of all pairs."""
    charged, low, median, high = (
        float(plain(at.result.numbers[f"tco.pairs.{name}"].value)) for name in ("charged", "low", "median", "high")
    )
    return agreement(charged, median), low <= charged <= high
