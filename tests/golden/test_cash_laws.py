"""Cash and time make the bill and every difference, on two hundred clients drawn at random; `make test` asks three, by the commit."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest
from test_close_laws import client

from fabricreport.base.provenance import plain

pytestmark = [pytest.mark.slow]


@pytest.mark.laws(3)
@pytest.mark.parametrize("seed", range(200))
def test_cash_and_time_make_every_bill_and_every_difference(seed: int) -> None:
    case = client(seed)[0]
    bills, figure = case.chain.bills, case.figure
    for one, other in permutations(bills.totals, 2):
        parts = plain(bills.cash_gap(one, other)) + plain(bills.time_gap(one, other))
        np.testing.assert_allclose(parts, plain(bills.gap(one, other)), rtol=0, atol=1e-3)
    for option in bills.totals:
        parts = figure(f"tco.cash.{option}").value + figure(f"tco.time.{option}").value
        assert parts == pytest.approx(float(np.mean(plain(bills.totals[option]))), rel=1e-9)
    if len(bills.totals) > 1:
        parts = figure("decision.cash").value + figure("decision.time").value
        assert parts == pytest.approx(figure("decision.difference").value, abs=1e-3)
