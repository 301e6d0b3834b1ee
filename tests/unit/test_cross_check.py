"""The published pairs in money: the arithmetic by hand, and words that follow sign and size."""

from __future__ import annotations

import bench
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rows import rows

from fabricreport.evidence import read_rows
from fabricreport.sections.tco.cross_check import Agreement, agreement
from fabricreport.validation.training import pair_differences

AMOUNTS = st.floats(-1e9, 1e9)


@rows(
    ("charged", "median", "expected"),
    [
        (340_000, 940_000, Agreement.LESS),
        (940_000, 940_000, Agreement.LIKE),
        (470_000, 940_000, Agreement.LIKE),
        (2_000_000, 940_000, Agreement.MORE),
        (-1.0, 940_000, Agreement.OPPOSED),
        (1.0, -940_000, Agreement.OPPOSED),
        (0.0, 940_000, Agreement.LESS),
    ],
)
def test_the_words_follow_sign_and_size(charged: float, median: float, expected: Agreement) -> None:
    assert agreement(charged, median) is expected


@given(AMOUNTS, AMOUNTS)
def test_exchanging_the_fabrics_changes_no_word(charged: float, median: float) -> None:
    assert agreement(-charged, -median) is agreement(charged, median)


@pytest.mark.slow
def test_the_pairs_in_money_are_their_shares_of_all_gpu_time() -> None:
    found = bench.case("example").tco()
    numbers = found.numbers
    worth = numbers["tco.pairs.gpu_time"].value
    differences = sorted(pair_differences())
    assert len(differences) == len(read_rows("mlperf_pairs")) == 10
    middle = (differences[4] + differences[5]) / 2
    assert numbers["tco.pairs.median"].value == pytest.approx(worth * middle, rel=0.01)
    assert numbers["tco.pairs.low"].value == pytest.approx(worth * differences[0], rel=0.01)
    assert numbers["tco.pairs.high"].value == pytest.approx(worth * differences[-1], rel=0.01)
    charged = sum(
        numbers[f"tco.{cause}.rocev2-branded-400g"].value - numbers[f"tco.{cause}.infiniband-ndr"].value
        for cause in ("lost_communication", "lost_tail")
    )
    assert numbers["tco.pairs.charged"].value == pytest.approx(charged, rel=1e-6)


@pytest.mark.slow
def test_work_that_no_pair_is_like_gets_no_such_check() -> None:
    case = bench.case("example")
    for changes in ({"workload__kind": "inference-multi-node"}, {"options": ("infiniband-ndr", "ethernet-tcp")}):
        assert not [i for i in case.changed(**changes).tco().numbers if i.startswith("tco.pairs")]
