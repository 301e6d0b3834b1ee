"""The evidence section: what the advice rests on, which of its prices aged, what is contested of it; validation cards."""

from __future__ import annotations

import json
from dataclasses import replace

import bench
import pytest

from fabricreport.base.errors import InputError
from fabricreport.base.yaml_files import read_yaml
from fabricreport.blocks.gate import bare_numbers
from fabricreport.books.glossary import glossary_book
from fabricreport.case import Case
from fabricreport.ledger.numbers import GRADES
from fabricreport.sections.evidence.result import EvidenceResult, bearing, shown_unit, traits
from fabricreport.sections.evidence.tables import EVERY, prices, used_for
from fabricreport.validation.cards import NAMES, card_dict, card_text, cards, held_out_error

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def case() -> Case:
    return bench.case("example")


@pytest.fixture(scope="module")
def result(case: Case) -> EvidenceResult:
    return case.evidence()


def value(result: EvidenceResult, id: str) -> float:
    return result.numbers[f"evidence.{id}"].value


def test_behind_the_advice_stand_the_inputs_of_totals_courses_dates_and_pass_values(
    case: Case, result: EvidenceResult
) -> None:
    weeks = [case.figure(f"tail_risk.weeks.{option.id}") for option in case.options]
    numbers = [*weeks, *(promise.passes for promise in case.diligence().promises)]
    wanted = case.tco().inputs | case.decision().relied_on | {i for number in numbers for i in number.inputs}
    assert "price:gpu-hour-h100-on-demand" in wanted, "that owning beats renting rests on what renting costs"
    assert result.used == {i for i in wanted if i.startswith(("price:", "evidence:"))}
    assert sum(value(result, f"used.{g}") for g in GRADES) == len(result.used) > 50


def test_every_price_behind_the_advice_is_listed_once_with_what_it_is_used_for(
    case: Case, result: EvidenceResult
) -> None:
    table = prices(case.inputs, result, case.figure)
    assert len(table.rows) == len(result.prices) == value(result, "prices")
    for option in case.options:
        for ref in option.references:
            assert used_for(case.inputs, ref) == EVERY or option.name in used_for(case.inputs, ref)
    assert used_for(case.inputs, "price:electricity") == EVERY
    kestrel = bench.case("kestrel-lab").inputs
    assert used_for(kestrel, "price:fx-eur-usd") == "RoCEv2 800G on white-box switches"


def test_stale_prices_come_first_and_are_counted(case: Case, result: EvidenceResult) -> None:
    flags = [p.stale for p in result.prices]
    assert flags == sorted(flags, reverse=True)
    assert value(result, "prices.stale") == sum(case.as_of > p.expiry for p in result.prices)
    for price in result.prices:
        assert value(result, f"age.{price.item}") == (case.as_of - price.date).days


def test_a_stale_price_becomes_no_stale_count(result: EvidenceResult) -> None:
    number = result.numbers["evidence.prices.stale"]
    assert number.value > 0
    assert not number.stale


def test_one_publisher_is_no_disagreement(result: EvidenceResult) -> None:
    assert result.bearing and not [d.id for d in result.bearing if d.alone]
    assert value(result, "contested.bearing") == len(result.bearing)


def test_a_quantity_that_a_model_drew_on_bears_on_the_case(case: Case) -> None:
    used = frozenset({"evidence:optics-afr-semianalysis"})
    with_it, without = ({d.id for d in bearing(case.inputs, ids)} for ids in (used, frozenset[str]()))
    assert with_it - without == {"optics-afr"}


def test_what_bears_on_a_buyer_of_many_nodes_bears_on_no_renter_of_one() -> None:
    assert traits(bench.case("example").params) == {"all", "multi-node", "buys"}
    assert "buys" not in traits(bench.case("tern-finetuning").params)


def test_every_contested_quantity_has_a_name_and_a_mark() -> None:
    marks = {item["id"]: item for item in read_yaml("assurance")["contested"]}
    assert set(marks) == {item["id"] for item in read_yaml("contested")}


def test_the_texts_of_the_data_hold_no_bare_number() -> None:
    data = read_yaml("assurance")
    lines = [v for part in ("grades", "unmeasured", "checks", "contested") for i in data[part] for v in i.values()]
    terms = [text for t in glossary_book().terms for text in (t.term, t.means)]
    for line in [*(v for v in lines if isinstance(v, str)), *data["not_checked"], *terms]:
        assert bare_numbers(line) == [], line


def test_units_are_shown_as_readers_know_them() -> None:
    assert shown_unit("relative") == "share"
    assert shown_unit("us") == "us"


# ---- validation cards


def test_the_cards_are_those_asked_for_once_each_and_all_without_a_name() -> None:
    assert [c.model for c in cards(["tail", "topology", "tail"])] == ["tail", "Bill of materials"]
    assert len(cards(refit=False)) == len(NAMES)


def test_an_unknown_card_is_refused_with_the_nearest_name() -> None:
    with pytest.raises(InputError, match="goodput") as refused:
        cards(["gooodput", "tails"])
    assert [p.suggestion for p in refused.value.problems] == ["goodput", "tail"]


def test_a_card_s_text_shows_each_published_figure_and_what_is_not_claimed() -> None:
    for card in cards(refit=False):
        text = card_text(card)
        assert all(row.case[:40] in text for row in card.rows)
        assert all(line in text for line in card.does_not_claim)


def test_a_card_s_data_is_json_without_a_not_a_number_and_keeps_every_row() -> None:
    for card in cards(refit=False):
        data = json.loads(json.dumps(card_dict(card), allow_nan=False))
        assert len(data["rows"]) == len(card.rows)
        assert data["held_out_rows"] == len(card.held_out)


def test_the_error_of_a_card_is_that_of_rows_no_parameter_was_set_from() -> None:
    card = cards(["goodput"])[0]
    errors = [abs(r.error) for r in card.held_out if r.counted]
    assert min(errors) <= held_out_error(card) <= max(errors)
    assert card_dict(replace(card, rows=()))["held_out_median_error"] is None
