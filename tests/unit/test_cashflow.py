import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fabricreport.errors import InputError
from fabricreport.models.money.cashflow import (
    Discounting,
    annuity_payment,
    equivalent_per_month,
    equivalent_per_year,
    irr,
    irr_two_flows,
    lease_payment,
    level,
    lump,
    npv,
    perpetuity,
    total_flow,
)
from fabricreport.provenance import Traced

law = settings(max_examples=50, deadline=None)
rates = st.floats(0.001, 0.4)
terms = st.integers(1, 120)


@pytest.mark.parametrize("rate", [0.03, 0.08, 0.2])
def test_annuity_is_the_textbook_closed_form(rate):
    i = 1.0 + rate
    monthly = i ** (1 / 12) - 1
    assert annuity_payment(1000.0, rate, 48) == pytest.approx(1000 * monthly / (1 - (1 + monthly) ** -48))


def test_annuity_at_rate_zero_is_the_plain_share():
    assert annuity_payment(480.0, 0.0, 48) == pytest.approx(10.0)


def test_present_value_at_rate_zero_is_the_sum():
    flows = np.arange(25.0)
    assert npv(flows, 0.0) == 300.0
    assert Discounting(0.0).present_value(flows) == 300.0


def test_perpetuity_is_the_limit_of_a_long_annuity():
    assert perpetuity(5.0, 0.08) == pytest.approx(5.0 / (1.08 ** (1 / 12) - 1))
    assert npv(level(5.0, 12 * 300), 0.08) == pytest.approx(perpetuity(5.0, 0.08), rel=1e-9)
    with pytest.raises(InputError, match="above zero"):
        perpetuity(5.0, 0.0)


def test_irr_of_two_flows_is_its_closed_form():
    flows = lump(-100.0, 0, 48) + lump(np.array([150.0, 90.0]), 48, 48)
    expected = irr_two_flows(100.0, np.array([150.0, 90.0]), 48)
    assert expected == pytest.approx([1.5**0.25 - 1, 0.9**0.25 - 1])
    assert irr(flows) == pytest.approx(expected, abs=1e-9)


def test_irr_is_nan_where_no_rate_exists():
    assert np.isnan(irr(np.array([1.0, 1.0]))) and np.isnan(irr(np.array([[0.0] * 5, [2.0] * 5]))[1])


def test_equivalent_annual_cost_is_the_textbook_closed_form():
    assert equivalent_per_year(1000.0, 0.08, 48) == pytest.approx(1000 * 0.08 / (1 - 1.08**-4))
    assert equivalent_per_year(1000.0, 0.0, 48) == pytest.approx(250.0)


def test_equivalent_cost_compares_lives_of_different_length():
    short, long = equivalent_per_month(1000.0, 0.08, 36), equivalent_per_month(1500.0, 0.08, 60)
    assert short > long


def test_a_lease_that_returns_the_price_is_worth_the_price():
    payment = lease_payment(1000.0, 0.1, 36, residual=200.0)
    flows = level(payment, 36, after=-1, until=35) + lump(200.0, 36, 36)
    assert npv(flows, 0.1) == pytest.approx(1000.0)


def test_a_flow_outside_the_horizon_is_refused():
    with pytest.raises(InputError, match="within the horizon"):
        lump(1.0, 49, 48)
    with pytest.raises(InputError, match="at least one month"):
        annuity_payment(1.0, 0.1, 0)


def test_flows_start_after_and_end_at_the_given_months():
    assert list(level(2.0, 5, after=1, until=3)) == [0, 0, 2, 2, 0, 0]


@pytest.mark.parametrize("fault", [{"kind": "both"}, {"rate_per_year": -1.0}, {"inflation_per_year": float("nan")}])
def test_discounting_refuses_what_is_no_rate(fault):
    with pytest.raises(InputError):
        Discounting(**{"rate_per_year": 0.08, **fault})
    with pytest.raises(InputError, match="today or fixed"):
        Discounting(0.08).factors(12, "mixed")


@law
@given(rates, st.floats(-0.02, 0.1), terms)
def test_real_and_nominal_statements_of_one_rate_agree(real, inflation, months):
    nominal = (1 + real) * (1 + inflation) - 1
    as_real, as_nominal = Discounting(real, "real", inflation), Discounting(nominal, "nominal", inflation)
    flows = level(3.0, months)
    for kind in ("today", "fixed"):
        assert as_real.present_value(flows, kind) == pytest.approx(as_nominal.present_value(flows, kind))
    escalated = flows * (1 + inflation) ** (np.arange(months + 1) / 12)
    assert as_real.present_value(flows) == pytest.approx(as_real.present_value(escalated, "fixed"))


@law
@given(st.floats(-0.5, 2.0), st.integers(2, 60))
def test_irr_is_where_the_npv_is_zero(rate, months):
    received = level(1.0, months)
    flows = received - lump(npv(received, rate), 0, months)
    assert irr(flows) == pytest.approx(rate, abs=1e-7)


def test_provenance_survives_discounting_and_irr():
    price = Traced([100.0, 120.0], {"price:x"})
    rate = Traced([0.05, 0.08], {"param:rate"})
    flows = total_flow([lump(-price, 0, 12), level(price / 10, 12)])
    assert Discounting(rate).present_value(flows).inputs == {"price:x", "param:rate"}
    assert irr(flows).inputs == {"price:x"}
    assert np.shape(irr(flows)) == (2,)
