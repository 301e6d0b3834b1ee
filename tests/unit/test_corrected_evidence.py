"""Figures of the library that once were wrong, held to the arithmetic or the wording of the text they come from."""

from __future__ import annotations

import numpy as np
import pytest

from fabricreport.books.claims import read_claims
from fabricreport.books.evidence import EvidenceBook, read_evidence
from fabricreport.constants import catalogue
from fabricreport.models.audit.claims import AuditedClaim, audit
from fabricreport.models.risk.stress import Exposure, incast, stress_table
from fabricreport.validation.collectives import packaged_tables


@pytest.fixture(scope="module")
def book() -> EvidenceBook:
    return read_evidence()


@pytest.fixture(scope="module")
def audited(book: EvidenceBook) -> dict[str, AuditedClaim]:
    return {c.id: c for c in audit(read_claims(), book)}


def test_nccls_default_timer_is_four_microseconds_doubled_twenty_times(book: EvidenceBook) -> None:
    entry = book["roce-local-ack-timeout"]
    assert entry.mid == pytest.approx(4.096e-3 * 2**20, abs=0.5)
    assert (entry.grade, entry.publisher) == ("published", "NVIDIA")
    tuned = book["roce-local-ack-timeout-tuned"]
    assert (tuned.low, tuned.high, tuned.grade) == (1, 10, "assumption")


def test_alibabas_links_are_two_of_200g_to_a_nic(book: EvidenceBook) -> None:
    assert (book["hpn-links-per-nic"].mid, book["hpn-link-speed"].mid) == (2, 200)
    assert not [e.id for e in book.values() if e.id.startswith("hpn-link") and "400G" in f"{e.what} {e.base} {e.use}"]


def test_a_time_out_at_the_default_costs_most_of_a_run_and_a_tuned_one_little(book: EvidenceBook) -> None:
    exposure = Exposure(gpus=1_024, run_days=30.0, gpu_hour_usd=3.0, step_s=5.03)
    cases = {c.id: c for c in stress_table(exposure, book.central)}
    drain_ms = 31 * 4 / 50
    for case, time_out_ms in (("incast", 4.096e-3 * 2**20), ("incast-tuned", 5.5)):
        added = 4 * (drain_ms + time_out_ms) / 1000 / 5.03
        assert float(cases[case].loss_share) == pytest.approx(added / (1 + added), rel=1e-3), case
    assert float(cases["incast"].loss_share) == pytest.approx(0.77, abs=0.005)
    assert float(cases["incast-tuned"].loss_share) < 0.01


def test_a_case_that_overflows_no_buffer_costs_the_same_with_any_timer() -> None:
    exposure = Exposure(gpus=8, run_days=1.0, gpu_hour_usd=1.0)
    slow, fast = (incast(exposure, 2, 1.0, 8.0, 1, retransmit_ms=t) for t in (4_295.0, 5.0))
    assert float(slow.loss_share) == float(fast.loss_share)


def test_one_per_cent_of_packets_is_not_one_per_cent_of_time(
    book: EvidenceBook, audited: dict[str, AuditedClaim]
) -> None:
    claim = audited["s3-drop-cost"]
    assert (claim.verdict, claim.recomputed) == ("unsupported", None)
    assert "evidence:go-back-n-one-per-cent" in claim.by
    rent = audited["s3-drop-cost-as-rent"]
    assert rent.recomputed == pytest.approx(250_000 / (1_024 * 168 * 3))
    assert rent.recomputed == pytest.approx(0.484, abs=0.001)
    assert rent.verdict == "reproduces with a caveat"


def test_a_retransmission_delay_is_a_setting(audited: dict[str, AuditedClaim]) -> None:
    assert audited["s3-rdma-retransmit"].verdict == "unsupported"


def test_a_cost_inside_the_library_is_no_evidence_of_a_badly_tuned_fabric(
    book: EvidenceBook, audited: dict[str, AuditedClaim]
) -> None:
    assert not [i for i in audited["s0-untuned-worse-than-latency"].by if "n2409" in i]
    for entry in ("busbw-1gib-roce-h100-n2409", "busbw-8gib-roce-h100-n2409"):
        assert "not in the fabric" in book[entry].use


def test_metas_twin_clusters_are_cited_from_the_post_that_describes_them(book: EvidenceBook) -> None:
    entry = book["meta-twin-clusters-matched"]
    assert (entry.date, entry.grade, entry.seen) == ("2024-06-12", "secondary", "B")
    assert entry.source == "How Meta trains large language models at scale"
    assert book["meta-both-fabrics-no-bottleneck"].date == "2024-03-12"


def test_the_one_point_above_128_gpus_is_the_same_whichever_fabric_it_was() -> None:
    point = next(t for t in packaged_tables() if t.case.startswith("h200-1984"))
    assert "fabric-not-stated" in point.case
    fitted = catalogue().fitted
    as_roce = type(point)(**{**point.__dict__, "fabric": "rocev2-400g"})
    assert np.allclose(as_roce.modelled_us(fitted), point.modelled_us(fitted), rtol=0.02)


def test_what_a_public_figure_could_replace_is_no_assumption_of_ours(book: EvidenceBook) -> None:
    assert book["pay-loading"].low == pytest.approx(46.60 / 32.60, abs=0.005)
    assert book["pay-loading"].high == pytest.approx(68.03 / 44.07, abs=0.005)
    assert book["lever-checkpoint-write-factor"].low == pytest.approx(6.3 / 148.8, abs=0.0005)
    assert book["slow-node-penalty"].high == pytest.approx(1.34 - 1)
    assert book["gpu-hour-gb200-nvl72-usd"].mid == pytest.approx(42.00 / 4)
    hour = 61_270 / 2_080
    assert book["cabling-usd-per-hour"].low == pytest.approx(hour * 1.43, abs=0.1)
    assert book["cabling-usd-per-hour"].high == pytest.approx(hour * 1.54, abs=0.1)
    replaced = (
        *("pay-loading", "lever-checkpoint-write-factor", "slow-node-penalty", "gpu-hour-mi300x-usd"),
        *("gpu-hour-gb200-nvl72-usd", "server-a100-8gpu-watts", "cabling-usd-per-hour", "roce-local-ack-timeout"),
    )
    assert not [i for i in replaced if book[i].grade == "assumption" or not book[i].address]
    assert "depreciation-years" not in book


@pytest.mark.parametrize(
    ("claim", "verdict"),
    [
        ("s4-ndr-current", "reproduces with a caveat"),
        ("s0-sigcomm-attribution", "cannot be checked"),
        ("s1-rdma-order-of-magnitude", "reproduces with a caveat"),
        ("s2-infiniband-tail-stable", "unsupported"),
        ("s4-discount-as-premium", "reproduces with a caveat"),
        ("s4-premium-as-discount", "reproduces with a caveat"),
        ("s3-rec-dgx-infiniband", "reproduces with a caveat"),
        ("s4-comparable-infiniband", "unsupported"),
        ("s2-waste-plus-delay", "reproduces with a caveat"),
        ("s3-lab-spine-ports", "contradicted"),
        ("s3-lab-leaf-uplinks", "contradicted"),
        ("s3-twenty-years", "reproduces"),
        ("s3-tcp-retransmit", "reproduces with a caveat"),
        ("s3-operator-google", "out of date"),
        ("s1-current-range-ndr", "out of date"),
        ("s1-roce-ports-400", "out of date"),
        ("s3-cables-row", "reproduces with a caveat"),
        ("s2-three-dollars", "reproduces with a caveat"),
        ("s3-nic-unit-roce", "contradicted"),
        ("s1-infiniband-vendors", "contradicted"),
        ("s4-unpredictable-patterns", "contradicted"),
        ("s4-non-blocking-guarantees", "contradicted"),
    ],
)
def test_verdicts_of_the_audit_of_the_audit(audited: dict[str, AuditedClaim], claim: str, verdict: str) -> None:
    assert audited[claim].verdict == verdict


def test_a_claim_fails_by_age_only_where_what_speaks_against_it_is_younger(audited: dict[str, AuditedClaim]) -> None:
    book = read_claims()
    assert {c.id for c in audited.values() if c.verdict == "out of date" and c.computed} == {
        c.id for c in book.values() if c.aged
    }


def test_no_article_verifies_itself(book: EvidenceBook) -> None:
    """A claim that is held beside a figure as it is needs somebody else's figure."""
    claims = read_claims()
    for claim in audit(claims, book):
        if claim.verdict == "reproduces" and claims[claim.id].method == "same":
            sources = {book[i.removeprefix("evidence:")].source for i in claim.by if i.startswith("evidence:")}
            assert not sources or sources != {claims.sources[claim.source].title}, claim.id
