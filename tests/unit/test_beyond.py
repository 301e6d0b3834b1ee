"""What an order of criteria beyond money puts first: laws of the weights, and that the order moves the option."""

from __future__ import annotations

import numpy as np
import pytest
from bench import SHIPPED, case, changed
from hypothesis import given
from hypothesis import strategies as st
from rows import rows

from fabricreport.base.yaml_files import read_yaml
from fabricreport.models.judgement.framework import order_weights, weighted
from fabricreport.sections.decision.inputs import criteria, first_of, scores_of

CRITERIA = tuple(criteria())
ORDERS = st.lists(st.sampled_from(CRITERIA), unique=True)


@given(ORDERS)
def test_weights_add_up_to_one_and_keep_the_order(order: list[str]) -> None:
    weights = order_weights(order, CRITERIA)
    assert set(weights) == set(CRITERIA) and sum(weights.values()) == pytest.approx(1.0)
    stated = [weights[c] for c in order]
    assert stated == sorted(stated, reverse=True)
    rest = {round(weights[c], 12) for c in CRITERIA if c not in order}
    assert len(rest) <= 1 and all(w <= min(stated, default=1.0) + 1e-12 for w in rest)


def test_the_weights_of_an_order_are_the_mean_of_all_that_keep_it() -> None:
    drawn = -np.sort(-np.random.default_rng(1).dirichlet(np.ones(5), 50_000), axis=1)
    assert list(order_weights(CRITERIA, CRITERIA).values()) == pytest.approx(drawn.mean(axis=0), abs=0.005)


@given(ORDERS, st.lists(st.floats(0, 1), min_size=5, max_size=5))
def test_an_option_that_is_better_on_every_criterion_is_first(order: list[str], scores: list[float]) -> None:
    lesser = dict(zip(CRITERIA, scores, strict=True))
    better = {c: value + 0.1 for c, value in lesser.items()}
    assert first_of(weighted({"lesser": lesser, "better": better}, order_weights(order, CRITERIA))) == "better"
    assert first_of(weighted({"one": lesser, "same": lesser}, order_weights(order, CRITERIA))) == ""


@pytest.mark.slow
@rows("name", SHIPPED)
def test_every_option_has_a_score_on_every_criterion(name: str) -> None:
    for option in case(name).options:
        found = scores_of(case(name).inputs, option)
        assert set(found) == set(CRITERIA) and all(0 <= value <= 1 for value in found.values())


def test_a_rule_without_a_condition_closes_every_criterion() -> None:
    last = {rule["criterion"]: rule["when"] for rule in read_yaml("beyond")["rules"]}
    assert last == {criterion: {} for criterion in CRITERIA}


@pytest.mark.slow
def test_nothing_is_first_where_no_order_is_stated_and_the_order_moves_what_is() -> None:
    assert case("example").decision().beyond_first == ""
    house = {"organisation__existing_infiniband": "large", "organisation__qos_expertise": "none"}
    orders = (["lock-in"], ["skills"])
    firsts = [changed("example", **house, organisation__beyond_money=o).decision().beyond_first for o in orders]
    assert firsts[1] == "infiniband-ndr" != firsts[0]
