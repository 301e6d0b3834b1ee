"""Findings of the risk: each is true where it should be and false elsewhere, and groups exclude each other."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from types import SimpleNamespace
from typing import Any
from unittest import mock

import bench
import pytest
from fuzz_cases import some
from rows import rows

from fabricreport.findings import Named, Spoken
from fabricreport.sections.tail_risk import findings, validation_figures
from fabricreport.sections.tail_risk.figure_context import cards
from fabricreport.sections.tail_risk.findings import TailFinding as F

pytestmark = pytest.mark.slow

ROCE_ALONE = ("rocev2-branded-400g", "rocev2-whitebox-400g")
DATE = "organisation__time_to_production_weeks"
STALLS = {"shared-stall-share-spectrum-x": 0.3, "shared-stall-share-rocev2": 0.3}
STALLS_ON_EACH = {**STALLS, "shared-stall-share-infiniband": 0.3}


CHANGES: dict[str, tuple[str, dict[str, Any]]] = {
    "a date long after": ("example", {DATE: 52}),
    "a date nobody meets": ("example", {DATE: 1}),
    "white-box": ("example", {"options": ("infiniband-ndr", "rocev2-whitebox-400g"), DATE: 12}),
    "no InfiniBand": ("example", {"options": ROCE_ALONE}),
    "no InfiniBand and no time": ("example", {"options": ROCE_ALONE, DATE: 1}),
    "stalls all the time": ("example", {DATE: 52, "evidence": STALLS}),
    "stalls on each": ("example", {DATE: 52, "evidence": STALLS_ON_EACH}),
    "stalls and no time": ("example", {DATE: 1, "evidence": STALLS}),
    "nobody waits": ("example", {"workload__latency_variance_bound": False}),
    "one job of growing size": (
        "kestrel-lab",
        {
            "cluster__sites": 1,
            "cluster__trajectory": [{"month": 2, "gpus": 16384}],
            "workload__jobs": [{"gpus": 16384, "share": 1.0}],
        },
    ),
    "few and no InfiniBand": ("tern-finetuning", {"options": ("rocev2-branded-400g", "ethernet-tcp")}),
    "long runs of few": ("tern-finetuning", {"workload__run_days": 300}),
    "a dragonfly": ("example", {"cluster__topology": "dragonfly"}),
    "inference": ("example", {"workload__kind": "inference-multi-node"}),
    "a simulation": ("example", {"workload__kind": "hpc-simulation"}),
    "more than was tried": ("example", {"cluster__gpus": 20_480}),
}
CLIENTS = ("example", "tern-finetuning", "kestrel-lab", "one node", "no date", "elicited", *CHANGES)


@cache
def spoken(name: str) -> Spoken:
    base, changes = CHANGES.get(name, (name, {}))
    if name == "no date":
        organisation = bench.case("example").params.organisation.model_dump(exclude_unset=True)
        del organisation["time_to_production_weeks"]
        base, changes = "example", {"organisation": organisation}
    return bench.changed(base, **changes).spoken("tail_risk")


def group(prefix: str) -> frozenset[F]:
    return frozenset(f for f in F if f.name.startswith(prefix))


GROUPS = {
    "opening": group("OPENS_"),
    "where the time goes": group("LOST_") | {F.SMALL},
    "of which fabric faults are told": group("LOST_") | {F.SMALL_PAIR, F.SMALL_ALONE},
    "dates": group("DATES_"),
    "causes": group("CAUSES_") | {F.SMALL},
    "levers": {F.LEVER_PAYS, F.NO_LEVER_PAYS},
    "what was expected": {F.CARD_MISSED, F.CARD_MET},
}


@rows("name", some(CLIENTS, 6))
def test_one_finding_of_each_group_holds(name: str) -> None:
    holds = set(spoken(name).findings)
    assert {group: len(members & holds) for group, members in GROUPS.items()} == dict.fromkeys(GROUPS, 1)
    assert len(holds & group("RUN_")) == (F.PAIR in holds)
    assert len(holds & group("FULL_SIZE_")) == (F.GROWS in holds)


def test_every_client_is_spoken_of_in_the_same_words() -> None:
    words = {name: set(spoken(name).words) for name in CLIENTS}
    assert all(found == words["example"] for found in words.values())
    said = {
        name: {w: frozenset(t.said) for w, t in spoken(name).words.items() if isinstance(t, Named)} for name in CLIENTS
    }
    assert all(found.items() <= {**said["example"], "plain": found.get("plain")}.items() for found in said.values())


def test_stress_cases_are_told_of_alike() -> None:
    cases = [case for name in CLIENTS for case in spoken(name).words["stress"]]  # type: ignore[attr-defined]
    assert {frozenset(case.said) for case in cases} == {frozenset({"formula", "caveat"})}


BY_PACKAGED_DATA = {F.FULL_SIZE_BELOW, F.CARD_MISSED, F.CARD_MET}
"""Findings that hang on published figures alone, the same for every client."""


def test_a_published_run_that_the_model_gives_too_little_is_told_as_such() -> None:
    with mock.patch.object(validation_figures, "llama3_productive", lambda share: 0.5):
        found = set(bench.case("kestrel-lab").changed(money__horizon_months=47).spoken("tail_risk").findings)
    assert F.FULL_SIZE_BELOW in found and F.FULL_SIZE_AGREES not in found


@rows("came_true", [True, False])
def test_what_was_written_down_beforehand_is_told_as_met_or_missed(came_true: bool) -> None:
    card = cards()["goodput"]
    told = {"goodput": replace(card, as_expected=dict.fromkeys(card.as_expected, came_true)), "tail": cards()["tail"]}
    with mock.patch.object(findings, "cards", lambda: told):
        case = bench.case("example").changed(money__horizon_months=47)
        found, missed = case.spoken("tail_risk").findings, case.spoken("tail_risk").words["missed"]
    assert (F.CARD_MET in found, F.CARD_MISSED in found) == (came_true, not came_true)
    assert (missed is None) == came_true


def test_each_finding_holds_for_some_client_and_fails_for_another() -> None:
    found = [set(spoken(name).findings) for name in CLIENTS]
    assert set().union(*found) | BY_PACKAGED_DATA == set(F)
    assert set.intersection(*found) <= BY_PACKAGED_DATA


@rows(
    ("name", "holds", "fails"),
    [
        ("white-box", {F.DATES_PART_IN_READINESS}, {F.GROWS}),
        ("example", {F.PLAIN_LATE, F.WAITS}, {F.SMALL, F.GROWS, F.RENTED}),
        (
            "tern-finetuning",
            {F.OPENS_SMALL, F.SMALL_PAIR, F.RENTED, F.FAULTS_RARE, F.DATES_IN_HOURS},
            {F.SMALL_ALONE, F.WAITS, F.LEVER_PAYS},
        ),
        ("few and no InfiniBand", {F.SMALL, F.SMALL_ALONE}, {F.PAIR, F.SMALL_PAIR}),
        (
            "kestrel-lab",
            {F.OPENS_GROWTH, F.GROWS, F.CAUSES_BRING_UP},
            {F.SMALL, F.DATE_ASSUMED, F.PLAIN_LATE, F.CAUSES_FABRIC},
        ),
        ("one job of growing size", {F.OPENS_GROWTH, F.GROWS, F.CAUSES_COMMON}, {F.CAUSES_BRING_UP}),
        ("no date", {F.DATE_ASSUMED}, {F.GROWS}),
        ("a date long after", {F.OPENS_STABLE, F.NEVER_MISSED}, {F.OPENS_DATE}),
        ("a date nobody meets", {F.OPENS_DATE}, {F.NEVER_MISSED}),
        ("no InfiniBand", {F.DATES_ALONE, F.LOST_ALONE}, {F.PAIR, F.RUN_LONGER, F.RUN_DIFFERS}),
        ("no InfiniBand and no time", {F.OPENS_DATE_ALONE}, {F.OPENS_DATE}),
        ("stalls and no time", {F.DATES_PART_IN_RUN}, {F.DATES_PART_IN_RUN_READY}),
        (
            "stalls all the time",
            {F.OPENS_PARTED, F.CAUSES_PARTED, F.DATES_PART_IN_RUN_READY},
            {F.OPENS_LOSS, F.OPENS_STABLE, F.CAUSES_FABRIC, F.CAUSES_COMMON, F.CAUSES_BRING_UP},
        ),
        ("stalls on each", {F.OPENS_LOSS, F.CAUSES_FABRIC}, {F.OPENS_PARTED, F.CAUSES_PARTED, F.CAUSES_BRING_UP}),
        ("one node", {F.OPENS_SMALL, F.RUN_DIFFERS, F.DATES_ALIKE}, {F.DROPS_LISTED, F.NEIGHBOUR_LISTED}),
        ("long runs of few", {F.SMALL, F.BEYOND, F.BEYOND_FEW}, {F.FAULTS_RARE}),
        ("inference", {F.BEYOND, F.BEYOND_INFERENCE}, {F.BEYOND_FEW, F.BEYOND_MANY}),
        ("a simulation", {F.BEYOND, F.BEYOND_SIMULATION}, {F.BEYOND_INFERENCE}),
        ("more than was tried", {F.BEYOND, F.BEYOND_MANY}, {F.BEYOND_FEW}),
    ],
)
def test_findings_follow_the_result(name: str, holds: set[F], fails: set[F]) -> None:
    found = set(spoken(name).findings)
    assert (holds - found, fails & found) == (set(), set())


def test_the_two_that_part_are_named_by_what_is_worse() -> None:
    words = spoken("white-box").words
    assert words["slower"] == words["focus"] and words["later"] == words["focus"]
    alone = spoken("no InfiniBand").words
    assert alone["other"] == alone["focus"]
    parted = spoken("stalls all the time").words
    assert parted["mostly_own"] == parted["focus"] != parted["other"]


def sized(*late: float) -> SimpleNamespace:
    """A study read at sizes whose runs are late this often."""
    sizes = tuple(SimpleNamespace(label=str(n), value=float(n)) for n in range(len(late)))
    result = SimpleNamespace(sensitivity=SimpleNamespace(sizes=sizes[::-1]))
    return SimpleNamespace(result=result, value=lambda figure: late[int(figure.split(".")[1])])


@rows(
    ("late", "told"),
    [
        ((0.1, 0.1, 0.2), "more"),
        ((0.2, 0.1), "fewer"),
        ((0.1, 0.1), "as many"),
        ((0.1, 0.3, 0.2), "not always more"),
    ],
)
def test_the_table_of_sizes_says_how_late_runs_move(late: tuple[float, ...], told: str) -> None:
    assert findings._Read.late_by_size.fget(sized(*late)) == told  # type: ignore[attr-defined]


def test_the_size_at_which_failures_were_counted_is_told() -> None:
    near = spoken("example").words["near"]
    assert isinstance(near, Named) and str(near.said["gpus"]) == "1,024 GPUs"
