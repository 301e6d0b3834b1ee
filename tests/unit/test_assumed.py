"""A chart hatches what the memo's own assumptions move."""

from types import SimpleNamespace
from typing import Any, cast

import numpy as np
from rows import rows

from fabricreport.inputs import Inputs
from fabricreport.provenance import Traced
from fabricreport.sections.assumed import assumed

RNG = np.random.default_rng(5)
OURS, THEIRS = "evidence:ours", "evidence:theirs"
DRAWS = {i: RNG.normal(1, 0.1, 4096) for i in (OURS, THEIRS)}


def hatched(value: Any) -> bool:
    records = {OURS: {"grade": "assumption"}, THEIRS: {"grade": "measured"}}
    return assumed(cast(Inputs, SimpleNamespace(record=records.__getitem__, draw=DRAWS.__getitem__)), value)


@rows(("part", "told"), [(0.0, False), (0.01, False), (0.2, True), (3.0, True)])
def test_a_bar_is_hatched_where_an_assumption_carries_a_part_of_its_range(part: float, told: bool) -> None:
    assert hatched(Traced(DRAWS[THEIRS] + part * DRAWS[OURS], {OURS, THEIRS})) is told


def test_what_has_no_range_is_hatched_where_it_rests_on_an_assumption() -> None:
    assert hatched(Traced(np.ones(4096), {OURS})) and hatched(Traced(2.0, {OURS}))
    assert not hatched(Traced(np.ones(4096), {THEIRS})) and not hatched(Traced(DRAWS[OURS], {THEIRS}))
    assert not hatched(3.0)
