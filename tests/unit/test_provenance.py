"""Arrays remember which inputs they were made from, through ordinary numpy."""

import pickle

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from rows import rows
from scipy.special import erf

from fabricreport.base.provenance import Traced, inputs_of, plain

A = Traced([1.0, 2.0, 3.0], {"a"})
B = Traced([1.0, 3.0, 2.0], {"b"})


@rows(
    "result",
    [
        A + B,
        np.maximum(A, B),
        np.stack([A, B]),
        np.where(A > 1.5, B, 0.0),
        np.concatenate([A, B]),
        A @ B,
        np.quantile(A * B, [0.1, 0.9]),
        A[B > 1],
        np.interp(A, [0, 5], [0, 1]) * B,
        erf(A) + B.mean(),
        np.clip(A, 0, B),
    ],
)
def test_numpy_unites_the_inputs_of_its_arguments(result: Traced) -> None:
    assert inputs_of(result) == {"a", "b"}


def test_a_difference_that_cancels_depends_on_nothing() -> None:
    shared = Traced([5.0, 6.0, 7.0], {"server"})
    assert inputs_of(shared - shared) == frozenset()
    assert inputs_of((A - B) + (shared - shared)) == {"a", "b"}


def test_values_are_those_of_plain_numpy() -> None:
    assert np.array_equal(plain(A * B + 1), np.array([1.0, 2.0, 3.0]) * np.array([1.0, 3.0, 2.0]) + 1)


def test_assignment_into_a_traced_array_adds_the_inputs_of_what_is_put_there() -> None:
    target = Traced([0.0, 0.0, 0.0], {"t"})
    target[1:] = B[1:]
    assert inputs_of(target) == {"t", "b"}


def test_inputs_survive_pickling_and_indexing_and_reach_containers() -> None:
    assert inputs_of(pickle.loads(pickle.dumps(A * B))) == {"a", "b"}
    assert inputs_of({"x": [A], "y": (B,)}) == {"a", "b"}


@given(st.lists(st.floats(-1e6, 1e6), min_size=3, max_size=3), st.sampled_from([np.add, np.multiply, np.minimum]))
@settings(max_examples=40, deadline=None)
def test_every_input_that_can_move_a_result_is_named(values: list[float], op: np.ufunc) -> None:
    first = op(Traced(values, {"x"}), B)
    moved = op(Traced(np.array(values) + 1.0, {"x"}), B)
    if not np.array_equal(plain(first), plain(moved)):
        assert "x" in inputs_of(first) | inputs_of(moved)
