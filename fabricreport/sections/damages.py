"""Liquidated damages for weeks to stable, on the terms of this memo: what is promised, and what a week beyond it costs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from fabricreport.inputs import Inputs
from fabricreport.models.money.courses import loss_per_week
from fabricreport.provenance import plain
from fabricreport.sections.tco.inputs import Common

PROMISED = ("evidence:course-damages-promised",)
SHARE = ("evidence:course-damages-share", *PROMISED)


@dataclass(frozen=True)
class Terms:
    """Weeks until stable that are promised, the client's `loss` in a week more (draws,), and what of it is paid."""

    promised_weeks: float
    loss: Any
    per_week: Any


def terms(given: Inputs, common: Common, weeks: Any) -> Terms:
    """The terms of an option that takes so many `weeks` (draws,) from power-on to be stable."""
    at = given.central("evidence:course-damages-promised")
    promised = float(np.ceil(np.quantile(plain(given.spread(weeks)), at)))
    productive = given.value("evidence:bring-up-productivity")
    week = loss_per_week(common.stages[0][1], productive, common.gpu_hour_value)
    return Terms(promised, week, given.value("evidence:course-damages-share") * np.mean(week))
