"""One table says what a figure of each unit may be, and everything that people and sellers write is held against it."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fabricreport.books.evidence import read_evidence
from fabricreport.books.price_rules import rules
from fabricreport.books.prices import PriceBook, baseline
from fabricreport.books.providers import read_providers
from fabricreport.books.units import QUANTITIES
from fabricreport.bounds import Bound, bound_of, price_bound
from fabricreport.case import PROJECT
from fabricreport.evidence import read_yaml

UNITS = tuple(read_yaml("bounds")["units"])
PRICE_UNITS = tuple(read_yaml("bounds")["prices"])


def every_bound() -> list[tuple[str, Bound]]:
    return [(u, bound_of(u)) for u in UNITS] + [(u, price_bound(u)) for u in PRICE_UNITS]


@pytest.mark.parametrize("unit", [q for q in QUANTITIES if q != "text"])
def test_every_unit_of_the_library_has_bounds(unit: str) -> None:
    assert bound_of(unit).low < bound_of(unit).high


def test_every_unit_of_a_price_and_no_other_has_bounds() -> None:
    assert set(PRICE_UNITS) == set(rules()["units"])


def test_every_unit_that_a_seller_may_answer_in_has_bounds() -> None:
    assert all(bound_of(q.unit) for q in read_providers().questions if q.unit)


def test_every_bound_is_finite_and_says_why() -> None:
    for unit, bound in every_bound():
        assert math.isfinite(bound.low) and math.isfinite(bound.high) and bound.low < bound.high, unit
        assert bound.why and bound.beyond, unit
        assert not bound.zero or bound.low > 0, f"{unit}: zero is allowed below the least, or it is the least"


def test_a_row_of_the_table_says_nothing_else() -> None:
    known = {"low", "high", "zero", "why", "beyond", "both"}
    for part in ("units", "prices"):
        assert all(set(row) <= known for row in read_yaml("bounds")[part].values())


def test_no_count_price_power_time_or_bandwidth_may_be_negative() -> None:
    assert {unit for unit, bound in every_bound() if bound.least < 0} == {"relative", "share/year"}


def test_a_share_lies_within_nothing_and_all() -> None:
    share = bound_of("share")
    assert not share.fault(0) and not share.fault(1.0) and not share.fault({"low": 0.0, "high": 0.5})
    assert share.fault(1.0000001) and share.fault(-0.1) and share.fault({"low": 0.0, "high": 1.5}).startswith("'high'")


@pytest.mark.parametrize("value", [math.inf, -math.inf, math.nan, 10**400, -(10**400)])
def test_what_is_not_finite_is_refused_in_every_unit(value: float) -> None:
    assert all(bound.fault(value) == "must be a finite number" for _, bound in every_bound())


@pytest.mark.parametrize("value", [1e-300, 5e-324, -1e-300, 1e300])
def test_figures_on_the_edge_of_floating_point_are_refused_in_every_unit_that_cannot_be_negative(value: float) -> None:
    assert all(bound.fault(value) for _, bound in every_bound() if bound.least >= 0)


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_a_fault_is_found_exactly_where_the_figure_is_not_allowed(value: float) -> None:
    for unit, bound in every_bound():
        assert bool(bound.fault(value)) is not bound.allows(value), unit


def test_the_yen_may_have_more_digits_than_the_dollar() -> None:
    assert price_bound("each", "JPY").allows(1e10) and not price_bound("each", "USD").allows(1e10)


def test_a_compound_unit_has_the_bounds_of_what_stands_before_the_slash() -> None:
    assert bound_of("w/node") == bound_of("w")
    assert bound_of("usd/gpu-hour") != bound_of("usd")


def test_the_whole_shipped_library_and_every_shipped_price_lie_within_the_bounds() -> None:
    for entry in read_evidence().values():
        if entry.kind != "text":
            value = entry.value if isinstance(entry.value, dict) else float(entry.value)
            assert not bound_of(entry.unit).fault(value), entry.id
    for row in (*PriceBook.read(PROJECT / "params" / "prices").rows, *baseline()):
        for value in (row.price, row.low, row.high):
            assert value is None or not price_bound(row.unit, row.currency).fault(value), row
