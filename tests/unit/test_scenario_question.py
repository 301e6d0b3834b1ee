"""What a memo answers: as stated, else by how the cluster is obtained and grows; and which notebooks it is then made of."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from scenario_cases import minimal, only

from fabricreport.memo.run.warm import studied
from fabricreport.scenario import SECTION_NAMES, Params, assumptions, defaulted_keys, load_params, params_from
from fabricreport.vocabulary import SPINES, Question

PARAMS = Path(__file__).parents[2] / "params"
NOTEBOOKS = PARAMS.parent / "notebooks"
BUYS, RENTS, LEASES = ({"money": {"acquisition": how}} for how in ("buy", "rent", "lease"))
ONCE: dict[str, Any] = {"cluster": {"gpus": 64}}
GROWS = {"cluster": {"gpus": 64, "trajectory": [{"month": 12, "gpus": 128}]}}
PAUSES = {"cluster": {"gpus": 64, "trajectory": [{"month": 12, "gpus": 64}]}}


def params(*parts: dict[str, Any], **stated: Any) -> Params:
    data = minimal()
    for part in parts:
        data |= part
    return params_from(data | stated)


@pytest.mark.parametrize(
    ("parts", "asked"),
    [
        ((BUYS, ONCE), "buy-once"),
        ((BUYS, PAUSES), "buy-once"),
        ((BUYS, GROWS), "grow-in-stages"),
        ((LEASES, GROWS), "grow-in-stages"),
        ((LEASES, ONCE), "buy-once"),
        ((RENTS, ONCE), "choose-provider"),
        ((RENTS, GROWS), "choose-provider"),
    ],
)
def test_the_question_follows_from_acquisition_and_growth_and_may_be_stated(
    parts: tuple[dict[str, Any], ...], asked: str
) -> None:
    silent = params(*parts)
    assert silent.asked == asked and "question" in defaulted_keys(silent)
    (assumed,) = (a for a in assumptions(silent) if a.key == "question")
    assert (assumed.text, assumed.follows_from) == (asked, ("money.acquisition", "cluster.trajectory"))
    stated = params(*parts, question=asked)
    assert stated.asked == asked and "question" not in defaulted_keys(stated)


def test_whoever_grows_may_ask_for_one_purchase() -> None:
    assert params(BUYS, GROWS, question="buy-once").asked == Question.BUY_ONCE


@pytest.mark.parametrize(
    ("parts", "question", "words"),
    [
        ((RENTS, ONCE), "buy-once", "whoever rents chooses a provider"),
        ((RENTS, GROWS), "grow-in-stages", "whoever rents chooses a provider"),
        ((BUYS, ONCE), "choose-provider", "nobody else does"),
        ((LEASES, GROWS), "choose-provider", "nobody else does"),
        ((BUYS, ONCE), "grow-in-stages", "no stages to plan"),
        ((BUYS, PAUSES), "grow-in-stages", "no stages to plan"),
        ((BUYS, ONCE), "buy-twice", "Did you mean 'buy-once'"),
    ],
)
def test_a_question_of_other_clients_is_refused_with_one_message(
    parts: tuple[dict[str, Any], ...], question: str, words: str
) -> None:
    data = minimal()
    for part in parts:
        data |= part
    problem = only(data | {"question": question})
    assert problem.key == "question" and words in str(problem)


def test_the_clients_that_ship_ask_all_three() -> None:
    names = ("example", "tern-finetuning", "kestrel-lab", "halden-cloud")
    assert {load_params(PARAMS / f"{name}.yaml").asked for name in names} == set(Question)


def test_each_question_has_its_notebook() -> None:
    assert tuple(q.spine for q in Question) == SPINES
    assert [s for s in SPINES if not (NOTEBOOKS / f"{s}.ipynb").is_file()] == []


def test_a_memo_with_the_decision_begins_with_its_body_and_one_without_has_none() -> None:
    assert params().notebooks == ("buy_once", *SECTION_NAMES)
    assert params(sections=["tco", "decision"]).notebooks == ("buy_once", "tco", "decision")
    assert params(sections=["tco", "latency"]).notebooks == ("tco", "latency")


def test_the_body_is_analysed_whole_before_it_runs_and_sections_alone_as_they_are_needed() -> None:
    assert studied(("buy_once", "decision"), ("decision",)) == SECTION_NAMES
    assert studied(("buy_once",), ("tco",)) == SECTION_NAMES
    assert list(studied(("latency", "tco"), ("tco", "latency", "evidence"))) == ["tco", "latency"]
    assert list(studied(("another",), SECTION_NAMES)) == []
