"""An override counts in the memo at hand, or it is refused with the reason."""

from __future__ import annotations

import bench
import pytest

from fabricreport.base.errors import Problem
from fabricreport.check.examination import tried_out

pytestmark = pytest.mark.slow

COUNT = {
    "price:switch-qm9700": 30000,
    "price:switch-n9600-64od": 15000,
    "evidence:roce-extra-latency-s0": 2.0,
    "evidence:correlation-within-group": 0.1,
    "evidence:rule-clear-probability": 0.95,
    "evidence:plausible-punctual-share": 0.99,
    "contested:roce-extra-latency-per-step": 2.0,
}
QUOTED = {
    "evidence:gateway-skyway-port-speed": (400, "quoted by claims: s3-rec-not-both; claims: s3-gateway and 1 more"),
    "evidence:sla-coreweave-uptime": (0.9, "quoted by providers: coreweave"),
    "contested:quantum-2-port-latency": (200, "no model draws it: the memo only shows what its sources say"),
    "price:aoc-400g": (700, "in the price book; no option, server or site of the package refers to it"),
}
ELSEWHERE = {"price:optic-800g-dr8": 700, "evidence:server-gb300-nvl72-usd": 4e6}


def told(figures: dict[str, float], **keys: object) -> dict[object, Problem]:
    """What is refused of overrides of the example, by id."""
    kinds = {"price": "prices", "evidence": "evidence", "contested": "contested"}
    books: dict[str, dict[str, float]] = {}
    for input_id, value in figures.items():
        kind, _, name = input_id.partition(":")
        books.setdefault(kinds[kind], {})[name] = value
    case = bench.changed("example", **books, **keys)
    problems = tried_out(case)
    ids = [override.id for override in case.params.overrides]
    assert all(p.rule == "override-moves-nothing" for p in problems)
    assert all(p.key == f"overrides[{ids.index(str(p.value))}].id" for p in problems)
    return {p.value: p for p in problems}


def test_an_override_that_counts_is_accepted_and_what_is_only_quoted_or_for_others_is_refused_with_the_reason() -> None:
    found = told({**COUNT, **{i: value for i, (value, _) in QUOTED.items()}, **ELSEWHERE})
    assert set(found) == {*QUOTED, *ELSEWHERE}
    for input_id, (_, reason) in QUOTED.items():
        assert found[input_id].remedy == f"Leave the override out ({reason})."
    for input_id in ELSEWHERE:
        assert found[input_id].remedy == "It counts for another kind of client or option: leave the override out."


def test_what_counts_for_one_option_is_refused_where_it_is_not_compared() -> None:
    (refused,) = told({"price:switch-n9600-64od": 15000}, options=["infiniband-ndr", "rocev2-branded-400g"])
    assert refused == "price:switch-n9600-64od"
