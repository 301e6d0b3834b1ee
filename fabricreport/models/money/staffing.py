"""How many people look after a fabric of a given size: a stated rule over ranges that are assumptions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fabricreport.errors import InputError, Problem
from fabricreport.models.money.cashflow import array

SMALL_GPUS, MID_GPUS = 128, 1024
"""The upper ends of the first two scale tiers."""


@dataclass(frozen=True)
class StaffRule:
    """Full-time staff for the fabric by scale tier (scalars or arrays over draws).

    `small` to 128 GPUs, `mid` to 1,024, `large` above that, plus `per_1024_more` for each further 1,024 GPUs,
    pro rata; all times `factor`, the multiple of the family, the maturity and the switches.
    """

    small: Any
    mid: Any
    large: Any
    per_1024_more: Any
    factor: Any = 1.0


def fabric_fte(gpus: int, rule: StaffRule) -> NDArray[np.float64]:
    """Full-time equivalents for the fabric of `gpus` GPUs: never fewer than the tier below has in the same draw."""
    if gpus < 1:
        raise InputError(Problem("must be at least 1", key="gpus", value=str(gpus)))
    staff = array(rule.small)
    if gpus > SMALL_GPUS:
        staff = np.maximum(staff, array(rule.mid))
    if gpus > MID_GPUS:
        more = (gpus - MID_GPUS) / MID_GPUS
        staff = np.maximum(staff, array(rule.large)) + more * array(rule.per_1024_more)
    return array(staff * array(rule.factor))


def staff_usd_per_year(fte: Any, pay_usd: Any, loading: Any) -> NDArray[np.float64]:
    """Yearly cost of `fte` people: pay times the cost of employment over wages."""
    return array(array(fte) * array(pay_usd) * array(loading))
