"""The evidence section: counts that follow from the books, claims beside what they come to, what bears on whom."""

from __future__ import annotations

import json
from dataclasses import replace

import bench
import pytest

from fabricreport.blocks.gate import bare_numbers
from fabricreport.books.claims import VERDICTS
from fabricreport.books.glossary import glossary_book
from fabricreport.case import Case
from fabricreport.errors import InputError
from fabricreport.evidence import read_yaml
from fabricreport.ledger import GRADES
from fabricreport.models.audit.disagreement import Position
from fabricreport.scenario import SECTION_NAMES
from fabricreport.sections.evidence import cards as card_room
from fabricreport.sections.evidence import charts
from fabricreport.sections.evidence.cards import NAMES, card_dict, card_text, cards, held_out_error
from fabricreport.sections.evidence.context import disagreements, facts, shown_unit, traits
from fabricreport.sections.evidence.figures import slug, worst_row
from fabricreport.sections.evidence.result import EvidenceResult
from fabricreport.sections.evidence.study import carries
from fabricreport.sections.evidence.tables import contested, disputed

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def case() -> Case:
    return bench.case("example")


@pytest.fixture(scope="module")
def lab() -> Case:
    return bench.case("kestrel-lab")


@pytest.fixture(scope="module")
def result(case: Case) -> EvidenceResult:
    return case.evidence()


def value(result: EvidenceResult, id: str) -> float:
    return result.numbers[f"evidence.{id}"].value


def test_the_verdicts_of_the_articles_sum_to_all_claims(result: EvidenceResult) -> None:
    assert sum(value(result, f"claims.{slug(v)}") for v in VERDICTS) == value(result, "claims")
    audited = [c for c in result.claims if c.kind != "check"]
    assert value(result, "claims") == len(audited) < len(result.claims)
    assert value(result, "claims.computed") + value(result, "claims.judged") == len(audited)


def test_more_than_sixty_claims_are_audited_and_some_articles_contradict_themselves(result: EvidenceResult) -> None:
    assert value(result, "claims") > 60
    assert value(result, "articles.selling") == 4
    assert 0 < value(result, "contradictions.articles") <= value(result, "articles")


def test_the_grades_sum_to_the_library_and_to_what_is_behind_the_memo(case: Case, result: EvidenceResult) -> None:
    assert sum(value(result, f"entries.{g}") for g in GRADES) == len(case.inputs.evidence)
    assert sum(value(result, f"used.{g}") for g in GRADES) == len(result.used)


def test_the_known_answers_stand_beside_what_the_articles_state(result: EvidenceResult) -> None:
    assert result.numbers["evidence.claim.s2-waste-cost.recomputed"].text == "$111k"
    assert result.numbers["evidence.claim.s2-wasted-gpu-hours.recomputed"].text == "36,864\N{NO-BREAK SPACE}GPU-hours"
    assert result.numbers["evidence.claim.s2-extra-days.recomputed"].value == pytest.approx(1.5)
    assert result.numbers["evidence.claim.s3-cheaper.recomputed"].value == pytest.approx(0.2099, abs=1e-4)
    assert result.numbers["evidence.claim.s3-cheaper-as-premium.recomputed"].value == pytest.approx(0.2656, abs=1e-4)


def test_a_recomputed_claim_names_its_claim_and_the_evidence_it_used(result: EvidenceResult) -> None:
    number = result.numbers["evidence.claim.s0-infiniband-share-2023.recomputed"]
    assert set(number.inputs) == {"claim:s0-infiniband-share-2023", "evidence:infiniband-share-2023-delloro"}


def test_a_range_is_printed_from_end_to_end_with_its_unit_once_where_it_follows(result: EvidenceResult) -> None:
    key = "evidence.claim.s0-roce-latency.stated"
    assert result.amount(key) == f"{{{key}.low:bare}} to {{{key}.high}}"
    share = "evidence.claim.s3-cheaper.stated"
    assert result.amount(share) == f"{{{share}.low}} to {{{share}.high}}"
    assert result.amount("evidence.claim.s2-waste-cost.stated") == "{evidence.claim.s2-waste-cost.stated}"
    assert result.amount("evidence.claim.s0-gap-irrelevant-mostly.stated") == ""


def test_what_is_behind_the_memo_are_the_inputs_of_the_other_sections(case: Case, result: EvidenceResult) -> None:
    numbers = [n for section in SECTION_NAMES if section != "diligence" for n in case.result(section).numbers.values()]
    carrying = [n for n in numbers if not n.id.startswith("evidence.") and carries(n.id)]
    others = {i for n in carrying for i in n.inputs} | case.tco().inputs
    assert result.used == {i for i in others if i.startswith(("price:", "evidence:"))}
    assert {i for i in case.tco().inputs if i.startswith(("price:", "evidence:"))} <= result.used
    assert all(i.startswith(("price:", "evidence:")) for i in result.used)


def test_a_figure_that_a_card_holds_a_model_against_bears_on_no_case(result: EvidenceResult) -> None:
    assert "evidence:optics-afr-semianalysis" not in result.used
    assert "optics-afr" not in {d.id for d in result.bearing}
    assert [carries(i) for i in ("tail_risk.card.goodput.0.ours", "tail_risk.optics.low", "tail_risk.late")] == [
        False,
        False,
        True,
    ]


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


def test_each_disagreement_stands_in_one_of_two_tables(result: EvidenceResult) -> None:
    printed, rest = (len(table.rows) for table in (disputed(result), contested(result)))
    assert printed == len(result.bearing) > 1
    assert printed + rest == printed + sum(not d.bears for d in result.disagreements)


def test_the_prior_lies_inside_what_the_admissible_sources_state(result: EvidenceResult) -> None:
    for item in result.disagreements:
        admissible = item.quantity.admissible
        spread = result.numbers[f"evidence.contested.{item.id}.prior"].spread
        assert spread is not None
        if item.quantity.rule == "mixture":
            assert (
                min(p.low for p in admissible) - 1e-9
                <= spread.p5
                <= spread.p95
                <= max(p.high for p in admissible) + 1e-9
            )


def test_an_assumption_of_ours_is_not_said_to_be_a_source(result: EvidenceResult) -> None:
    item = next(d for d in result.disagreements if d.id == "rdma-retransmit-delay")
    assert min(p.low for p in item.stated) == 1  # the timer as tuned, whose ends are ours
    assert value(result, "contested.rdma-retransmit-delay.low") == 10


def test_one_publisher_is_no_disagreement(result: EvidenceResult) -> None:
    assert all(len(d.publishers) > 1 for d in result.bearing)
    assert {d.id for d in result.of_one_publisher} == {"roce-training-time-ratio"}
    assert value(result, "contested.bearing") == len(result.bearing)


def test_a_gain_over_something_else_is_not_drawn_among_ratios(result: EvidenceResult) -> None:
    item = next(d for d in result.disagreements if d.id == "roce-bandwidth-share")
    assert "roce-strack-gain" in {p.id for p in item.quantity.entries}
    assert "roce-strack-gain" not in {p.id for p in item.stated}


def test_a_quantity_that_a_model_drew_on_bears_on_the_case(case: Case) -> None:
    used = frozenset({"evidence:optics-afr-semianalysis"})
    with_it = {d.id for d in disagreements(case.inputs, used) if d.bears}
    without = {d.id for d in disagreements(case.inputs, frozenset()) if d.bears}
    assert with_it - without == {"optics-afr"}


def test_every_contested_quantity_has_a_name_and_a_mark() -> None:
    marks = {item["id"]: item for item in read_yaml("assurance")["contested"]}
    assert set(marks) == {item["id"] for item in read_yaml("contested")}


def test_the_context_of_a_lab_with_tenants_and_subnets_differs_from_a_single_buyer_s(case: Case, lab: Case) -> None:
    assert {"multi-tenant", "multi-subnet", "growth", "coexistence"} <= traits(lab.params) - traits(case.params)
    theirs = [f.id for f in facts(lab.params) if f.bears and not f.general]
    assert "evpn-vxlan" in theirs
    assert "evpn-vxlan" not in {f.id for f in facts(case.params) if f.bears}


def test_facts_that_bear_on_the_client_in_particular_come_before_general_ones_and_the_rest(lab: Case) -> None:
    order = [(f.bears, f.general) for f in facts(lab.params)]
    assert order == sorted(order, key=lambda f: (not f[0], f[1]))


def test_every_id_cited_by_the_annex_s_data_is_in_the_library(case: Case) -> None:
    for item in read_yaml("assurance")["scale"]:
        entry = case.inputs.evidence[item["share"].removeprefix("evidence:")]
        assert 0 < entry.low < entry.high < 1
        assert item["words"] in entry.what


def test_the_bands_of_the_likelihood_words_meet_and_do_not_overlap(case: Case) -> None:
    scale = [case.inputs.evidence[i["share"].removeprefix("evidence:")] for i in read_yaml("assurance")["scale"]]
    assert [e.high for e in scale[:-1]] == [e.low for e in scale[1:]]


def test_the_texts_of_the_annex_hold_no_bare_number() -> None:
    data = read_yaml("assurance")
    lines = [v for part in ("grades", "unmeasured", "checks", "contested") for i in data[part] for v in i.values()]
    terms = [text for t in glossary_book().terms for text in (t.term, t.means)]
    for line in [*(v for v in lines if isinstance(v, str)), *data["not_checked"], *terms]:
        assert bare_numbers(line) == [], line


def test_each_chart_shows_every_position_and_is_drawn_alike_each_time(result: EvidenceResult) -> None:
    for item in result.disagreements:
        chart = charts.contested_chart(item)
        assert {row[0] for row in chart.data[1:]} == {p.id for p in item.stated}
    assert chart.svg == charts.contested_chart(item).svg
    assert list(charts.contested_charts(result)) == [item.id for item in result.bearing]


def test_a_figure_kept_out_is_drawn_hollow(result: EvidenceResult) -> None:
    drawn: list[str] = []

    class Axis:
        def plot(self, *_: object, markerfacecolor: str = "", **__: object) -> None:
            drawn.append(markerfacecolor)

    position: Position = next(p for d in result.disagreements for p in d.quantity.admissible if p.low == p.high)
    charts._draw(Axis(), 0.0, position)  # type: ignore[arg-type]
    charts._draw(Axis(), 0.0, replace(position, set_aside="for a reason"))  # type: ignore[arg-type]
    assert drawn[0] != "white"
    assert drawn[1:] == ["white"]


def test_the_verdict_chart_plots_the_counts_it_names(result: EvidenceResult) -> None:
    chart = charts.claims_chart(result)
    plotted = sum(int(float(cell)) for row in chart.data[1:] for cell in row[1:])
    assert plotted == value(result, "claims")


def test_units_are_shown_as_readers_know_them() -> None:
    assert shown_unit("relative") == "share"
    assert shown_unit("us") == "us"


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
    errors = sorted(abs(r.error) for r in card.held_out if r.counted)
    assert min(errors) <= held_out_error(card) <= max(errors)
    assert abs(worst_row(card).error) == max(errors)
    assert card_room.card_dict(replace(card, rows=()))["held_out_median_error"] is None
