"""The evidence report: counts that follow from the books, claims beside what they come to, and no word of any client."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from notebook_cells import run, sources

from fabricreport.base.project import PACKAGE
from fabricreport.base.vocabulary import LEANS
from fabricreport.base.yaml_files import read_yaml
from fabricreport.blocks.document import Block, preview_html
from fabricreport.blocks.gate import bare_numbers, texts
from fabricreport.blocks.nodes import DataTable, Figure, Paragraph, Ref, plain_text, walk
from fabricreport.books.evidence import EvidenceBook, read_evidence
from fabricreport.books.glossary import glossary_book
from fabricreport.books.publications import VERDICTS
from fabricreport.ledger.numbers import GRADES
from fabricreport.memo.document.numbering import in_report
from fabricreport.memo.report import report_digest
from fabricreport.memo.run.snapshot import tree_digest
from fabricreport.report import charts, report, tables
from fabricreport.report.figures import FIGURES, slug, worst_row
from fabricreport.report.report import Report, open_report

pytestmark = pytest.mark.slow
ANCHORS = {
    *("tab-report-claims", "fig-report-claims", "tab-report-contradictions", "tab-report-contested"),
    *("tab-report-unmeasured", "tab-report-cards", "tab-report-limits", "tab-report-questions", "tab-report-sellers"),
    *(
        "tab-report-service-levels",
        "tab-report-grades",
        "tab-report-scale",
        "tab-report-glossary",
        "tab-report-context",
    ),
}
"""What memos refer to."""


@pytest.fixture(scope="module")
def case() -> Report:
    return open_report()


def value(case: Report, id: str) -> float:
    return case.numbers[f"report.{id}"].value


def emitted(case: Report, monkeypatch: pytest.MonkeyPatch) -> list[Block]:
    """Every block of the notebook, run in this process."""
    monkeypatch.setattr(report, "open_report", lambda: case)
    space: dict[str, Any] = {}
    for source, _ in sources("evidence_report"):
        run(source, space)
    return list(space["body"].emitted)


@pytest.fixture(scope="module")
def blocks(case: Report) -> list[Block]:
    with pytest.MonkeyPatch.context() as patch:
        return emitted(case, patch)


# ---- what is printed


def test_the_report_holds_what_memos_refer_to_and_refers_to_nothing_else(blocks: list[Block]) -> None:
    nodes = [node for block in blocks for node in walk(block.nodes)]
    there = {node.id for node in nodes if isinstance(node, DataTable | Figure)}
    assert there >= ANCHORS
    assert {node.id for node in nodes if isinstance(node, Ref)} <= there


def test_every_declared_figure_is_printed_or_makes_a_family_of_which_one_is(blocks: list[Block]) -> None:
    printed = {entry["id"] for block in blocks for entry in block.ledger}
    assert [spec.pattern for spec in FIGURES.specs if not any(spec.shape.fullmatch(i) for i in printed)] == []


def test_no_number_stands_bare_and_nothing_is_said_of_a_client_or_a_price_but_of_purchases(blocks: list[Block]) -> None:
    for block in blocks:
        for _, text in texts(block.nodes):
            assert bare_numbers(text, block.names) == [], text
    inputs = {record["id"] for block in blocks for record in block.inputs}
    assert len(inputs) > 200
    bought = {
        i
        for block in blocks
        for entry in block.ledger
        if entry["id"].startswith("report.purchase.")
        for i in entry["inputs"]
    }
    assert {i.partition(":")[0] for i in inputs - bought} <= {"evidence", "claim", "contested", "purchase"}
    assert not [text for block in blocks for _, text in texts(block.nodes) if "Nobody in particular" in text]


def test_markup_in_the_library_is_printed_as_it_stands(monkeypatch: pytest.MonkeyPatch) -> None:
    hostile = '<script>alert("x")</script> **bold** {evidence:pue} [a](javascript:b) #let x'
    entry = "skt-gpu-failures"
    changed = EvidenceBook(replace(e, what=hostile) if e.id == entry else e for e in read_evidence().values())
    monkeypatch.setattr(report, "read_evidence", lambda: changed)
    table = next(
        node
        for block in emitted(Report(), monkeypatch)
        for node in walk(block.nodes)
        if isinstance(node, DataTable) and node.id == "tab-report-context"
    )
    assert hostile in [plain_text(row.cells[0]) for row in table.rows]


# ---- the audit


def test_the_verdicts_of_the_articles_sum_to_all_claims(case: Report) -> None:
    assert sum(value(case, f"claims.{slug(v)}") for v in VERDICTS) == value(case, "claims") > 60
    assert value(case, "claims") == len(case.found.audited) < len(case.found.claims)
    assert value(case, "claims.computed") + value(case, "claims.judged") == value(case, "claims")
    assert value(case, "articles.selling") == 4
    assert 0 < value(case, "contradictions.articles") <= value(case, "articles")


def test_the_known_answers_stand_beside_what_the_articles_state(case: Report) -> None:
    assert case.figure("report.claim.s2-waste-cost.recomputed").text == "$111k"
    assert case.figure("report.claim.s2-wasted-gpu-hours.recomputed").text == "36,864\N{NO-BREAK SPACE}GPU-hours"
    assert value(case, "claim.s2-extra-days.recomputed") == pytest.approx(1.5)
    assert value(case, "claim.s3-cheaper.recomputed") == pytest.approx(0.2099, abs=1e-4)
    assert value(case, "claim.s3-cheaper-as-premium.recomputed") == pytest.approx(0.2656, abs=1e-4)


def test_a_recomputed_claim_names_its_claim_and_the_evidence_it_used(case: Report) -> None:
    number = case.figure("report.claim.s0-infiniband-share-2023.recomputed")
    assert set(number.inputs) == {"claim:s0-infiniband-share-2023", "evidence:infiniband-share-2023-delloro"}


def test_a_range_is_printed_from_end_to_end_with_its_unit_once_where_it_follows(case: Report) -> None:
    def amount(claim: str) -> str:
        return case.found.amount(case.numbers, f"report.claim.{claim}.stated")

    key = "report.claim.s0-roce-latency.stated"
    assert amount("s0-roce-latency") == f"{{{key}.low:bare}} to {{{key}.high}}"
    share = "report.claim.s3-cheaper.stated"
    assert amount("s3-cheaper") == f"{{{share}.low}} to {{{share}.high}}"
    assert amount("s2-waste-cost") == "{report.claim.s2-waste-cost.stated}"
    assert amount("s0-gap-irrelevant-mostly") == ""


def test_every_claim_stands_in_the_table_once_under_its_article_and_the_chart_counts_them(case: Report) -> None:
    table = tables.claims(case)
    groups = [row for row in table.rows if row.role == "group"]
    assert len(table.rows) - len(groups) == len(case.found.claims)
    assert len(groups) == len(case.found.articles) + 1
    chart = charts.claims_chart(case)
    assert sum(int(float(cell)) for row in chart.data[1:] for cell in row[1:]) == value(case, "claims")


def test_every_factor_and_question_of_the_articles_is_answered_without_a_client() -> None:
    parts = read_yaml("factors")
    count = {(part, a): sum(e["article"] == a for e in parts[part]) for part in parts for a in ("S1", "S3", "S4")}
    assert {k: v for k, v in count.items() if v} == {
        ("factors", "S1"): 5,
        ("factors", "S3"): 9,
        ("questions", "S3"): 6,
        ("questions", "S4"): 7,
    }
    assert all({*LEANS} <= set(factor) for factor in parts["factors"])
    said = [e[key] for part in parts.values() for e in part for key in e if key not in ("id", "article", "cite")]
    bare = [text.split("{")[0].replace("RoCEv2", "") for text in said]
    assert [text for text in bare if any(c.isdigit() for c in text)] == []


# ---- what is contested


def test_the_prior_lies_inside_what_the_admissible_sources_state(case: Report) -> None:
    for item in case.found.contested.values():
        spread = case.figure(f"report.contested.{item.id}.prior").spread
        assert spread is not None
        if item.quantity.rule == "mixture":
            low, high = (
                end(getattr(p, name) for p in item.quantity.admissible) for end, name in ((min, "low"), (max, "high"))
            )
            assert low - 1e-9 <= spread.p5 <= spread.p95 <= high + 1e-9


def test_a_gain_over_something_else_is_not_drawn_among_ratios(case: Report) -> None:
    item = case.found.contested["roce-bandwidth-share"]
    assert "roce-strack-gain" in {p.id for p in item.quantity.entries}
    assert "roce-strack-gain" not in {p.id for p in item.stated}


def test_one_picture_shows_every_position_and_is_drawn_alike_each_time(case: Report) -> None:
    chart = charts.contested_chart(case)
    assert {row[1] for row in chart.data[1:]} == {p.id for d in case.found.contested.values() for p in d.stated}
    assert chart.svg == charts.contested_chart(case).svg


# ---- grades, models, sellers


def test_the_grades_sum_to_the_library(case: Report) -> None:
    assert sum(value(case, f"entries.{g}") for g in GRADES) == value(case, "entries") == len(read_evidence())


def test_the_bands_of_the_likelihood_words_meet_and_do_not_overlap(case: Report) -> None:
    scale = [case.inputs.evidence[i["share"].removeprefix("evidence:")] for i in read_yaml("assurance")["scale"]]
    assert all(0 < e.low < e.high < 1 for e in scale)
    assert [e.high for e in scale[:-1]] == [e.low for e in scale[1:]]


def test_the_worst_error_of_a_card_is_that_of_a_row_that_set_nothing(case: Report) -> None:
    for key, card in case.found.cards.items():
        if any(row.counted for row in card.held_out):
            assert worst_row(card).held_out and value(case, f"card.{key}.median") <= value(case, f"card.{key}.worst")


def test_what_a_model_does_not_claim_is_printed_in_full(case: Report) -> None:
    said = " ".join(str(cell) for row in tables.limits(case).rows for cell in row.cells)
    for card in case.found.cards.values():
        assert all(limit in said for limit in (*card.does_not_claim, *card.irreducible, card.valid_range))


def test_the_slowest_lies_farther_out_among_more_and_less_far_where_a_shock_is_shared(case: Report) -> None:
    few, many, shared = (value(case, f"slowest.{k}") for k in ("64.0_0", "16384.0_0", "16384.0_9"))
    assert few == pytest.approx(2.35, abs=0.05)  # the mean largest of 64 normal variables, from tables
    assert shared < few < many < 2 * few


def test_every_question_seller_and_term_has_its_row(case: Report) -> None:
    assert len(tables.questions(case).rows) == value(case, "questions")
    assert len(tables.sellers(case).rows) == value(case, "sellers")
    assert len(tables.service_levels(case).rows) == value(case, "contracts")
    shown = {cell for row in tables.glossary().rows for cell in (row.cells[0], row.cells[2])}
    assert shown - {""} == {term.term for term in glossary_book().terms}


def test_an_unknown_figure_is_refused_with_the_nearest(case: Report) -> None:
    with pytest.raises(KeyError, match=r"report\.claims"):
        case.figure("report.clams")


# ---- how memos name it


def test_a_memo_names_what_the_report_has_by_its_number_and_nothing_that_it_lacks() -> None:
    cited = {"edition": "2026-11-23-0123abcd", "anchors": {"tab-report-claims": "Table 3"}}
    assert in_report("tab-report-claims", cited) == "Table 3 of the evidence report"
    assert in_report("sec-report", cited) == "the evidence report, edition 2026-11-23-0123abcd"
    assert in_report("tab-report-clams", cited) == "" == in_report("tab-tco-causes", cited)
    assert in_report("tab-report-clams", None) == "the evidence report"
    assert in_report("tab-tco-causes", None) == ""


@pytest.mark.parametrize("changed", ["data/library/cost.yaml", "validation/network.py", "report/tables.py"])
def test_the_edition_is_another_where_an_entry_a_card_or_the_code_changes(tmp_path: Path, changed: str) -> None:
    copy = shutil.copytree(PACKAGE, tmp_path / "package", ignore=shutil.ignore_patterns("__pycache__"))
    before = report_digest(package=tree_digest(copy))
    assert before == report_digest(package=tree_digest(PACKAGE, skipping="shipped"))
    with (copy / changed).open("a", encoding="utf-8") as handle:
        handle.write("\n# another line\n")
    assert report_digest(package=tree_digest(copy)) != before


def test_a_notebook_in_jupyter_names_the_report_in_words() -> None:
    said, own = (preview_html((Paragraph((Ref(i),)),)) for i in ("tab-report-claims", "tab-tco-causes"))
    assert "the evidence report" in said and "tab-report" not in said and "tab-tco-causes" in own
