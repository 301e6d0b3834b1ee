"""What articles and expert would say to two dozen buyers is whole: each buyer, each article, answers of one vocabulary."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import Any, get_args

import pytest

from fabricreport.base.yaml_files import load_strict, read_yaml
from fabricreport.scenario import Organisation, Params, Workload, client_slug, is_given, load_params

FOLDER = Path(__file__).with_name("decisions")
EXPECTED: dict[str, Any] = load_strict(FOLDER / "expected.yaml").data  # read when tests are collected
SENTENCES: dict[str, dict[str, str]] = EXPECTED["sentences"]
CASES: list[dict[str, Any]] = EXPECTED["cases"]
NAMES = [case["case"] for case in CASES]
ARTICLES = ("S0", "S1", "S2", "S3", "S4")
SILENT = "silent"
ARTICLES_SAY = {"infiniband", "rocev2", "standard-ethernet", "does-not-matter"}
EXPERT_SAYS = ARTICLES_SAY | {"either", "single-node", "ask"}


@cache
def params_of(name: str) -> Params:
    return load_params(FOLDER / f"{name}.yaml")


def test_there_are_two_dozen_buyers_each_with_a_params_file_and_no_file_without_its_buyer() -> None:
    assert len(CASES) == 24 and len(set(NAMES)) == 24
    assert {path.stem for path in FOLDER.glob("*.yaml")} == {*NAMES, "expected", "ours"}


@pytest.mark.parametrize("case", CASES, ids=NAMES)
def test_the_params_of_a_buyer_are_accepted_and_are_those_the_answers_are_for(case: dict[str, Any]) -> None:
    params = params_of(case["case"])
    assert client_slug(params) == case["case"] and params.cluster.gpus == case["gpus"]
    assert params.as_of.isoformat() == "2026-11-27"
    assert "# The client is invented." in (FOLDER / f"{case['case']}.yaml").read_text(encoding="utf-8")


@pytest.mark.parametrize("case", CASES, ids=NAMES)
def test_each_article_answers_each_buyer_with_its_own_sentence_or_is_silent(case: dict[str, Any]) -> None:
    assert tuple(case["articles"]) == ARTICLES
    for article, answer in case["articles"].items():
        assert set(answer) <= {"says", "by", "note"} and answer["says"] in ARTICLES_SAY | {SILENT}
        quoted = [SENTENCES[sentence] for sentence in answer.get("by", [])]
        assert {sentence["article"] for sentence in quoted} <= {article}
        leads = {sentence["says"] for sentence in quoted if "says" in sentence}
        if answer["says"] == SILENT:
            assert answer.get("note") or quoted, "silence is explained, or shown by a sentence that names no winner"
            assert leads == set()
        else:
            assert leads == {answer["says"]}


@pytest.mark.parametrize("case", CASES, ids=NAMES)
def test_the_expert_gives_an_answer_reasons_and_nothing_both_right_and_wrong(case: dict[str, Any]) -> None:
    assert set(case) <= {"case", "gpus", "articles", "accept", "must_not", "reason", "changed"}
    accept, must_not = case["accept"], case.get("must_not", [])
    assert accept and set(accept) | set(must_not) <= EXPERT_SAYS
    assert len(accept) == len(set(accept)) and len(must_not) == len(set(must_not))
    assert set(accept).isdisjoint(must_not)
    assert 2 <= len(re.findall(r"[a-z]\.(?:\s|$)", case["reason"])) <= 4


def test_each_sentence_is_quoted_rests_on_an_audited_claim_of_its_article_and_serves_a_buyer() -> None:
    source = {claim["id"]: claim["source"] for claim in read_yaml("claims")["claims"]}
    for name, sentence in SENTENCES.items():
        assert set(sentence) - {"says"} == {"article", "claim", "words"}, name
        assert name.startswith(f"{sentence['article'].lower()}-"), name
        assert source[sentence["claim"]] == sentence["article"], name
        assert sentence.get("says", "rocev2") in ARTICLES_SAY, name
        assert 3 <= len(sentence["words"].split()) <= 16, "a few words, and no more"
    used = {sentence for case in CASES for answer in case["articles"].values() for sentence in answer.get("by", [])}
    assert used == set(SENTENCES)


def test_every_answer_of_the_vocabulary_is_given_to_somebody() -> None:
    said = {answer["says"] for case in CASES for answer in case["articles"].values()}
    assert said == ARTICLES_SAY | {SILENT}
    assert {answer for case in CASES for answer in case["accept"]} == EXPERT_SAYS


def test_the_buyers_spread_over_sizes_ways_to_obtain_loads_skills_estates_and_policies() -> None:
    params = [params_of(name) for name in NAMES]
    sizes = [case["gpus"] for case in CASES]
    assert sizes == sorted(sizes) and sizes[0] == 8 and sizes[-1] == 16384
    bands = [(8, 8), (16, 16), (32, 128), (256, 1024), (2048, 8192), (16384, 16384)]
    assert all(any(low <= size <= high for size in sizes) for low, high in bands)
    for value_of, every in (
        (lambda p: p.money.acquisition, {"buy", "lease", "rent", "colocate"}),
        (lambda p: p.workload.kind, set(get_args(Workload.model_fields["kind"].annotation))),
        (lambda p: p.organisation.qos_expertise, {"none", "some", "strong"}),
        (lambda p: p.organisation.existing_ethernet, {"none", "some", "large"}),
        (lambda p: p.organisation.existing_infiniband, {"none", "some", "large"}),
        (
            lambda p: p.organisation.single_vendor_policy,
            set(get_args(Organisation.model_fields["single_vendor_policy"].annotation)),
        ),
        (lambda p: p.cluster.tenancy, {"single", "multi"}),
        (lambda p: p.cluster.subnets > 1, {True, False}),
        (lambda p: bool(p.cluster.trajectory), {True, False}),
        (lambda p: p.organisation.nvidia_cloud_partner, {True, False}),
        (lambda p: p.cluster.vendor, {"nvidia", "amd"}),
    ):
        assert {value_of(p) for p in params} == every
    assert 10 <= sum(is_given(p, "options") for p in params) <= 14
