"""One door for inputs: what is overridden is overridden for every figure, and restating a figure changes none."""

from __future__ import annotations

from typing import Any
from unittest import mock

import bench
import numpy as np
import pytest
import yaml

import fabricreport.inputs.inputs as inputs_module
from fabricreport.base.errors import InputError
from fabricreport.base.provenance import plain
from fabricreport.case import Case, open_case
from fabricreport.inputs.inputs import CORRELATION
from fabricreport.scenario import SECTION_NAMES

pytestmark = pytest.mark.slow

WORD = {"who": "J. Buyer", "why": "A signed quote", "until": "2027-01-31"}
STEP = "contested:roce-extra-latency-per-step"
WEEKS = ("evidence:weeks-to-stable-rocev2", "evidence:weeks-to-stable-infiniband")


def written(name: str, **more: Any) -> dict[str, Any]:
    data = yaml.safe_load((bench.PARAMS / f"{name}.yaml").read_text(encoding="utf-8"))
    return {**data, "as_of": str(data["as_of"]), **more}


def overridden(name: str, **values: Any) -> Case:
    """A shipped client with these overrides, by id."""
    return opened(written(name, overrides=[{"id": i, "value": v, **WORD} for i, v in values.items()]))


def opened(data: dict[str, Any]) -> Case:
    with mock.patch.object(inputs_module, "DRAWS", bench.DRAWS):
        return open_case(data)


def ledger(case: Case) -> dict[str, Any]:
    """Every figure of all studies, as the ledger keeps it."""
    return {id: n.as_dict() for section in SECTION_NAMES for id, n in case.result(section).numbers.items()}


@pytest.fixture(scope="module")
def tern() -> Case:
    return bench.case("tern-finetuning")


@pytest.fixture(scope="module")
def tern_ledger(tern: Case) -> dict[str, Any]:
    return ledger(tern)


def restated(case: Case) -> dict[str, Any]:
    """Every figure that a client of this case could override, as the books state it."""
    given = case.inputs
    entries = {f"evidence:{i}": e.figure for i, e in given.evidence.items() if e.kind != "text"}
    prices = {f"price:{i}": p.figure for i, p in given.prices.items()}
    return {i: figure.written() for i, figure in {**entries, **prices}.items()}


# ---- restating


@pytest.mark.parametrize("half", [0, 1])
def test_restating_every_figure_of_the_books_changes_no_byte_of_the_ledger_but_the_records(
    tern: Case, tern_ledger: dict[str, Any], half: int
) -> None:
    """In two halves: a client may state 500 overrides."""
    figures = dict(list(restated(tern).items())[half::2])
    again = overridden("tern-finetuning", **figures)
    restating = ledger(again)
    assert restating == tern_ledger
    kinds = {again.inputs.uncertain(i).kind for i in figures}
    assert kinds == {"number", "range", "pert", "interval"}
    for input_id in figures:
        before, after = tern.record(input_id), again.record(input_id)
        told = after.pop("override")
        assert told["replaced"] == before["text"] == after["text"]
        assert {k: told[k] for k in WORD} == WORD
        assert after == {k: v for k, v in before.items() if k != "override"}


def test_a_buyers_draws_stay_bit_for_bit_when_every_figure_is_restated() -> None:
    before = bench.case("kestrel-lab")
    figures = {i: value for i, value in restated(before).items() if i in before.chain.reached_by}
    assert len(figures) > 80
    after = overridden("kestrel-lab", **figures)
    for option, total in before.chain.bills.totals.items():
        assert np.array_equal(plain(total), plain(after.chain.bills.totals[option]))
    assert after.comparison.verdict == before.comparison.verdict


def test_a_contested_prior_restated_keeps_its_ends_and_says_who_restated_it(tern: Case) -> None:
    """A mixture has no written form: only the 5 % and the 95 % quantile that the record prints can be stated again."""
    name = "roce-bandwidth-share"
    prior = tern.inputs.contested(name)
    again = overridden("tern-finetuning", **{f"contested:{name}": {"p5": prior.prior_low, "p95": prior.prior_high}})
    draws = plain(again.inputs.draw(f"contested:{name}"))
    assert np.quantile(draws, [0.05, 0.95]) == pytest.approx([prior.prior_low, prior.prior_high], rel=1e-3)
    record = again.record(f"contested:{name}")
    assert (record["grade"], record["source"], record["override"]["why"]) == ("contract", WORD["who"], WORD["why"])


# ---- replacing


def test_a_record_prints_the_value_in_force_the_value_replaced_who_why_and_until(tern: Case) -> None:
    values = {"price:switch-qm9700": 30_000, "evidence:pue": 1.5, WEEKS[0]: {"low": 1, "mode": 2, "high": 3}, STEP: 500}
    case = overridden("tern-finetuning", **values)
    for input_id in values:
        record = case.record(input_id)
        assert record["override"] == {**WORD, "replaced": tern.record(input_id)["text"]}
        assert record["text"] != tern.record(input_id)["text"] and record["grade"] == "contract"
    assert case.record("evidence:pue")["value"] == 1.5
    assert case.record(STEP)["value"] == 500


def members(case: Case, quantity: str) -> list[str]:
    return [f"evidence:{p.id}" for p in case.inputs.contested(quantity).admissible]


def test_a_source_of_the_most_disputed_input_moves_what_rests_on_it_up_to_its_bound(tern: Case) -> None:
    quantity = "roce-extra-latency-per-step"
    (source,) = members(tern, quantity)
    moved = overridden("tern-finetuning", **{source: 1.7})
    assert moved.record(source)["value"] == 1.7
    assert moved.inputs.contested(quantity).prior_mid > tern.inputs.contested(quantity).prior_mid
    totals = [case.chain.bills.totals["rocev2-branded-400g"].mean() for case in (tern, moved)]
    assert totals[0] < totals[1]
    with pytest.raises(InputError, match="admissible"):
        assert overridden("tern-finetuning", **{source: 500.0}).chain


def test_the_clients_own_word_on_a_disputed_quantity_replaces_every_source() -> None:
    penalty = [overridden("example", **o).latency().numbers["latency.penalty"].value for o in ({}, {STEP: 500.0})]
    assert penalty[0] < 0.001 and penalty[1] > 0.005


@pytest.mark.parametrize(
    ("input_id", "value"),
    [
        (CORRELATION, 0.0),
        ("evidence:link-failures-per-link-year", 0.9),
        ("evidence:link-flaps-per-link-year", 5.0),
        ("evidence:switch-failures-per-switch-year", 2.0),
        ("evidence:common-interruptions-per-gpu-year", 3.0),
        ("evidence:config-faults-rocev2-per-year", 20.0),
        ("evidence:config-faults-infiniband-per-year", 20.0),
        ("evidence:subnet-manager-faults-per-year", 20.0),
    ],
)
def test_incident_rates_and_the_correlation_move_what_is_lost(tern: Case, input_id: str, value: float) -> None:
    case = overridden("tern-finetuning", **{input_id: value})
    lost, before = case.chain.losses.lost, tern.chain.losses.lost
    moved = [o for o in lost for cause in lost[o] if not np.array_equal(plain(lost[o][cause]), plain(before[o][cause]))]
    assert moved


def test_the_discount_that_a_source_states_moves_a_figure() -> None:
    claim = "tco.claim.high"
    assert overridden("example", **{"evidence:roce-discount-s3-stated": 0.6}).figure(claim).text != "30\u00a0%"
    assert bench.case("example").figure(claim).text == "30\u00a0%"


# ---- references


def test_an_override_by_reference_takes_the_others_figure_and_its_draws(tern: Case) -> None:
    case = overridden("tern-finetuning", **{WEEKS[0]: WEEKS[1]})
    assert case.inputs.uncertain(WEEKS[0]) == tern.inputs.uncertain(WEEKS[1])
    assert np.array_equal(plain(case.inputs.draw(WEEKS[0])), plain(tern.inputs.draw(WEEKS[1])))
    weeks = case.chain.losses.weeks
    of_two_makers = case.inputs.value("evidence:operating-model-branded-bring-up")
    assert plain(weeks["rocev2-branded-400g"]) == pytest.approx(plain(weeks["infiniband-ndr"] * of_two_makers))


def test_references_are_followed_to_a_figure_that_is_overridden_too(tern: Case) -> None:
    chained = {WEEKS[0]: WEEKS[1], WEEKS[1]: {"low": 1, "mode": 2, "high": 3}}
    case = overridden("tern-finetuning", **chained)
    assert case.inputs.central(WEEKS[0]) == case.inputs.central(WEEKS[1]) == 2
    assert np.array_equal(plain(case.inputs.draw(WEEKS[0])), plain(case.inputs.draw(WEEKS[1])))


def test_a_contested_quantity_can_follow_an_entry_of_its_unit(tern: Case) -> None:
    source = members(tern, "roce-extra-latency-per-step")[-1]
    case = overridden("tern-finetuning", **{STEP: source})
    assert case.record(STEP)["value"] == case.record(source)["value"]
    assert np.array_equal(plain(case.inputs.draw(STEP)), plain(case.inputs.draw(source)))


def test_a_reference_to_a_price_in_another_currency_is_refused_rather_than_taken_as_it_is() -> None:
    with pytest.raises(InputError, match="is in eur, but price:switch-qm9700 is in usd"):
        overridden("example", **{"price:switch-qm9700": "price:switch-n9600-64od"})


def test_a_euro_memo_converts_the_figure_and_the_draws_that_a_price_follows() -> None:
    data = written("tern-finetuning")
    follows = {"id": "price:switch-qm9700", "value": "price:switch-sn5610", **WORD}
    case = opened({**data, "money": {**data["money"], "currency": "EUR"}, "overrides": [follows]})
    given = case.inputs
    assert np.array_equal(plain(given.draw("price:switch-qm9700")), plain(given.draw("price:switch-sn5610")))
    ratio = plain(given.draw("price:switch-qm9700")) / plain(given.own("price:switch-sn5610"))
    assert ratio == pytest.approx(plain(given.spread(given.rate("USD"))))
