"""Which figures a chart hatches: those that this memo's own assumptions move."""

from __future__ import annotations

from typing import Any

import numpy as np

from fabricreport.inputs import Inputs
from fabricreport.ledger import CARRIED, carried
from fabricreport.provenance import inputs_of, plain
from fabricreport.vocabulary import Grade


def assumed(given: Inputs, value: Any) -> bool:
    """Whether assumptions carry more than `CARRIED` of the range of draws; of what has no range, whether it rests on any."""
    ids = sorted(i for i in inputs_of(value) if given.record(i)["grade"] == Grade.ASSUMPTION)
    draws = np.atleast_1d(plain(value))
    if not ids or np.ptp(draws) == 0:
        return bool(ids)
    return carried(draws, [plain(given.draw(i)) for i in ids]) > CARRIED
