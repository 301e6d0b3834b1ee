"""Findings of the risk: each is true where it should be and false elsewhere, and groups exclude each other."""

from __future__ import annotations

from functools import cache
from typing import Any

import bench
import pytest
from rows import rows

from fabricreport.ledger.facts import Named, Spoken
from fabricreport.sections.tail_risk.facts import TailFinding as F

pytestmark = pytest.mark.slow

ROCE_ALONE = ("rocev2-branded-400g", "rocev2-whitebox-400g")


CHANGES: dict[str, tuple[str, dict[str, Any]]] = {
    "no InfiniBand": ("example", {"options": ROCE_ALONE}),
    "few and no InfiniBand": ("tern-finetuning", {"options": ("rocev2-branded-400g", "ethernet-tcp")}),
    "inference": ("example", {"workload__kind": "inference-multi-node"}),
    "more than was tried": ("example", {"cluster__gpus": 20_480}),
}
CLIENTS = ("example", "tern-finetuning", "kestrel-lab", "one node", *CHANGES)


@cache
def spoken(name: str) -> Spoken:
    base, changes = CHANGES.get(name, (name, {}))
    return bench.changed(base, **changes).spoken("tail_risk")


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
    assert set.intersection(*found) == set()


@rows(
    ("name", "holds", "fails"),
    [
        ("example", set(), {F.SMALL, F.BEYOND}),
        ("tern-finetuning", {F.SMALL}, set()),
        ("few and no InfiniBand", {F.SMALL}, set()),
        ("kestrel-lab", set(), {F.SMALL}),
        ("inference", {F.BEYOND}, set()),
        ("more than was tried", {F.BEYOND}, set()),
    ],
)
def test_findings_follow_the_result(name: str, holds: set[F], fails: set[F]) -> None:
    found = set(spoken(name).findings)
    assert (holds - found, fails & found) == (set(), set())


def test_the_size_at_which_failures_were_counted_is_told() -> None:
    near = spoken("example").words["near"]
    assert isinstance(near, Named) and str(near.said["gpus"]) == "1,024 GPUs"
