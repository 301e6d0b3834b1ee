"""Acceptability over weights: known answers of two criteria, and laws of an additive value."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fabricreport.models.judgement.smaa import (
    acceptability,
    exact_acceptability,
    flip_distance,
    nearest_flip,
    ordered_weights,
    uniform_weights,
    weighed,
)

unit = st.floats(0.0, 1.0).map(lambda x: round(x, 3))
tables = st.integers(2, 5).flatmap(
    lambda options: st.lists(st.lists(unit, min_size=3, max_size=3), min_size=options, max_size=options)
)


def test_with_two_criteria_acceptability_is_a_length_on_the_weight_line() -> None:
    values = np.array([[1.0, 0.0], [0.0, 0.5]])  # first where w > (1 - w) / 2  <=>  w > 1/3
    found = exact_acceptability(values)
    assert found.first == pytest.approx([2 / 3, 1 / 3])
    assert found.central == pytest.approx(np.array([[2 / 3, 1 / 3], [1 / 6, 5 / 6]]))
    assert found.confidence == pytest.approx([1.0, 1.0])
    assert weighed(values, seed=1, draws=10).first == pytest.approx([2 / 3, 1 / 3])


def test_a_stated_order_keeps_the_part_of_the_line_where_it_holds() -> None:
    values = np.array([[1.0, 0.0], [0.0, 0.5]])
    assert weighed(values, seed=1, draws=10, groups=[[0], [1]]).first == pytest.approx([1.0, 0.0])
    second = weighed(values, seed=1, draws=10, groups=[[1], [0]])  # w in (0, 1/2): first from 1/3 on
    assert second.first == pytest.approx([1 / 3, 2 / 3])
    assert second.central[0] == pytest.approx([5 / 12, 7 / 12])
    assert weighed(values, seed=1, draws=10, groups=[[0, 1]]).first == pytest.approx([2 / 3, 1 / 3])


def test_a_third_option_takes_its_piece_of_the_line() -> None:
    values = np.array([[1.0, 0.0], [0.0, 1.0], [0.6, 0.6]])  # the middle one is first for w in (0.4, 0.6)
    assert exact_acceptability(values).first == pytest.approx([0.4, 0.4, 0.2])


@given(st.lists(st.lists(unit, min_size=2, max_size=2), min_size=2, max_size=4))
@settings(max_examples=25, deadline=None)
def test_sampling_finds_the_lengths_of_the_line(table: list[list[float]]) -> None:
    values = np.array(table)
    sampled = acceptability(values, uniform_weights(7, 2, 20_000))
    assert np.abs(sampled.ranks - exact_acceptability(values).ranks).max() < 0.02


@given(tables)
@settings(max_examples=40, deadline=None)
def test_every_rank_is_held_once_and_every_option_has_one(table: list[list[float]]) -> None:
    found = weighed(np.array(table), seed=3, draws=500)
    assert found.ranks.sum(axis=0) == pytest.approx(np.ones(len(table)))
    assert found.ranks.sum(axis=1) == pytest.approx(np.ones(len(table)))
    told = found.first > 0
    assert found.central[told].sum(axis=1) == pytest.approx(np.ones(told.sum()))
    assert np.isnan(found.central[~told]).all() and not found.confidence[~told].any()


@given(tables, st.data())
@settings(max_examples=40, deadline=None)
def test_a_dominated_option_never_reorders_the_rest(table: list[list[float]], data: st.DataObject) -> None:
    values = np.array(table)
    above = values[data.draw(st.integers(0, len(table) - 1))]
    worse = above - 0.01 - np.array(data.draw(st.lists(unit, min_size=3, max_size=3)))
    weights = uniform_weights(5, 3, 400)
    before, after = acceptability(values, weights), acceptability(np.vstack([values, worse]), weights)
    assert after.first[:-1] == pytest.approx(before.first) and after.first[-1] == 0.0
    order = np.argsort(-(weights @ values.T), axis=1, kind="stable")
    with_it = np.argsort(-(weights @ np.vstack([values, worse]).T), axis=1, kind="stable")
    assert np.array_equal(order, np.array([row[row != len(table)] for row in with_it]))


def test_options_that_tie_share_their_ranks() -> None:
    found = weighed(np.full((3, 4), 0.5), seed=1, draws=50)
    assert found.ranks == pytest.approx(np.full((3, 3), 1 / 3))


def test_drawn_values_are_met_draw_by_draw() -> None:
    rng = np.random.default_rng(2)
    values = np.stack([rng.random((4000, 1)), np.full((4000, 1), 0.25)], axis=1)
    found = acceptability(values, uniform_weights(1, 1, 4000))
    assert found.first[0] == pytest.approx(0.75, abs=0.03)
    assert found.confidence[0] == pytest.approx(found.first[0])


def test_ordered_weights_are_uniform_on_their_part_of_the_simplex() -> None:
    whole = ordered_weights(1, [[2], [0], [1]], 40_000)
    assert whole.sum(axis=1) == pytest.approx(np.ones(40_000))
    assert (whole[:, 2] >= whole[:, 0]).all() and (whole[:, 0] >= whole[:, 1]).all()
    assert whole.mean(axis=0)[[2, 0, 1]] == pytest.approx([11 / 18, 5 / 18, 2 / 18], abs=0.005)  # rank-order centroid
    tied = ordered_weights(1, [[0, 1], [2]], 40_000)
    assert (tied[:, :2].min(axis=1) >= tied[:, 2]).all()
    assert tied.mean(axis=0) == pytest.approx([4 / 9, 4 / 9, 1 / 9], abs=0.005)


def test_an_order_that_leaves_a_criterion_out_is_refused() -> None:
    with pytest.raises(ValueError, match="every criterion once"):
        ordered_weights(1, [[0], [2]], 10)
    with pytest.raises(ValueError, match="two criteria"):
        exact_acceptability(np.zeros((2, 3)))


def test_flip_distance_is_the_smallest_change_of_the_weights_that_turns_the_sum() -> None:
    assert flip_distance(np.array([0.5, -0.5]), np.array([0.75, 0.25])) == pytest.approx(0.5)
    assert flip_distance(np.array([0.5, 0.1]), np.array([0.5, 0.5])) is None


def test_the_first_gives_way_to_the_nearest_of_its_rivals() -> None:
    values = np.array([[1.0, 0.0], [0.0, 1.0], [0.8, 0.5]])
    # at (0.9, 0.1) the first leads; the third draws level at w = 5/7, the second at 1/2
    assert nearest_flip(values, np.array([0.9, 0.1])) == pytest.approx(2 * (0.9 - 5 / 7))
    assert nearest_flip(values[:1], np.array([0.9, 0.1])) is None


@given(tables)
@settings(max_examples=40, deadline=None)
def test_no_smaller_change_of_the_weights_puts_another_first(table: list[list[float]]) -> None:
    values, weights = np.array(table), np.full(3, 1 / 3)
    distance = nearest_flip(values, weights)
    first = int(np.argmax(values @ weights))
    tried = uniform_weights(11, 3, 2000)
    near = tried[np.abs(tried - weights).sum(axis=1) < (2.0 if distance is None else distance - 1e-9)]
    totals = near @ values.T
    assert (totals[:, first] >= totals.max(axis=1) - 1e-9).all()
