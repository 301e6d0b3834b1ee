"""Answers of sellers in the inputs: which figures they move, by how much, for whom, and which move nothing."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from unittest import mock

import bench
import numpy as np
import pytest
from answer_cases import LOG, PARAMS, REPAIR, TAPER, TUNER, WEEKS, answered, resting
from rows import rows

import fabricreport.inputs.inputs as inputs_module
from fabricreport.base.provenance import inputs_of, plain
from fabricreport.base.uncertain import Uncertain
from fabricreport.base.vocabulary import Grade
from fabricreport.books.answers import Answer
from fabricreport.books.sellers import Proof, read_questions
from fabricreport.case import Case
from fabricreport.inputs.answers import Moved, proof_of
from fabricreport.inputs.effects import Effect

pytestmark = pytest.mark.slow

STABLE = "evidence:weeks-to-stable-rocev2"
FOUND = "evidence:config-fault-hours-to-find"
TUNED = "evidence:fabric-tuning-rocev2-medium"
ETHERNET = ["spectrum-x-400g", "rocev2-branded-400g"]
FAULTS = "evidence:config-faults-rocev2-per-year"


@pytest.fixture(autouse=True)
def few_draws() -> Iterator[None]:
    with mock.patch.object(inputs_module, "DRAWS", bench.DRAWS):
        yield


@pytest.fixture
def silent() -> Case:
    return bench.case("example")


def ends(figure: Uncertain) -> tuple[float, float]:
    low, high = (float(q) for q in figure.quantile([0.05, 0.95]))
    return low, high


def only(case: Case, question: str) -> Moved:
    """The one thing that an answer does."""
    (moved,) = case.inputs.answered.of(question)
    return moved


def doubt_of_lead(case: Case) -> float:
    """Standard deviation of what separates the two fabrics that are compared first."""
    return float(np.std(plain(case.chain.bills.gap("rocev2-branded-400g", "infiniband-ndr"))))


# ---- one answer, its numbers and no others


def test_every_effect_of_the_bank_is_one_that_is_known() -> None:
    named = {q.effect for q in read_questions() if q.effect}
    assert named == set(Effect)


def test_one_answer_moves_its_input_and_nothing_else(tmp_path: Path, silent: Case) -> None:
    case = answered(tmp_path, resting(WEEKS, "contract"))
    before, after = silent.inputs, case.inputs
    changed = {e for e in before.evidence if before.evidence[e].value != after.evidence[e].value}
    assert {f"evidence:{e}" for e in changed} == {STABLE}
    assert only(case, "Q-OPS-10").input_id == STABLE


def test_exactly_the_numbers_that_rest_on_it_change(tmp_path: Path) -> None:
    case = answered(tmp_path, resting(WEEKS, "contract", value=5))
    other = case.without_answers("Q-OPS-10")
    assert case.comparison.choice == other.comparison.choice
    assert case.comparison.rival == other.comparison.rival
    ours, theirs = case.tco().numbers, other.tco().numbers
    assert set(ours) == set(theirs)
    changed = {i for i in ours if ours[i].as_dict() != theirs[i].as_dict()}
    resting_on_it = {i for i in ours if STABLE in ours[i].inputs}
    assert changed
    assert changed <= resting_on_it
    totals = {f"tco.total.{o.id}" for o in case.options}
    moved = {f"tco.total.{o.id}" for o in case.options if o.behaviour.weeks == STABLE.partition(":")[2]}
    assert changed & totals == moved
    assert moved


def test_a_case_without_answers_is_that_of_a_client_nobody_answered(tmp_path: Path, silent: Case) -> None:
    case = answered(tmp_path, resting(WEEKS, "contract"), resting(LOG, "log")).without_answers()
    assert not case.inputs.answered.moved
    for option in silent.options:
        assert np.array_equal(plain(case.chain.bills.totals[option.id]), plain(silent.chain.bills.totals[option.id]))


def test_what_no_answer_reaches_keeps_its_draws(tmp_path: Path) -> None:
    case = answered(tmp_path, resting(WEEKS, "contract"))
    drawn, weeks = case.inputs.value("evidence:pue"), case.inputs.draw(STABLE)
    other = case.without_answers()
    assert other.inputs.value("evidence:pue") is drawn
    assert not np.array_equal(plain(other.inputs.draw(STABLE)), plain(weeks))


def test_only_the_questions_named_are_taken_back(tmp_path: Path) -> None:
    case = answered(tmp_path, resting(WEEKS, "contract"), resting(REPAIR, "contract")).without_answers("Q-OPS-10")
    assert {m.question for m in case.inputs.answered.moving} == {"Q-OPS-04"}


# ---- better evidence narrows, a claim hardly does


def test_firm_answers_narrow_the_input_and_what_the_fabric_costs(tmp_path: Path, silent: Case) -> None:
    case = answered(tmp_path, resting(WEEKS, "contract"), resting(REPAIR, "contract"))
    for input_id in (STABLE, FOUND):
        low, high = ends(case.inputs.uncertain(input_id))
        was = ends(silent.inputs.uncertain(input_id))
        assert high / low < 0.5 * was[1] / was[0]
    before, after = (float(np.std(plain(c.chain.bills.totals["rocev2-branded-400g"]))) for c in (silent, case))
    assert after < before


def test_firm_answers_on_both_fabrics_narrow_the_lead(tmp_path: Path, silent: Case) -> None:
    """On one alone they need not: weeks of both move together, and what they share no longer cancels."""
    signed = [resting(WEEKS, "contract"), resting(REPAIR, "contract")]
    case = answered(tmp_path, *signed, others={"CoreWeave": ("infiniband", signed)})
    assert doubt_of_lead(case) < doubt_of_lead(silent)


def test_a_sales_claim_moves_hardly_anything(tmp_path: Path, silent: Case) -> None:
    firm = answered(tmp_path, resting(WEEKS, "contract"))
    claim = answered(tmp_path, resting(WEEKS, "statement"))
    was, told, signed = (float(np.mean(plain(c.inputs.draw(STABLE)))) for c in (silent, claim, firm))
    assert signed < told < was
    assert was - told < 0.1 * (was - signed)


@rows("answer", [WEEKS, REPAIR])
def test_firmer_evidence_never_leaves_a_wider_range(tmp_path: Path, answer: dict[str, Any]) -> None:
    widths = []
    for proof in Proof:
        case = answered(tmp_path, resting(answer, str(proof), document="a.pdf"))
        low, high = ends(only(case, answer["question"]).new or pytest.fail("moves nothing"))
        widths.append(high / low)
    assert widths == sorted(widths)


def test_two_sellers_of_one_fabric_are_two_observations(tmp_path: Path) -> None:
    signed = resting(WEEKS, "record", document="a.pdf")
    one = answered(tmp_path, signed).inputs.uncertain(STABLE)
    two = answered(tmp_path, signed, others={"Other Cloud": ("rocev2", [signed])}).inputs.uncertain(STABLE)
    assert ends(two)[1] / ends(two)[0] < ends(one)[1] / ends(one)[0]


def test_one_seller_is_one_observation_however_often_it_says_so(tmp_path: Path) -> None:
    case = answered(tmp_path, resting(LOG, "log"), resting(TUNER, "record", document="nightly.pdf"))
    told = {m.input_id: m for m in case.inputs.answered.of("Q-OPS-01")}
    assert told[TUNED].new is None
    assert "Q-NET-07" in told[TUNED].reason
    assert told[FAULTS].new is not None


def test_the_record_of_a_figure_says_who_answered_and_what_stood_there(tmp_path: Path) -> None:
    record = answered(tmp_path, resting(WEEKS, "contract")).record(STABLE)
    assert record["override"]["who"] == "Example Cloud"
    assert "Q-OPS-10" in record["override"]["why"]
    assert record["grade"] == Grade.CONTRACT


def test_a_claim_does_not_lend_a_figure_its_grade(tmp_path: Path, silent: Case) -> None:
    case = answered(tmp_path, resting(WEEKS, "statement"))
    assert case.record(STABLE)["grade"] == silent.record(STABLE)["grade"]


# ---- whose figure stands


def test_the_clients_own_figure_stands(tmp_path: Path) -> None:
    own = {"id": STABLE, "value": 6, "who": "A. Client", "why": "Our own site.", "until": "2027-06-30"}
    case = answered(tmp_path, resting(WEEKS, "contract"), overrides=[own])
    assert case.inputs.central(STABLE) == 6
    moved = only(case, "Q-OPS-10")
    assert moved.new is None
    assert "own figure" in moved.reason


def test_an_entry_that_follows_an_answered_one_follows_the_answer(tmp_path: Path) -> None:
    other = "evidence:weeks-to-stable-tcp"
    own = {"id": other, "value": STABLE, "who": "A. Client", "why": "No better.", "until": "2027-06-30"}
    case = answered(tmp_path, resting(WEEKS, "contract"), overrides=[own])
    assert case.inputs.uncertain(other) == case.inputs.uncertain(STABLE)


@rows("noise", [0.5, 1])
def test_a_client_that_takes_a_term_for_a_fact_has_it_as_the_figure(tmp_path: Path, noise: float) -> None:
    own = {"id": "evidence:answer-noise-contract", "value": noise, "who": "A. Client", "why": "As we know them."}
    case = answered(tmp_path, resting(REPAIR, "contract"), overrides=[{**own, "until": "2027-06-30"}])
    found = case.inputs.uncertain(FOUND)
    assert found.fixed
    assert found.central == pytest.approx(8.0)


def test_answers_update_what_experts_judged(tmp_path: Path) -> None:
    shutil.copytree(PARAMS / "elicited", tmp_path / "elicited")
    judged = ["elicited/example-answers.yaml"]
    case = answered(tmp_path, resting(WEEKS, "record", document="a.pdf"), elicited=judged)
    alone = case.without_answers()
    moved = only(case, "Q-OPS-10")
    assert moved.old == alone.inputs.uncertain(STABLE)
    assert moved.old != bench.case("example").inputs.uncertain(STABLE)


# ---- what moves nothing, and says why


@rows(
    ("answer", "reason"),
    [
        (resting(LOG, "log", measured={**LOG["measured"], "algbw_gbytes_per_s": 192.0}), "another number of ranks"),
        (resting(LOG, "log", measured={"gpus": 16, "busbw_gbytes_per_s": 350.0}), "two nodes"),
        (resting(LOG, "log", measured={"gpus": 32, "busbw_gbytes_per_s": 350.0}), "too few nodes"),
        ({"question": "Q-OPS-10", "answer": "Very soon.", "evidence": "contract"}, "no number"),
        ({"question": "Q-OPS-10", "answer": ""}, "no answer"),
        (resting(TAPER, "statement"), "in words alone"),
        (resting(TAPER, "record", value=1), "assume it"),
        ({"question": "Q-OPS-01", "answer": "Settings are left to the customer, who knows its job best."}, "assume"),
        ({"question": "Q-NET-06", "answer": "2,048.", "value": 2048, "unit": "gpus", "evidence": "contract"}, "owns"),
    ],
)
def test_an_answer_nobody_may_rely_on_moves_nothing(
    tmp_path: Path, silent: Case, answer: dict[str, Any], reason: str
) -> None:
    case = answered(tmp_path, answer)
    moved = only(case, answer["question"])
    assert moved.new is None
    assert reason in moved.reason
    for option in silent.options:
        assert np.array_equal(plain(case.chain.bills.totals[option.id]), plain(silent.chain.bills.totals[option.id]))


def test_a_log_that_was_not_handed_over_is_a_statement() -> None:
    def answer(**more: Any) -> Answer:
        return Answer("Q-OPS-10", "Three.", "week", (3.0, 3.0), **more)

    assert proof_of(answer(evidence=Proof.LOG)) == Proof.STATEMENT
    assert proof_of(answer(evidence=Proof.RECORD, document="a.pdf")) == Proof.RECORD
    assert proof_of(answer(evidence=Proof.CONTRACT)) == Proof.CONTRACT
    assert proof_of(answer()) == Proof.STATEMENT
    assert proof_of(answer(document="a.pdf")) == Proof.RECORD


# ---- which fabric it speaks for


def test_a_fabric_is_told_by_the_file_then_by_the_shipped_table(tmp_path: Path) -> None:
    stated = answered(tmp_path, resting(WEEKS, "contract"), fabric="infiniband", seller="CoreWeave")
    assert only(stated, "Q-OPS-10").input_id == "evidence:weeks-to-stable-infiniband"
    table = answered(tmp_path, resting(WEEKS, "contract"), fabric=None, seller="CoreWeave")
    assert only(table, "Q-OPS-10").input_id == "evidence:weeks-to-stable-infiniband"
    unknown = answered(tmp_path, resting(WEEKS, "contract"), fabric=None)
    assert only(unknown, "Q-OPS-10").new is None
    assert "which fabric" in only(unknown, "Q-OPS-10").reason


def test_of_one_side_the_answers_speak_for_what_is_compared(tmp_path: Path) -> None:
    case = answered(tmp_path, resting(WEEKS, "contract"), fabric=None, options=ETHERNET)
    moved = {m.input_id for m in case.inputs.answered.moving}
    assert moved == {STABLE, "evidence:weeks-to-stable-spectrum-x"}


def test_a_fabric_that_is_not_compared_moves_nothing(tmp_path: Path) -> None:
    case = answered(tmp_path, resting(WEEKS, "contract"), fabric="infiniband", options=ETHERNET)
    assert "not compared" in only(case, "Q-OPS-10").reason


# ---- what each effect does


def test_bandwidth_above_the_figure_raises_it_and_below_lowers_it(tmp_path: Path, silent: Case) -> None:
    def middle(busbw: float) -> float:
        log = {"gpus": 1024, "size_mib": 1024, "busbw_gbytes_per_s": busbw}
        return answered(tmp_path, resting(LOG, "log", measured=log)).inputs.central(TUNED)

    assert middle(200.0) < silent.inputs.central(TUNED) < middle(372.0)


def test_the_sellers_own_team_lowers_faults_of_settings(tmp_path: Path, silent: Case) -> None:
    case = answered(tmp_path, resting(TUNER, "record", document="nightly.pdf"))
    assert case.inputs.central(FAULTS) < silent.inputs.central(FAULTS)
    assert case.inputs.central(STABLE) < silent.inputs.central(STABLE)


def test_a_taper_costs_the_fabric_that_has_it(tmp_path: Path, silent: Case) -> None:
    case = answered(tmp_path, resting(TAPER, "record"))
    for option in case.options:
        before, after = (float(plain(c.chain.bills.totals[option.id]).mean()) for c in (silent, case))
        if option.family == "rocev2":
            assert after > before
        else:
            assert after == before


def test_weeks_are_those_of_this_client_not_of_the_reference(tmp_path: Path) -> None:
    small = answered(tmp_path, resting(WEEKS, "contract"))
    large = answered(tmp_path, resting(WEEKS, "contract"), cluster={**_cluster(), "gpus": 4096})
    assert large.inputs.central(STABLE) < small.inputs.central(STABLE)


def _cluster() -> dict[str, Any]:
    return bench.case("example").params.cluster.model_dump(mode="json")


def test_weeks_of_delivery_take_the_place_of_the_range_assumed_of_that_fabric(tmp_path: Path) -> None:
    def lead_time(weeks: float) -> dict[str, Any]:
        return {"question": "Q-DEL-01", "answer": "As said.", "value": weeks, "unit": "week", "evidence": "contract"}

    pair = ["infiniband-ndr", "rocev2-branded-400g"]
    case = answered(tmp_path, lead_time(9), options=pair)
    assert case.inputs.answered.leads == {pair[1]: 9.0}, "the other fabric keeps the range assumed"
    both = answered(tmp_path, lead_time(9), others={"CoreWeave": ("infiniband", [lead_time(20)])}, options=pair)
    assert both.inputs.answered.leads == {pair[0]: 20.0, pair[1]: 9.0}
    own = both.chain.bills.own
    assert (own[pair[0]].arrival.lead, own[pair[1]].arrival.lead) == (20.0, 9.0)
    assert np.all(plain(own[pair[0]].bring_up_weeks) == plain(case.chain.bills.own[pair[0]].bring_up_weeks))


# ---- a what-if


def test_a_what_if_reads_the_answers_as_a_new_case_would(tmp_path: Path) -> None:
    case = answered(tmp_path, resting(WEEKS, "contract"))
    changed = case.changed(cluster__gpus=4096)
    anew = answered(tmp_path, resting(WEEKS, "contract"), cluster={**_cluster(), "gpus": 4096})
    assert changed.inputs.uncertain(STABLE) == anew.inputs.uncertain(STABLE)


def test_the_lead_says_that_it_rests_on_the_answered_figure(tmp_path: Path) -> None:
    case = answered(tmp_path, resting(WEEKS, "contract"))
    assert STABLE in inputs_of(case.comparison.lead)
