import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from fabricreport.errors import InputError
from fabricreport.models.judgement.difference import (
    difference,
    relative_difference,
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
