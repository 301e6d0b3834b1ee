import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fabricreport.errors import InputError
from fabricreport.models.money.staffing import StaffRule, fabric_fte, staff_usd_per_year

RULE = StaffRule(0.3, 1.0, 2.5, 0.3, 1.2)


@pytest.mark.parametrize(("gpus", "fte"), [(8, 0.36), (128, 0.36), (129, 1.2), (1024, 1.2), (2048, 3.36)])
def test_staff_follow_the_scale_tiers(gpus, fte):
    assert fabric_fte(gpus, RULE) == pytest.approx(fte)


def test_staff_cost_is_pay_times_loading():
    assert staff_usd_per_year(np.array([1.0, 2.0]), 130_390, 1.4) == pytest.approx([182_546, 365_092])


def test_no_gpus_is_refused():
    with pytest.raises(InputError):
        fabric_fte(0, RULE)


@settings(max_examples=50, deadline=None)
@given(st.integers(1, 40_000), st.integers(0, 40_000), *[st.floats(0, 5)] * 4)
def test_a_larger_cluster_never_needs_fewer_people(gpus, more, small, mid, large, per):
    rule = StaffRule(small, mid, large, per)
    assert fabric_fte(gpus + more, rule) >= fabric_fte(gpus, rule)
