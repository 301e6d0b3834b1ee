"""Every quantity has one base: what each figure says of itself, and that a memo says one thing under one name."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import bench
import pytest
from rows import rows

from fabricreport.ledger.bases import Base, Horizon, Statistic, derived, is_money, is_time, told
from fabricreport.ledger.figures import DeclaredFigures
from fabricreport.ledger.numbers import Number
from fabricreport.memo.document.checks import base_remarks
from fabricreport.memo.document.pieces import Gathered

CLIENTS = (*bench.SHIPPED, "two nodes", "offers")
NAMING = {
    Statistic.MEAN: ("mean", "average"),
    Statistic.P90: ("P90",),
    Statistic.WORST: ("ES95",),
    Statistic.P5: ("low", "Low"),
    Statistic.P95: ("high", "High"),
    Statistic.END: ("Least", "Most"),
}
"""Words by which a label names a statistic that its unit does not have by rule."""
FIXED = {Statistic.STATED, Statistic.WHERE_LEVEL, Statistic.WHERE_CHANGED}
"""No statistics of outcomes: a price listed, a term, a threshold, a value at which something turns."""


def figures(name: str) -> Iterator[Number]:
    case = bench.case(name)
    for section in case.params.sections:
        numbers = case.result(section).numbers
        if isinstance(numbers, DeclaredFigures):
            yield from numbers.values()


def breaks_the_rule(number: Number) -> bool:
    """Whether an amount is no mean, or an uncertain time no median, and its name does not say so."""
    by_rule = Statistic.MEAN if is_money(number.unit) else Statistic.MEDIAN if is_time(number.unit) else None
    said = number.based.statistic
    if by_rule in (None, said) or said in FIXED or (is_time(number.unit) and number.spread is None):
        return False
    return not any(word in number.label for word in NAMING.get(said, ()))


@pytest.mark.slow
@rows("name", CLIENTS)
def test_an_amount_is_a_mean_and_a_time_a_median_or_its_name_says_otherwise(name: str) -> None:
    found = list(figures(name))
    assert found
    assert not [(n.id, n.unit, n.based.statistic, n.label) for n in found if breaks_the_rule(n)]
    assert not [n.id for n in found if not n.based.quantity]
    middles = {"mean": Statistic.MEAN, "p50": Statistic.MEDIAN}
    assert not [n.id for n in found if n.spread and n.based.statistic != middles[n.central]]


@pytest.mark.slow
@rows("name", CLIENTS)
def test_all_figures_of_a_client_have_one_name_and_one_value_on_one_base(name: str) -> None:
    assert list(base_remarks(ledger_of(*figures(name)))) == []


def ledger_of(*numbers: Number) -> Gathered:
    """What a memo that prints these holds of them."""
    ledger: dict[str, dict[str, Any]] = {n.id: n.as_dict() for n in numbers}
    return Gathered(ledger=ledger, ledger_where={i: f"cell of {i}" for i in ledger})


def number(id: str, value: float, label: str, base: Base, unit: str = "usd") -> Number:
    return Number(id, value, unit, label, "made up", base=base)


WHOLE, YEAR = (Base("total cost", Statistic.MEAN, horizon=h, about=("a",)) for h in (Horizon.WHOLE, Horizon.FIRST_YEAR))
PAIRS = {
    "one name for two bases": (number("x", 1, "Cost of A", WHOLE), number("y", 2, "Cost of A", YEAR), 1),
    "two bases, two names": (number("x", 1, "Cost of A", WHOLE), number("y", 2, "First-year cost of A", YEAR), 0),
    "two values of one quantity": (number("x", 1, "Cost of A", WHOLE), number("y", 2, "Cost of A", WHOLE), 1),
    "two names of one quantity": (number("x", 1, "Cost of A", WHOLE), number("y", 1, "Price of A", WHOLE), 1),
    "one quantity quoted twice": (number("x", 1, "Cost of A", WHOLE), number("y", 1, "Cost of A", WHOLE), 0),
    "another unit": (number("x", 1, "Cost of A", WHOLE), number("y", 2, "Share of A", WHOLE, "share"), 0),
}


@rows("name", PAIRS)
def test_a_second_base_stands_under_a_name_of_its_own(name: str) -> None:
    one, other, faults = PAIRS[name]
    found = list(base_remarks(ledger_of(one, other)))
    assert len(found) == faults
    assert all("cell of x" in fault and "cell of y" in fault for fault in found)


def test_a_base_is_derived_from_the_label_the_unit_and_the_draws() -> None:
    statistics = {
        ("usd", "mean", True): Statistic.MEAN,
        ("week", "p50", True): Statistic.MEDIAN,
        ("usd", "", False): Statistic.MEAN,
        ("gpus", "", False): Statistic.COUNT,
        ("week", "", False): Statistic.STATED,
    }
    for (unit, central, drawn), statistic in statistics.items():
        assert derived("A", unit, central, drawn=drawn).statistic == statistic


def test_a_base_is_told_in_one_line() -> None:
    base = Base("GPU time lost to start-up", Statistic.MEAN, horizon=Horizon.WHOLE, of="GPU time")
    assert told(base.as_dict()) == "GPU time lost to start-up: mean, over the horizon, as a share of GPU time"
