"""Whole deliveries of shipped clients judged: a good one, a slow one, one on too few GPUs; the decision made again; the memo."""

from __future__ import annotations

import io
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest import mock

import bench
import numpy as np
import pypdf
import pytest
from delivered_cases import delivery, perftest_log, records, write
from delivered_memo import memo_of, printed
from notebook_cells import sources
from rows import rows

import fabricreport.inputs.inputs as inputs_module
from fabricreport.base.errors import InputError
from fabricreport.base.formats import significant
from fabricreport.base.provenance import plain
from fabricreport.base.yaml_files import read_yaml
from fabricreport.blocks.cells import fields_of
from fabricreport.blocks.gate import bare_numbers, texts
from fabricreport.blocks.prose import is_prose, read_cell
from fabricreport.bodies.bodies import Turns
from fabricreport.case import Case
from fabricreport.delivery.delivery import two_pages
from fabricreport.delivery.facts import SECTION, Delivery, facts_of, open_delivery, reason, spoken
from fabricreport.delivery.figures import Figures
from fabricreport.delivery.judgement import PERCENT, TestVerdict, Why
from fabricreport.delivery.runs import Flaw
from fabricreport.delivery.study import (
    Acceptance,
    Evidence,
    Handed,
    Outcome,
    accept,
    decide_again,
    handed_beside,
    mean_of,
    plan_of,
    read_logs,
)
from fabricreport.memo.write.html import render_html
from fabricreport.memo.write.pdf import printed as typeset
from fabricreport.sections.chain import Delivered

pytestmark = pytest.mark.slow
GPUS = 128


def case(client: str) -> Case:
    """Owners have 128 GPUs here, for a log of its own has one line a rank."""
    return bench.changed(client, **({} if client == "tern-finetuning" else {"cluster__gpus": GPUS}))


def judged(client: str, files: Mapping[str, str], folder: Path) -> Acceptance:
    made = case(client)
    plan = plan_of(made)
    handed = [Handed(path.name, path) for path in write(files, folder)]
    return accept(made, plan, read_logs(made, plan, handed))


def made(client: str, **kind: Any) -> dict[str, str]:
    return delivery(plan_of(case(client)), **kind)


def pages(pdf: bytes) -> int:
    return len(pypdf.PdfReader(io.BytesIO(pdf)).pages)


def turns(found: Acceptance) -> Turns:
    facts = spoken(found).facts
    assert isinstance(facts, Turns)
    return facts


def word(found: Acceptance, name: str) -> object:
    return spoken(found).words[name]


# ---- whole deliveries


@rows("client", ["example", "tern-finetuning"])
def test_a_sound_delivery_is_accepted_and_the_advice_stands(client: str, tmp_path: Path) -> None:
    found = judged(client, made(client), tmp_path)
    assert found.outcome is Outcome.ACCEPT
    assert {one.verdict for one in found.judged} == {TestVerdict.PASS}
    assert found.credit == 0 and found.advised_after
    assert turns(found).advised in ("still_advised", "still_open")


def percents_below(share: float) -> float:
    """How far the middle of five runs misses where credits begin: of a whole fabric it lies 2.2 percent above."""
    return 100.0 * (1.0 - 1.022 * share)


@rows(("client", "exchange"), [("example", "T-REDUCESCATTER"), ("tern-finetuning", "T-ALLGATHER")])
def test_a_tenth_less_bandwidth_is_refused_paid_for_and_costs_some_of_the_lead(
    client: str, exchange: str, tmp_path: Path
) -> None:
    """The exchange that the job runs is paid for, by the middle of its runs, and no other collective beside it."""
    found = judged(client, made(client, share=0.9), tmp_path)
    assert found.outcome is Outcome.REJECT
    failed = {one.test.id for one in found.of(TestVerdict.FAIL)}
    assert "T-LINKS" in failed
    assert not failed & {"T-ALLREDUCE", exchange, "T-LATENCY", "T-RANKS", "T-WEEKS"}  # floors lie lower than credits
    price = plan_of(case(client)).of(exchange)[0].price
    (paid,) = (credit for credit in found.credits if credit.per == PERCENT)
    assert price and paid.judged.test.id == exchange
    assert paid.shortfall == pytest.approx(percents_below(0.9), abs=0.01)
    assert paid.amount == pytest.approx(paid.shortfall * price.value)
    assert mean_of(found.decided.lead_after) < mean_of(found.decided.lead_before)


def test_two_fifths_less_bandwidth_fails_every_test_of_it(tmp_path: Path) -> None:
    found = judged("example", made("example", share=0.6), tmp_path)
    failed = {one.test.id for one in found.of(TestVerdict.FAIL)}
    collectives = {"T-ALLREDUCE", "T-REDUCESCATTER", "T-ALLGATHER", "T-ALLTOALL"}
    assert {"T-LINKS", *collectives, "T-LATENCY", "T-LATENCY-LOADED", "T-INCAST", "T-SOAK"} <= failed


def test_bandwidth_between_floor_and_credit_is_accepted_with_the_credit(tmp_path: Path) -> None:
    files, slow = made("example"), made("example", share=0.95)
    files |= {name: text for name, text in slow.items() if name.startswith("T-REDUCESCATTER")}
    found = judged("example", files, tmp_path)
    assert found.outcome is Outcome.CREDIT and not found.of(TestVerdict.FAIL)
    (paid,) = found.credits
    assert paid.judged.test.id == "T-REDUCESCATTER"
    assert paid.shortfall == pytest.approx(percents_below(0.95), abs=0.01)
    assert turns(found).verdict == "credit" and turns(found).owed == "due" and not word(found, "failing")


def test_a_log_run_with_settings_that_the_order_does_not_name_proves_nothing(tmp_path: Path) -> None:
    head = (
        "# Thu Nov 26 mpirun -np 128 -x NCCL_COLLNET_ENABLE=0 -x NCCL_MIN_CTAS=24 ./build/all_reduce_perf -b 1G -g 1\n"
    )
    files = {n: head + text if n.startswith("T-ALLREDUCE.") else text for n, text in made("example").items()}
    without = judged("example", files, tmp_path / "without")
    one = next(j for j in without.judged if j.test.id == "T-ALLREDUCE")
    assert (one.verdict, one.flaw) == (TestVerdict.NOT_PROVEN, Flaw.OTHER_SETTINGS)
    named = judged("example", files | {"settings.txt": "-x NCCL_MIN_CTAS=24\n"}, tmp_path / "named")
    assert named.outcome is Outcome.ACCEPT and facts_of(named)["settings"] == ["NCCL_MIN_CTAS=24"]
    with pytest.raises(InputError, match="no setting of the collective library"):
        judged("example", files | {"settings.txt": "rm -rf\n"}, tmp_path / "wrong")


def test_the_same_delivery_on_half_the_gpus_is_not_proven_whatever_its_logs_claim(tmp_path: Path) -> None:
    found = judged("example", made("example", gpus=GPUS // 2), tmp_path)
    by_id = {one.test.id: one for one in found.judged}
    assert by_id["T-ALLREDUCE"].why is Why.VOID_RUNS and by_id["T-ALLREDUCE"].flaw is Flaw.OTHER_RANKS
    assert by_id["T-RANKS"].why is Why.RANKS_DIFFER
    assert found.outcome is Outcome.RETEST and found.credit == 0


def test_logs_that_say_truly_that_they_ran_on_fewer_gpus_are_told_as_such(tmp_path: Path) -> None:
    files = {name: text for name, text in made("example").items() if f".{GPUS // 8}." not in name}
    found = judged("example", files, tmp_path)
    one = next(j for j in found.judged if j.test.id == "T-ALLREDUCE")
    assert (one.why, one.gpus, one.largest) == (Why.FEWER_GPUS, GPUS, 64)
    assert "64 GPUs" in reason(Figures(found), one).sentence


def test_a_missing_row_is_told_by_log_and_size_and_a_limit_with_what_was_seen(tmp_path: Path) -> None:
    """In the data and the memo; a name that Typst, HTML or a terminal would read is printed as it stands."""
    hostile = "T-ALLTOALL.#sys.inputs <b>*x*\x1b[31m.log"
    files = made("example")
    for name in [name for name in files if name.startswith(f"T-ALLTOALL.{GPUS // 8}.")]:
        files[hostile if name.endswith(".1.log") else name] = files.pop(name).replace(f"{2**33:12} ", "     elided ")
    files["records.yaml"] = re.sub(r"(T-WEEKS\n.*\n    value:) .*", r"\1 40", files["records.yaml"])
    found = judged("example", files, tmp_path)
    told = {test["id"]: test for test in facts_of(found)["tests"] if test["verdict"] != "pass"}
    assert re.fullmatch(r"40 weeks, at most \d[\d.]* weeks", told["T-WEEKS"]["reason"])
    reason = told["T-ALLTOALL"]["reason"]
    assert "T-ALLTOALL.#sys.inputs <b>*x*\\x1b[31m.log" in reason and reason.endswith(": no row of 8 GiB"), reason
    assert {"file": hostile, "flaw": str(Flaw.INCOMPLETE), "sizes_bytes": [2**33]} in told["T-ALLTOALL"]["faults"]
    document, faults = memo_of(found)
    html = render_html(document).replace("\N{NO-BREAK SPACE}", " ")
    assert not faults and "no row of 8 GiB" in html and "40 weeks, at most" in html
    assert "<b>*x*" not in html and "&lt;b&gt;*x*" in html


def test_nothing_handed_over_proves_nothing_and_moves_nothing(tmp_path: Path) -> None:
    found = judged("tern-finetuning", {}, tmp_path)
    assert {one.verdict for one in found.judged} == {TestVerdict.NOT_PROVEN}
    assert turns(found) == Turns("retest", "not_due", "unmoved") and word(found, "nothing_handed")
    assert np.array_equal(plain(found.decided.lead_before), plain(found.decided.lead_after))


def test_the_order_of_the_files_and_a_file_given_twice_change_nothing(tmp_path: Path) -> None:
    files = made("tern-finetuning", share=0.97)
    twice = dict(reversed(files.items())) | {"copy.log": next(iter(files.values()))}
    first, second = judged("tern-finetuning", files, tmp_path / "a"), judged("tern-finetuning", twice, tmp_path / "b")
    left_out = {"logs"}
    one, two = ({k: v for k, v in facts_of(f).items() if k not in left_out} for f in (first, second))
    assert one == two


def test_a_log_under_the_name_of_another_test_leaves_its_own_unproven(tmp_path: Path) -> None:
    files = made("tern-finetuning")
    named = {name.replace("T-ALLREDUCE.", "T-ALLGATHER.zzz."): text for name, text in files.items()}
    assert named.keys() != files.keys() and judged("tern-finetuning", named, tmp_path).outcome is Outcome.RETEST


def test_half_a_week_late_is_paid_by_the_damages_agreed_and_enters_the_decision(tmp_path: Path) -> None:
    """A week of tuning 128 GPUs at $3 an hour loses half of 128 x 168 x 3 = $64,512, and half of that loss is paid."""
    files = made("two options")
    (promised,) = plan_of(case("two options")).of("T-WEEKS")[0].thresholds.values()
    entry = f"- test: T-WEEKS\n    gpus: {GPUS}\n    value: "
    assert f"{entry}{0.97 * promised:g}\n" in files["records.yaml"]
    files["records.yaml"] = files["records.yaml"].replace(f"{entry}{0.97 * promised:g}", f"{entry}{promised + 0.5}")
    found = judged("two options", files, tmp_path)
    assert found.outcome is Outcome.CREDIT
    assert found.credit == pytest.approx(0.5 * 0.5 * 32_256, rel=0.005)
    assert found.seen.weeks == pytest.approx(promised + 0.5)
    assert word(found, "weeks")


def test_a_threshold_holds_as_it_is_printed(tmp_path: Path) -> None:
    for one in judged("example", {}, tmp_path).judged:
        bar = one.test.bars[one.gpus, one.size_bytes]
        if one.test.unit != "ratio":
            assert replace(bar, value=one.threshold).text == bar.text
            assert one.threshold == significant(one.threshold, bar.digits)


def test_logs_that_the_plan_keeps_beside_are_not_judged(tmp_path: Path) -> None:
    files = made("tern-finetuning")
    slow = next(text for name, text in made("tern-finetuning", share=0.5).items() if name.startswith("T-ALLREDUCE"))
    found = judged("tern-finetuning", files | {"ring.2.log": slow, "load.log": "no log at all"}, tmp_path)
    assert found.outcome is Outcome.ACCEPT
    assert set(found.logs.beside) == {"ring.2.log", "load.log"}


# ---- refusals


def test_every_file_that_cannot_be_read_is_named_at_once(tmp_path: Path) -> None:
    files = {"T-ALLREDUCE.2.1.log": "nothing\n", "records.yaml": "tests: 7\n", "T-ALREDUCE.2.1.log": "x"}
    with pytest.raises(InputError) as refused:
        judged("tern-finetuning", files, tmp_path)
    said = "\n".join(str(problem) for problem in refused.value.problems)
    assert "no row of a measurement" in said
    assert "tests: must be a list (found 7)" in said
    assert "Did you mean 'T-ALLREDUCE'?" in said


def test_a_link_faster_than_its_adapter_proves_nothing(tmp_path: Path) -> None:
    files = {f"T-LINKS.a.b.mlx5_0.{n}.log": perftest_log(60.0, run=n) for n in range(9)}
    links = next(one for one in judged("example", files, tmp_path).judged if one.test.id == "T-LINKS")
    assert (links.verdict, links.flaw) == (TestVerdict.NOT_PROVEN, Flaw.CONTRADICTS)


def test_where_the_advice_is_open_either_option_may_be_what_was_delivered() -> None:
    open_course = case("tern-finetuning")
    assert open_course.comparison.verdict.open
    rival = open_course.comparison.rival
    assert plan_of(open_course, rival).option == rival
    assert plan_of(open_course).option == open_course.comparison.choice
    with pytest.raises(InputError, match="has no acceptance plan"):
        plan_of(open_course, "ethernet-tcp")


def test_two_deliveries_beside_one_params_file_are_refused(tmp_path: Path) -> None:
    for name in ("as-delivered", "as-delivered-infiniband-ndr"):
        (tmp_path / name).mkdir()
    with pytest.raises(InputError, match="several deliveries"):
        handed_beside(tmp_path / "client.yaml")


def test_a_client_whose_gpus_sit_in_one_node_has_nothing_to_accept() -> None:
    with pytest.raises(InputError, match="one node"):
        plan_of(case("tern-finetuning").changed(cluster__gpus=8))


# ---- the decision made again


def test_what_was_not_seen_changes_no_bill_and_no_other_option_is_ever_touched() -> None:
    made = case("example")
    chosen = made.comparison.choice
    same = made.chain.delivered(Delivered(chosen)).bills
    slow = made.chain.delivered(Delivered(chosen, weeks=30.0, faults=3.0)).bills
    for option, total in made.chain.bills.totals.items():
        assert np.array_equal(plain(same.totals[option]), plain(total))
        assert np.array_equal(plain(slow.totals[option]), plain(total)) is (option != chosen)
    assert np.all(plain(slow.totals[chosen]) >= plain(made.chain.bills.totals[chosen]))


def test_the_lead_falls_with_bandwidth_weeks_and_faults_and_with_nothing_else() -> None:
    made = case("example")

    def lead(**seen: Any) -> float:
        return mean_of(
            decide_again(made, made.comparison.choice, Evidence(gpus=GPUS, size_bytes=2**34, **seen)).lead_after
        )

    assert [*sorted(lead(busbw_gbytes_per_s=b) for b in (400.0, 300.0, 200.0))] == [
        lead(busbw_gbytes_per_s=b) for b in (200.0, 300.0, 400.0)
    ]
    assert lead(weeks=4.0) > lead(weeks=8.0)
    assert lead(faults=1.0) == pytest.approx(lead()) and lead(faults=3.0) < lead()


def test_a_fabric_far_too_slow_loses_the_advice() -> None:
    made = case("example")
    found = decide_again(made, made.comparison.choice, Evidence(GPUS, 2**34, 60.0))
    assert not found.is_advised(made.comparison.choice, found.after)


# ---- the memo


def deliveries(folder: Path) -> Iterator[tuple[str, Acceptance]]:
    yield "good", judged("example", made("example"), folder / "good")
    yield "slow", judged("example", made("example", share=0.9), folder / "slow")
    yield "few", judged("example", made("example", gpus=GPUS // 2), folder / "few")
    yield "none", judged("tern-finetuning", {}, folder / "none")


def test_the_memo_of_every_kind_of_delivery_passes_the_checks_and_takes_two_pages(tmp_path: Path) -> None:
    for name, found in deliveries(tmp_path):
        document, faults = memo_of(found)
        assert faults == [], name
        pdf = typeset(two_pages(document)).pdf
        assert pages(pdf) == 2, name
        html = render_html(document)
        for one in found.judged:
            assert one.test.id in html
        assert "acceptance.asked" not in html and "http://" not in html


def test_names_of_files_and_evidence_are_inert(tmp_path: Path) -> None:
    files = made("tern-finetuning")
    text = files.pop("T-ALLREDUCE.2.1.log")
    files["T-ALLREDUCE.<b>#panic(1).log"] = text
    files["records.yaml"] = files["records.yaml"].replace(
        "Protocol of the acceptance", "'=1+1 <script>alert(7)</script>'#", 1
    )
    document, faults = memo_of(judged("tern-finetuning", files, tmp_path))
    assert faults == []
    assert "<script>alert" not in render_html(document)
    assert pages(typeset(two_pages(document)).pdf) == 2


def test_every_word_is_used_and_every_sentence_is_free_of_bare_numbers(tmp_path: Path) -> None:
    cells = [read_cell(source) for source, _ in sources(SECTION) if is_prose(source)]
    found = judged("tern-finetuning", {}, tmp_path)
    fields = " ".join(field for cell in cells for text in cell.texts for field in fields_of(text))
    said = (
        {cell.each[1] for cell in cells if cell.each}
        | set(re.findall(r"\w+", fields))
        | {name for cell in cells for name in cell.asked}
    )
    assert set(spoken(found).words) - said == set()
    prose = [text for cell in cells for text in cell.texts]
    assert [bare for text in prose if (bare := bare_numbers(re.sub(r"\{[^}]*\}", " ", text)))] == []


def test_every_reason_and_every_flaw_has_its_sentence() -> None:
    said = read_yaml("delivery")
    assert set(said["reasons"]) == {str(why) for why in Why}
    assert set(said["flaws"]) == {flaw.name for flaw in Flaw}
    assert not any(bare_numbers(text) for part in ("reasons", "flaws") for text in said[part].values())


def test_the_data_hold_what_is_printed(tmp_path: Path) -> None:
    found = judged("tern-finetuning", made("tern-finetuning", share=0.9), tmp_path)
    facts = json.loads(json.dumps(facts_of(found), allow_nan=False))
    assert {"client", "as_of", "option", "verdict", "tests", "credit", "before", "after"} <= set(facts)
    keys = {
        "id",
        "stage",
        "gpus",
        "verdict",
        "reason",
        "measured",
        "threshold",
        "unit",
        "runs",
        "credit",
        "questions",
        "logs",
    }
    assert all(keys <= set(test) for test in facts["tests"])
    assert sum(facts["counts"].values()) == len(facts["tests"])
    due = [test["credit"] for test in facts["tests"] if test["credit_counts"]]
    assert facts["credit"] == pytest.approx(sum(due), rel=1e-4)


def test_what_lies_beside_the_params_is_what_a_notebook_judges(tmp_path: Path) -> None:
    params = tmp_path / "client.yaml"
    params.write_text((bench.PARAMS / "tern-finetuning.yaml").read_text(encoding="utf-8"), encoding="utf-8")
    with mock.patch.object(inputs_module, "DRAWS", bench.DRAWS):
        assert open_delivery(params).found.logs.names == ()
        write({"records.yaml": records(plan_of(case("tern-finetuning")))}, tmp_path / "as-delivered")
        found = open_delivery(params).found
    assert found.logs.names == ("records.yaml",)
    assert any(one.verdict is TestVerdict.PASS for one in found.judged)


def test_a_printed_page_links_to_nothing_that_is_not_on_it(tmp_path: Path) -> None:
    document = printed(judged("tern-finetuning", {}, tmp_path))
    assert document.annexes == () and document.derivations == () and document.sources_heading is None
    assert [text for _, text in texts(document.nodes) if "Annex" in text] == []


def test_a_delivery_speaks_of_its_acceptance_alone(tmp_path: Path) -> None:
    found = Delivery(judged("tern-finetuning", {}, tmp_path))
    with pytest.raises(KeyError, match="acceptance"):
        found.spoken("tco")
    assert replace(found.found, credits=()).credit == 0
