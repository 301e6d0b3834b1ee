"""What a client replaces among the shapes of the risk model moves the risk section, and is named there."""

from __future__ import annotations

import numpy as np
import pytest

from fabricreport.case import Case, open_case
from fabricreport.project import PARAMS
from fabricreport.uncertain import exactly

pytestmark = pytest.mark.slow

SHAPES = {
    "incident-clustering": 0.5,
    "incident-detection-cv": 3.0,
    "fabric-complexity-reference-gpus": 256.0,
}


@pytest.fixture(scope="module")
def buyer() -> Case:
    return open_case(PARAMS / "example.yaml")


def moved(before: Case, after: Case) -> set[str]:
    """Ids of the printed figures of the risk section that differ."""
    old, new = before.tail().numbers, after.tail().numbers
    return {i for i in new if i not in old or new[i].text != old[i].text}


@pytest.mark.parametrize("entry", SHAPES)
def test_a_replaced_shape_moves_figures_that_name_it(buyer: Case, entry: str) -> None:
    case = buyer.changed(evidence={entry: SHAPES[entry]})
    figures = moved(buyer, case)
    assert figures
    named = {i for i in figures if f"evidence:{entry}" in case.tail().numbers[i].inputs}
    assert named >= {i for i in figures if i.startswith("tail_risk.finish_p90")}
    assert named
    assert case.record(f"evidence:{entry}")["grade"] == "contract"


@pytest.mark.parametrize("entry", SHAPES)
def test_an_uncertain_shape_is_drawn_and_named(buyer: Case, entry: str) -> None:
    value = SHAPES[entry]
    case = buyer.changed(evidence={entry: {"low": value, "high": 2.0 * value}})
    assert any(f"evidence:{entry}" in case.tail().numbers[i].inputs for i in moved(buyer, case))


def test_a_replaced_correlation_moves_figures_that_name_it(buyer: Case) -> None:
    case = buyer.changed(evidence={"correlation-within-group": 0.0})
    figures = moved(buyer, case)
    assert figures
    named = {i for i in figures if "evidence:correlation-within-group" in case.tail().numbers[i].inputs}
    assert named == figures


def test_a_chain_rerun_with_another_correlation_is_the_case_of_that_correlation(buyer: Case) -> None:
    what_if = buyer.chain.replacing({"evidence:correlation-within-group": exactly(0.0)})
    stated = buyer.changed(evidence={"correlation-within-group": 0.0}).chain
    option = buyer.options[0].id
    np.testing.assert_array_equal(what_if.losses.lost[option]["bring_up"], stated.losses.lost[option]["bring_up"])
    assert not np.array_equal(what_if.losses.lost[option]["topology"], buyer.chain.losses.lost[option]["topology"])
