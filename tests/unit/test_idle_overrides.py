"""An override counts in the memo at hand, or it is refused with the reason."""

from __future__ import annotations

from pathlib import Path

import pytest

from fabricreport.case import Case, open_case
from fabricreport.checking.examine import tried_out
from fabricreport.errors import Problem
from fabricreport.inputs import Inputs

pytestmark = pytest.mark.slow

EXAMPLE = Path(__file__).parents[2] / "params" / "example.yaml"


def told(input_id: str, value: float, **keys: object) -> tuple[Problem, ...]:
    kind, _, name = input_id.partition(":")
    books = {"price": "prices"}.get(kind, kind)
    i = open_case(EXAMPLE).changed(**{books: {name: value}, **keys}).inputs  # type: ignore[arg-type]
    return tried_out(Case(Inputs(i.params, i.folder, i.shipped, i.price_book, i.all_options, draws=256)))


@pytest.mark.parametrize(
    ("input_id", "value"),
    [
        ("price:switch-qm9700", 30000),
        ("evidence:roce-extra-latency-s0", 2.0),
        ("evidence:correlation-within-group", 0.1),
        ("evidence:rule-clear-probability", 0.95),
        ("evidence:plausible-useful-share", 0.99),
        ("contested:roce-extra-latency-per-step", 2.0),
    ],
)
def test_an_override_that_counts_is_accepted(input_id: str, value: float) -> None:
    assert told(input_id, value) == ()


@pytest.mark.parametrize(
    ("input_id", "value"),
    [
        ("evidence:gateway-skyway-port-speed", 400),
        ("evidence:sla-coreweave-uptime", 0.9),
        ("contested:quantum-2-port-latency", 200),
        ("price:optic-800g-dr8", 700),
    ],
)
def test_an_override_of_what_is_only_quoted_is_refused(input_id: str, value: float) -> None:
    (problem,) = told(input_id, value)
    assert (problem.key, problem.value, problem.rule) == ("overrides[0].id", input_id, "override-moves-nothing")
    assert problem.remedy


def test_an_override_for_another_kind_of_client_is_refused_and_accepted_where_it_counts() -> None:
    assert told("price:switch-n9600-64od", 15000) == ()
    (problem,) = told("price:switch-n9600-64od", 15000, options=["infiniband-ndr", "rocev2-branded-400g"])
    assert problem.rule == "override-moves-nothing"
