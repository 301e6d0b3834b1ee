"""Findings of the total cost: each is true where it should be and false elsewhere, and groups exclude each other."""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cache
from typing import Any

import pytest
from bench import case, changed
from rows import rows

from fabricreport.case import Case
from fabricreport.ledger.facts import Spoken
from fabricreport.sections.tco.facts import TcoFinding as F
from fabricreport.sections.tco.facts import spoken
from fabricreport.sections.tco.result import TcoResult

pytestmark = pytest.mark.slow

BUYER, GROWER, RENTER = "example", "kestrel-lab", "tern-finetuning"
INFINIBAND, WHITEBOX = "infiniband-ndr", "rocev2-whitebox-400g"


def client(name: str) -> Case:
    """A shipped client; the buyer with no manager in any bill, so that InfiniBand leads."""
    return changed(name, money__manager_licence="left-out") if name == BUYER else case(name)


def other(name: str, **changes: Any) -> Spoken:
    """What is found of a client with other params."""
    return changed(name, **changes).spoken("tco")


def made(name: str, figures: Mapping[str, float] | None = None, **verdict: Any) -> Spoken:
    """What is found of a constructed result: a client's own with other figures, or with another verdict."""
    case, found = client(name), client(name).tco()
    others = {i: replace(found.numbers[i], value=value, spread=None) for i, value in (figures or {}).items()}
    numbers = ChainMap(others, found.numbers)  # type: ignore[arg-type]
    return spoken(case.inputs, replace(found, verdict=replace(found.verdict, **verdict), numbers=numbers))


def fabric(name: str, change: Callable[[TcoResult], dict[str, Any]]) -> Spoken:
    """What is found of a constructed result: a client's own with another fabric."""
    case, found = client(name), client(name).tco()
    assert found.ownership is not None
    return spoken(case.inputs, replace(found, ownership=replace(found.ownership, **change(found))))


def bought_at_once(found: TcoResult) -> dict[str, Any]:
    """Nothing is bought after the first stage."""
    assert found.ownership is not None
    bought = found.ownership.bought
    return {"bought": {o: (stages[0], *(dict.fromkeys(s, 0.0) for s in stages[1:])) for o, stages in bought.items()}}


def tiers_grown(found: TcoResult) -> dict[str, Any]:
    """InfiniBand's fabric has a tier more than it has."""
    assert found.ownership is not None
    builds = found.ownership.builds
    last = builds[INFINIBAND][-1]
    taller = replace(last, bom=replace(last.bom, core=1, tiers=last.bom.tiers + 1))
    return {"builds": {**builds, INFINIBAND: (*builds[INFINIBAND][:-1], taller)}}


SAYINGS: dict[str, Callable[[], Spoken]] = {
    "buyer": lambda: client(BUYER).spoken("tco"),
    "grower": lambda: client(GROWER).spoken("tco"),
    "two generations": lambda: other(GROWER, options=[INFINIBAND, WHITEBOX], cluster__link_gbits_per_s=400),
    "renter": lambda: client(RENTER).spoken("tco"),
    "one option": lambda: other(BUYER, options=[INFINIBAND], cluster__gpus=8),
    "one option, rented": lambda: other(RENTER, options=[INFINIBAND], cluster__gpus=8),
    "level": lambda: made(BUYER, {"tco.difference": 0.0}, decided_by="money", confidence="leaning"),
    "behind": lambda: made(BUYER, {"tco.difference": -1e5}),
    "same to buy": lambda: made(BUYER, {"tco.fabric_difference": 0.0}),
    "cheap rent": lambda: made(BUYER, {"tco.rent_per_useful_gpu_hour": 0.1}),
    "another tier": lambda: fabric(BUYER, tiers_grown),
    "bought at once": lambda: fabric(GROWER, bought_at_once),
    "operations bought in": lambda: other(BUYER, organisation__operations="bought-in"),
    "at an edge": lambda: other(BUYER, cluster__gpus=2048),
    "past an edge": lambda: other(BUYER, cluster__gpus=2056),
}

PURCHASE = {F.PURCHASE_APART, F.PURCHASE_SAME}
EITHER: tuple[tuple[set[F], set[F]], ...] = (
    ({F.OWNS}, {F.OWNING_CHEAPER, F.RENTING_CHEAPER}),
    (PURCHASE, {F.CAUSES_AT_ONCE, F.CAUSES_GROWN}),
    ({F.CAUSES_GROWN}, {F.GROWS_LATE, F.GROWS_EARLY}),
    (PURCHASE, PURCHASE),
)
"""Where one of the first holds, exactly one of the others does; nowhere else any of them."""

EXPECTED: dict[str, tuple[set[F], set[F]]] = {
    "buyer": (
        {
            *(F.OWNS, F.CAUSES_AT_ONCE, F.PURCHASE_APART, F.OWNING_CHEAPER),
            F.PAIRS_TOLD,
        },
        {F.TIERS_DIFFER, F.OPERATIONS_BOUGHT, F.EDGE_AHEAD, F.EDGE_PASSED},
    ),
    "operations bought in": ({F.OPERATIONS_BOUGHT}, set()),
    "grower": ({F.GROWS_LATE, F.CAUSES_GROWN, F.PURCHASE_APART}, {F.GROWS_EARLY, F.TIERS_DIFFER}),
    "two generations": ({F.TIERS_DIFFER}, set()),
    "renter": (set(), {F.OWNS}),
    "one option": ({F.OWNS}, PURCHASE),
    "same to buy": ({F.PURCHASE_SAME}, set()),
    "cheap rent": ({F.RENTING_CHEAPER}, {F.OWNING_CHEAPER}),
    "another tier": ({F.TIERS_DIFFER}, set()),
    "bought at once": ({F.GROWS_EARLY}, {F.GROWS_LATE}),
    "at an edge": ({F.EDGE_AHEAD}, {F.EDGE_PASSED}),
    "past an edge": ({F.EDGE_PASSED}, {F.EDGE_AHEAD}),
}


@cache
def said(name: str) -> Spoken:
    return SAYINGS[name]()


@rows("name", EXPECTED)
def test_findings_follow_the_result(name: str) -> None:
    holds, fails = EXPECTED[name]
    found = set(said(name).findings)
    assert (holds - found, fails & found) == (set(), set())


def test_every_finding_is_expected_somewhere_and_false_elsewhere() -> None:
    assert set().union(*(holds for holds, _ in EXPECTED.values())) == set(F)
    assert set.intersection(*(set(said(name).findings) for name in SAYINGS)) == set()


@rows("name", SAYINGS)
def test_findings_of_one_group_exclude_each_other(name: str) -> None:
    found = set(said(name).findings)
    for first, members in EITHER:
        assert len(members & found) == bool(first & found), members


@rows("name", SAYINGS)
def test_every_client_is_spoken_of_in_the_same_words(name: str) -> None:
    words, first = said(name).words, said("buyer").words
    assert set(words) == set(first)
    assert {w for w in words if isinstance(words[w], tuple)} == {w for w in first if isinstance(first[w], tuple)}


def test_a_cause_is_named_on_the_side_that_it_saves_money() -> None:
    words, numbers = said("buyer").words, client(BUYER).tco().numbers
    assert all(numbers[f"tco.part.{cause.key}"].value > 0 for cause in words["saved"])  # type: ignore[attr-defined]


def test_a_word_says_which_way_a_figure_points() -> None:
    assert said("buyer").words["purchase_way"] == "more", "InfiniBand’s network, held against it, costs more to buy"
    assert said("grower").words["purchase_way"] == "more"
