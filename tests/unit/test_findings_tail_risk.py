"""Findings of the risk: each is true where it should be and false elsewhere, and groups exclude each other."""

from __future__ import annotations

from functools import cache
from typing import Any

import bench
import pytest
from fuzz_cases import some
from rows import rows

from fabricreport.findings import Named, Spoken
from fabricreport.sections.tail_risk.findings import TailFinding as F

pytestmark = pytest.mark.slow

ROCE_ALONE = ("rocev2-branded-400g", "rocev2-whitebox-400g")
DATE = "organisation__time_to_production_weeks"
STALLS = {"shared-stall-share-spectrum-x": 0.3, "shared-stall-share-rocev2": 0.3}
STALLS_ON_EACH = {**STALLS, "shared-stall-share-infiniband": 0.3}


CHANGES: dict[str, tuple[str, dict[str, Any]]] = {
    "no InfiniBand": ("example", {"options": ROCE_ALONE}),
    "stalls all the time": ("example", {DATE: 52, "evidence": STALLS}),
    "stalls on each": ("example", {DATE: 52, "evidence": STALLS_ON_EACH}),
    "one job of growing size": (
        "kestrel-lab",
        {
            "cluster__sites": 1,
            "cluster__trajectory": [{"month": 2, "gpus": 16384}],
            "workload__jobs": [{"gpus": 16384, "share": 1.0}],
        },
    ),
    "few and no InfiniBand": ("tern-finetuning", {"options": ("rocev2-branded-400g", "ethernet-tcp")}),
    "inference": ("example", {"workload__kind": "inference-multi-node"}),
    "more than was tried": ("example", {"cluster__gpus": 20_480}),
}
CLIENTS = ("example", "tern-finetuning", "kestrel-lab", "one node", "elicited", *CHANGES)


@cache
def spoken(name: str) -> Spoken:
    base, changes = CHANGES.get(name, (name, {}))
    return bench.changed(base, **changes).spoken("tail_risk")


def group(prefix: str) -> frozenset[F]:
    return frozenset(f for f in F if f.name.startswith(prefix))


CAUSES = group("CAUSES_") | {F.SMALL}


@rows("name", some(CLIENTS, 6))
def test_one_finding_says_whose_the_lost_time_is(name: str) -> None:
    assert len(CAUSES & set(spoken(name).findings)) == 1


def test_every_client_is_spoken_of_in_the_same_words() -> None:
    words = {name: set(spoken(name).words) for name in CLIENTS}
    assert all(found == words["example"] for found in words.values())
    said = {
        name: {w: frozenset(t.said) for w, t in spoken(name).words.items() if isinstance(t, Named)} for name in CLIENTS
    }
    assert all({**said["example"], **found} == said["example"] for found in said.values())


def test_each_finding_holds_for_some_client_and_fails_for_another() -> None:
    found = [set(spoken(name).findings) for name in CLIENTS]
    assert set().union(*found) == set(F)
    assert not set.intersection(*found)


@rows(
    ("name", "holds", "fails"),
    [
        ("example", set(), {F.SMALL, F.BEYOND, F.ELICITED}),
        ("elicited", {F.ELICITED}, set()),
        ("tern-finetuning", {F.SMALL}, CAUSES - {F.SMALL}),
        ("few and no InfiniBand", {F.SMALL}, {F.RUN_LONGER}),
        ("kestrel-lab", {F.CAUSES_BRING_UP}, {F.SMALL, F.CAUSES_FABRIC}),
        ("one job of growing size", {F.CAUSES_COMMON}, {F.CAUSES_BRING_UP}),
        ("no InfiniBand", set(), {F.RUN_LONGER}),
        ("stalls all the time", {F.CAUSES_PARTED}, {F.CAUSES_FABRIC, F.CAUSES_COMMON, F.CAUSES_BRING_UP}),
        ("stalls on each", {F.CAUSES_FABRIC}, {F.CAUSES_PARTED, F.CAUSES_BRING_UP}),
        ("inference", {F.BEYOND}, set()),
        ("more than was tried", {F.BEYOND}, set()),
    ],
)
def test_findings_follow_the_result(name: str, holds: set[F], fails: set[F]) -> None:
    found = set(spoken(name).findings)
    assert (holds - found, fails & found) == (set(), set())


def test_the_two_that_part_are_named_by_what_is_worse() -> None:
    alone = spoken("no InfiniBand").words
    assert alone["other"] == alone["focus"]
    parted = spoken("stalls all the time").words
    assert parted["mostly_own"] == parted["focus"] != parted["other"]


def test_the_size_at_which_failures_were_counted_is_told() -> None:
    near = spoken("example").words["near"]
    assert isinstance(near, Named) and str(near.said["gpus"]) == "1,024 GPUs"
