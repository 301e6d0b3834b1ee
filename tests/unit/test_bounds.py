"""One table says what a figure of each unit may be, and everything that people and sellers write is held against it."""

from __future__ import annotations

import math
from typing import Any, Literal, get_args, get_origin

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel
from pydantic.fields import FieldInfo

from fabricreport.books.evidence import read_evidence
from fabricreport.books.prices.book import PriceBook, baseline
from fabricreport.books.prices.rules import rules
from fabricreport.books.providers import read_providers
from fabricreport.books.units import QUANTITIES
from fabricreport.bounds import Bound, bound_of, price_bound
from fabricreport.evidence import read_yaml
from fabricreport.project import PROJECT
from fabricreport.records import param_record
from fabricreport.scenario import Bounds, Params, load_params
from fabricreport.scenario.fields import Unit

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
    assert {unit for unit, bound in every_bound() if bound.least < 0} == {"relative"}


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
        for value in () if entry.kind == "text" else (entry.low, entry.mid, entry.high):
            assert not bound_of(entry.unit).fault(value), entry.id
    for row in (*PriceBook.read(PROJECT / "params" / "prices").rows, *baseline()):
        for value in (row.price, row.low, row.high):
            assert value is None or not price_bound(row.unit, row.currency).fault(value), row


def flat(annotation: Any) -> list[type]:
    parts = [a for a in get_args(annotation) if a is not Ellipsis] if get_origin(annotation) is not Literal else []
    return [arm for part in parts for arm in flat(part)] or ([annotation] if isinstance(annotation, type) else [])


def numeric_fields(model: type[BaseModel]) -> list[tuple[str, FieldInfo]]:
    found = []
    for name, field in model.model_fields.items():
        arms = flat(field.annotation)
        found += [pair for arm in arms if issubclass(arm, BaseModel) for pair in numeric_fields(arm)]
        if {int, float} & set(arms):
            found.append((f"{model.__name__}.{name}", field))
    return found


def test_every_number_of_the_params_states_its_unit_and_lies_within_its_bounds() -> None:
    fields = dict(numeric_fields(Params))
    assert len(fields) > 25
    without = {name for name, f in fields.items() if not any(isinstance(m, Unit | Bounds) for m in f.metadata)}
    assert without == set()
    for name, field in fields.items():
        default = field.get_default()
        for limits in (m for m in field.metadata if isinstance(m, Unit)):
            assert limits.bound.low < limits.bound.high, name
            assert not isinstance(default, int | float) or not limits.bound.fault(default), name


@pytest.mark.parametrize(
    ("key", "unit"),
    [
        ("money.horizon_months", "month"),
        ("cluster.gpus", "gpus"),
        ("workload.run_days", "day"),
        ("cluster.links_per_gpu", "count"),
        ("workload.model_parameters_billion", "billion"),
        ("money.gpu_hour_value", "usd/gpu-hour"),
        ("cluster.gpu", "text"),
        ("seed", "seed"),
    ],
)
def test_the_unit_of_a_param_in_the_ledger_is_the_schemas(key: str, unit: str) -> None:
    params = load_params(PROJECT / "params" / "example.yaml")
    assert param_record(params, key)["unit"] == unit
