"""One form for every figure that is not known exactly: written, read and drawn without loss."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fabricreport.uncertain import Uncertain, exactly

VALUES = st.floats(-1e9, 1e9).map(lambda v: round(v, 6))
POSITIVE = st.floats(1e-6, 1e9)
PROBABILITIES = np.linspace(0.001, 0.999, 101)


@st.composite
def figures(draw: Any) -> Uncertain:
    """Any figure that a book or a client can state."""
    kind = draw(st.sampled_from(["number", "range", "pert", "interval"]))
    if kind == "number":
        return exactly(draw(VALUES))
    if kind == "interval":
        low = draw(POSITIVE)
        return Uncertain.of({"p5": low, "p95": low * draw(st.floats(1.001, 1e4))})
    low, middle, high = sorted(draw(st.lists(VALUES, min_size=3, max_size=3)))
    return Uncertain.of({"low": low, "high": high} if kind == "range" else {"low": low, "mode": middle, "high": high})


@settings(deadline=None)
@given(figures())
def test_what_is_written_is_read_again(figure: Uncertain) -> None:
    assert Uncertain.of(figure.written()) == figure
    assert Uncertain.of(figure) is figure


@settings(deadline=None)
@given(figures())
def test_quantiles_never_fall_and_lie_where_the_kind_says(figure: Uncertain) -> None:
    found = figure.quantile(PROBABILITIES)
    assert np.all(np.isfinite(found)) and np.all(np.diff(found) >= -1e-9 * np.abs(found[1:]))
    if figure.kind in ("range", "pert"):
        slack = 1e-9 * max(abs(figure.low), abs(figure.high))
        assert np.all((found >= figure.low - slack) & (found <= figure.high + slack))
    if figure.fixed:
        assert np.all(found == figure.central)


@settings(deadline=None)
@given(figures(), st.floats(1e-3, 1e3))
def test_another_unit_scales_every_quantile(figure: Uncertain, factor: float) -> None:
    scaled = figure.times(factor).quantile(PROBABILITIES)
    largest = factor * max(abs(figure.low), abs(figure.high), 1e-12)
    assert scaled == pytest.approx(factor * figure.quantile(PROBABILITIES), rel=1e-6, abs=1e-6 * largest)


@pytest.mark.parametrize("ends", [(2.0, 18.0), (-3.0, 5.0), (0.0, 8.2)])
def test_an_interval_passes_through_its_ends_and_its_median(ends: tuple[float, float]) -> None:
    figure = Uncertain.of({"p5": ends[0], "p95": ends[1]})
    low, median, high = figure.quantile([0.05, 0.5, 0.95])
    assert (low, high) == pytest.approx(ends, abs=1e-9)
    assert median == pytest.approx(figure.central)
    assert figure.central == pytest.approx(6.0 if ends[0] > 0 else sum(ends) / 2)


def test_a_pert_has_the_mean_of_its_three_points() -> None:
    fine = (np.arange(100_000) + 0.5) / 100_000
    assert Uncertain.of({"low": 2, "mode": 3, "high": 10}).quantile(fine).mean() == pytest.approx(4.0, rel=1e-4)


def test_only_a_number_and_a_pert_state_their_central_value() -> None:
    stated = [
        Uncertain.of(w).states_central
        for w in (1, {"low": 1, "mode": 2, "high": 3}, {"low": 1, "high": 3}, {"p5": 1, "p95": 3})
    ]
    assert stated == [True, True, False, False]


@pytest.mark.parametrize(
    "written", [{}, {"low": 1}, {"low": 1, "mode": 2}, {"p5": 1, "p95": 2, "mode": 1.5}, {"mean": 1}]
)
def test_keys_that_describe_no_figure_are_refused(written: dict[str, float]) -> None:
    with pytest.raises(ValueError, match="describe no figure"):
        Uncertain.of(written)
