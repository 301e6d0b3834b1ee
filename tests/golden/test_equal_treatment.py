"""Whom the example's figures favour, and on whose word: the same fabric under either name costs the same.

The figures are those of 24 November 2026, frozen beside this client's params; a price that moves later moves nothing here.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from fabricreport.case import Case, open_case
from fabricreport.provenance import plain
from fabricreport.sections.tco.cost import optional_manager
from fabricreport.strict_yaml import load_strict

FROZEN = Path(__file__).parents[1] / "data/november24"
FIGURES: Mapping[str, Mapping[str, Any]] = load_strict(FROZEN / "figures.yaml").data
IB, ROCE = "infiniband-ndr", "rocev2-branded-400g"
PRIORS = tuple(
    tuple(template.format(family) for family in ("infiniband", "rocev2"))
    for template in (
        *("weeks-to-stable-{}", "shared-stall-share-{}", "fat-tree-contention-{}"),
        *("config-faults-{}-per-year", "fabric-tuning-{}-medium", "fabric-fte-factor-{}-medium"),
    )
)
"""Inputs that are stated of each of the two fabrics by a figure of its own."""
ONE_MODEL = {f"operating-model-branded-{part}": 1.0 for part in ("bring-up", "faults", "staff", "tuning")}
NO_SYSTEM = {"licence-ethernet-nos-per-switch-year": 0.0, "licence-whitebox-nos-per-switch-year": 0.0}


@cache
def northmere() -> Case:
    return open_case(FROZEN / "northmere.yaml")


def frozen(changes: Mapping[str, Any]) -> Case:
    """The client on the frozen figures, with these of the evidence in the place of some."""
    return northmere().changed(prices=FIGURES["price"], evidence={**FIGURES["evidence"], **changes})


def lead(case: Case) -> float:
    """What RoCEv2 costs more than InfiniBand, on the mean."""
    return float(plain(case.chain.bills.gap(ROCE, IB)).mean())


def taken_from(source: int, *, both: bool = False) -> dict[str, Any]:
    """Each prior as the fabric at `source` (0 InfiniBand, 1 RoCEv2) has it; `both`: the two exchanged."""
    figures = FIGURES["evidence"]
    found = {pair[1 - source]: figures[pair[source]] for pair in PRIORS}
    return {**found, **{pair[source]: figures[pair[1 - source]] for pair in PRIORS}} if both else found


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({}, 415e3),
        ({**taken_from(0), **ONE_MODEL}, -452e3),
        ({**taken_from(0, both=True), **ONE_MODEL}, -985e3),
    ],
    ids=["as it was", "equal priors and one operating model", "the priors exchanged"],
)
def test_the_lead_of_24_november_is_found_again(changes: dict[str, Any], expected: float) -> None:
    assert lead(frozen(changes)) == pytest.approx(expected, abs=500)


def test_a_manager_charged_and_a_system_that_the_switch_brings_turn_it() -> None:
    case = frozen(NO_SYSTEM)
    bills = case.chain.bills
    licence_alone = replace(bills.own[IB], management_servers=0.0)
    manager = optional_manager(bills.built[IB], licence_alone, bills.common)
    assert lead(case) - float(plain(manager).mean()) == pytest.approx(-428e3, abs=500)


def test_most_of_it_is_time_and_none_of_it_cash() -> None:
    gap = {cause: float(plain(d).mean()) for cause, d in frozen({}).chain.bills.gap_by_cause(ROCE, IB).items()}
    time = sum(value for cause, value in gap.items() if cause.startswith("lost"))
    assert time == pytest.approx(490e3, abs=500)
    assert sum(gap.values()) - time == pytest.approx(-75.15e3, abs=500)
