import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rows import rows

from fabricreport.errors import InputError
from fabricreport.models.money.cashflow import (
    Discounting,
    annuity_payment,
    lease_payment,
    level,
    lump,
)
from fabricreport.provenance import Traced

law = settings(max_examples=50, deadline=None)
rates = st.floats(0.001, 0.4)
terms = st.integers(1, 120)


@rows("rate", [0.03, 0.08, 0.2])
def test_annuity_is_the_textbook_closed_form(rate):
    i = 1.0 + rate
    monthly = i ** (1 / 12) - 1
    assert annuity_payment(1000.0, rate, 48) == pytest.approx(1000 * monthly / (1 - (1 + monthly) ** -48))


def test_annuity_at_rate_zero_is_the_plain_share():
    assert annuity_payment(480.0, 0.0, 48) == pytest.approx(10.0)


def test_present_value_at_rate_zero_is_the_sum():
    flows = np.arange(25.0)
    assert Discounting(0.0).present_value(flows) == 300.0


def test_a_lease_that_returns_the_price_is_worth_the_price():
    payment = lease_payment(1000.0, 0.1, 36, residual=200.0)
    flows = level(payment, 36, after=-1, until=35) + lump(200.0, 36, 36)
    assert Discounting(0.1).present_value(flows, "fixed") == pytest.approx(1000.0)


def test_a_flow_outside_the_horizon_is_refused():
    with pytest.raises(InputError, match="within the horizon"):
        lump(1.0, 49, 48)
    with pytest.raises(InputError, match="at least one month"):
        annuity_payment(1.0, 0.1, 0)


def test_flows_start_after_and_end_at_the_given_months():
    assert list(level(2.0, 5, after=1, until=3)) == [0, 0, 2, 2, 0, 0]


@rows("fault", [{"kind": "both"}, {"rate_per_year": -1.0}, {"inflation_per_year": float("nan")}])
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


def test_provenance_survives_discounting():
    price = Traced([100.0, 120.0], {"price:x"})
    rate = Traced([0.05, 0.08], {"param:rate"})
    flows = lump(-price, 0, 12) + level(price / 10, 12)
    assert Discounting(rate).present_value(flows).inputs == {"price:x", "param:rate"}
