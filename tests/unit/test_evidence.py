"""The evidence book: what it holds, what it refuses, and who loses footing when a source goes."""

from __future__ import annotations

import math
import re
from pathlib import Path

import numpy as np
import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st
from rows import rows

from fabricreport.base.errors import InputError
from fabricreport.base.units import unit_problem
from fabricreport.base.vocabulary import Grade
from fabricreport.base.yaml_files import ROOT
from fabricreport.books.constants import catalogue
from fabricreport.books.evidence import LIBRARY, EvidenceBook, read_evidence, references_in, shipped_references
from fabricreport.books.publications import read_claims
from fabricreport.inputs.records import evidence_record
from fabricreport.models.audit.claims import AuditedClaim, audit
from fabricreport.models.risk.stress import Exposure, incast, stress_table
from fabricreport.validation.network import packaged_tables

GOOD = """\
- id: client-step
  what: Extra time per step measured on our own pilot
  value: {p5: 1.2, p95: 4.8}
  unit: us
  date: 2026-10-01
  source: Pilot report 7
  publisher: Client
  address: ""
  read: 2026-11-20
  grade: measured
  seen: A
  interest: ""
  use: replaces the contested range
"""


@pytest.fixture(scope="module")
def book() -> EvidenceBook:
    return read_evidence()


def folder(tmp_path: Path, text: str | bytes, name: str = "own.yaml") -> Path:
    data = text if isinstance(text, bytes) else text.encode()
    (tmp_path / name).write_bytes(data)
    return tmp_path


def faults(tmp_path: Path, text: str | bytes) -> str:
    with pytest.raises(InputError) as refused:
        read_evidence(folder(tmp_path, text))
    assert all("own.yaml:" in str(p) or "own.yaml" in p.file for p in refused.value.problems)
    return str(refused.value)


def test_every_shipped_entry_names_a_source_and_a_grade(book: EvidenceBook) -> None:
    assert len(book) >= 300
    for entry in book.values():
        assert entry.grade in tuple(Grade)
        assert entry.source
        assert entry.what
        assert entry.use
        assert (entry.seen == "-") == (entry.grade == "assumption")


def test_every_contested_entry_says_its_base(book: EvidenceBook) -> None:
    assert all(entry.base for entry in book.values() if entry.contested)


def test_contested_entries_stay_side_by_side_in_file_order(book: EvidenceBook) -> None:
    ids = [entry.id for entry in book.values() if entry.contested == "roce-latency"]
    assert ids.index("roce-latency-s0") < ids.index("roce-latency-s1") < ids.index("roce-latency-s3")


def test_nothing_that_is_cited_is_missing(book: EvidenceBook) -> None:
    assert book.check_references() == ()


def without(book: EvidenceBook, source: str) -> EvidenceBook:
    """The book if the source of this title were withdrawn, all sections of it."""
    return EvidenceBook(entry for entry in book.values() if not entry.source.startswith(source))


def test_deleting_a_source_names_every_figure_that_loses_its_footing(book: EvidenceBook) -> None:
    left = without(book, "The Llama 3 Herd of Models")
    lost = set(book) - set(left)
    assert {"llama3-gpus", "llama3-mfu-16384", "metaroce-pod-gpus"} <= lost
    cited = {(ref.cited_by, ref.evidence_id) for ref in shipped_references() if ref.evidence_id in lost}
    problems = left.check_references()
    named = {(p.key, p.value) for p in problems}
    assert cited <= named
    assert ("s1-roce-few-thousand", "llama3-gpus") in named
    assert all(p.file and p.line for p in problems)


@settings(max_examples=30, deadline=None)
@given(st.data())
def test_deleting_any_one_source_is_noticed_exactly_where_it_is_cited(data: st.DataObject) -> None:
    book = read_evidence()
    left = without(book, data.draw(st.sampled_from(sorted({entry.source for entry in book.values()}))))
    lost = set(book) - set(left)
    cited = {ref.evidence_id for ref in shipped_references()}
    cited |= {parent for entry in left.values() for parent in entry.derived_from}
    assert {p.value for p in left.check_references()} == lost & cited


def test_derived_differences_are_what_their_parents_give(book: EvidenceBook) -> None:
    for article in ("s0", "s1", "s3"):
        extra = book[f"roce-extra-latency-{article}"]
        roce, ib = book[f"roce-latency-{article}"], book[f"infiniband-latency-{article}"]
        assert sorted((extra.low, extra.high)) == sorted((roce.low - ib.low, roce.high - ib.high)) or (
            extra.low,
            extra.high,
        ) == (roce.low - ib.high, roce.high - ib.low)


def test_ratios_are_what_their_parents_give(book: EvidenceBook) -> None:
    for entry in book.values():
        if entry.id.startswith("roce-bandwidth-ratio") and len(entry.derived_from) == 2:
            top, bottom = (book[parent].mid for parent in entry.derived_from)
            assert entry.mid == pytest.approx(top / bottom, abs=1e-4)


def test_the_oversubscription_of_the_sample_fabric_follows_from_its_ports(book: EvidenceBook) -> None:
    ports, speed, uplinks, up_speed = (book[k].mid for k in book["s3-fabric-oversubscription"].derived_from)
    assert book["s3-fabric-oversubscription"].mid == ports * speed / (uplinks * up_speed) == 2


def test_the_pairs_summary_is_what_the_pairs_give(book: EvidenceBook) -> None:
    ratios = sorted(book[k].mid for k in book["mlperf-pairs-median"].derived_from)
    assert len(ratios) == book["mlperf-pairs-count"].mid == 10
    assert book["mlperf-pairs-median"].mid == pytest.approx((ratios[4] + ratios[5]) / 2 - 1, abs=5e-4)
    assert book["mlperf-pairs-range"].low == pytest.approx(ratios[0] - 1, abs=1e-4)
    assert book["mlperf-pairs-range"].high == pytest.approx(ratios[-1] - 1, abs=1e-4)


def test_a_client_folder_adds_entries(tmp_path: Path, book: EvidenceBook) -> None:
    both = read_evidence(folder(tmp_path, GOOD, "own.yml"))
    assert len(both) == len(book) + 1
    entry = both["client-step"]
    assert (entry.kind, entry.low, entry.high) == ("interval", 1.2, 4.8)
    assert entry.mid == pytest.approx((1.2 * 4.8) ** 0.5)
    assert entry.line == 1


@rows(
    ("value", "kind", "low", "mid", "high"),
    [
        ("3", "number", 3, 3, 3),
        ("{low: 1, high: 4}", "range", 1, 2.5, 4),
        ("{low: 1, mode: 2, high: 4}", "pert", 1, 2, 4),
    ],
)
def test_each_form_of_value_is_read(tmp_path: Path, value: str, kind: str, low: float, mid: float, high: float) -> None:
    entry = read_evidence(folder(tmp_path, GOOD.replace("{p5: 1.2, p95: 4.8}", value)))["client-step"]
    assert (entry.kind, entry.low, entry.mid, entry.high) == (kind, low, mid, high)


def test_a_fact_in_words_is_a_text(tmp_path: Path) -> None:
    text = GOOD.replace("{p5: 1.2, p95: 4.8}", "rail-optimised").replace("unit: us", "unit: text")
    assert read_evidence(folder(tmp_path, text))["client-step"].kind == "text"


@rows(
    ("old", "new", "expected"),
    [
        ("unit: us", "unit: µs", "Did you mean 'us'"),
        ("unit: us", "unit: gbps", "Did you mean 'gbits/s'"),
        ("unit: us", "unit: usd/gpu-huor", "Did you mean 'usd/gpu-hour'"),
        ("grade: measured", "grade: mesured", "Did you mean 'measured'"),
        ("seen: A", "seen: C", "must be A, B, D or -"),
        ("seen: A", 'seen: "-"', "seen and grade disagree|and grade disagree"),
        ("date: 2026-10-01", "date: 2026-13-01", "is not a date"),
        ("date: 2026-10-01", "date: 2027-01-01", "after the day it was read"),
        ("read: 2026-11-20", "read: 2026-11", "is not a day"),
        ("source: Pilot report 7", 'source: ""', "is empty.*The title of the document"),
        ("source: Pilot report 7", "source: Pilot report 7\n  file: other.yaml", "file: is not a known key"),
        ("source: Pilot report 7", "source: Pilot report 7\n  replaced: null", "replaced: is not a known key"),
        ("  publisher: Client\n", "", r"publisher: is missing\. Add `publisher:` who published it"),
        ("  source: Pilot report 7\n", "", r"\[0\]\.source: is missing\. Add it\. The title"),
        ("  use: repl", "  uses: repl", "Did you mean 'use'"),
        ("{p5: 1.2, p95: 4.8}", ".nan", "undefined numbers are not allowed"),
        ("{p5: 1.2, p95: 4.8}", "1e999", "too large"),
        ("{p5: 1.2, p95: 4.8}", "{low: 5, high: 1}", "must rise from low to high"),
        ("{p5: 1.2, p95: 4.8}", "{p5: 5, high: 1}", "wrong keys: p5, high"),
        ("{p5: 1.2, p95: 4.8}", "true", "must be a finite number"),
        ("{p5: 1.2, p95: 4.8}", "about three", "must be a number in us"),
        ("{p5: 1.2, p95: 4.8}\n  unit: us", "1.3\n  unit: share", "at most 1"),
        ("{p5: 1.2, p95: 4.8}\n  unit: us", "-1.3\n  unit: us", "at least 0"),
        ("{p5: 1.2, p95: 4.8}\n  unit: us", "{low: 1, high: 1e300}\n  unit: us", r"value\.high: must be at most"),
        ("{p5: 1.2, p95: 4.8}\n  unit: us", "1e400\n  unit: us", "too large"),
        ("id: client-step", "id: Client Step", "joined by hyphens"),
        ("id: client-step", "id: roce-latency-s0", "overrides"),
        ("  use: ", "  contested: roce-latency\n  use: ", "must say what it is measured on"),
        ("  use: ", "  derived_from: [no-such-entry]\n  use: ", "rests on evidence that is missing"),
        ("value: {p5: 1.2, p95: 4.8}", "value: !!float 3", "tags are not allowed"),
        ("value: {p5: 1.2, p95: 4.8}", "value: &a 3", "anchors are not allowed"),
        ("publisher: Client", "publisher: Cli\u202eent", "U\\+202E"),
        ("publisher: Client", "publisher: Cli\u200bent", "U\\+200B"),
        ("  unit: us", "  unit: us\n  unit: ms", "given twice"),
    ],
)
def test_a_faulty_entry_is_refused_with_its_line(tmp_path: Path, old: str, new: str, expected: str) -> None:
    assert old in GOOD
    message = faults(tmp_path, GOOD.replace(old, new, 1))
    assert re.search(expected, message), message
    assert re.search(r"own\.yaml:\d+:", message)


@rows(
    ("key", "remedy"),
    [("what", "one line of words"), ("publisher", "who published"), ("read", "YYYY-MM-DD"), ("seen", "A (")],
)
def test_a_missing_key_is_told_with_what_to_write(tmp_path: Path, key: str, remedy: str) -> None:
    kept = "".join(line for line in GOOD.splitlines(keepends=True) if not line.strip().startswith(f"{key}:"))
    assert remedy in faults(tmp_path, kept)


def test_all_faults_of_all_files_come_at_once(tmp_path: Path) -> None:
    folder(tmp_path, GOOD.replace("unit: us", "unit: furlong"), "one.yaml")
    folder(tmp_path, GOOD.replace("grade: measured", "grade: sure").replace("seen: A", "seen: Z"), "two.yaml")
    with pytest.raises(InputError) as refused:
        read_evidence(tmp_path)
    assert len(refused.value.problems) == 3
    assert {Path(p.file).name for p in refused.value.problems} == {"one.yaml", "two.yaml"}


def test_the_same_id_twice_names_the_first_place(tmp_path: Path) -> None:
    assert "first in" in faults(tmp_path, GOOD + GOOD)


def test_a_file_that_is_not_utf8_is_refused(tmp_path: Path) -> None:
    assert "UTF-8" in faults(tmp_path, GOOD.encode("utf-16"))


def test_a_file_that_is_too_large_is_refused(tmp_path: Path) -> None:
    assert "larger than" in faults(tmp_path, GOOD + "#" * 1_000_001)


def test_a_missing_folder_is_said(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="does not exist"):
        read_evidence(tmp_path / "nowhere")


def test_an_unknown_id_is_met_with_the_nearest(book: EvidenceBook) -> None:
    with pytest.raises(InputError, match="Did you mean 'roce-latency-s0'"):
        book.require("roce-latency-so")


def test_entries_turn_into_json_without_loss(book: EvidenceBook) -> None:
    texts = [path.read_text("utf-8") for path in LIBRARY.glob("*.yaml")]
    raw = {e["id"]: e for text in texts for e in yaml.load(text, yaml.CSafeLoader)}
    for entry in book.values():
        shown = entry.as_dict()
        assert shown["value"] == raw[entry.id]["value"]
        assert shown["use"] == raw[entry.id]["use"]


def test_citations_carry_their_owner_and_line() -> None:
    found = references_in(ROOT / "claims.yaml")
    by_owner = {ref.cited_by for ref in found}
    assert "s1-roce-few-thousand" in by_owner
    line = next(ref for ref in found if ref.cited_by == "s1-roce-few-thousand").line
    assert "evidence:" in (ROOT / "claims.yaml").read_text("utf-8").splitlines()[line - 1]


def test_a_pattern_over_many_ids_is_no_citation_and_an_id_beside_it_is(tmp_path: Path) -> None:
    path = tmp_path / "rules.yaml"
    path.write_text('- {id: a, ids: ["evidence:lever-*", "evidence:pue", "evidence:*-watts", "evidence:*"]}\n', "utf-8")
    assert [(ref.cited_by, ref.evidence_id) for ref in references_in(path)] == [("a", "pue")]


@rows("unit", ["us", "share", "usd/gpu-hour", "1/transceiver-year", "gbytes/s", "usd/kw-month"])
def test_the_units_of_the_field_are_known(unit: str) -> None:
    assert unit_problem(unit) is None


@rows("unit", ["gbps", "%", "furlong", "usd/", "us/gpu/hour", ""])
def test_other_units_are_refused(unit: str) -> None:
    assert unit_problem(unit) is not None


def test_what_is_published_or_measured_has_an_address_that_leads_to_it(book: EvidenceBook) -> None:
    """A host alone leads nowhere: who has only that read it elsewhere, and the grade is `secondary`."""
    leads = re.compile(r"(https?://)?([\w-]+\.)+[a-z]{2,}/\S+")
    public = [e for e in book.values() if e.grade in (Grade.PUBLISHED, Grade.MEASURED)]
    assert len(public) > 150
    assert [e.id for e in public if not leads.match(e.address)] == []


def test_context_and_provider_rows_cite_evidence(book: EvidenceBook) -> None:
    cited = {
        ref.evidence_id
        for name in ("context", "providers", "questions")
        for ref in references_in(ROOT / f"{name}.yaml")
    }
    assert len(cited) > 80
    assert cited <= set(book)


@pytest.fixture(scope="module")
def audited(book: EvidenceBook) -> dict[str, AuditedClaim]:
    return {c.id: c for c in audit(read_claims(), book)}


def test_nccls_default_timer_is_four_microseconds_doubled_twenty_times(book: EvidenceBook) -> None:
    entry = book["roce-local-ack-timeout"]
    assert entry.mid == pytest.approx(4.096e-3 * 2**20, abs=0.5)
    assert (entry.grade, entry.publisher) == ("published", "NVIDIA")
    tuned = book["roce-local-ack-timeout-tuned"]
    assert (tuned.low, tuned.high, tuned.grade) == (1, 10, "assumption")


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


def test_a_cost_inside_the_library_is_no_evidence_of_a_badly_tuned_fabric(
    book: EvidenceBook, audited: dict[str, AuditedClaim]
) -> None:
    assert not [i for i in audited["s0-untuned-worse-than-latency"].by if "n2409" in i]
    for entry in ("busbw-1gib-roce-h100-n2409", "busbw-8gib-roce-h100-n2409"):
        assert "not in the fabric" in book[entry].use


def test_the_one_point_above_128_gpus_is_the_same_whichever_fabric_it_was() -> None:
    point = next(t for t in packaged_tables() if t.case.startswith("h200-1984"))
    assert "fabric-not-stated" in point.case and not point.fabric_stated
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


@rows(
    ("claim", "verdict"),
    [
        ("s3-rdma-retransmit", "unsupported"),
        ("s4-ndr-current", "reproduces with a caveat"),
        ("s0-sigcomm-attribution", "cannot be checked"),
        ("s1-rdma-order-of-magnitude", "reproduces with a caveat"),
        ("s2-infiniband-tail-stable", "unsupported"),
        ("s4-discount-as-premium", "reproduces with a caveat"),
        ("s4-premium-as-discount", "reproduces with a caveat"),
        ("s3-rec-dgx-infiniband", "not followed"),
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
        ("s1-infiniband-vendors", "out of date"),
        ("s4-unpredictable-patterns", "unsupported"),
        ("s0-rec-who-tunes", "followed"),
        ("s1-ultra-large-throughput", "unsupported"),
        ("s3-operator-microsoft", "reproduces with a caveat"),
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


# ---- ranges that are worked out from published figures, by one rule for every network


def ends(entry: str) -> tuple[float, ...]:
    figure = read_evidence()[entry].figure
    return (figure.low, figure.high) if figure.kind == "range" else (figure.low, figure.mode, figure.high)


def test_a_years_licence_is_that_of_the_one_price_list_for_a_makers_switch_and_a_white_box() -> None:
    ladder = {1: (2599, 4699), 3: (3129, 5299), 5: (3399, 5699)}  # for 10G and 100G, by years
    at_800g = {y: dear * 8 ** math.log10(dear / cheap) / y for y, (cheap, dear) in ladder.items()}
    expected = (5699 / 5, (at_800g[3] + at_800g[5]) / 2, 4699)
    for entry in ("licence-ethernet-nos-per-switch-year", "licence-whitebox-nos-per-switch-year"):
        assert ends(entry) == pytest.approx(expected, rel=1e-3)


def test_support_is_one_rate_for_every_make() -> None:
    revenue = [2.3175, 2.9480, 4.3813, 5.8602, 7.0031]
    product = 5.88 / revenue[-1]
    expected = (1.12 / sum(revenue), 1.12 / (product * sum(revenue[-3:])), 1.12 / 5.88)
    for make in ("nvidia-networking", "whitebox", "ethernet"):
        assert ends(f"support-rate-{make}") == pytest.approx(expected, rel=0.01)


def test_untuned_networks_miss_the_settings_that_were_measured_on_each() -> None:
    for network, gain in (("infiniband", "ib-tuning-gain-64gpu"), ("rocev2", "ethernet-tuning-gain-gb300")):
        missed = 1 / (1 + read_evidence()[gain].figure.central)
        assert ends(f"fabric-tuning-{network}-low")[0] == pytest.approx(missed, abs=0.015)
        assert ends(f"fabric-tuning-{network}-medium")[0] == pytest.approx(missed**0.5, abs=0.001)


def test_switches_fail_as_often_as_two_clouds_say() -> None:
    library = read_evidence()
    monthly, quarterly = (
        library[i].figure.central for i in ("hpn-tor-critical-errors", "azure-switch-failure-three-months")
    )
    assert ends("switch-failures-per-switch-year") == pytest.approx((12 * monthly, -4 * math.log(1 - quarterly)), 0.01)


def test_only_what_is_ours_says_where_a_better_figure_was_looked_for() -> None:
    looked = [entry for entry in read_evidence().values() if entry.searched]
    assert {entry.grade for entry in looked} <= {"assumption", "estimate"}
    assert all(entry.searched in str(evidence_record(entry)["use"]) for entry in looked)
