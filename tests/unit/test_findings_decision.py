"""Findings of the decision: each is true where it should be and false elsewhere, and groups exclude each other."""

from __future__ import annotations

from typing import Any

import monday_cases
import pytest
from bench import SHIPPED, case, changed
from fuzz_cases import some
from rows import rows

from fabricreport.base.uncertain import exactly
from fabricreport.base.vocabulary import Ground
from fabricreport.books.equipment import gpu_types
from fabricreport.ledger.facts import Spoken
from fabricreport.sections.client import bars, newer_gpu, newer_than
from fabricreport.sections.decision.inputs import judge_of
from fabricreport.sections.decision.sensitivity import BOTH_OFFERS, course_told
from fabricreport.sections.decision.words import DecisionFinding as F

pytestmark = pytest.mark.slow

AMD = ["infiniband-ndr", "rocev2-whitebox-400g", "amd-branded-400g"]
GROUPS = {
    "advice": {
        *(F.TAKE, F.SETTLE_FIRST, F.ASK_BOTH, F.ON_PRICE, F.TAKE_SMALL, F.SIGN_STAGE_ONE, F.SETTLE_STAGE_ONE),
        *(F.OFFERS_FIRST, F.PILOT_FIRST, F.ORDER_AHEAD, F.SINGLE_NODES),
    },
}
CLIENTS = (*SHIPPED, "pressed", "too late", "one node", "nothing is material")


def of(name: str) -> Spoken:
    return case(name).spoken("decision")


@rows("name", some(CLIENTS, 4))
def test_one_finding_of_each_group_holds(name: str) -> None:
    holds = set(of(name).findings)
    told = not case(name).decision().offers  # a renter is told which offer instead
    assert {group: len(members & holds) for group, members in GROUPS.items()} == dict.fromkeys(GROUPS, told)


def test_every_client_is_spoken_of_in_the_same_words() -> None:
    words = {name: set(of(name).words) for name in CLIENTS}
    assert all(found == words["example"] for found in words.values())


def test_what_would_change_the_advice_is_worth_knowing_and_has_another_option_at_its_mark() -> None:
    client = monday_cases.of("pressed")
    told = client.decision().changes
    known = [client.knowledge.worth((change.turn.input_id,)) for change in told]
    assert 1 <= len(told) <= 3 and not any(worth.below_noise for worth in known)
    assert [worth.value for worth in known] == sorted((worth.value for worth in known), reverse=True)
    for change in told:
        assert (change.edge.chance or 0) >= 0.01
        given = client.chain.bare().replacing({change.turn.input_id: exactly(change.edge.at)})
        assert judge_of(given.given).verdict(given.bills).course.id == change.edge.course


def test_a_course_of_two_others_names_them_and_one_of_the_two_compared_does_not() -> None:
    given = case("example").inputs
    pair = ("infiniband-ndr", "rocev2-branded-400g")
    assert course_told(given, "either:infiniband-ndr+rocev2-branded-400g", pair) == BOTH_OFFERS
    other = course_told(given, "either:infiniband-ndr+spectrum-x-400g", pair)
    assert other == "take the better of offers on InfiniBand NDR 400G and Spectrum-X 400G"
    assert course_told(given, "take:spectrum-x-400g", pair) == "buy Spectrum-X 400G"


def test_a_course_of_another_size_is_named_though_its_option_is_not_compared_here() -> None:
    given = case("example").inputs
    assert "infiniband-xdr" not in {o.id for o in given.options}
    pair = ("infiniband-ndr", "rocev2-branded-400g")
    assert course_told(given, "take:infiniband-xdr", pair) == "buy InfiniBand XDR 800G"
    both = course_told(given, "either:infiniband-ndr+infiniband-xdr", pair)
    assert both == "take the better of offers on InfiniBand NDR 400G and InfiniBand XDR 800G"


@rows(
    ("name", "holds", "fails"),
    [
        ("example", {F.TAKE, F.STALE, F.ASSUMED, F.TOO_LATE, F.LATE_RENT, F.LEAD_ASSUMED}, {F.SETTLE_FIRST}),
        ("halden-cloud", {F.TAKE, F.STALE}, {F.ASK_BOTH, F.ON_PRICE, F.NEAR_BY_STATED}),
        ("open cloud", {F.ASK_BOTH}, {F.ON_PRICE, F.TAKE}),
        (
            "kestrel-lab",
            {F.SIGN_STAGE_ONE, F.ALSO_TIED, F.TIE_SETTLED},
            {F.TAKE, F.TAKE_SMALL, F.SETTLE_STAGE_ONE},
        ),
        ("pressed", {F.RENT_FIRST_LATE}, {F.DATE_DEAR, F.TOO_LATE}),
        ("too late", {F.TOO_LATE, F.DATE_DEAR}, {F.RENT_FIRST_LATE}),
        ("one node", {F.TAKE_SMALL}, {F.ASK_BOTH}),
        ("nothing is material", set(), {F.ON_PRICE}),
    ],
)
def test_findings_follow_the_result(name: str, holds: set[F], fails: set[F]) -> None:
    found = set(of(name).findings)
    assert (holds - found, fails & found) == (set(), set())


def test_a_close_lead_that_what_is_stated_decides_is_told_so() -> None:
    near = changed("halden-cloud", money__materiality_usd=9_000_000)
    assert near.comparison.verdict.confidence.close and near.comparison.verdict.decided_by == Ground.ESTATE
    found = set(near.spoken("decision").findings)
    assert {F.NEAR_BY_STATED, F.TAKE} <= found and not found & {F.ASK_BOTH, F.SETTLE_FIRST, F.NEAR_BY_DATE}


@rows(
    ("name", "changes", "newer"),
    [
        ("example", {}, "b300"),
        ("kestrel-lab", {}, ""),
        ("tern-finetuning", {}, ""),
        ("example", {"cluster__gpu": "b300"}, ""),
        ("example", {"cluster__gpu": "b200"}, "b300"),
        ("example", {"cluster__gpu": "mi300x", "options": AMD}, "mi355x"),
        ("example", {"cluster__gpu": "mi355x", "options": AMD}, ""),
    ],
)
def test_who_buys_gpus_of_an_older_generation_is_asked_why(name: str, changes: dict[str, Any], newer: str) -> None:
    found = newer_gpu(changed(name, **changes).inputs)
    assert (found.id if found else "") == newer


@rows(("year", "newer"), [(2024, ""), (2025, "b200"), (2026, "b300")])
def test_a_type_ages_with_the_year_of_the_memo(year: int, newer: str) -> None:
    found = newer_than(gpu_types().of("h100"), year)
    assert (found.id if found else "") == newer


def test_a_rack_is_held_against_racks_and_the_year_s_own_novelty_against_nothing() -> None:
    racks = {"cluster__gpus": 1152, "cluster__gpus_per_node": 72, "cluster__nic_ports_per_node": 72}
    old, new = (changed("example", cluster__gpu=g, **racks).inputs for g in ("gb200-nvl72", "gb300-nvl72"))
    assert (newer_gpu(old).id, newer_gpu(new)) == ("gb300-nvl72", None)  # type: ignore[union-attr]


def test_the_question_names_both_types_and_their_years() -> None:
    told = of("example")
    assert (told.findings.older_gpu, of("tern-finetuning").findings.older_gpu) == (True, False)
    assert [str(told.words[w]) for w in ("gpu", "newer")] == ["NVIDIA H100", "NVIDIA B300"]
    assert of("tern-finetuning").words["newer"] is None


STAYS = [{"month": 12, "gpus": 1024}]
PARTNER = {"organisation__nvidia_cloud_partner": True}


def test_a_cloud_partner_is_advised_nothing_that_its_contract_bars() -> None:
    partner = changed("example", **PARTNER, prices={"switch-qm9700": 30_000})
    told, free = partner.spoken("decision"), of("example")
    assert (told.findings.barred, free.findings.barred) == (True, False)
    assert "white-box" in str(told.words["barred"]) and free.words["barred"] is None
    pair = {partner.comparison.choice, partner.comparison.rival}
    assert pair == {"infiniband-ndr", "spectrum-x-400g"}
    found = partner.decision()
    assert found.totals.keys() == case("example").decision().totals.keys(), "billed all the same"
    assert not {found.kin, *found.without} & {"rocev2-branded-400g", "rocev2-whitebox-400g", "ethernet-tcp"}


def test_the_cloud_partner_s_rule_is_one_of_what_runs_between_nodes() -> None:
    few = changed("example", cluster__gpus=8, **PARTNER).inputs
    assert few.options and not [o for o in few.options if bars(few, o)]


def test_the_rules_printed_are_those_that_may_apply() -> None:
    limit, few, stages = F.LIMIT_STATED, F.FEW_GPUS, F.STAGES_PRICED
    told = {name: {f for f in (limit, few, stages) if f in of(name).findings} for name in CLIENTS}
    assert told["example"] == told["halden-cloud"] == set() and told["kestrel-lab"] == {stages}
    assert few in told["tern-finetuning"] and few in told["one node"]
    assert told["nothing is material"] == {limit}
