"""How many people look after a fabric of a given size: a stated rule over ranges that are assumptions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fabricreport.errors import InputError, Problem
from fabricreport.models.money.cashflow import array

SMALL_GPUS, MID_GPUS, LARGE_GPUS = 128, 1024, 2048
"""The sizes that staff is stated for."""


@dataclass(frozen=True)
class StaffRule:
    """Full-time staff for the fabric by size (scalars or arrays over draws).

    `small` to 128 GPUs, `mid` at 1,024, `large` at 2,048, in between in proportion, and `per_1024_more` for each further
    1,024 GPUs; all times `factor`, the multiple of the family, the maturity and the switches. `effort` multiplies that again, but adds or saves
    no more than `most_apart` posts. `markup`: what a post costs over an employed one; `own`: posts at any size beside.
    """

    small: Any
    mid: Any
    large: Any
    per_1024_more: Any
    factor: Any = 1.0
    effort: Any = 1.0
    most_apart: Any = np.inf
    markup: Any = 1.0
    own: Any = 0.0


def fabric_fte(gpus: int, rule: StaffRule) -> NDArray[np.float64]:
    """Posts to pay for the fabric of `gpus` GPUs: never fewer than a smaller one has in the same draw."""
    if gpus < 1:
        raise InputError(Problem("must be at least 1", key="gpus", value=str(gpus)))
    small, mid = array(rule.small), np.maximum(array(rule.small), array(rule.mid))
    large = np.maximum(mid, array(rule.large))
    staff = (
        small + (mid - small) * _part(gpus, SMALL_GPUS, MID_GPUS) + (large - mid) * _part(gpus, MID_GPUS, LARGE_GPUS)
    )
    more = max(0.0, (gpus - LARGE_GPUS) / MID_GPUS) * array(rule.per_1024_more)
    staff = (staff + more) * array(rule.factor)
    apart = np.clip(staff * (array(rule.effort) - 1.0), -array(rule.most_apart), array(rule.most_apart))
    return array((staff + apart) * array(rule.markup) + array(rule.own))


def _part(gpus: int, start: int, end: int) -> float:
    """How far a size is on the way from one to another, from 0 to 1."""
    return min(max((gpus - start) / (end - start), 0.0), 1.0)


def staff_usd_per_year(fte: Any, pay_usd: Any, loading: Any) -> NDArray[np.float64]:
    """Yearly cost of `fte` people: pay times the cost of employment over wages."""
    return array(array(fte) * array(pay_usd) * array(loading))
