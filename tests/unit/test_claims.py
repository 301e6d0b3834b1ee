"""The audit of claims: known answers, and verdicts that follow from inputs and are not typed in."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType

import pytest
from rows import rows

from fabricreport.base.errors import InputError
from fabricreport.base.uncertain import exactly
from fabricreport.books.evidence import EvidenceBook, EvidenceEntry, read_evidence
from fabricreport.books.publications import ADVICE, CLAIMS, VERDICTS, ClaimBook, claim_record, read_claims
from fabricreport.models.audit.claims import (
    METHODS,
    AuditedClaim,
    Claim,
    audit,
    audit_claim,
    recompute,
    resolve,
    self_contradictions,
)


@pytest.fixture(scope="module")
def evidence() -> EvidenceBook:
    return read_evidence()


@pytest.fixture(scope="module")
def claims() -> ClaimBook:
    return read_claims()


@pytest.fixture(scope="module")
def audited(claims: ClaimBook, evidence: EvidenceBook) -> dict[str, AuditedClaim]:
    return {claim.id: claim for claim in audit(claims, evidence)}


def step(claim: AuditedClaim, label: str) -> float:
    return next(value for name, value, _ in claim.steps if name == label)


def test_the_worked_example_of_the_second_article_reproduces(audited: dict[str, AuditedClaim]) -> None:
    known = {
        "s2-waste-cost": 110_592,
        "s2-wasted-gpu-hours": 36_864,
        "s2-extra-days": 1.5,
        "s2-run-cost": 2_211_840,
    }
    for key, value in known.items():
        assert audited[key].recomputed == pytest.approx(value)
        assert audited[key].verdict == "reproduces"


def test_the_price_table_gives_21_percent_less_or_26_6_percent_more_each_on_its_base(
    audited: dict[str, AuditedClaim],
) -> None:
    claim = audited["s3-cheaper"]
    assert step(claim, "RoCEv2 total") == pytest.approx(6.096e6)
    assert step(claim, "InfiniBand total") == pytest.approx(7.7152e6)
    assert round(step(claim, "less, on the InfiniBand total"), 3) == 0.210
    assert round(step(claim, "more, on the RoCEv2 total"), 3) == 0.266
    assert claim.recomputed == step(claim, "less, on the InfiniBand total")
    assert audited["s3-cheaper-as-premium"].recomputed == step(claim, "more, on the RoCEv2 total")
    assert claim.verdict == "reproduces with a caveat"


def test_one_run_of_waste_is_a_fourteenth_of_the_price_difference(audited: dict[str, AuditedClaim]) -> None:
    claim = audited["s2-overrun-exceeds-difference"]
    assert claim.recomputed == pytest.approx(14.6, abs=0.05)
    assert claim.verdict == "contradicted"


def test_the_sample_fabric_is_two_to_one_oversubscribed(audited: dict[str, AuditedClaim]) -> None:
    assert audited["s3-lab-full-rate"].recomputed == 2
    assert audited["s3-lab-full-rate"].verdict == "contradicted"


def test_a_premium_of_15_to_30_percent_is_a_discount_of_13_to_23(audited: dict[str, AuditedClaim]) -> None:
    assert audited["s4-premium-as-discount"].recomputed == pytest.approx((0.1304, 0.2308), abs=1e-4)
    assert audited["s4-discount-as-premium"].recomputed == pytest.approx((0.25, 0.4286), abs=1e-4)


def test_one_nic_a_gpu_gives_24_9_percent(audited: dict[str, AuditedClaim]) -> None:
    claim = audited["s3-cheaper-one-nic"]
    assert round(step(claim, "less, on the InfiniBand total"), 3) == 0.249
    assert round(step(claim, "more, on the RoCEv2 total"), 3) == 0.332


def test_the_switch_row_needs_320_switches(audited: dict[str, AuditedClaim]) -> None:
    assert step(audited["s3-switch-row-infiniband"], "switches") == 320
    assert audited["s3-switch-row-infiniband"].verdict == "contradicted"


def test_every_article_is_audited_with_its_numbers_and_its_advice(claims: ClaimBook) -> None:
    assert len(claims) > 100
    for source in ("S0", "S1", "S2", "S3", "S4"):
        kinds = {claim.kind for claim in claims.of(source)}
        assert {"numeric", "recommendation"} <= kinds


def test_every_verdict_occurs(audited: dict[str, AuditedClaim]) -> None:
    assert {claim.verdict for claim in audited.values()} == set(VERDICTS)


def test_a_contradicted_claim_names_what_contradicts_it_or_is_recomputed(
    audited: dict[str, AuditedClaim],
) -> None:
    for claim in audited.values():
        if claim.verdict == "contradicted":
            assert claim.by or claim.against or claim.recomputed is not None, claim.id


def test_advice_is_followed_or_not_and_nothing_else_is(audited: dict[str, AuditedClaim]) -> None:
    assert [c.id for c in audited.values() if (c.verdict in ADVICE) != (c.kind == "recommendation")] == []
    assert [c.id for c in audited.values() if c.kind == "recommendation" and not c.note] == []


def test_words_without_a_figure_contradict_nothing(audited: dict[str, AuditedClaim], evidence: EvidenceBook) -> None:
    """A verdict typed in is only `contradicted` on a figure, or where the article says the opposite itself."""

    def figures(claim: AuditedClaim) -> list[str]:
        return [
            ground
            for ground in claim.by
            for kind, _, name in [ground.partition(":")]
            if (not isinstance(evidence[name].value, str) if kind == "evidence" else audited[name].computed)
        ]

    refuted = [c for c in audited.values() if c.verdict == "contradicted" and not c.computed]
    assert [c.id for c in refuted if not (figures(c) or c.against)] == []


def test_a_claim_without_a_base_is_held_against_no_range(audited: dict[str, AuditedClaim]) -> None:
    """ "Cheaper" names neither parts nor prices: our bill stands beside it, from dearer to cheaper, and judges nothing."""
    claim = audited["s1-roce-cheaper"]
    assert (claim.verdict, claim.computed, claim.stated) == ("unsupported", False, "statement")
    assert claim.recomputed == pytest.approx((-0.0065, 0.06), abs=0.002)


def test_no_verdict_on_a_recomputed_number_is_typed_in(claims: ClaimBook) -> None:
    computed = [claim for claim in claims.values() if claim.computed]
    assert len(computed) > 50
    assert all(claim.verdict == "" for claim in computed)


def test_every_method_is_used(claims: ClaimBook) -> None:
    assert {claim.method for claim in claims.values() if claim.method} == set(METHODS)


def recomputations() -> list[tuple[str, str]]:
    return [(claim.id, key) for claim in read_claims().values() if claim.method for key in claim.inputs]


@rows(("name", "key"), lambda: recomputations())
def test_changing_any_input_moves_what_is_recomputed(
    name: str, key: str, claims: ClaimBook, evidence: EvidenceBook
) -> None:
    claim = claims[name]
    inputs = resolve(claim, evidence)
    before = recompute(claim.method, inputs).recomputed
    value = inputs[key]
    factor = 2 if claim.method == "switch-row" and key in ("radix", "tiers") else 1.1
    moved = tuple(v * factor for v in value) if isinstance(value, tuple) else value * factor
    assert recompute(claim.method, {**inputs, key: moved}).recomputed != before


def test_changing_an_input_can_change_the_verdict(claims: ClaimBook, evidence: EvidenceBook) -> None:
    claim = claims["s2-waste-cost"]
    changed = replace(claim, inputs=MappingProxyType({**claim.inputs, "loss_share": 0.06}))
    assert audit_claim(claim, evidence).verdict == "reproduces"
    assert audit_claim(changed, evidence).verdict == "contradicted"


def test_changing_an_evidence_entry_moves_the_claims_that_rest_on_it(claims: ClaimBook, evidence: EvidenceBook) -> None:
    smaller = [e.with_figure(exactly(4096.0)) if e.id == "llama3-gpus" else e for e in evidence.values()]
    claim = claims["s1-roce-few-thousand"]
    assert audit_claim(claim, evidence).verdict == "contradicted"
    assert audit_claim(claim, EvidenceBook(smaller)).verdict == "reproduces"


def test_a_claim_whose_evidence_is_gone_is_an_error_that_names_both(claims: ClaimBook, evidence: EvidenceBook) -> None:
    gone: list[EvidenceEntry] = [e for e in evidence.values() if e.id != "llama3-gpus"]
    with pytest.raises(InputError, match=r"s1-roce-few-thousand.*llama3-gpus"):
        audit(claims, EvidenceBook(gone))


def test_sources_that_contradict_themselves_are_said_to(audited: dict[str, AuditedClaim]) -> None:
    found = {(c.source, c.claim, c.against) for c in self_contradictions(audited.values())}
    assert ("S1", "s1-sub-microsecond", "s1-roce-latency") in found
    assert ("S2", "s2-tiers", "s2-tier-large") in found
    assert ("S3", "s3-converging", "s3-operator-aws") in found


def test_a_self_contradiction_is_never_between_claims_that_both_hold(audited: dict[str, AuditedClaim]) -> None:
    for found in self_contradictions(audited.values()):
        assert audited[found.claim].verdict in ("contradicted", "not followed"), found.claim


def test_grounds_exist(audited: dict[str, AuditedClaim], evidence: EvidenceBook) -> None:
    for claim in audited.values():
        for ground in claim.by:
            kind, _, name = ground.partition(":")
            assert (kind == "evidence" and name in evidence) or (kind == "claim" and name in audited), ground


def test_claims_turn_into_json(audited: dict[str, AuditedClaim]) -> None:
    rows = json.loads(json.dumps([claim.as_dict() for claim in audited.values()]))
    keys = {"id", "source", "claim", "stated", "recomputed", "verdict"}
    assert all(keys <= set(row) for row in rows)


def test_a_claim_has_a_record_for_the_source_list() -> None:
    record = claim_record("s0-roce-latency")
    assert record["read"] == read_claims().sources["S0"].read != ""
    assert record["value"] == [7.0, 10.0]
    assert record["interest"]
    with pytest.raises(InputError, match="Did you mean 's0-roce-latency'"):
        claim_record("s0-roce-latancy")


HEAD = 'sources:\n  S9: {title: T, publisher: P, interest: "", date: "2026", address: example.org, read: "2026-11-20"}\nclaims:\n'
ROW = "- {id: a, source: S9, kind: numeric, claim: c, about: x, stated: 2, unit: us, inputs: {b: 2}, method: same}\n"


def read(tmp_path: Path, text: str) -> ClaimBook:
    path = tmp_path / "claims.yaml"
    path.write_text(text, encoding="utf-8")
    return read_claims.__wrapped__(path)


def test_a_small_file_is_read(tmp_path: Path, evidence: EvidenceBook) -> None:
    claim = read(tmp_path, HEAD + ROW)["a"]
    assert isinstance(claim, Claim)
    assert audit_claim(claim, evidence).verdict == "reproduces"


@rows(
    ("old", "new", "expected"),
    [
        ("kind: numeric", "kind: numerical", "Did you mean 'numeric'"),
        ("method: same", "method: same, verdict: reproduces", "may not be typed in"),
        (", inputs: {b: 2}, method: same", "", "is needed"),
        ("source: S9", "source: S8", "is not a source"),
        ("about: x", "abuot: x", "Did you mean 'about'"),
        ("stated: 2", "stated: {low: 3, high: 2}", "must be a number"),
        ("unit: us", "unit: gbps", "gbits/s"),
        ("kind: numeric", "kind: recommendation", "advice is followed or not"),
        (", inputs: {b: 2}, method: same", ", verdict: followed", "only advice is"),
        ("method: same", "method: same, against: [zz]", "no claim of this source"),
        ("method: same", "method: same, by: ['claim:zz']", "is no claim"),
    ],
)
def test_a_faulty_claim_is_refused(tmp_path: Path, old: str, new: str, expected: str) -> None:
    with pytest.raises(InputError, match=expected):
        read(tmp_path, HEAD + ROW.replace(old, new))


def test_a_claim_given_twice_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="given twice"):
        read(tmp_path, HEAD + ROW + ROW)


def test_an_unknown_method_and_a_missing_input_are_named() -> None:
    with pytest.raises(InputError, match="abacus"):
        recompute("abacus", {})
    with pytest.raises(InputError, match="host_ports"):
        recompute("oversubscription", {})


def test_the_notes_hold_no_results_a_reader_could_mistake_for_ours(claims: ClaimBook) -> None:
    """Figures reach the memo through the ledger; a note may name products (400G) and percentiles (p99) only."""
    import re

    allowed = re.compile(r"\b(?:\d{3}G|p99|InfiniBand|RoCEv2)\b")
    for claim in claims.values():
        assert not re.search(r"\d", allowed.sub("", claim.note + claim.caveat)), claim.id


def test_the_shipped_file_is_the_one_that_is_read() -> None:
    assert CLAIMS.name == "claims.yaml"
    assert len(read_claims()) == CLAIMS.read_text("utf-8").count("\n- id: ")


def test_the_audit_runs_on_the_shipped_library_without_arguments(audited: dict[str, AuditedClaim]) -> None:
    from fabricreport.sections.evidence.result import audit as audit_shipped

    assert audit_shipped() == tuple(audited.values())
