"""What the answers change: the decision before and after, and a renter's offers with what their sellers answered."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from unittest import mock

import bench
import numpy as np
import pytest
from answer_cases import LOG, PARAMS, WEEKS, answered, resting

import fabricreport.inputs.inputs as inputs_module
from fabricreport.base.provenance import plain
from fabricreport.case import Case, open_case
from fabricreport.sections.decision.facts import spoken
from fabricreport.sections.decision.offers.judgements import Judged
from fabricreport.sections.decision.words import DecisionFinding
from fabricreport.sections.diligence import tables
from fabricreport.sections.diligence.facts import DiligenceFinding as F

pytestmark = pytest.mark.slow
SELLER = "Lambda"
OFFERED = {
    "seller": SELLER,
    "date": "2026-11-12",
    "expiry": "2026-12-12",
    "fabric": "infiniband",
    "network": "included",
    "price_per_gpu_hour": 2.6,
    "currency": "USD",
    "start": "2026-12-01",
}


@pytest.fixture(scope="module", autouse=True)
def few_draws() -> Iterator[None]:
    with mock.patch.object(inputs_module, "DRAWS", bench.DRAWS):
        yield


def shipped(folder: Path, name: str) -> Case:
    """The worked case with one of the shipped files of answers."""
    case = answered(folder, resting(WEEKS, "contract"))
    shutil.copy(PARAMS / "providers" / f"example-{name}.yaml", folder / "providers" / "0.yaml")
    return open_case(case.inputs.folder / "client.yaml")


ADVISED_INFINIBAND = {"organisation__qos_expertise": "none", "money__manager_licence": "charged"}
"""Of the example: who has no skill with Ethernet and pays for managers, but may be shown that it runs soon all the same."""


def told(case: Case) -> set[str]:
    return set(case.spoken("diligence").findings)


# ---- the decision before and after


def test_nobody_has_answered() -> None:
    case = bench.case("example")
    assert case.changes is None
    assert F.UNANSWERED in told(case) and not {F.ANSWERS_MOVE, F.ANSWERS_IDLE} & told(case)
    assert DecisionFinding.ANSWERS_TURNED not in set(case.spoken("decision").findings)


def test_a_sales_claim_keeps_the_advice_and_what_proves_it_turns_it(tmp_path: Path) -> None:
    (tmp_path / "claim").mkdir()
    (tmp_path / "proof").mkdir()
    claim, proof = (shipped(tmp_path / name, name).changed(**ADVISED_INFINIBAND) for name in ("claim", "proof"))
    assert claim.changes and proof.changes
    assert claim.changes.without.course == proof.changes.without.course == claim.changes.together.course
    assert proof.changes.turned and not claim.changes.turned
    assert F.ANSWERS_MOVE in told(claim) & told(proof)
    assert not {F.UNANSWERED, F.ANSWERS_IDLE} & (told(claim) | told(proof))
    for changes in (proof.changes, claim.changes):
        decided = bench.changed("example", **ADVISED_INFINIBAND)
        said = spoken(
            decided.inputs, decided.decision(), decided.tco(), decided.monday(), decided.figure, changes
        ).findings
        assert (DecisionFinding.ANSWERS_TURNED in set(said)) is changes.turned


def test_answers_that_move_nothing_are_told_as_such(tmp_path: Path) -> None:
    case = answered(tmp_path, resting(WEEKS, "contract"), fabric=None)
    assert F.ANSWERS_IDLE in told(case) and F.ANSWERS_MOVE not in told(case)
    (idle,) = case.inputs.answered.of("Q-OPS-10")
    assert "which fabric" in idle.reason


def test_one_answer_alone_is_all_of_one(tmp_path: Path) -> None:
    changes = answered(tmp_path, resting(WEEKS, "contract")).changes
    assert changes is not None
    alone = changes.alone["Q-OPS-10"]
    assert alone.course == changes.together.course
    assert alone.lead is not None and changes.together.lead is not None
    assert plain(alone.lead) == pytest.approx(plain(changes.together.lead))


def test_before_and_after_are_the_cases_without_and_with(tmp_path: Path) -> None:
    case = answered(tmp_path, resting(WEEKS, "contract"), resting(LOG, "log"))
    changes, silent = case.changes, bench.case("example")
    assert changes is not None and changes.without.lead is not None and changes.together.lead is not None
    assert plain(changes.without.lead) == pytest.approx(plain(silent.comparison.lead))
    assert plain(changes.together.lead) == pytest.approx(plain(case.comparison.lead))
    one = case.without_answers("Q-NET-07")
    assert float(np.mean(plain(changes.alone["Q-OPS-10"].lead))) == pytest.approx(
        float(np.mean(plain(one.comparison.lead)))
    )


def test_each_answer_that_moves_something_has_a_row() -> None:
    case = bench.case("answered")
    (table,) = tables.changes(case.inputs, case.diligence()).values()
    moved = case.inputs.answered.moving
    assert len(table.rows) == len(moved) + 2
    assert [str(row.cells[0]) for row in table.rows[: len(moved)]] == [m.question for m in moved]


# ---- a renter


def renter(folder: Path, *answers: dict[str, Any], **keys: Any) -> Case:
    return answered(folder, *answers, client="tern-finetuning", fabric="infiniband", seller=SELLER, **keys)


def of_seller(case: Case, seller: str = SELLER) -> Judged:
    offers = case.knowledge.offers
    assert offers is not None
    return next(j for j in offers.judged.values() if j.offer.seller == seller)


def others(case: Case) -> dict[str, Any]:
    offers = case.knowledge.offers
    assert offers is not None
    return {o: plain(j.total) for o, j in offers.judged.items() if j.offer.seller != SELLER}


def test_a_sellers_answers_concern_its_own_offer(tmp_path: Path) -> None:
    slow = {"question": "Q-NET-07", "answer": "Logs attached.", "document": "a.txt", "evidence": "log"}
    case = renter(tmp_path, {**slow, "measured": {"gpus": 512, "size_mib": 1024, "busbw_gbytes_per_s": 150.0}})
    silent = case.without_answers()
    assert not case.inputs.answered.figures
    assert float(plain(of_seller(case).total).mean()) > float(plain(of_seller(silent).total).mean())
    before, after = others(silent), others(case)
    assert all(np.array_equal(before[o], after[o]) for o in before)


def term(question: str, value: float, unit: str, proof: str = "contract") -> dict[str, Any]:
    return {"question": question, "answer": "As said.", "value": value, "unit": unit, "evidence": proof}


def test_terms_answered_stand_where_a_published_price_stands_in(tmp_path: Path) -> None:
    case = renter(
        tmp_path,
        term("Q-COM-01", 2.1, "usd/gpu-hour"),
        term("Q-DEL-02", 6, "week"),
        term("Q-COM-06", 0.1, "share"),
    )
    judged, silent = of_seller(case), of_seller(case.without_answers())
    assert judged.price == "price:answer-lambda-hour"
    assert case.inputs.prices[judged.price.removeprefix("price:")].price == 2.1
    assert judged.arrival.power_on == 6.0
    assert judged.offer.credit == 0.1
    assert np.std(plain(judged.factor)) < np.std(plain(silent.factor))
    assert judged.total.mean() != silent.total.mean()


def test_an_add_on_makes_the_offer_dearer_and_whole(tmp_path: Path) -> None:
    case = renter(tmp_path, term("Q-COM-02", 0.4, "usd/gpu-hour"), options=["infiniband-ndr", "rocev2-branded-400g"])
    judged, silent = of_seller(case), of_seller(case.without_answers())
    if silent.offer.with_network:
        pytest.fail("the seller of this test publishes no price that surely holds its network")
    assert judged.offer.with_network
    assert float(plain(judged.total).mean()) > float(plain(silent.total).mean())


def test_an_add_on_in_a_contract_is_paid_though_the_published_price_holds_the_network(tmp_path: Path) -> None:
    case = answered(
        tmp_path, term("Q-COM-02", 0.5, "usd/gpu-hour"), client="tern-finetuning", fabric="infiniband", seller="Nebius"
    )
    after, before = of_seller(case, "Nebius"), of_seller(case.without_answers(), "Nebius")
    assert before.offer.with_network
    apart = float(plain(after.total).mean() - plain(before.total).mean())
    assert apart == pytest.approx(0.5 * 16 * 8766, rel=0.1)


def test_a_term_in_words_alone_binds_nobody(tmp_path: Path) -> None:
    case = renter(tmp_path, term("Q-COM-01", 0.5, "usd/gpu-hour", "statement"))
    (moved,) = case.inputs.answered.of("Q-COM-01")
    assert moved.new is None and "binds nobody" in moved.reason
    assert np.array_equal(plain(of_seller(case).total), plain(of_seller(case.without_answers()).total))


def test_where_an_offer_says_the_same_the_offer_stands(tmp_path: Path) -> None:
    case = renter(tmp_path, term("Q-COM-01", 1.0, "usd/gpu-hour"), term("Q-DEL-02", 30, "week"), offers=[OFFERED])
    for question in ("Q-COM-01", "Q-DEL-02"):
        (moved,) = case.inputs.answered.of(question)
        assert moved.new is None and "the offer binds" in moved.reason
    assert np.array_equal(plain(of_seller(case).total), plain(of_seller(case.without_answers()).total))


def test_a_seller_with_too_few_gpus_is_left_out(tmp_path: Path) -> None:
    case = renter(tmp_path, term("Q-NET-06", 8, "gpus"))
    offers = case.knowledge.offers
    assert offers is not None
    assert SELLER not in {j.offer.seller for j in offers.judged.values()}
    enough = renter(tmp_path, term("Q-NET-06", 4096, "gpus"))
    assert np.array_equal(plain(of_seller(enough).total), plain(of_seller(enough.without_answers()).total))
