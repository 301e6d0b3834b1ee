"""The published pairs in money: the arithmetic by hand."""

from __future__ import annotations

import bench
import numpy as np
import pytest

from fabricreport.base.provenance import plain
from fabricreport.base.yaml_files import read_rows
from fabricreport.sections.tco.cost import hours_of


@pytest.mark.slow
def test_the_pairs_in_money_are_their_shares_of_all_gpu_time() -> None:
    found = bench.case("example").tco()
    numbers = found.numbers
    common = found.common
    worth = float(np.mean(plain(common.discounting.present_value(hours_of(common)) * common.gpu_hour_value)))
    differences = sorted(float(r["eth_minutes"]) / float(r["ib_minutes"]) - 1 for r in read_rows("mlperf_pairs"))
    assert len(differences) == 10
    middle = (differences[4] + differences[5]) / 2
    assert numbers["tco.pairs.median"].value == pytest.approx(worth * middle, rel=0.01)
    charged = sum(
        numbers[f"tco.{cause}.rocev2-branded-400g"].value - numbers[f"tco.{cause}.infiniband-ndr"].value
        for cause in ("lost_communication", "lost_tail")
    )
    assert numbers["tco.pairs.charged"].value == pytest.approx(charged, rel=1e-6)


@pytest.mark.slow
def test_work_that_no_pair_is_like_gets_no_such_check() -> None:
    case = bench.case("example")
    for changes in (
        {"workload__kind": "inference-multi-node"},
        {"options": ("rocev2-whitebox-400g", "rocev2-branded-400g")},
    ):
        assert not [i for i in case.changed(**changes).tco().numbers if i.startswith("tco.pairs")]
