import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from fabricreport.errors import InputError
from fabricreport.models.judgement.difference import (
    break_even,
    difference,
    rank_contributions,
    relative_difference,
    tornado,
)
from fabricreport.models.money.ownership import CostComponents
from fabricreport.provenance import Traced

law = settings(max_examples=50, deadline=None)
draws = hnp.arrays(float, 20, elements=st.floats(-1e9, 1e9))


def test_a_seeds_table_is_21_percent_less_or_27_percent_more_never_both_at_once():
    infiniband, rocev2 = 7.715e6, 6.096e6
    relative = relative_difference(infiniband, rocev2)
    assert relative.b_less_than_a == pytest.approx(0.210, abs=5e-4)
    assert relative.a_more_than_b == pytest.approx(0.266, abs=5e-4)


def test_what_both_options_share_cancels_draw_by_draw():
    servers = np.random.default_rng(1).normal(1e8, 1e7, 500)
    a = CostComponents({"servers": servers, "switches": np.full(500, 5.0)})
    b = CostComponents({"servers": servers, "switches": np.full(500, 3.0)})
    d = difference(a, b)
    assert [float(p) for p in d.percentiles] == [2.0, 2.0, 2.0]
    assert d.probability_a_cheaper == 0
    assert list(d.waterfall()) == ["switches", "servers"]


def test_a_cause_only_one_option_has_counts_in_full():
    d = difference({"rent": np.array([4.0, 6.0])}, {"servers": np.array([1.0, 9.0])})
    assert list(d.draws) == [3.0, -3.0]
    assert d.waterfall() == {"rent": 5.0, "servers": -5.0}


def test_a_tie_counts_half():
    assert difference({"x": np.zeros(4)}, {"x": np.array([0.0, 0.0, 1.0, 1.0])}).probability_a_cheaper == 0.75


def test_different_draws_are_refused():
    with pytest.raises(InputError, match="different draws"):
        difference({"x": np.zeros(4)}, {"x": np.zeros(5)})


@law
@given(draws, draws, draws)
def test_the_parts_of_a_waterfall_sum_to_the_difference(x, y, z):
    d = difference({"p": x, "q": y, "s": np.array(2.0)}, {"q": z})
    assert sum(d.parts.values()) == pytest.approx(d.draws, rel=1e-9, abs=1e-3)
    assert sum(d.waterfall().values()) == pytest.approx(float(d.mean), rel=1e-9, abs=1e-3)


@law
@given(draws, draws)
def test_swapping_the_options_turns_the_sign(x, y):
    one, other = difference({"p": x}, {"p": y}), difference({"p": y}, {"p": x})
    assert list(one.draws) == list(-other.draws)
    assert one.probability_a_cheaper + other.probability_a_cheaper == pytest.approx(1.0)


def test_a_cancelled_component_leaves_no_trace():
    servers, switch = Traced([1.0, 2.0], {"price:server"}), Traced([3.0, 5.0], {"price:switch"})
    d = difference({"servers": servers, "switches": switch}, {"servers": servers})
    assert d.draws.inputs == {"price:switch"}
    assert d.percentiles[1].inputs == d.mean.inputs == {"price:switch"}


def inputs(n=4001):
    rng = np.random.default_rng(2)
    return {"a": rng.uniform(0, 1, n), "b": rng.normal(0, 1, n), "idle": rng.uniform(0, 9, n)}


def test_a_tornado_of_a_linear_difference_has_its_slopes():
    values = inputs()
    swings = tornado(lambda x: 10 * x["a"] - 2 * x["b"], values)
    assert [s.name for s in swings] == ["a", "b", "idle"]
    p5, p95 = np.percentile(values["a"], [5, 95])
    assert swings[0].width == pytest.approx(10 * (p95 - p5))
    assert swings[1].at_low > swings[1].at_high
    assert swings[2].width == 0
    assert not swings[0].flips


def test_a_tornado_evaluates_once_for_all_inputs():
    calls = []

    def evaluate(x):
        calls.append(len(x["a"]))
        return x["a"] - 0.5

    swings = tornado(evaluate, inputs())
    assert calls == [7]
    assert swings[0].flips


def test_rank_contributions_find_the_driver_from_the_sample_alone():
    values = inputs() | {"fixed": np.ones(4001)}
    found = rank_contributions(values, np.exp(3 * values["a"]) - 0.1 * values["b"])
    assert next(iter(found)) == "a"
    assert found["a"] > 0.95 and found["b"] < 0
    assert "fixed" not in found
    assert rank_contributions(values, np.ones(4001)) == {}


def test_break_even_of_a_line_is_where_it_crosses():
    noise = np.random.default_rng(3).normal(0, 1, 999)
    noise -= noise.mean()
    found = break_even(lambda x: 2 * x - 7 + noise, 0, 10)
    assert found.value == pytest.approx(3.5)
    assert found.at_low < 0 < found.at_high


def test_break_even_on_the_median_differs_from_the_mean_when_draws_are_skewed():
    skewed = np.random.default_rng(4).lognormal(0, 1, 2001)
    mean = break_even(lambda x: skewed - x, 0, 10)
    median = break_even(lambda x: skewed - x, 0, 10, statistic="median")
    assert mean.value == pytest.approx(skewed.mean())
    assert median.value == pytest.approx(np.median(skewed))


def test_a_choice_that_never_turns_has_no_break_even():
    found = break_even(lambda x: x + np.ones(3), 0, 1)
    assert found.value is None and found.crossings == ()


def test_several_crossings_are_all_told_and_the_nearest_to_now_is_the_value():
    found = break_even(lambda x: (x - 1) * (x - 4) + np.zeros(3), 0, 5.1, start=4.5)
    assert found.crossings == pytest.approx((1, 4))
    assert found.value == pytest.approx(4)


def test_a_crossing_on_the_grid_is_found_once():
    assert break_even(lambda x: x - 5 + np.zeros(2), 0, 10).crossings == (5.0,)


@pytest.mark.parametrize(("low", "high", "statistic"), [(1, 1, "mean"), (2, 1, "mean"), (0, 1, "mode")])
def test_break_even_refuses_an_empty_range_or_unknown_statistic(low, high, statistic):
    with pytest.raises(InputError):
        break_even(lambda x: x, low, high, statistic=statistic)
