"""What a client replaces among the shapes of the risk model moves the risk section, and is named there."""

from __future__ import annotations

import bench
import numpy as np
import pytest
from rows import rows

from fabricreport.base.uncertain import exactly
from fabricreport.case import Case

pytestmark = pytest.mark.slow

SHAPES = {
    "incident-clustering": 0.5,
    "incident-detection-cv": 3.0,
    "fabric-complexity-reference-switches": 12.0,
}


def moved(before: Case, after: Case) -> set[str]:
    """Ids of the printed figures of the risk section that differ."""
    old, new = before.tail().numbers, after.tail().numbers
    return {i for i in new if i not in old or new[i].text != old[i].text}


@rows("entry", SHAPES)
def test_a_replaced_shape_is_drawn_and_moves_figures_that_name_it(entry: str) -> None:
    buyer, value = bench.case("example"), SHAPES[entry]
    case = buyer.changed(evidence={entry: {"low": value, "high": 2.0 * value}})
    figures = moved(buyer, case)
    named = {i for i in figures if f"evidence:{entry}" in case.tail().numbers[i].inputs}
    assert named and named >= {i for i in figures if i.startswith("tail_risk.finish_p90")}
    assert case.record(f"evidence:{entry}")["grade"] == "contract"


def test_a_replaced_correlation_moves_figures_that_name_it_as_a_chain_run_again_does() -> None:
    buyer = bench.drawn("two options")  # on few draws a share of them moves by noise alone
    case = buyer.changed(evidence={"correlation-within-group": 0.0})
    figures = moved(buyer, case)
    named = {i for i in figures if "evidence:correlation-within-group" in case.tail().numbers[i].inputs}
    assert named == figures != set()
    again = buyer.chain.replacing({"evidence:correlation-within-group": exactly(0.0)})
    option, before = buyer.options[0].id, buyer.chain.losses.lost
    np.testing.assert_array_equal(again.losses.lost[option]["bring_up"], case.chain.losses.lost[option]["bring_up"])
    assert not np.array_equal(again.losses.lost[option]["topology"], before[option]["topology"])
