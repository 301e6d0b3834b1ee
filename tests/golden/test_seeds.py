"""The list of what the project started from is complete, says what is lacking, and loses no row."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pytest
import yaml

from fabricreport.base.yaml_files import read_yaml

HERE = Path(__file__).parent
SEEDS = yaml.load(
    (HERE / "seeds.yaml").read_text(encoding="utf-8"), Loader=yaml.CSafeLoader
)  # read when tests are collected
ROWS: list[dict[str, Any]] = SEEDS["rows"]
ARTICLES = ("S0", "S1", "S2", "S3", "S4")
KINDS = {"system", "rule", "question", "number", "table"}
CLIENTS = {"example", "tern-finetuning", "kestrel-lab", "cli"}
PLACES = {"page-one", "body", "report", "html", "file", "command"}
STATUSES = ("works", "part", "missing")


def anchors(kind: str, *, seed: str | None = None, standing: bool = True) -> set[str]:
    """Names of one kind of anchor that rows point to; `standing` leaves out what is missing."""
    return {
        anchor.partition(":")[2].partition("@")[0]
        for row in ROWS
        if seed in (None, row["seed"]) and not (standing and row["status"] == "missing")
        for anchor in row["find"]
        if anchor.startswith(f"{kind}:")
    }


def test_no_row_was_ever_lost() -> None:
    kept = (HERE / "seed_ids.txt").read_text(encoding="utf-8").split()
    assert kept == sorted(set(kept)), "the ids are sorted, each once"
    assert {row["id"] for row in ROWS} == set(kept), "a new row enters seed_ids.txt; an old one leaves neither file"


def test_each_row_has_an_id_of_its_own_that_begins_with_its_seed() -> None:
    assert [i for i, n in Counter(row["id"] for row in ROWS).items() if n > 1] == []
    assert [row["id"] for row in ROWS if not row["id"].startswith(row["seed"].lower() + "-")] == []


def test_each_row_says_what_it_is_for_whom_where_and_by_what_it_is_found() -> None:
    for row in ROWS:
        known = {"id", "seed", "kind", "client", "place", "status", "what", "find", "given", "why"}
        assert set(row) <= known and known - {"given", "why"} <= set(row), row["id"]
        assert row["seed"] in ARTICLES and row["kind"] in KINDS and row["client"] in CLIENTS, row["id"]
        assert row["place"] in PLACES and row["status"] in STATUSES and row["what"] and row["find"], row["id"]
        assert (row["client"] == "cli") == (row["place"] == "command"), row["id"]
        assert all(anchor.partition("@")[2] in ("", *PLACES) for anchor in row["find"]), row["id"]


def test_whatever_does_not_wholly_work_says_what_is_lacking_and_nothing_else_does() -> None:
    assert [row["id"] for row in ROWS if bool(row.get("why")) == (row["status"] == "works")] == []


def test_the_head_counts_the_rows_of_each_seed() -> None:
    counted = {
        seed: {"rows": len(of), **{status: sum(row["status"] == status for row in of) for status in STATUSES}}
        for seed in ARTICLES
        for of in [[row for row in ROWS if row["seed"] == seed]]
    }
    assert counted == SEEDS["rows_of_each_seed"]


@pytest.mark.parametrize("seed", ARTICLES)
def test_each_audited_claim_has_a_row_of_its_own_seed(seed: str) -> None:
    claims = {claim["id"] for claim in read_yaml("claims")["claims"] if claim["source"] == seed}
    assert claims - anchors("claim", seed=seed) == set()


@pytest.mark.parametrize("seed", ARTICLES)
def test_each_question_of_an_article_has_a_row_of_its_own_seed(seed: str) -> None:
    asked = {question["id"] for question in read_yaml("questions")["questions"] if question["source"] == seed}
    assert asked - anchors("question", seed=seed) == set()


def test_each_article_has_a_row_for_its_publisher_and_what_that_sells() -> None:
    assert anchors("publisher") == set(ARTICLES) == set(read_yaml("claims")["sources"])


def test_each_provider_of_the_published_table_has_a_row() -> None:
    assert anchors("seller", seed="S4") == {provider["id"] for provider in read_yaml("providers")["providers"]}


def test_each_rule_and_axis_of_the_framework_goes_back_to_a_seed() -> None:
    framework = read_yaml("framework")
    of_articles = {r["id"] for r in framework["rules"] if any(s.startswith("claim:") for s in r["sources"])}
    assert of_articles <= anchors("rule") <= {rule["id"] for rule in framework["rules"]}
    assert anchors("axis") == {axis["id"] for axis in framework["axes"]}


def test_each_operator_transport_and_switch_that_an_article_names_has_a_row() -> None:
    context = read_yaml("context")
    assert {operator["id"] for operator in context["operators"] if operator["says"]} - anchors("operator") == set()
    assert {transport["id"] for transport in context["rdma_family"]} - anchors("transport") == set()
    assert {"sb7800", "quantum-1", "quantum-2"} - anchors("product") == set()


def test_each_contradiction_of_an_article_with_itself_has_a_row() -> None:
    told = {claim["id"] for claim in read_yaml("claims")["claims"] if claim.get("against")}
    assert told - anchors("contradiction") == set()
