"""One form for every figure that is not known exactly: written, read and drawn without loss."""

from __future__ import annotations

import math
from typing import Any, Literal, get_args, get_origin

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import BaseModel
from pydantic.fields import FieldInfo
from rows import rows
from scipy import stats

from fabricreport.base import units
from fabricreport.base.bounds import Bound, bound_of, price_bound
from fabricreport.base.project import PARAMS
from fabricreport.base.uncertain import Uncertain, exactly
from fabricreport.base.units import QUANTITIES
from fabricreport.base.yaml_files import read_yaml
from fabricreport.books.evidence import read_evidence
from fabricreport.books.fields import Unit
from fabricreport.books.prices.book import PriceBook, baseline
from fabricreport.books.prices.rules import rules
from fabricreport.books.sellers import read_providers
from fabricreport.inputs.records import param_record
from fabricreport.models.draws import Sampler
from fabricreport.models.fabric.bill import energy_usd_per_month
from fabricreport.models.money.ownership import bring_up_share, gpu_hours
from fabricreport.models.risk.incidents import Cluster, IncidentLaw
from fabricreport.scenario import Bounds, Params, load_params

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


@rows("ends", [(2.0, 18.0), (-3.0, 5.0), (0.0, 8.2)])
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


@rows("written", [{}, {"low": 1}, {"low": 1, "mode": 2}, {"p5": 1, "p95": 2, "mode": 1.5}, {"mean": 1}])
def test_keys_that_describe_no_figure_are_refused(written: dict[str, float]) -> None:
    with pytest.raises(ValueError, match="describe no figure"):
        Uncertain.of(written)


def test_every_slice_of_the_unit_interval_is_hit_once() -> None:
    u = Sampler(7, 512).uniforms("price:a")
    assert sorted(np.floor(u * 512).astype(int)) == list(range(512))


def test_a_stream_depends_on_seed_and_id_alone() -> None:
    assert np.array_equal(Sampler(7, 64).uniforms("a"), Sampler(7, 64).uniforms("a"))
    assert not np.array_equal(Sampler(7, 64).uniforms("a"), Sampler(8, 64).uniforms("a"))
    assert abs(np.corrcoef(Sampler(7, 4096).uniforms("a"), Sampler(7, 4096).uniforms("b"))[0, 1]) < 0.05


def test_draws_are_remembered_by_all_that_makes_them_and_nobody_writes_to_them() -> None:
    one, other = (
        Uncertain.of({"low": 1.0, "mode": 2.0, "high": 6.0}),
        Uncertain.of({"low": 1.0, "mode": 3.0, "high": 6.0}),
    )
    drawn = Sampler(7, 64, 0.5).draws(one, "a", "links")
    assert Sampler(7, 64, 0.5).draws(one, "a", "links") is drawn and not drawn.flags.writeable
    assert np.array_equal(drawn, one.quantile(Sampler(7, 64, 0.5).uniforms("a", "links")))
    asked = [(7, 64, 0.5, other, "a", "links"), (8, 64, 0.5, one, "a", "links"), (7, 64, 0.2, one, "a", "links"),
             (7, 64, 0.5, one, "b", "links"), (7, 64, 0.5, one, "a", "racks"), (7, 64, 0.5, one, "a", "")]  # fmt: skip
    assert not [row for row in asked if np.array_equal(Sampler(*row[:3]).draws(*row[3:]), drawn)]
    assert Sampler(7, 32, 0.5).draws(one, "a", "links").size == 32


def test_a_group_correlates_its_members_as_stated() -> None:
    sampler = Sampler(1, 4096, correlation=0.6)
    a, b = (stats.norm.ppf(sampler.uniforms(k, "maturity")) for k in ("a", "b"))
    assert np.corrcoef(a, b)[0, 1] == pytest.approx(0.6, abs=0.03)


@rows(
    ("figure", "p5", "p95"),
    [
        (Uncertain.of({"p5": 2.0, "p95": 8.0}), 2.0, 8.0),
        (Uncertain.of({"p5": -1.0, "p95": 3.0}), -1.0, 3.0),
        (Uncertain.of({"low": 0.0, "high": 10.0}), 0.5, 9.5),
        (exactly(3.0), 3.0, 3.0),
    ],
)
def test_quantiles_are_the_stated_ones(figure: Uncertain, p5: float, p95: float) -> None:
    assert figure.quantile([0.05, 0.95]) == pytest.approx([p5, p95])


def test_pert_has_its_mean_and_stays_between_its_ends() -> None:
    draws = Uncertain.of({"low": 1.0, "mode": 2.0, "high": 6.0}).quantile(Sampler(1, 4096).uniforms("x"))
    assert draws.mean() == pytest.approx((1 + 4 * 2 + 6) / 6, rel=1e-3)
    assert draws.min() >= 1 and draws.max() <= 6


UNITS = tuple(read_yaml("bounds")["units"])
PRICE_UNITS = tuple(read_yaml("bounds")["prices"])


def every_bound() -> list[tuple[str, Bound]]:
    return [(u, bound_of(u)) for u in UNITS] + [(u, price_bound(u)) for u in PRICE_UNITS]


@rows("unit", [q for q in QUANTITIES if q != "text"])
def test_every_unit_of_the_library_has_bounds(unit: str) -> None:
    assert bound_of(unit).low < bound_of(unit).high


def test_every_unit_of_a_price_and_no_other_has_bounds() -> None:
    assert set(PRICE_UNITS) == set(rules().units)


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


@rows("value", [math.inf, -math.inf, math.nan, 10**400, -(10**400)])
def test_what_is_not_finite_is_refused_in_every_unit(value: float) -> None:
    assert all(bound.fault(value) == "must be a finite number" for _, bound in every_bound())


@rows("value", [1e-300, 5e-324, -1e-300, 1e300])
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
    for row in (*PriceBook.read(PARAMS / "prices").rows, *baseline()):
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


@rows(
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
    params = load_params(PARAMS / "example.yaml")
    assert param_record(params, key)["unit"] == unit


def test_twelve_months_are_a_year_and_seven_days_a_week() -> None:
    assert units.HOURS_PER_MONTH * 12 == units.HOURS_PER_YEAR == 8766
    assert units.DAYS_PER_MONTH * 12 == units.DAYS_PER_YEAR == 365.25
    assert (units.HOURS_PER_WEEK, units.SECONDS_PER_DAY) == (168, 86_400)


def test_money_risk_and_work_reckon_with_the_same_year() -> None:
    """One GPU, one kW at $1 a kWh, and one incident a year, each counted over twelve months."""
    hours = float(np.sum(gpu_hours([(0, 1)], 12)))
    energy = 12 * float(energy_usd_per_month(1000.0, 1.0, 1.0)[0])
    law = IncidentLaw("x", "x", "gpu", "hardware", 1.0)
    between = 1 / float(law.events_per_hour(Cluster(1, 1.0, 1.0)))
    weeks = 52.17857142857143
    assert hours == energy == pytest.approx(between)
    assert float(bring_up_share(weeks, 12)) == pytest.approx(weeks * 168 / hours)
